package negphase

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/parallel"
	"gorbm/rbm/units"
)

// For a model with Gaussian units, each estimator that supports them has the exact moments
// of v and v² within the standard error of its groups. The moments for another precision differ.
func TestGaussianNegativePhases(t *testing.T) {
	m := rbm.NewGroups(2, rbm.Group{Kind: rbm.Gaussian, Units: 2})
	copy(m.VisibleBias, []float32{0.3, -0.2})
	copy(m.HiddenBias, []float32{-0.1, 0.4})
	m.SetWeights(rbm.Matrix{Rows: 2, Cols: 2, Data: []float32{0.5, -1, 0.25, 0.75}})
	copy(m.VisibleParams()[0], []float32{2, 0.5})
	want := [2][2]float64{{-0.067426846506, 0.571414573414}, {0.904421382128, 3.366590164119}} // ⟨v⟩, ⟨v²⟩
	base := rbm.NewBase(m, []float32{0.2, 1}, 100)
	base.VisibleParams[0][1] = 0.4
	const groups = 4000
	for _, text := range []string{"pcd:chains=4000", "pt:chains=4000:tau=1/2/inf", "ins:chains=4000:tau=1/2/inf", "pins:chains=4000:tau=1/2/4/inf", "ins:chains=4000:tau=1/2/inf:path=data",
		"sardonics:chains=4000", "im:chains=4000:k=1", "walk:gibbs:chains=4000", "pt:chains=4000:tau=1/2/inf:sardonics"} {
		s, err := Parse(text, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if s.NeedsBase() {
			s.SetBase(base)
		}
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		var phase rbm.Phase
		for i := range 30 {
			if phase, _, err = e.Estimate(m, rbm.Batch{}, rbm.NewKey(7).Child(uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
		each := phase.V.Rows / groups
		for i := range want {
			for power, want := range want[i] {
				z := func(want float64) float64 {
					sum, squares := 0.0, 0.0
					for g := range groups {
						x := 0.0
						for r := g * each; r < (g+1)*each; r++ {
							w := 1.0
							if phase.Weight != nil {
								w = float64(phase.Weight[r]) * groups
							}
							x += w * math.Pow(float64(phase.V.Matrix().Row(r)[i]), float64(power+1))
						}
						sum, squares = sum+x, squares+x*x
					}
					mean := sum / groups
					return (mean - want) / math.Sqrt((squares/groups-mean*mean)/groups)
				}
				if x := z(want); math.Abs(x) > 6 {
					t.Errorf("%s: ⟨v%d^%d⟩ is off by %.1f standard errors", text, i, power+1, x)
				}
				if x := z(want + 0.35*math.Sqrt(want+1)); math.Abs(x) < 6 {
					t.Errorf("%s: ⟨v%d^%d⟩ passes for another", text, i, power+1)
				}
			}
		}
	}
}

// For a visible layer with Gaussian units, a categorical variable and a bit, each estimator that supports them has the
// exact moments of the visible units within the standard error of its groups. The moments of another model differ.
func TestMixedNegativePhases(t *testing.T) {
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Gaussian, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 1})
	m.Randomize(0.7, rbm.NewKey(6))
	m.VisibleParams()[0][0], m.VisibleParams()[0][1] = 2, 0.75
	e, err := exact.New(m, exact.GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	want := rbm.NewMoments(m)
	e.Moments(want)
	base := rbm.NewBase(m, []float32{0.2, 0.5, 0.3, 0.3, 0.4, 0.6}, 100)
	const groups = 4000
	for _, text := range []string{"pcd:chains=4000", "pt:chains=4000:tau=1/2/inf", "ins:chains=4000:tau=1/2/inf", "pins:chains=4000:tau=1/2/4/inf", "ins:chains=4000:tau=1/2/inf:path=data"} {
		s, err := Parse(text, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if s.NeedsBase() {
			s.SetBase(base)
		}
		e, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		var phase rbm.Phase
		for i := range 30 {
			if phase, _, err = e.Estimate(m, rbm.Batch{}, rbm.NewKey(7).Child(uint64(i))); err != nil {
				t.Fatal(err)
			}
		}
		each, passes := phase.V.Rows/groups, 0
		for i, want := range want.V {
			sum, squares := 0.0, 0.0
			for g := range groups {
				x := 0.0
				for r := g * each; r < (g+1)*each; r++ {
					w := 1 / float64(each)
					if phase.Weight != nil {
						w = float64(phase.Weight[r]) * groups
					}
					x += w * float64(phase.V.At(r, i))
				}
				sum, squares = sum+x, squares+x*x
			}
			mean := sum / groups
			se := math.Sqrt((squares/groups - mean*mean) / groups)
			if z := (mean - float64(want)) / se; math.Abs(z) > 6 {
				t.Errorf("%s: ⟨v%d⟩ is off by %.1f standard errors", text, i, z)
			}
			if math.Abs(mean-float64(m.VisibleBias[i])) < 6*se {
				passes++
			}
		}
		if passes == len(want.V) {
			t.Errorf("%s: other moments pass", text)
		}
	}
}

// Estimators that keep states as bits, or flip or update bits, return an error of one line for real units.
func TestRealUnitsRefused(t *testing.T) {
	m := rbm.NewGroups(4, rbm.Group{Kind: rbm.Gaussian, Units: 3})
	for _, text := range []string{"ptt", "walk:block-gibbs", "walk:flip", "pt:flip"} {
		s := parse(t, text)
		if _, err := s.CheckModel(m); !errors.Is(err, rbm.ErrUnits) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
		batch := rbm.Batch{V: m.NewVisible(2), H: rbm.NewMatrix(2, 4)}
		if _, _, err := estimator(t, text).Estimate(m, batch, rbm.NewKey(1)); !errors.Is(err, rbm.ErrUnits) {
			t.Errorf("%s: Estimate: %v", text, err)
		}
	}
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	if _, err := parse(t, "im").CheckModel(m); !errors.Is(err, rbm.ErrConstraint) {
		t.Errorf("a constraint: %v", err)
	}
	if _, err := parse(t, "sardonics").CheckModel(rbm.NewGroups(1, rbm.Group{Kind: rbm.Gaussian, Units: 3})); err == nil {
		t.Error("no error for a single unit to move")
	}
}

// gaussianModels returns models with Gaussian units: alone, and together with bits and a label.
func gaussianModels(seed uint64, sd float64) []*rbm.RBM {
	models := []*rbm.RBM{
		grouped(seed, sd, 4, rbm.Group{Kind: rbm.Gaussian, Units: 5}),
		grouped(seed, sd, 3, rbm.Group{Kind: rbm.Bernoulli, Units: 2}, rbm.Group{Kind: rbm.Gaussian, Units: 3}, rbm.Group{Kind: rbm.Softmax, Units: 3, Label: true}),
	}
	for _, m := range models {
		p := m.VisibleParams()[0]
		for i := range p {
			if p[i] != 0 {
				p[i] = float32(0.6 + rbm.NewKey(seed).Uniform(uint64(i)))
			}
		}
	}
	return models
}

// gaussianBatch returns a positive phase of random examples for m.
func gaussianBatch(m *rbm.RBM, rows int) rbm.Batch {
	s := rbm.NewStates(m, rows)
	m.RandomizeHidden(s.H, rbm.NewKey(1))
	m.Step(s, nil, 1, rbm.NewKey(2))
	return rbm.Batch{V: s.V, H: s.Mean}
}

// All kinds of the conformance table that support Gaussian units give identical results at any
// GOMAXPROCS and after a checkpoint. They do not change their inputs, and allocate nothing.
func TestGaussianConformance(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	eachKind(t, func(t *testing.T, settings string) {
		if settings == "exact" {
			t.Skip("it has no chains")
		}
		for _, m := range gaussianModels(5, 0.5) {
			if _, err := parse(t, settings).CheckModel(m); err != nil {
				if !errors.Is(err, rbm.ErrUnits) {
					t.Error(err)
				}
				t.Skip(err)
			}
			runtime.GOMAXPROCS(1)
			pos, before := gaussianBatch(m, 6), m.Clone()
			input := words(rbm.Phase{Batch: pos}, Info{})
			want := call(t, estimator(t, settings), m, pos, 0, 5)
			runtime.GOMAXPROCS(3)
			e := estimator(t, settings)
			first := call(t, e, m, pos, 0, 2)
			saved, err := e.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			restored := estimator(t, settings)
			if err := restored.UnmarshalBinary(saved); err != nil {
				t.Fatal(err)
			}
			again, err := restored.MarshalBinary()
			if err != nil || !bytes.Equal(again, saved) {
				t.Fatalf("saved again it has other bytes, %v", err)
			}
			if got := append(first, call(t, restored, m, pos, 2, 5)...); !slices.Equal(got, want) {
				t.Errorf("%v: other results with more processors and a checkpoint: %s", m.GroupsText(), firstDifference(got, want))
			}
			if !m.Equal(before) || !slices.Equal(input, words(rbm.Phase{Batch: pos}, Info{})) {
				t.Errorf("%v: inputs are changed", m.GroupsText())
			}
			if len(saved) > 0 && restored.UnmarshalBinary(saved[:len(saved)-1]) == nil {
				t.Errorf("%v: chains that are cut short are taken", m.GroupsText())
			}
			if n := 5; !parallel.Raced() {
				if a := testing.AllocsPerRun(20, func() {
					n++
					if _, _, err := e.Estimate(m, pos, rbm.NewKey(uint64(n))); err != nil {
						t.Fatal(err)
					}
				}); a != 0 {
					t.Errorf("%v: %v allocations a call", m.GroupsText(), a)
				}
			}
		}
	})
}

// at returns a model with the distribution of m at inverse temperature beta, on the path from the uniform base.
func at(m *rbm.RBM, beta float32) *rbm.RBM {
	c := m.Clone()
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	for _, x := range [][]float32{w.Data, c.VisibleBias, c.HiddenBias} {
		for i := range x {
			x[i] *= beta
		}
	}
	c.SetWeights(w)
	for _, g := range c.Groups() {
		for i := g.First; g.Kind == rbm.Gaussian && i < g.First+g.Units; i++ {
			c.VisibleParams()[0][i] = beta*m.VisibleParams()[0][i] + 1 - beta
		}
	}
	return c
}

// hiddenDistribution returns the probability of each state of the hidden units of m, indexed by their bits.
func hiddenDistribution(m *rbm.RBM) []float64 {
	logs := make([]float64, 1<<m.Hidden())
	for x := range logs {
		for j := range m.Hidden() {
			logs[x] += float64(x>>j&1) * float64(m.HiddenBias[j])
		}
		for _, g := range m.Groups() {
			z := make([]float64, g.Units)
			for c := range z {
				z[c] = float64(m.VisibleBias[g.First+c])
				for j := range m.Hidden() {
					z[c] += float64(x>>j&1) * float64(m.Weight(g.First+c, j))
				}
			}
			switch g.Kind {
			case rbm.Gaussian:
				for c, z := range z {
					logs[x] += z * z / (2 * float64(m.VisibleParams()[0][g.First+c]))
				}
			case rbm.Bernoulli:
				for _, z := range z {
					logs[x] += math.Log1p(math.Exp(z))
				}
			default:
				logs[x] += rbm.LogSumExp(z)
			}
		}
	}
	sum := rbm.LogSumExp(logs)
	for x := range logs {
		logs[x] = math.Exp(logs[x] - sum)
	}
	return logs
}

// Walks on the units of Gaussian models that are not Gaussian leave the distribution of the model invariant at each
// temperature. Chains on a marginal for another inverse temperature do not.
func TestGaussianWalksAreStationary(t *testing.T) {
	const chains = 2400
	draw := func(t *testing.T, m *rbm.RBM, rows int) rbm.Values {
		v, h := m.NewVisible(rows), rbm.NewBits(rows, m.Hidden())
		if err := exact.Draw(t.Context(), m, v, h, startFrom); err != nil {
			t.Fatal(err)
		}
		return h
	}
	z := func(m *rbm.RBM, h rbm.Values, rows []int32) float64 {
		counts := make([]int, 1<<m.Hidden())
		for _, r := range rows {
			counts[h.Row(int(r))[0]]++
		}
		return diag.StationarityZ(counts, hiddenDistribution(m))
	}
	for _, m := range gaussianModels(3, 0.9) {
		start := draw(t, m, chains)
		for _, text := range []string{"sardonics:k=1-3:moves=2", "sardonics:k=1-2:gamma=.7/1.3:mix=2/1/1:gibbs=1", "sardonics:k=1-3:gamma=.5:weights=boltzmann", "im:k=1-2:moves=2", "walk:exchange", "walk:gibbs:order=random", "walk:metropolis", "walk:wolff:moves=3"} {
			for _, broken := range []bool{false, true} {
				w := build[*walk](set(t, text, "chains", chains))
				w.saved = savedChains{h: start}
				if broken {
					w.moves.moves = 10
					if err := w.begin(m, rbm.Batch{}, callFrom); err != nil {
						t.Fatal(err)
					}
					if err := w.moves.prepare(m, coldest, w.rows); err != nil {
						t.Fatal(err)
					}
					if err := w.moves.marginals[0].Set(m, nil, 0.4); err != nil {
						t.Fatal(err)
					}
					if err := w.moves.run(m, w.states, w.at, nil, callFrom, &w.info, &w.team); err != nil {
						t.Fatal(err)
					}
				} else if _, _, err := w.Estimate(m, rbm.Batch{}, callFrom); err != nil {
					t.Fatal(err)
				}
				z := z(m, w.states.H, w.at)
				t.Logf("%s, %s, broken %v: z = %.1f", m.GroupsText(), text, broken, z)
				if !broken && z > 6 || broken && z < 10 {
					t.Errorf("%s, %s, broken %v: z = %.1f", m.GroupsText(), text, broken, z)
				}
			}
		}
		for _, kind := range []string{"pt", "ins"} {
			e := build[Estimator](set(t, kind+":swaps=2:tau=1/1.6/16:sardonics:k=1-3", "chains", chains/3))
			var l *ladder
			if p, ok := e.(*pt); ok {
				l = &p.ladder
			} else {
				l = &e.(*ins).ladder
			}
			var starts []rbm.Values
			for _, beta := range l.beta {
				starts = append(starts, draw(t, at(m, float32(beta)), chains/3))
			}
			l.saved.h = rbm.NewBits(l.rows, m.Hidden())
			for r := range l.rows {
				l.saved.h.CopyRow(r, starts[r%3], r/3)
			}
			if _, _, err := e.Estimate(m, rbm.Batch{}, callFrom); err != nil {
				t.Fatal(err)
			}
			for k, beta := range l.beta {
				if z := z(at(m, float32(beta)), l.states.H, l.rowsAt(k)); z > 6 {
					t.Errorf("%s, %s at β = %.3g: z = %.1f", m.GroupsText(), kind, beta, z)
				}
			}
		}
	}
}

// For a model with visible ReLU units, each estimator has the exact means of both layers, or CheckModel refuses it
// under the name of the units.
func TestReLUNegativePhases(t *testing.T) {
	m := rbm.NewGroups(3, rbm.Group{Kind: units.ReLU, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2})
	m.Randomize(0.6, rbm.NewKey(5))
	e, err := exact.New(m, exact.GradientLimit)
	if err != nil {
		t.Fatal(err)
	}
	want := rbm.NewMoments(m)
	e.Moments(want)
	const chains = 4000
	ran := 0
	for _, text := range []string{"exact", "pcd:chains=4000", "pt:chains=4000:tau=1/2/inf", "ins:chains=4000:tau=1/2/inf", "pins:chains=4000:tau=1/2/4/inf", "ptt",
		"sardonics", "im:k=1", "walk:gibbs", "walk:exchange", "walk:metropolis", "pt:tau=1/2/inf:sardonics"} {
		s, err := Parse(text, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.CheckModel(m); err != nil {
			if !strings.Contains(err.Error(), "relu") || !errors.Is(err, rbm.ErrUnits) {
				t.Errorf("%s: got %v, want an error that names relu units", text, err)
			}
			continue
		}
		ran++
		if got := meansAfter(t, s, m, 40); got == nil {
			t.Errorf("%s: no estimate", text)
		} else {
			for i, x := range got.V {
				variance := float64(want.Squares[i]) - float64(want.V[i])*float64(want.V[i])
				if z := float64(x-want.V[i]) / math.Sqrt(variance/chains); math.Abs(z) > 6 {
					t.Errorf("%s: ⟨v%d⟩ is %v, want %v: z = %.1f", text, i, x, want.V[i], z)
				}
			}
		}
	}
	if ran < 5 {
		t.Errorf("only %d estimators run", ran)
	}
}

// meansAfter returns the moments of an estimate after the given number of updates.
func meansAfter(t *testing.T, s Settings, m *rbm.RBM, updates int) *rbm.Moments {
	t.Helper()
	e, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	var phase rbm.Phase
	for i := range updates {
		if phase, _, err = e.Estimate(m, rbm.Batch{}, rbm.NewKey(7).Child(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	got := rbm.NewMoments(m)
	phase.SetMoments(got)
	return got
}
