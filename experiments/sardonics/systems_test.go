package main

import (
	"math"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"gorbm/experiments/internal/chains"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// An RBM as an Ising system has the same energies up to a constant.
func TestSpins(t *testing.T) {
	m := rbm.New(5, 4, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))
	r := rbm.NewKey(2).Rand()
	for i := range m.VisibleBias {
		m.VisibleBias[i] = float32(r.NormFloat64())
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] = float32(r.NormFloat64())
	}
	g, err := spins(m)
	if err != nil {
		t.Fatal(err)
	}
	units, ising := mcmc.NewRBM(mcmc.NewParameters(m)), mcmc.NewIsing(g, nil)
	offset := units.Energy() - ising.Energy()
	state := make([]uint8, 9)
	for range 50 {
		for i := range state {
			state[i] = uint8(r.IntN(2))
		}
		units.SetState(state)
		ising.SetState(state)
		// Parameters of an RBM are rounded to 2⁻³⁰ of the largest preactivation, about 10.
		if d := units.Energy() - ising.Energy() - offset; math.Abs(d) > 9*10*math.Exp2(-30) {
			t.Fatalf("energies differ by %g more at %v, want ±%g at most", d, state, 9*10*math.Exp2(-30))
		}
	}
}

// Fields of ±1 leave the couplings as they are.
func TestWithFields(t *testing.T) {
	l, err := mcmc.ParseLattice("6x6", true)
	if err != nil {
		t.Fatal(err)
	}
	before, err := l.Graph(mcmc.PlusMinus(1, rbm.NewKey(1)), 0)
	if err != nil {
		t.Fatal(err)
	}
	after, err := withFields(before, rbm.NewKey(2))
	if err != nil {
		t.Fatal(err)
	}
	up := 0
	for i := range before.Len() {
		a, x := before.Neighbors(i)
		b, y := after.Neighbors(i)
		if !slices.Equal(a, b) || !slices.Equal(x, y) || math.Abs(after.Field(i)) != 1 {
			t.Fatalf("spin %d has neighbours %v %v and field %g; want %v %v and ±1", i, b, y, after.Field(i), a, x)
		}
		if after.Field(i) > 0 {
			up++
		}
	}
	// 36 fair coins: 18 ± 3, so 0 or 36 are 6 standard deviations away.
	if up == 0 || up == before.Len() {
		t.Errorf("%d of %d fields are up", up, before.Len())
	}
}

func TestVersions(t *testing.T) {
	for name, want := range map[string]struct {
		walks int
		mixed bool
	}{pure: {1, false}, iterated: {3, false}, mixed: {1, true}, full: {3, true}} {
		m := cube.version(name).(mcmc.Sardonics)
		if m.Walks != want.walks || (m.Mix[1] > 0) != want.mixed || m.MinLength != 4 || m.MaxLength != 30 || m.Gamma1 != 1.039 {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestFlipped(t *testing.T) {
	if got := flipped([]uint8{0, 1, 0, 1}, []uint8{1, 1, 0, 0}); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("got %v, want [0 3]", got)
	}
}

// τ of independent energies is ½ move, in each unit of cost. τ of a constant run is its length.
func TestMeasure(t *testing.T) {
	const n, sites, updates = 4000, 7, 3
	r := rbm.NewKey(1).Rand()
	run := chains.Run{Name: sweeps, Energies: make([]float64, n), Seconds: n * 1e-3, Info: mcmc.Info{Updates: updates * n}}
	points := func() map[string]float64 {
		got := map[string]float64{}
		measure(func(panel, _ string, _, y float64) { got[panel] = y }, run, n/5, sites)
		return got
	}
	frozen := points()
	if want := n - n/5.; frozen[chains.Tau+moves] != want {
		t.Errorf("τ of a constant run is %g, want %g", frozen[chains.Tau+moves], want)
	}
	for i := range run.Energies {
		run.Energies[i] = r.NormFloat64()
	}
	got := points()
	// The standard error of τ = ½ with a window W of a few lags is below √(2(2W+1)/n)/2, 0.05.
	if math.Abs(got[chains.Tau+moves]-0.5) > 3*0.05 {
		t.Errorf("τ of independent energies is %g moves, want 0.5 ± %.3g", got[chains.Tau+moves], 3*0.05)
	}
	tau := got[chains.Tau+moves]
	for panel, want := range map[string]float64{chains.Tau + flips: updates * tau, chains.Tau + seconds: 1e-3 * tau, chains.Gain: 500 / tau, chains.Micro: 1000} {
		if math.Abs(got[panel]/want-1) > 1e-9 {
			t.Errorf("%s is %g, want %g", panel, got[panel], want)
		}
	}
}

// The heat bath of random sites has the mean energy of a ring of four spins, −4·(tanh β + tanh³ β)/(1 + tanh⁴ β).
func TestHeatBath(t *testing.T) {
	l, err := mcmc.ParseLattice("4", true)
	if err != nil {
		t.Fatal(err)
	}
	g, err := l.Graph(mcmc.Uniform(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	const beta, moves = 0.5, 40_000
	x := mcmc.NewIsing(g, nil)
	chain, err := heatBath{7}.Bind(x, beta, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := rbm.NewKey(1).Rand()
	energies := make([]float64, moves)
	var info mcmc.Info
	for i := range energies {
		info.Add(chain.Move(r))
		energies[i] = x.Energy()
	}
	if info.Moves != moves || info.Updates != 7*moves {
		t.Errorf("counted %d moves and %d updates, want %d and %d", info.Moves, info.Updates, moves, 7*moves)
	}
	s := diag.Summarize(energies)
	u := math.Tanh(beta)
	want := -4 * (u + u*u*u) / (1 + u*u*u*u)
	_, sd := stat.MeanStdDev(energies, nil)
	if z := (stat.Mean(energies, nil) - want) / (sd / math.Sqrt(s.Effective)); math.Abs(z) > 5 {
		t.Errorf("the mean energy is %g standard errors from %g, want ±5 at most", z, want)
	}
}

// A picture shows the first and the last energy, and no energy twice.
func TestTraceAt(t *testing.T) {
	for _, before := range []int{0, 20} {
		at := traceAt(before, 80)
		if at[0] != 0 || at[len(at)-1] != 79 || !slices.IsSorted(at) || len(slices.Compact(slices.Clone(at))) != len(at) {
			t.Errorf("after %d moves: %v", before, at)
		}
	}
}

// isingmc reads the couplings and fields of the graph from the file.
func TestFile(t *testing.T) {
	name, err := frustrated.file(t.Context(), &programs{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(name)
	c, err := frustrated.make(t.Context(), &programs{}, true)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	g, err := mcmc.ReadGraph(f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.graph.Len() {
		a, x := c.graph.Neighbors(i)
		b, y := g.Neighbors(i)
		if !slices.Equal(a, b) || !slices.Equal(x, y) || c.graph.Field(i) != g.Field(i) {
			t.Fatalf("spin %d has neighbours %v %v and field %g; want %v %v and %g", i, b, y, g.Field(i), a, x, c.graph.Field(i))
		}
	}
}

// Uniform couplings lie in [−1, 1] and have the variance 1/3.
func TestBetween(t *testing.T) {
	const n = 10_000
	c := between(rbm.NewKey(1))(n)
	// The variance of a square is 4/45.
	if v := stat.Mean(squares(c), nil); slices.Max(c) > 1 || slices.Min(c) < -1 || math.Abs(v-1./3) > 5*math.Sqrt(4./45/n) {
		t.Errorf("from %g to %g with the mean square %g", slices.Min(c), slices.Max(c), v)
	}
}

func squares(x []float64) (y []float64) {
	for _, v := range x {
		y = append(y, v*v)
	}
	return y
}
