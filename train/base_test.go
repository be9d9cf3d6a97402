package train

import (
	"math"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
)

// The hidden units of ModelBase have the means of the model's hidden units over the rows: those of p(h|x,y)
// summed over the classes y, whether rows have labels or not.
func TestModelBase(t *testing.T) {
	labelled := toy(t, "toy:2,3,20,0.2")
	bare := labelled.Take(data.RowNumbers(0, labelled.Len()))
	bare.Y = nil
	for _, classes := range []int{0, len(labelled.Classes)} {
		m := rbm.New(labelled.X.Cols+classes, 5, classes, rbm.Softmax)
		m.Randomize(1, rbm.NewKey(3))
		want := make([]float64, m.Hidden()) // mean number of units on, computed from the definition
		one := rbm.NewBits(1, m.Visible())
		for r := range labelled.Len() {
			var weights, means [][]float64
			for y := range max(1, classes) {
				clear(one.Words)
				labelled.X.Each(r, func(i int) { one.Set(0, i, true) })
				if classes > 0 {
					one.Set(0, labelled.X.Cols+y, true)
				}
				free, mean := make([]float64, 1), rbm.NewMatrix(1, m.Hidden())
				m.FreeEnergy(free, one)
				m.HiddenMean(mean, one)
				of := make([]float64, m.Hidden())
				for j, p := range mean.Row(0) {
					of[j] = float64(p)
				}
				weights, means = append(weights, []float64{math.Exp(-free[0])}), append(means, of)
			}
			total := 0.0
			for _, w := range weights {
				total += w[0]
			}
			for y, w := range weights {
				for j, p := range means[y] {
					want[j] += w[0] / total * p
				}
			}
		}
		n := float64(labelled.Len())
		for name, set := range map[string]*data.Set{"with classes": labelled, "without": bare} {
			b := ModelBase(m, set)
			for j, x := range b.HiddenBias {
				if w := math.Log((want[j] + 0.5) / (n - want[j] + 0.5)); math.Abs(float64(x)-w) > 1e-5 {
					t.Errorf("%d classes, rows %s: hidden bias %d is %v, want %v", classes, name, j, x, w)
				}
			}
			if classes == 0 || set.Y != nil {
				for i, x := range Base(m, set).VisibleBias {
					if b.VisibleBias[i] != x {
						t.Errorf("%d classes: visible bias %d is %v, want %v", classes, i, b.VisibleBias[i], x)
					}
				}
			}
		}
	}
}

// Under a constraint the base has the required number of hidden units on.
func TestModelBaseConstraint(t *testing.T) {
	set := toy(t, "toy:2,3,20,0.2")
	m := rbm.New(set.X.Cols, 5, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(3))
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	b, on := ModelBase(m, set), 0.0
	for _, x := range b.HiddenBias {
		on += 1 / (1 + math.Exp(-float64(x)))
	}
	if math.Abs(on-2) > 0.1 { // the tolerance is for the halves that LogOdds adds to counts
		t.Errorf("%v hidden units are on, want 2", on)
	}
}
