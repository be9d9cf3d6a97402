package rbm

import (
	"fmt"
	"math"
	"slices"

	"gorbm/rbm/internal/vec"
)

// An RBM is a restricted Boltzmann machine with energy
//
//	E(v,h) = −vᵀWh − bᵀv − cᵀh + Σ U′(vᵢ) + Σ U′(hⱼ)
//
// over visible units v and hidden units h, with weights W (visible × hidden) and biases b and c. The methods
// Weights and SetWeights copy W. U′ is the energy of a real unit besides its bias term; it is 0 for units
// that are 0 or 1 (package units). The model is the distribution p(v,h) ∝ exp(−E(v,h)). With units that are
// 0 or 1 its tempered distribution at inverse temperature β is p_β(v,h) ∝ exp(−βE(v,h)); Base defines the
// general case. In a classification RBM the visible units are inputs x followed by a one-hot label y:
// v = (x,y) (Larochelle & Bengio 2008).
//
// Methods that only read may run concurrently. A method that changes parameters must not
// run at the same time as any other.
type RBM struct {
	VisibleBias []float32   // b, len Visible()
	HiddenBias  []float32   // c, len Hidden()
	Constraint  *Constraint // restricts the states; nil: no restriction

	visible, hidden layer

	w    []float32 // panels of vec.Block hidden units, each rows × vec.Block
	rows int       // rows of a panel: visible units, then zero rows
}

// New returns an RBM with all parameters zero. Its visible units are binary
// inputs and, if classes is not 0, a label with one unit for each class, of the given kind.
// visible counts inputs and label units. It panics if a layer has no unit or if classes is
// negative or exceeds visible.
func New(visible, hidden, classes int, label Kind) *RBM {
	m := newRBM(visible, Group{Kind: Bernoulli, Units: hidden})
	m.SetLabel(classes, label)
	return m
}

// newRBM returns an RBM with zero parameters, whose visible groups are not yet set.
func newRBM(visible int, hiddenLayer Group) *RBM {
	hidden := hiddenLayer.Units
	if visible <= 0 || hidden <= 0 {
		panic("rbm: an RBM needs at least one visible and one hidden unit")
	}
	rows := vec.PanelRows(visible)
	m := &RBM{
		VisibleBias: make([]float32, visible),
		HiddenBias:  make([]float32, hidden),
		rows:        rows,
		w:           make([]float32, vec.Blocks(hidden)*rows*vec.Block),
	}
	m.hidden = newLayer(hiddenLayer)
	m.hidden.dist.Field = m.HiddenBias
	return m
}

// Visible returns the number of visible units, labels included.
func (m *RBM) Visible() int { return len(m.VisibleBias) }

// Hidden returns the number of hidden units.
func (m *RBM) Hidden() int { return len(m.HiddenBias) }

// panel returns the weights of hidden units 64k … 64k+63, rows × 64.
func (m *RBM) panel(k int) []float32 {
	size := m.rows * vec.Block
	return m.w[k*size : (k+1)*size : (k+1)*size]
}

// Weight returns the weight between visible unit i and hidden unit j.
func (m *RBM) Weight(i, j int) float32 {
	return m.panel(j / vec.Block)[i*vec.Block+j%vec.Block]
}

// PanelUnits is the number of hidden units whose weights are stored together, in one panel.
const PanelUnits = vec.Block

// WeightPanel returns the weights of hidden units k·PanelUnits … (k+1)·PanelUnits−1,
// for k from 0 to (Hidden()−1)/PanelUnits, without copying. Row i holds the
// PanelUnits weights of visible unit i. The number of rows is a multiple of 8.
// Weights of units beyond the last are zero. The caller must not change the panel.
func (m *RBM) WeightPanel(k int) []float32 { return m.panel(k) }

// Weights overwrites dst, visible × hidden, with the weights. It panics if dst has another
// shape.
func (m *RBM) Weights(dst Matrix) {
	m.checkWeights(dst)
	for i := range dst.Rows {
		row := dst.Row(i)
		for k := 0; k*vec.Block < len(row); k++ {
			copy(row[k*vec.Block:], m.panel(k)[i*vec.Block:(i+1)*vec.Block])
		}
	}
}

// SetWeights copies src, visible × hidden, to the weights. It panics if src has
// another shape.
func (m *RBM) SetWeights(src Matrix) {
	m.checkWeights(src)
	for i := range src.Rows {
		row := src.Row(i)
		for k := 0; k*vec.Block < len(row); k++ {
			hi := min(len(row), (k+1)*vec.Block)
			copy(m.panel(k)[i*vec.Block:], row[k*vec.Block:hi])
		}
	}
}

func (m *RBM) checkWeights(a Matrix) {
	if a.Rows != m.Visible() || a.Cols != m.Hidden() {
		panic("rbm: weight matrix of another shape")
	}
}

// Clone returns a copy of m. The copy shares only the constraint, which is read-only.
func (m *RBM) Clone() *RBM {
	c := NewLayers(m.hidden.groups[0], m.visible.groups...)
	c.Set(m)
	c.Constraint = m.Constraint
	return c
}

// Randomize draws all weights and biases independently from N(0, sd²). Other parameters of units
// do not change. The infinite-swapping paper (Hult, Nyquist & Ringqvist 2018, section 4.2.2) has
// sd = 0.01.
func (m *RBM) Randomize(sd float64, key Key) {
	r := key.Rand()
	normal := func(dst []float32) {
		for i := range dst {
			dst[i] = float32(sd * r.NormFloat64())
		}
	}
	w := NewMatrix(m.Visible(), m.Hidden())
	normal(w.Data)
	m.SetWeights(w)
	normal(m.VisibleBias)
	normal(m.HiddenBias)
}

// weightLimit is the absolute value beyond which a parameter counts as diverged. Among
// terms of 10⁴ a float32 sum no longer resolves 10⁻³, and σ(z) saturates at |z| = 90.
const weightLimit = 1e4

// CheckFinite returns an error unless all parameters are finite and within ±10⁴ and all precisions
// are positive. The error wraps ErrDiverged and names the first bad tensor and element.
// Call it from time to time while training, because the kernels clamp their arguments and so
// hide a NaN.
func (m *RBM) CheckFinite() error {
	if err := m.checkBiases(); err != nil {
		return err
	}
	for k := range vec.Blocks(m.Hidden()) {
		err := checkTensor("weights", m.panel(k), func(i int) string {
			return fmt.Sprintf("[%d,%d]", i/vec.Block, k*vec.Block+i%vec.Block)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkBiases is CheckFinite for all parameters except the weights.
func (m *RBM) checkBiases() error {
	index := func(i int) string { return fmt.Sprintf("[%d]", i) }
	if err := checkTensor("visible_bias", m.VisibleBias, index); err != nil {
		return err
	}
	for _, p := range m.Params() {
		if err := checkTensor(p.Name, p.Values, index); err != nil {
			return err
		}
	}
	if err := m.checkPositive(); err != nil {
		return err
	}
	return checkTensor("hidden_bias", m.HiddenBias, index)
}

// checkTensor returns an error that names the first element of x that is NaN or beyond
// ±weightLimit. at formats its index.
func checkTensor(name string, x []float32, at func(i int) string) error {
	if vec.Largest(x) <= weightLimit {
		return nil
	}
	for i, v := range x {
		switch {
		case v >= -weightLimit && v <= weightLimit:
		case v != v || math.IsInf(float64(v), 0):
			return fmt.Errorf("%w: %s%s is %v", ErrDiverged, name, at(i), v)
		default:
			return fmt.Errorf("%w: %s%s is %v, beyond ±%v", ErrDiverged, name, at(i), v, weightLimit)
		}
	}
	return nil
}

// Equal reports whether m and o have the same shape, the same constraint and bit-identical parameters.
func (m *RBM) Equal(o *RBM) bool {
	same := func(a, b []float32) bool {
		return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
	}
	if !m.SameShape(o) || !m.Constraint.Equal(o.Constraint) {
		return false
	}
	mine, others := m.parameters(), o.parameters()
	for t, x := range mine.tensors {
		if !same(x, others.tensors[t]) {
			return false
		}
	}
	return true
}
