package modelfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"gorbm/rbm"
	"gorbm/rbm/finitejson"
	"gorbm/rbm/npz"
)

// metadataArray is the name of the array with the metadata, as bytes of JSON.
const metadataArray = "metadata"

// WriteNPZ writes m and its metadata as a NumPy archive: float32 arrays weights [visible, hidden],
// visible_bias and hidden_bias, other parameters of units, and the metadata as bytes of JSON.
func WriteNPZ(w io.Writer, m *rbm.RBM, about About) error {
	weights := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	return writeArrays(w, m, about, tensorWeights, weights, append(unitTensors(m), npz.Named{Name: tensorHidden, Data: m.HiddenBias})...)
}

// The arrays of a model for scikit-learn: the attributes of its BernoulliRBM.
const (
	sklearnWeights = "components_"        // [hidden, visible]
	sklearnHidden  = "intercept_hidden_"  // [hidden]
	sklearnVisible = "intercept_visible_" // [visible]
)

// WriteSklearnNPZ writes m as a NumPy archive of the attributes of
// scikit-learn's BernoulliRBM: components_ [hidden, visible],
// intercept_hidden_ and intercept_visible_, and the metadata. The
// error wraps rbm.ErrConstraint if m has a constraint, and rbm.ErrUnits if its units are not binary,
// because a BernoulliRBM has neither.
func WriteSklearnNPZ(w io.Writer, m *rbm.RBM, about About) error {
	if m.Constraint != nil {
		return fmt.Errorf("%w: the model has %v, and scikit-learn's BernoulliRBM has no constraints, so its distribution would differ", rbm.ErrConstraint, m.Constraint)
	}
	if err := m.CheckBinary(); err != nil {
		return fmt.Errorf("for scikit-learn's BernoulliRBM: %w", err)
	}
	weights := rbm.NewMatrix(m.Hidden(), m.Visible())
	for j := range m.Hidden() {
		for i := range m.Visible() {
			weights.Row(j)[i] = m.Weight(i, j)
		}
	}
	return writeArrays(w, m, about, sklearnWeights, weights, npz.Named{Name: sklearnHidden, Data: m.HiddenBias}, npz.Named{Name: sklearnVisible, Data: m.VisibleBias})
}

// The arrays of a model in spin variables: see rbm.Spins.
const (
	spinWeights = "spin_weights" // [visible, hidden]
	spinHidden  = "spin_hidden_bias"
	spinVisible = "spin_visible_bias"
)

// WriteSpinsNPZ writes m in spin variables as a NumPy archive: spin_weights [visible, hidden],
// spin_visible_bias and spin_hidden_bias, and the metadata. It returns k and the error of rbm.RBM.Spins.
func WriteSpinsNPZ(w io.Writer, m *rbm.RBM, about About) (k float64, err error) {
	s, k, err := m.Spins()
	if err != nil {
		return 0, err
	}
	return k, writeArrays(w, m, about, spinWeights, s.Weights, npz.Named{Name: spinHidden, Data: s.Hidden}, npz.Named{Name: spinVisible, Data: s.Visible})
}

// writeArrays writes an archive of weights under the given name, biases, and the metadata of m.
func writeArrays(w io.Writer, m *rbm.RBM, about About, name string, weights rbm.Matrix, biases ...npz.Named) error {
	meta, err := finitejson.Marshal(metadata(m, about))
	if err != nil {
		return err
	}
	arrays := append([]npz.Named{{Name: name, Shape: []int{weights.Rows, weights.Cols}, Data: weights.Data}}, biases...)
	return npz.Write(w, append(arrays, npz.Named{Name: metadataArray, Data: meta}))
}

// ReadNPZ reads a model from a NumPy archive of size bytes, with the arrays of WriteNPZ,
// WriteSklearnNPZ or WriteSpinsNPZ. The arrays may have any float type, and the metadata may be
// missing. The error wraps rbm.ErrFormat.
func ReadNPZ(r io.ReaderAt, size int64) (*rbm.RBM, About, error) {
	fail := func(err error) (*rbm.RBM, About, error) {
		return nil, About{}, fmt.Errorf("%w: %w", rbm.ErrFormat, err)
	}
	archive, err := npz.Open(r, size)
	if err != nil {
		return fail(err)
	}
	names := map[string]string{tensorWeights: tensorWeights, tensorVisible: tensorVisible, tensorHidden: tensorHidden}
	sklearn := archive.Has(sklearnWeights)
	if sklearn {
		names = map[string]string{tensorWeights: sklearnWeights, tensorVisible: sklearnVisible, tensorHidden: sklearnHidden}
	}
	inSpins := archive.Has(spinWeights)
	if inSpins {
		names = map[string]string{tensorWeights: spinWeights, tensorVisible: spinVisible, tensorHidden: spinHidden}
	}
	shapes := map[string][]int64{}
	for tensor, name := range names {
		a, err := archive.Array(name)
		if err != nil {
			return fail(err)
		}
		a.Close()
		if a.Kind != 'f' {
			return fail(fmt.Errorf("%s must hold floats", name))
		}
		shapes[tensor] = a.Shape
	}
	if w := shapes[tensorWeights]; sklearn && len(w) == 2 {
		shapes[tensorWeights] = []int64{w[1], w[0]}
	}
	visible, hidden, err := checkShapes(shapes[tensorWeights], shapes[tensorVisible], shapes[tensorHidden])
	if err != nil {
		return nil, About{}, err
	}
	meta := map[string]string{}
	if archive.Has(metadataArray) {
		text, err := readBytes(archive, metadataArray)
		if err == nil {
			err = json.Unmarshal(text, &meta)
		}
		if err != nil {
			return fail(fmt.Errorf("metadata: %w", err))
		}
	}
	m, about, err := build(visible, hidden, meta, func(tensor string, dst []float32) error {
		cols := len(dst)
		if tensor == tensorWeights {
			cols = hidden
		}
		if err := readFloats(archive, cmp.Or(names[tensor], tensor), dst, cols, sklearn); err != nil {
			return fmt.Errorf("%w: %w", rbm.ErrFormat, err)
		}
		return nil
	})
	if err != nil || !inSpins {
		return m, about, err
	}
	s := rbm.Spins{Weights: rbm.NewMatrix(visible, hidden), Visible: slices.Clone(m.VisibleBias), Hidden: slices.Clone(m.HiddenBias)}
	m.Weights(s.Weights)
	if err := m.SetSpins(s); err != nil {
		return fail(err)
	}
	return m, about, nil
}

// readFloats overwrites dst, a row-major matrix with cols columns, with an array or
// its transpose. A vector is a matrix of one row.
func readFloats(archive *npz.Archive, name string, dst []float32, cols int, transposed bool) error {
	a, err := archive.Array(name)
	if err != nil {
		return err
	}
	defer a.Close()
	rows := len(dst) / cols
	if len(a.Shape) == 2 && transposed {
		return a.Rows(cols, rows, func(j int, values []float64) error {
			for i, v := range values {
				dst[i*cols+j] = float32(v)
			}
			return nil
		})
	}
	return a.Rows(rows, cols, func(i int, values []float64) error {
		for j, v := range values {
			dst[i*cols+j] = float32(v)
		}
		return nil
	})
}

// readBytes reads a one-dimensional array of bytes.
func readBytes(archive *npz.Archive, name string) ([]byte, error) {
	a, err := archive.Array(name)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if len(a.Shape) != 1 || a.Kind != 'u' || a.Size != 1 || a.Shape[0] > maxHeader {
		return nil, fmt.Errorf("%s is not an array of at most %d bytes", name, maxHeader)
	}
	b, err := a.Next(int(a.Shape[0]))
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), b...), a.End()
}
