package exact

import (
	"fmt"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// exactTol bounds the rounding of a float64 sum of a hundred terms of size ten.
const exactTol = 1e-12

// shape is the shape of a model.
type shape struct {
	visible, hidden, classes int
	label                    rbm.Kind
}

func (s shape) random(seed uint64, sd float64) *rbm.RBM {
	return rbmtest.Random(s.visible, s.hidden, s.classes, s.label, seed, sd)
}

// small has a model of each kind whose joint states can be listed one by one, with the visible and
// with the hidden layer as the smaller one.
var small = []shape{
	{1, 1, 0, rbm.Softmax},
	{3, 4, 0, rbm.Softmax},
	{6, 3, 0, rbm.Softmax},
	{5, 4, 3, rbm.Softmax},
	{7, 3, 3, rbm.Softmax},
	{3, 5, 3, rbm.Softmax}, // only label units
	{5, 4, 3, rbm.Bernoulli},
	{4, 6, 1, rbm.Softmax},
	{4, 2, 2, rbm.Bernoulli},
}

func forEach(t *testing.T, f func(t *testing.T, s shape)) {
	for _, s := range small {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) { f(t, s) })
	}
}

func weights(m *rbm.RBM) rbm.Matrix {
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	return w
}

// key packs a state of a few units into an integer.
func key(v []int) (k int) {
	for i, x := range v {
		k |= x << i
	}
	return k
}

// distinctVisible returns the distinct visible states.
func distinctVisible(all []rbmtest.State) (rows [][]int) {
	seen := map[int]bool{}
	for _, s := range all {
		if !seen[key(s.V)] {
			seen[key(s.V)] = true
			rows = append(rows, s.V)
		}
	}
	return rows
}

func plainSoftplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// plainFreeEnergy returns F(v) from the definition.
func plainFreeEnergy(m *rbm.RBM, v []float64) float64 {
	f := 0.0
	for i, x := range v {
		f -= x * float64(m.VisibleBias[i])
	}
	for j, c := range m.HiddenBias {
		a := float64(c)
		for i, x := range v {
			a += x * float64(m.Weight(i, j))
		}
		f -= plainSoftplus(a)
	}
	return f
}

// rowTolerance bounds the rounding of a free energy of m in float64. A preactivation has n+1 terms
// and the sum m+2; none exceeds size.
func rowTolerance(m *rbm.RBM, size float64) float64 {
	return float64(m.Visible()+m.Hidden()+3) * 0x1p-52 * math.Max(1, size)
}

func softmaxLabel(m *rbm.RBM) bool { return len(m.SoftmaxGroups()) > 0 }
