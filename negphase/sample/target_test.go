package sample

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// model returns a model whose conditional distributions are far from
// uniform and from each other.
func model(visible, hidden, classes int, label rbm.Kind, c *rbm.Constraint) *rbm.RBM {
	m := rbm.New(visible, hidden, classes, label)
	m.Randomize(1.2, rbm.NewKey(3))
	m.Constraint = c
	return m
}

// conditional returns the conditional probabilities of the visible states of m that agree with q. Keys are the bits of
// the free units. It sums over all joint
// states, without Given.
func conditional(m *rbm.RBM, q Query) map[int]float64 {
	weight, total := map[int]float64{}, 0.0
	for joint := range 1 << (m.Visible() + m.Hidden()) {
		on := func(i int) bool { return joint>>i&1 == 1 }
		active, labels := 0, 0
		for i := range m.Visible() + m.Hidden() {
			counts := m.Constraint != nil && (m.Constraint.On == rbm.AllUnits || i >= m.Visible())
			if counts && on(i) {
				active++
			}
			if i >= m.Inputs() && i < m.Visible() && on(i) {
				labels++
			}
		}
		if m.Constraint != nil && active != m.Constraint.Active || len(m.SoftmaxGroups()) > 0 && labels != 1 {
			continue
		}
		state, bit, meets := 0, 0, true
		for i := range m.Visible() {
			switch {
			case i < m.Inputs() && q.Inputs != nil && q.Inputs[i] != rbm.FreeInput:
				meets = meets && on(i) == (q.Inputs[i] == 1)
			case i >= m.Inputs() && q.Class != rbm.Free:
				meets = meets && on(i) == (i-m.Inputs() == q.Class)
			default:
				if on(i) {
					state |= 1 << bit
				}
				bit++
			}
		}
		if !meets {
			continue
		}
		e := 0.0
		for i := range m.Visible() {
			if !on(i) {
				continue
			}
			e -= float64(m.VisibleBias[i])
			for j := range m.Hidden() {
				if on(m.Visible() + j) {
					e -= float64(m.Weight(i, j))
				}
			}
		}
		for j := range m.Hidden() {
			if on(m.Visible() + j) {
				e -= float64(m.HiddenBias[j])
			}
		}
		weight[state] += math.Exp(-e)
		total += math.Exp(-e)
	}
	for s := range weight {
		weight[s] /= total
	}
	return weight
}

// z tests the states of d, which are independent draws, against a distribution.
func z(t *testing.T, d Draw, want map[int]float64) float64 {
	t.Helper()
	counts, p := make([]int, 1<<d.V.Cols), make([]float64, 1<<d.V.Cols)
	for r := range d.V.Rows {
		state := 0
		d.V.Each(r, func(i int) { state |= 1 << i })
		counts[state]++
	}
	for s, x := range want {
		p[s] = x
	}
	return diag.StationarityZ(counts, p)
}

// settings parses a sampler. Each of its chains, which are independent, gives one
// sample.
func settings(t *testing.T, text string) Settings {
	t.Helper()
	n, err := negphase.Parse(text, negphase.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return Settings{Sampler: n, Samples: n.Count("chains"), Rounds: 48}
}

// Samples of a model given some of its units have the conditional distribution, for both
// kinds of label, given and free, and under constraints. They do not have the distribution given
// other values.
func TestConditionalDistribution(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for name, c := range map[string]struct {
		m       *rbm.RBM
		q       Query
		sampler string
	}{
		"inputs":            {model(5, 3, 0, rbm.Softmax, nil), Query{[]float32{1, rbm.FreeInput, 0, rbm.FreeInput, rbm.FreeInput}, rbm.Free}, "pcd"},
		"class":             {model(6, 3, 3, rbm.Softmax, nil), Query{nil, 1}, "pcd"},
		"inputs and class":  {model(7, 3, 2, rbm.Softmax, nil), Query{[]float32{1, rbm.FreeInput, 1, rbm.FreeInput, rbm.FreeInput}, 0}, "pcd"},
		"a free label":      {model(7, 3, 3, rbm.Softmax, nil), Query{[]float32{1, rbm.FreeInput, 1, rbm.FreeInput}, rbm.Free}, "pcd"},
		"the label alone":   {model(7, 3, 3, rbm.Softmax, nil), Query{[]float32{1, 0, 1, 0}, rbm.Free}, "pcd"},
		"Bernoulli label":   {model(6, 3, 2, rbm.Bernoulli, nil), Query{[]float32{1, rbm.FreeInput, 1, rbm.FreeInput}, rbm.Free}, "pcd"},
		"Bernoulli class":   {model(6, 3, 2, rbm.Bernoulli, nil), Query{[]float32{1, rbm.FreeInput, rbm.FreeInput, rbm.FreeInput}, 1}, "pcd"},
		"hidden constraint": {model(6, 4, 2, rbm.Softmax, &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}), Query{[]float32{1, rbm.FreeInput, rbm.FreeInput, rbm.FreeInput}, 1}, "pcd"},
		"constraint on all": {model(6, 4, 2, rbm.Softmax, &rbm.Constraint{On: rbm.AllUnits, Active: 5}), Query{[]float32{1, rbm.FreeInput, rbm.FreeInput, rbm.FreeInput}, 1}, "walk:exchange"},
	} {
		target, err := c.q.Target(c.m, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, err := target.Draw(t.Context(), settings(t, c.sampler+":chains=3000"), rbm.NewKey(9), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if z := z(t, d, conditional(c.m, c.q)); !(math.Abs(z) < 6) {
			t.Errorf("%s: z = %.1f, want ±6 at most", name, z)
		}
		other := c.q // the first given unit has the other value
		if c.q.Inputs != nil {
			other.Inputs = append([]float32{1 - c.q.Inputs[0]}, c.q.Inputs[1:]...)
		} else {
			other.Class = 2
		}
		if z := z(t, d, conditional(c.m, other)); !(z > 12) {
			t.Errorf("%s: z = %.1f for another distribution: the test is blind, want more than 12", name, z)
		}
	}
}

// Every estimator with chains samples the distribution. A sample of a ladder is a particle drawn by the
// weights.
func TestEverySampler(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	m := model(5, 4, 0, rbm.Softmax, nil)
	target, err := Query{Class: rbm.Free}.Target(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := conditional(m, Query{Class: rbm.Free})
	for _, text := range []string{"pcd:chains=3000", "pt:tau=1/2/4:chains=3000", "ins:tau=1/2/4:chains=3000", "pins:tau=1/2/3/4:chains=3000",
		"pt:tau=auto:chains=1000", "sardonics:chains=3000", "im:chains=3000", "walk:metropolis:order=random:chains=3000"} {
		s := settings(t, text)
		s.Rounds = 16
		d, err := target.Draw(t.Context(), s, rbm.NewKey(4), nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if z := z(t, d, want); !(math.Abs(z) < 6) {
			t.Errorf("%s: z = %.1f, want ±6 at most", text, z)
		}
	}
	listed := Settings{Sampler: negphase.DefaultSettings("exact"), Samples: 3000}
	d, err := target.Draw(t.Context(), listed, rbm.NewKey(4), nil)
	if err != nil || !d.Mixed || d.Effective != 3000 {
		t.Fatalf("exact: %+v, %v", d.Proof, err)
	}
	if z := z(t, d, want); !(math.Abs(z) < 6) {
		t.Errorf("exact: z = %.1f, want ±6 at most", z)
	}
	for _, kind := range []string{"cd", "ptt"} {
		if _, err := target.Draw(t.Context(), Settings{Sampler: negphase.DefaultSettings(kind), Samples: 3, Rounds: 16}, rbm.NewKey(1), nil); err == nil {
			t.Errorf("%s samples", kind)
		}
	}
}

// pick draws an index by its weight.
func TestPick(t *testing.T) {
	weight := []float32{0, 0.2, 0, 0.5, 0.3, 0}
	counts := make([]int, len(weight))
	const n = 10000
	for i := range n {
		counts[pick(weight, (float64(i)+0.5)/n)]++
	}
	for i, w := range weight { // u runs over an equally spaced grid
		if got := float64(counts[i]) / n; math.Abs(got-float64(w)) > 1.0/n+1e-6 {
			t.Errorf("weight %d is %v, drawn %v", i, w, got)
		}
	}
	if got := pick(weight, math.Nextafter(1, 0)); got != 4 {
		t.Errorf("the largest uniform draws %d, want 4", got)
	}
}

// twoModes returns a model of 12 inputs that are nearly all on or nearly all off, with
// equal probabilities. Gibbs chains do not cross between these modes. The set has rows of
// both modes, or of one.
func twoModes(both bool) (*rbm.RBM, *data.Set) {
	const n, hidden = 12, 4
	m := rbm.New(n, hidden, 0, rbm.Softmax)
	w := rbm.NewMatrix(n, hidden)
	for i := range w.Data {
		w.Data[i] = 2.5
	}
	m.SetWeights(w)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = -2.5 * hidden / 2
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] = -2.5 * n / 2
	}
	set := &data.Set{Name: "modes", X: rbm.NewBits(40, n), Height: 3, Width: 4}
	for r := range 40 {
		for i := range n {
			set.X.Set(r, i, !both || r%2 == 0)
		}
	}
	return m, set
}

// Stuck chains are detected, and ladders replace them if no sampler is named.
func TestChainsThatStick(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	m, one := twoModes(false)
	target, err := Query{Class: rbm.Free}.Target(m, one)
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Samples: 20, Rounds: 2048}
	s.Sampler = Defaults("pcd", s.Samples)
	d, err := target.Draw(t.Context(), s, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Mixed || d.Why.Kind == "" || d.Start != FromData || d.Rounds != s.Rounds || d.PicturesP > diag.LeastP {
		t.Errorf("Gibbs chains in one of two modes: %+v", d.Proof)
	}
	for r := range d.V.Rows {
		if n := d.V.Slice(r, r+1).Count(); n < 6 {
			t.Errorf("a chain from data has come to the other mode: sample %d has %d units on; the test is wrong, want at least 6", r, n)
		}
	}
	s.Start = FromRandom
	if d, err = target.Draw(t.Context(), s, rbm.NewKey(1), nil); err != nil || d.Start != FromRandom || d.Row != nil {
		t.Errorf("samples from random states: %v, %+v, got %q, want %q", err, d.Proof, d.Start, FromRandom)
	}
	s = Settings{Samples: 60, Rounds: 4096}
	target.Base = nil // a base fitted to rows of one mode would hinder reaching the other
	d, err = target.Draw(t.Context(), s, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Mixed || d.Ladders != 20 || d.RoundTrips < 200 || d.Start != FromRandom || d.Rounds > s.Rounds/ladderShare {
		t.Errorf("a tuned ladder: %+v", d.Proof)
	}
	high := 0
	for r := range d.V.Rows {
		if d.V.Slice(r, r+1).Count() > 6 {
			high++
		}
	}
	// Half of 60 draws are expected; the tolerance is six standard deviations of the binomial distribution.
	if sd := math.Sqrt(60) / 2; math.Abs(float64(high)-30) > 6*sd {
		t.Errorf("%d of 60 samples in one of two equal modes, want 30 ± %.3g", high, 6*sd)
	}
}

// doubt returns the first failed test, in order, with the limits included.
func TestDoubt(t *testing.T) {
	good := Proof{BurnIn: 100, Tau: 20, P: diag.LeastP, PicturesP: diag.LeastP, Ladders: 20, RoundTrips: 200}
	for _, c := range []struct {
		change func(p *Proof)
		want   diag.Kind
	}{
		{func(*Proof) {}, ""},
		{func(p *Proof) { p.P, p.PicturesP = math.NaN(), math.NaN() }, ""}, // without rows
		{func(p *Proof) { p.Ladders, p.RoundTrips = 0, 0 }, ""},
		{func(p *Proof) { p.RoundTrips = 199 }, diag.FewTrips},
		{func(p *Proof) { p.Tau = 20.1 }, diag.ShortBurnIn},
		{func(p *Proof) { p.TauErr = math.Inf(1) }, diag.Endless},
		{func(p *Proof) { p.P = 0.0049 }, diag.MeansDiffer},
		{func(p *Proof) { p.PicturesP = 0.0049 }, diag.StatesDiffer},
		{func(p *Proof) { p.Tau = math.Inf(1) }, diag.Constant},
		{func(p *Proof) { p.Tau = math.NaN() }, diag.TooFew},
	} {
		p := good
		c.change(&p)
		if got := p.doubt().Kind; got != c.want {
			t.Errorf("%+v: got %q, want %q", p, got, c.want)
		}
	}
}

// Chains that mix pass the tests for any data.
func TestChainsThatMix(t *testing.T) {
	m := model(8, 4, 2, rbm.Softmax, nil)
	set := &data.Set{Name: "rows", X: rbm.NewBits(30, 6), Y: make([]int32, 30), Classes: []string{"a", "b"}, Height: 2, Width: 3}
	for r := range 30 {
		set.Y[r] = int32(r % 2)
	}
	mixed := 0
	const repeats = 20
	for k := range repeats {
		sheet, err := DrawEach(t.Context(), m, set, []Query{{Class: 1}}, Settings{Samples: 20, Rounds: 1024}, rbm.NewKey(uint64(k)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if sheet.Mixed() {
			mixed++
		}
		if sheet.Start[0] != rbm.Free && sheet.Mixed() {
			t.Errorf("samples of chains that have mixed start at data: got %v, want %v", sheet.Start[0], rbm.Free)
		}
	}
	// A run fails each time with probability 1/100. Three of twenty fail with probability
	// below 1/1000.
	if mixed < repeats-2 {
		t.Errorf("%d of %d runs have mixed, want at least %d", mixed, repeats, repeats-2)
	}
}

// A sheet has the given values of units, and draws do not depend on other queries or on the number of
// processors.
func TestDrawEach(t *testing.T) {
	m := model(7, 3, 3, rbm.Softmax, nil)
	queries := []Query{{Inputs: []float32{1, rbm.FreeInput, 0, rbm.FreeInput}, Class: 2}, {Inputs: []float32{rbm.FreeInput, 1, 1, 0}, Class: rbm.Free}}
	s := Settings{Samples: 130, Rounds: 64} // more samples than chains
	run := func(queries []Query, key rbm.Key) Sheet {
		t.Helper()
		sheet, err := DrawEach(t.Context(), m, nil, queries, s, key, nil)
		if err != nil {
			t.Fatal(err)
		}
		return sheet
	}
	sheet := run(queries, rbm.NewKey(1))
	for r := range sheet.Values.Rows {
		q := queries[r/s.Samples]
		for i, x := range q.Inputs {
			got, mean := sheet.Values.Get(r, i), sheet.Means.Row(r)[i]
			if x != rbm.FreeInput && (got != (x == 1) || mean != x) || !(mean >= 0 && mean <= 1) {
				t.Fatalf("row %d: unit %d is %v, %v; given %v", r, i, got, mean, x)
			}
		}
		if y := sheet.Class[r]; q.Class == 2 && y != 2 || y < 0 || y > 2 || sheet.Start[r] != rbm.Free {
			t.Fatalf("row %d: class %d, start %d", r, y, sheet.Start[r])
		}
	}
	if again := run(queries, rbm.NewKey(1)); string(bytesOf(again)) != string(bytesOf(sheet)) {
		t.Error("equal keys give other samples")
	}
	processors := runtime.GOMAXPROCS(1)
	again := run(queries, rbm.NewKey(1))
	runtime.GOMAXPROCS(processors)
	if string(bytesOf(again)) != string(bytesOf(sheet)) || !slices.Equal(again.Means.Data, sheet.Means.Data) || again.Draws[0].Tau != sheet.Draws[0].Tau {
		t.Error("another number of processors gives other samples")
	}
	if alone := run(queries[:1], rbm.NewKey(1)); string(bytesOf(alone)[:s.Samples]) != string(bytesOf(sheet)[:s.Samples]) {
		t.Error("samples depend on the queries after them")
	}
	if other := run(queries, rbm.NewKey(2)); string(bytesOf(other)) == string(bytesOf(sheet)) {
		t.Error("other keys give the same samples")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := DrawEach(ctx, m, nil, queries, s, rbm.NewKey(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is done: %v, want %v", err, context.Canceled)
	}
	m.VisibleBias[1] = float32(math.Inf(1))
	if _, err := DrawEach(t.Context(), m, nil, queries[:1], s, rbm.NewKey(1), nil); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("an infinite bias: %v, want %v", err, rbm.ErrDiverged)
	}
}

func bytesOf(s Sheet) (b []byte) {
	for r := range s.Values.Rows {
		b = append(b, byte(s.Values.Row(r)[0]))
	}
	return b
}

// If a constraint on all units allows one state, every sample has this state.
func TestSingleState(t *testing.T) {
	m := rbm.New(3, 2, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 5}
	sheet, err := DrawEach(t.Context(), m, nil, []Query{{Class: rbm.Free}}, Settings{Samples: 2, Rounds: 16}, rbm.NewKey(1), nil)
	if err != nil || sheet.Values.Count() != 6 || !sheet.Mixed() {
		t.Errorf("all units on: %v, %v", sheet, err)
	}
}
