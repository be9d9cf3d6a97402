package sample

import (
	"context"
	"math"
	"testing"

	"gorbm/rbm"
)

// modeWeights are the probabilities of the three modes of copies.
var modeWeights = []float64{0.5, 0.3, 0.2}

// copies returns a model whose variables, one per column, have three states and are all equal, up to probabilities of
// e⁻¹⁰. Gibbs chains stay in one of the three modes. The argument each is the number of hidden units per mode.
func copies(columns, each int) *rbm.RBM {
	var groups []rbm.Group
	for range columns {
		groups = append(groups, rbm.Group{Kind: rbm.Softmax, Units: 3})
	}
	m := rbm.NewGroups(3*each, groups...)
	weights := rbm.NewMatrix(m.Visible(), m.Hidden())
	strength := 5 / float64(each)
	for i := range m.Visible() {
		for j := range m.Hidden() {
			w := -strength
			if i%3 == j%3 {
				w = strength
			}
			weights.Row(i)[j] = float32(w)
		}
	}
	m.SetWeights(weights)
	for k, p := range modeWeights {
		m.VisibleBias[k] = float32(math.Log(p))
	}
	return m
}

// Sums over missing cells are right for models whose Gibbs chains do not mix: by listing states, by enumeration of the
// hidden layer, and by annealing. All cells are missing, or the last few. A Gibbs chain from the fill, and
// the score of the fill itself, are far from the exact value.
func TestGapSumsOfModes(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		what          string
		columns, each int
		exact         bool
	}{{"listed", 4, 2, true}, {"hidden layer", 12, 2, true}, {"annealed", 12, 6, false}} {
		m := copies(c.columns, c.each)
		g := NewGaps(m, 2)
		fill := func() {
			for r := range 2 {
				for i, cell := range g.cells {
					cell.put(g.V, r, 1, 0)
					g.mark(r, i, r == 0 || i > 0)
				}
			}
		}
		fill()
		free, stdErr := make([]float64, 2), make([]float64, 2)
		if err := g.FreeEnergy(ctx, m, free, stdErr, rbm.NewKey(1)); err != nil {
			t.Fatal(err)
		}
		if c.exact != (stdErr[0] == 0) || !(stdErr[0] < 0.5) {
			t.Fatalf("%s: standard error %v", c.what, stdErr[0])
		}
		tol := 1e-4 + 6*math.Hypot(stdErr[0], stdErr[1])
		// With a known first cell, the sum is that of one mode.
		if got, want := free[0]-free[1], math.Log(modeWeights[1]); math.Abs(got-want) > tol {
			t.Errorf("%s: log p of the first cell is %v, want %v ± %v", c.what, got, want, tol)
		}
		scored := make([]float64, 2)
		m.FreeEnergy(scored, g.V)
		if got, want := free[0]-scored[0], math.Log(modeWeights[1]); math.Abs(got-want) > 0.2+tol {
			t.Errorf("%s: the mode has log p %v, want %v", c.what, got, want)
		}
		if x := scored[0] - scored[1]; math.Abs(x-math.Log(modeWeights[1])) < 1 {
			t.Errorf("%s: the fills score %v, as good as the sums", c.what, x)
		}
		logp := [][]float64{make([]float64, 3*c.columns), make([]float64, 3*c.columns)}
		if err := g.Scores(ctx, m, logp, stdErr, true, rbm.NewKey(2)); err != nil {
			t.Fatal(err)
		}
		tol = 1e-3
		if !c.exact {
			tol = 6 * math.Sqrt(0.25/annealedChains*(1+annealedChains*stdErr[0]*stdErr[0]))
		}
		for k, p := range modeWeights {
			for _, i := range []int{0, c.columns - 1} {
				if got := math.Exp(logp[0][3*i+k]); math.Abs(got-p) > tol {
					t.Errorf("%s: cell %d has level %d with probability %v, want %v ± %v", c.what, i, k, got, p, tol)
				}
			}
			if got := math.Exp(logp[1][k]); math.Abs(got-p) > tol { // the only known cell of its row
				t.Errorf("%s: the known cell has level %d with probability %v, want %v ± %v", c.what, k, got, p, tol)
			}
		}
		// A Gibbs chain stays in the mode of the fill.
		elsewhere := 0
		for step := range 300 {
			g.Move(m, rbm.NewKey(3).Child(uint64(step)))
			if g.cells[0].Level(g.V, 0) != 1 {
				elsewhere++
			}
		}
		if elsewhere > 30 {
			t.Errorf("%s: the chain leaves its mode in %d of 300 rounds, want at most 30", c.what, elsewhere)
		}
		draws := 60.0
		if !c.exact {
			draws = 20
		}
		var n [3]float64
		for d := range int(draws) {
			fill()
			if err := g.Draw(ctx, m, 0, rbm.NewKey(4).Child(uint64(d))); err != nil {
				t.Fatal(err)
			}
			for i := range g.cells {
				if g.cells[i].Level(g.V, 0) != g.cells[0].Level(g.V, 0) {
					t.Fatalf("%s: a draw of unequal cells", c.what)
				}
			}
			n[g.cells[0].Level(g.V, 0)]++
		}
		chi2 := 0.0
		for k, p := range modeWeights {
			chi2 += (n[k] - draws*p) * (n[k] - draws*p) / (draws * p)
		}
		if z := (chi2 - 2) / 2; z > 6 {
			t.Errorf("%s: %v draws of the modes: z = %.1f, want at most 6", c.what, n, z)
		}
	}
}

// The reported standard errors of log p of levels and of classes agree with the errors over several keys.
func TestErrorsOfLevels(t *testing.T) {
	ctx := context.Background()
	m := copies(12, 6)
	groups := append([]rbm.Group(nil), m.Groups()...)
	groups[11].Label = true
	labelled := rbm.NewGroups(m.Hidden(), groups...)
	weights := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	labelled.SetWeights(weights)
	copy(labelled.VisibleBias, m.VisibleBias)
	g := NewGaps(labelled, 1)
	for i := range g.cells {
		g.cells[i].put(g.V, 0, 1, 0)
		g.mark(0, i, true)
	}
	const keys = 16
	var levels, classes float64 // sums of squares of errors divided by reported errors
	for key := range keys {
		logp, stdErr := [][]float64{make([]float64, labelled.Visible())}, make([]float64, 1)
		if err := g.Scores(ctx, labelled, logp, stdErr, false, rbm.NewKey(uint64(key))); err != nil {
			t.Fatal(err)
		}
		if !(stdErr[0] < 0.15) { // 0.25 for 64 chains
			t.Errorf("key %d: the standard error is %v; more chains were to be drawn, want less than 0.15", key, stdErr[0])
		}
		z := (logp[0][2] - math.Log(modeWeights[2])) / stdErr[0] // the rarest level has the largest error
		levels += z * z / keys
		byClass := make([]float64, 3)
		if err := g.ClassLogProb(ctx, labelled, byClass, stdErr, rbm.NewKey(uint64(key))); err != nil {
			t.Fatal(err)
		}
		z = (byClass[2] - math.Log(modeWeights[2])) / stdErr[0]
		classes += z * z / keys
	}
	// χ² with 16 degrees of freedom, divided by 16, is in 0.246 … 2.45 except with probability 0.001 at each side.
	for what, z2 := range map[string]float64{"levels": levels, "classes": classes} {
		if z2 < 0.246 || z2 > 2.45 {
			t.Errorf("the squares of the errors of log p of %s are %.2f times what is reported, want 0.246 to 2.45", what, z2)
		}
	}
}
