package sample

import (
	"math"
	"slices"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// tabular returns a model with three real units, a variable of three states and a bit. It has three hidden units, and
// further ones without weights, which do not change the distribution of visible units.
func tabular(further int) *rbm.RBM {
	m := rbm.NewGroups(3+further, rbm.Group{Kind: rbm.Gaussian, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Gaussian, Units: 1}, rbm.Group{Kind: rbm.Bernoulli, Units: 1})
	m.Randomize(1.2, rbm.NewKey(8))
	w := rbm.NewMatrix(7, 3+further)
	m.Weights(w)
	for i := range 7 {
		clear(w.Row(i)[3:])
		for j := range 3 { // independent of the number of further units
			w.Row(i)[j] = float32(math.Sin(float64(3*i+j+1))) * 1.25
		}
		m.VisibleBias[i] = float32(math.Cos(float64(i)))
	}
	m.SetWeights(w)
	copy(m.HiddenBias, []float32{-2, -1.75, -2.25})
	clear(m.HiddenBias[3:])
	for _, i := range []int{0, 1, 5} {
		m.VisibleParams()[0][i] = 0.5 + float32(i)/2
	}
	return m
}

// A mixture is a mixture of Gaussians with equal standard deviations.
type mixture struct {
	p, mean   []float64
	deviation float64
}

// exactly returns log Σ exp(−F) over the missing cells of a row of tabular, and the distribution of real unit i if it is
// missing. It sums over the states of the hidden units, with the visible units in closed form.
func exactly(m *rbm.RBM, row []float32, missing func(unit int) bool, i int) (float64, mixture) {
	var logs []float64
	var mix mixture
	for h := range 8 {
		logw := float64(m.Hidden()-3) * math.Ln2
		var z [7]float64
		for j := range 3 {
			logw += float64(h>>j&1) * float64(m.HiddenBias[j])
		}
		for i := range z {
			z[i] = float64(m.VisibleBias[i])
			for j := range 3 {
				z[i] += float64(h>>j&1) * float64(m.Weight(i, j))
			}
			x, precision := float64(row[i]), float64(m.VisibleParams()[0][i])
			switch {
			case !missing(i):
				logw += x*z[i] - precision*x*x/2 // precision is 0 for other units
			case precision > 0:
				logw += z[i]*z[i]/(2*precision) + math.Log(2*math.Pi/precision)/2
			case i == 6:
				logw += math.Log1p(math.Exp(z[i]))
			case i == 4:
				logw += rbm.LogSumExp(z[2:5])
			}
		}
		logs = append(logs, logw)
		if precision := float64(m.VisibleParams()[0][i]); precision > 0 {
			mix.mean, mix.deviation = append(mix.mean, z[i]/precision), 1/math.Sqrt(precision)
		}
	}
	sum := rbm.LogSumExp(logs)
	for _, x := range logs {
		mix.p = append(mix.p, math.Exp(x-sum))
	}
	return sum, mix
}

// tabularSet returns rows with the given gaps. Cells 0, 1 and 3 are real, cell 2 has three states, and cell 4 is a bit.
func tabularSet(row []float32, gaps ...[]int) *data.Set {
	n := len(gaps)
	s := &data.Set{Name: "rows", X: rbm.NewBits(n, 7), Grey: rbm.NewMatrix(n, 7), Missing: rbm.NewBits(n, 7),
		Groups: []rbm.Group{{Kind: rbm.Gaussian, Units: 2}, {Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Gaussian, Units: 1}, {Kind: rbm.Bernoulli, Units: 1}}}
	units := [][]int{{0}, {1}, {2, 3, 4}, {5}, {6}}
	for r, cells := range gaps {
		copy(s.Grey.Row(r), row)
		for _, c := range cells {
			for _, i := range units[c] {
				s.Missing.Set(r, i, true)
			}
		}
	}
	return s
}

var (
	tabularRow  = []float32{0.75, -1.25, 0, 0, 1, 2, 1}
	tabularGaps = [][]int{nil, {0}, {3}, {2}, {0, 4}, {0, 1}, {1, 2, 3}, {0, 1, 3}, {0, 1, 2, 3, 4}}
	unitsOfCell = []int{0, 1, 2, 5, 6}
)

// Sums over missing cells, including real ones, and log p of each cell of a row agree with closed forms. They are computed by
// listing nodes and states, or hidden states, and estimated if there are too many of both. One row is far from all others.
func TestRealCellsAgainstClosedForms(t *testing.T) {
	far := append([]float32{-40}, tabularRow[1:]...)
	for _, further := range []int{0, 15} {
		m := tabular(further)
		for _, row := range [][]float32{tabularRow, far} {
			set := tabularSet(row, tabularGaps...)
			g := NewGaps(m, set.Len())
			g.Set(set, data.RowNumbers(0, set.Len()), 0)
			free, stdErr := make([]float64, set.Len()), make([]float64, set.Len())
			if err := g.FreeEnergy(t.Context(), m, free, stdErr, rbm.NewKey(1)); err != nil {
				t.Fatal(err)
			}
			annealed := 0
			for r := range free {
				want, _ := exactly(m, row, func(i int) bool { return set.Missing.Get(r, i) }, 0)
				// Nodes and hidden biases are float32; 2e-6 bounds the effect of their rounding.
				if tol := 2e-6*(1+math.Abs(want)) + 6*stdErr[r]; !(math.Abs(-free[r]-want) <= tol) {
					t.Errorf("%d hidden units, gaps %v: log Σ exp(−F) is %v, want %v ± %v", m.Hidden(), tabularGaps[r], -free[r], want, tol)
				}
				if stdErr[r] > 0 {
					annealed++
				}
			}
			if want := map[int]int{0: 0, 15: 2}[further]; annealed != want {
				t.Errorf("%d hidden units: %d rows are estimated, want %d", m.Hidden(), annealed, want)
			}
			err := EachCellLogProb(t.Context(), m, set, rbm.NewKey(2), func(r int, logp []float64, stdErr float64) {
				for cell, unit := range unitsOfCell {
					if set.Missing.Get(r, unit) {
						continue
					}
					in := func(also bool) func(int) bool {
						return func(i int) bool {
							return set.Missing.Get(r, i) || also && (i == unit || cell == 2 && i >= 2 && i <= 4)
						}
					}
					with, _ := exactly(m, row, in(false), 0)
					without, _ := exactly(m, row, in(true), 0)
					want := with - without
					if tol := 2e-6*(1+math.Abs(with)) + 6*stdErr; !(math.Abs(logp[cell]-want) <= tol) {
						t.Errorf("%d hidden units, gaps %v: log p of cell %d is %v, want %v ± %v", m.Hidden(), tabularGaps[r], cell, logp[cell], want, tol)
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Means and quantiles of missing real cells agree with those of their distribution, a mixture of Gaussians.
func TestQuantiles(t *testing.T) {
	for _, further := range []int{0, 15} {
		m := tabular(further)
		set := tabularSet(tabularRow, tabularGaps...)
		err := EachPosterior(t.Context(), m, set, rbm.NewKey(2), func(r int, cells []int, p *Posterior) error {
			for i, cell := range cells {
				unit := unitsOfCell[cell]
				if m.VisibleParams()[0][unit] == 0 {
					continue
				}
				_, mix := exactly(m, tabularRow, func(i int) bool { return set.Missing.Get(r, i) }, unit)
				mean := 0.0
				for h, p := range mix.p {
					mean += p * mix.mean[h]
				}
				// The error of a mean is at most the range of the mixture times that of its probabilities.
				tol := p.Worst() * (slices.Max(mix.mean) - slices.Min(mix.mean)) * 8
				if got := p.Mean(i); math.Abs(got-mean) > 1e-6*(1+math.Abs(mean))+tol {
					t.Errorf("gaps %v: the mean of cell %d is %v, want %v", tabularGaps[r], cell, got, mean)
				}
				probabilities := []float64{0.01, 0.05, 0.25, 0.5, 0.9, 0.999}
				for k, x := range p.Quantiles(i, probabilities) {
					got := 0.0
					for h, p := range mix.p {
						got += p * math.Erfc((mix.mean[h]-x)/(mix.deviation*math.Sqrt2)) / 2
					}
					if want := probabilities[k]; math.Abs(got-want) > 1e-4+8*p.Worst() {
						t.Errorf("gaps %v: cell %d is below %v with probability %v, want %v", tabularGaps[r], cell, x, got, want)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Fills have the conditional distribution, by listing hidden states or states of cells, and by chains:
// their moments agree with those of the mixture within six standard errors. So do the states of chains. Fills for another
// value of a known cell do not.
func TestRealFills(t *testing.T) {
	for _, c := range []struct {
		further, rows int
		gaps          []int
	}{{0, 2000, []int{0}}, {0, 2000, []int{0, 2}}, {0, 2000, []int{0, 1, 2, 3, 4}}, {15, 1000, []int{0}}, {15, 1000, []int{0, 1, 3}}} {
		m, rows, gaps := tabular(c.further), c.rows, c.gaps
		g := NewGaps(m, rows)
		all := make([][]int, rows)
		for r := range all {
			all[r] = gaps
		}
		set := tabularSet(tabularRow, all...)
		missing := func(i int) bool { return set.Missing.Get(0, i) }
		off := func(row []float32) (worst float64) {
			_, mix := exactly(m, row, missing, 0)
			for power := 1; power <= 3; power++ {
				want, sum, squares := 0.0, 0.0, 0.0
				for h, p := range mix.p {
					mu, v := mix.mean[h], mix.deviation*mix.deviation
					want += p * []float64{mu, mu*mu + v, mu*mu*mu + 3*mu*v}[power-1]
				}
				for r := range rows {
					x := math.Pow(float64(g.V.At(r, 0)), float64(power))
					sum, squares = sum+x, squares+x*x
				}
				n := float64(rows)
				mean := sum / n
				worst = max(worst, math.Abs(mean-want)/math.Sqrt((squares/n-mean*mean)/n))
			}
			return worst
		}
		check := func(what string) {
			t.Helper()
			for r := range rows {
				for i, x := range tabularRow {
					if !missing(i) && g.V.At(r, i) != x {
						t.Fatalf("%s: a known cell has changed", what)
					}
				}
				if v := g.V; v.At(r, 2)+v.At(r, 3)+v.At(r, 4) != 1 {
					t.Fatalf("%s: a variable of three states has none, or several", what)
				}
			}
			if z := off(tabularRow); z > 6 {
				t.Errorf("gaps %v, %s: z = %.1f, want at most 6", gaps, what, z)
			}
			if len(gaps) < 3 {
				if z := off([]float32{0, 3, 0, 1, 0, 3, 1}); z < 6 {
					t.Errorf("gaps %v, %s: fills given another value pass: z = %.1f, want at least 6", gaps, what, z)
				}
			}
		}
		g.Set(set, data.RowNumbers(0, rows), 0)
		for r := range rows {
			_, p, err := g.Posterior(t.Context(), m, r, rbm.NewKey(5).Child(uint64(r)))
			if err != nil {
				t.Fatal(err)
			}
			free := 0
			g.Missing.Each(r, func(i int) {
				g.V.Put(r, i, p.Draw.At(0, free))
				free++
			})
		}
		check("draws")
		g.Set(set, data.RowNumbers(0, rows), 0)
		for step := range 60 {
			g.Move(m, rbm.NewKey(6).Child(uint64(step)))
		}
		check("chains")
		if n := testing.AllocsPerRun(5, func() { g.Move(m, rbm.NewKey(7)) }); n > 0 && !parallel.Raced() { // under the race detector a sync.Pool drops items at random
			t.Errorf("%v allocations in a move, want 0", n)
		}
	}
}
