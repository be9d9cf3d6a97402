package rbm

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	npyio "github.com/sbinet/npyio/npz"

	"gorbm/rbm/npz"
)

// metadataArray is the array of an npz model that holds the metadata of
// WriteSafetensors, as JSON in bytes.
const metadataArray = "metadata"

// WriteNPZ writes m and what is known about it as a NumPy archive: float32
// arrays weights [visible, hidden], visible_bias and hidden_bias, and the
// metadata as JSON bytes.
func (m *RBM) WriteNPZ(w io.Writer, about About) error {
	weights := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	meta, err := json.Marshal(m.metadata(about))
	if err != nil {
		return err
	}
	z := npyio.NewWriter(w)
	for _, a := range []struct {
		name string
		data any
	}{
		{tensorWeights, matrixArray(weights)},
		{tensorVisible, m.VisibleBias},
		{tensorHidden, m.HiddenBias},
		{metadataArray, meta},
	} {
		if err := z.Write(a.name+".npy", a.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// matrixArray returns a as a two-dimensional Go array, the only form in which
// the library writes float32 matrices.
func matrixArray(a Matrix) any {
	t := reflect.ArrayOf(a.Rows, reflect.ArrayOf(a.Cols, reflect.TypeFor[float32]()))
	v := reflect.New(t).Elem()
	for i := range a.Rows {
		reflect.Copy(v.Index(i), reflect.ValueOf(a.Row(i)))
	}
	return v.Interface()
}

// ReadNPZ reads a model from a NumPy archive of size bytes: weights [visible,
// hidden], visible_bias and hidden_bias, of any float type, with our metadata
// or without. The error wraps ErrFormat.
func ReadNPZ(r io.ReaderAt, size int64) (*RBM, About, error) {
	fail := func(err error) (*RBM, About, error) {
		return nil, About{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	archive, err := npz.Open(r, size)
	if err != nil {
		return fail(err)
	}
	shapes := map[string][]int64{}
	for _, name := range []string{tensorWeights, tensorVisible, tensorHidden} {
		a, err := archive.Array(name)
		if err != nil {
			return fail(err)
		}
		a.Close()
		if a.Kind != 'f' {
			return fail(fmt.Errorf("%s must hold floats", name))
		}
		shapes[name] = a.Shape
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
	var failed error
	m, about, err := build(visible, hidden, meta, func(name string, dst []float32) {
		cols := len(dst)
		if name == tensorWeights {
			cols = hidden
		}
		if err := readFloats(archive, name, dst, cols); err != nil && failed == nil {
			failed = err
		}
	})
	if failed != nil {
		return fail(failed)
	}
	return m, about, err
}

// readFloats fills dst with an array of rows of cols elements, in row-major
// order; a vector is a single row.
func readFloats(archive *npz.Archive, name string, dst []float32, cols int) error {
	a, err := archive.Array(name)
	if err != nil {
		return err
	}
	defer a.Close()
	rows := len(dst) / cols
	if len(a.Shape) == 2 && a.Fortran() { // stored column by column
		return a.Rows(cols, rows, func(j, i int, v float64) error {
			dst[i*cols+j] = float32(v)
			return nil
		})
	}
	return a.Rows(rows, cols, func(i, j int, v float64) error {
		dst[i*cols+j] = float32(v)
		return nil
	})
}

// readBytes returns a one-dimensional array of bytes.
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
