package sample

import (
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

// Sums over cells, probabilities and draws are right for models whose Gibbs chains do not mix: by listing states of
// cells or of the hidden layer, and by chains from annealed starts. All cells are missing, or all but the first. Chains from
// random starts are wrong, and so is the score of one state.
func TestModes(t *testing.T) {
	for _, c := range []struct {
		what          string
		columns, each int
		exact         bool
	}{{"listed", 4, 2, true}, {"hidden layer", 12, 2, true}, {"chains", 12, 6, false}} {
		m := copies(c.columns, c.each)
		g := NewGaps(m, 2)
		for r := range 2 {
			for i, cell := range g.cells {
				cell.put(g.V, r, 1)
				g.mark(r, i, r == 0 || i > 0)
			}
		}
		free, stdErr := make([]float64, 2), make([]float64, 2)
		if err := g.FreeEnergy(t.Context(), m, free, stdErr, rbm.NewKey(1)); err != nil {
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
		if x := scored[0] - scored[1]; math.Abs(x-math.Log(modeWeights[1])) < 1 {
			t.Errorf("%s: the states score %v, as good as the sums", c.what, x)
		}
		_, p, err := g.Posterior(t.Context(), m, 0, rbm.NewKey(2))
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range modeWeights {
			for _, i := range []int{0, c.columns - 1} {
				tol := 1e-3
				if !c.exact {
					tol += 6 * p.StdErr[i][k]
				}
				if got := math.Exp(p.LogP[i][k]); math.Abs(got-want) > tol {
					t.Errorf("%s: cell %d has level %d with probability %v, want %v ± %v", c.what, i, k, got, want, tol)
				}
			}
		}
		logp := make([]float64, c.columns) // the only known cell of row 1
		se, err := g.cellLogProbs(t.Context(), m, 1, logp, rbm.NewKey(3))
		if want := math.Log(modeWeights[1]); err != nil || math.Abs(logp[0]-want) > 1e-3+6*se {
			t.Errorf("%s: log p of the known cell is %v ± %v, want %v (%v)", c.what, logp[0], se, want, err)
		}
		draws := 40.0
		if !c.exact {
			draws = 15
		}
		var n [3]float64
		for d := range int(draws) {
			_, p, err := g.Posterior(t.Context(), m, 0, rbm.NewKey(4).Child(uint64(d)))
			if err != nil {
				t.Fatal(err)
			}
			level := p.Cells[0].Level(p.Draw, 0)
			for i := range p.Cells {
				if p.Cells[i].Level(p.Draw, 0) != level {
					t.Fatalf("%s: a draw of unequal cells", c.what)
				}
			}
			n[level]++
		}
		chi2 := 0.0
		for k, p := range modeWeights {
			chi2 += (n[k] - draws*p) * (n[k] - draws*p) / (draws * p)
		}
		if z := (chi2 - 2) / 2; z > 6 {
			t.Errorf("%s: %v draws of the modes: z = %.1f, want at most 6", c.what, n, z)
		}
		// Broken: a Gibbs chain stays in the mode of its start.
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
	}
}

// mixed returns a model of cells of all kinds and a label, with random parameters, whose hidden states can be listed.
func mixed(seed uint64, scale float64) *rbm.RBM {
	m := rbm.NewGroups(9, rbm.Group{Kind: rbm.Softmax, Units: 4}, rbm.Group{Kind: rbm.Bernoulli, Units: 3}, rbm.Group{Kind: rbm.Gaussian, Units: 2},
		rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Softmax, Units: 5, Label: true})
	m.Randomize(scale, rbm.NewKey(seed))
	for i := range m.VisibleParams()[0][7:9] {
		m.VisibleParams()[0][7+i] = 0.5 + float32(i)
	}
	return m
}

// The standard errors of estimates agree with their errors, by comparison with lists of all states: of the probability of a
// level and of log Z. Cells depend weakly, strongly, or have three modes between which chains do not move. A third of
// the errors does not agree.
func TestErrorsAreCalibrated(t *testing.T) {
	const models = 20
	for _, scale := range []float64{0.5, 1.5, 0} {
		p2, sum2, within := 0.0, 0.0, 0
		for seed := range uint64(models) {
			m := copies(8, 3)
			if scale > 0 {
				m = mixed(seed, scale)
			}
			want, err := NewPosterior(t.Context(), m, rbm.NewKey(seed))
			if err != nil || want.StdErr != nil {
				t.Fatalf("the states are not listed: %v", err)
			}
			got := Posterior{Cells: Cells(m)}
			if err := got.sample(t.Context(), m, rbm.NewKey(seed)); err != nil {
				t.Fatal(err)
			}
			i, k := typical(want)
			z := (math.Exp(got.LogP[i][k]) - math.Exp(want.LogP[i][k])) / got.StdErr[i][k]
			p2 += z * z
			if math.Abs(z) < 2 {
				within++
			}
			exact, _, err := LogSum(t.Context(), m, rbm.NewKey(seed))
			if err != nil {
				t.Fatal(err)
			}
			sum, stdErr, err := annealedSum(t.Context(), m, rbm.NewKey(seed))
			if err != nil {
				t.Fatal(err)
			}
			sum2 += (sum - exact) * (sum - exact) / (stdErr * stdErr)
		}
		t.Logf("scale %v: z² of p %.2f, of log Z %.2f; %d of %d within two errors", scale, p2/models, sum2/models, within, models)
		// χ² with 20 degrees of freedom is above 52.4 with probability 10⁻⁴.
		for what, chi2 := range map[string]float64{"probabilities": p2, "log Z": sum2} {
			if chi2 > 52.4 {
				t.Errorf("scale %v: the squares of the errors of %s are %.2f times what is reported, want at most 2.6", scale, what, chi2/models)
			}
			if 9*chi2 < 52.4 {
				t.Errorf("scale %v: a third of the errors of %s passes", scale, what)
			}
		}
	}
}

// typical returns a level whose probability is closest to 0.3.
func typical(p *Posterior) (cell, level int) {
	best := math.Inf(1)
	for i, logp := range p.LogP {
		for k, x := range logp {
			if d := math.Abs(math.Exp(x) - 0.3); d < best {
				cell, level, best = i, k, d
			}
		}
	}
	return cell, level
}
