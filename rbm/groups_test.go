package rbm

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm/units"
)

// grouped returns a model whose visible layer has softmax groups before, between and after
// Bernoulli units.
func grouped(label ...Group) *RBM {
	m := NewGroups(3, append([]Group{{Kind: Softmax, Units: 3}, {Kind: Bernoulli, Units: 2}, {Kind: Softmax, Units: 2}}, label...)...)
	m.Randomize(1, NewKey(3))
	return m
}

// A clone has the groups of its model. A clone that keeps only the label, as in an earlier version,
// differs.
func TestCloneKeepsGroups(t *testing.T) {
	for _, m := range []*RBM{grouped(), grouped(Group{Kind: Softmax, Units: 2, Label: true}), grouped(Group{Kind: Bernoulli, Units: 2, Label: true})} {
		c := m.Clone()
		if !c.Equal(m) || c.GroupsText() != m.GroupsText() || c.Classes() != m.Classes() {
			t.Errorf("%s: the clone has %q", m.GroupsText(), c.GroupsText())
		}
		label, _ := m.Label()
		b := New(m.Visible(), m.Hidden(), label.Units, label.Kind)
		if b.Set(m); b.Equal(m) || b.SameShape(m) {
			t.Errorf("%s: equal to a model of Bernoulli inputs", m.GroupsText())
		}
	}
}

func TestParseGroups(t *testing.T) {
	for _, text := range []string{"softmax:3 bernoulli:2 softmax:2", "softmax:3 bernoulli:2:label"} {
		groups, err := ParseGroups(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := NewGroups(1, groups...).GroupsText(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	for _, text := range []string{"", "softmax", "softmax:0", "softmax:-1", "soft:3", "softmax:3:label softmax:3", "softmax:3:labels", "softmax:3  softmax:3", "softmax:3 "} {
		if g, err := ParseGroups(text); err == nil {
			t.Errorf("%q is read as %v", text, g)
		}
	}
	if got := New(5, 2, 3, Softmax).GroupsText(); got != "" {
		t.Errorf("inputs and a label are %q, want nothing", got)
	}
}

// Steps leave the distribution of a model with groups invariant. With Bernoulli units instead of
// groups, steps leave its set of states.
func TestGroupsAreStationary(t *testing.T) {
	const rows = 20000
	for _, m := range []*RBM{grouped(), grouped(Group{Kind: Softmax, Units: 2, Label: true})} {
		all := states(m)
		for _, beta := range []float64{1, 0.4} {
			p, _ := probabilities(all, beta)
			run := func(m *RBM, base *Base) float64 {
				s := NewStates(m, rows)
				s.Base = base
				startExactly(s, all, p, NewKey(1))
				b := make([]float32, rows)
				fill(b, float32(beta))
				m.Step(s, b, 3, NewKey(2))
				counts := countStates(s, all)
				if counts == nil {
					return math.Inf(1)
				}
				return diag.StationarityZ(counts, p)
			}
			if z := run(m, nil); z > 6 {
				t.Errorf("%s, β = %v: z = %.1f", m.GroupsText(), beta, z)
			}
			if z := run(m, UniformBase(m)); z > 6 {
				t.Errorf("%s, β = %v, a base: z = %.1f", m.GroupsText(), beta, z)
			}
			if z := run(func() *RBM { c := m.Clone(); c.SetLabel(0, Softmax); return c }(), nil); z < 6 {
				t.Errorf("%s: Bernoulli units are not seen: z = %.1f", m.GroupsText(), z)
			}
		}
	}
}

// Means, free energies and log Z of a base agree with sums over all states, and annealing with the
// exact log Z.
func TestGroupsAgainstAllStates(t *testing.T) {
	m := grouped(Group{Kind: Softmax, Units: 2, Label: true})
	all := states(m)
	p, logZ := probabilities(all, 1)
	pv := marginals(all, p)
	var rows [][]int
	for k := range pv {
		v := make([]int, m.Visible())
		for i := range v {
			v[i] = k >> i & 1
		}
		rows = append(rows, v)
	}
	v := bitsOf(rows)
	f := make([]float64, v.Rows)
	m.FreeEnergy(f, v)
	for r, row := range rows {
		near(t, "log p(v)", -f[r]-logZ, math.Log(pv[key(row)]), exactTol*10)
	}
	b := randomBase(m, 1, 4)
	bare := m.Clone()
	bare.Parameters().Zero()
	copy(bare.VisibleBias, b.VisibleBias)
	copy(bare.HiddenBias, b.HiddenBias)
	_, logZ0 := probabilities(states(bare), 1)
	near(t, "log Z of the base", b.LogZ(m), logZ0, exactTol*10)

	h := bitsOf([][]int{{1, 0, 1}})
	mean := NewMatrix(1, m.Visible())
	m.VisibleMean(mean, h)
	want, total := make([]float64, m.Visible()), 0.0
	for i, s := range all {
		if s.h[0] == 1 && s.h[1] == 0 && s.h[2] == 1 {
			total += p[i]
			for j, x := range s.v {
				want[j] += p[i] * float64(x)
			}
		}
	}
	for i, x := range mean.Row(0) {
		near(t, "visible mean", float64(x), want[i]/total, 1e-6) // a few roundings of 2⁻²⁴
	}

	const chains = 20000
	start, hidden := NewBits(chains, m.Visible()), NewBits(chains, m.Hidden())
	b.Draw(m, start, hidden, NewKey(5))
	logw, err := annealed(m, b, []float64{0, 0.25, 0.5, 0.75, 1}, start)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.CheckSoftmax(start); err != nil {
		t.Fatal(err)
	}
	sum, squares := 0.0, 0.0
	for _, x := range logw {
		w := math.Exp(x + b.LogZ(m) - logZ) // has mean 1
		sum, squares = sum+w, squares+w*w
	}
	average := sum / chains
	if z := (average - 1) / math.Sqrt((squares/chains-average*average)/chains); math.Abs(z) > 6 {
		t.Errorf("mean weight %v of Z, z = %.1f", average, z)
	}
}

// A group may extend over two words.
func TestGroupAcrossWords(t *testing.T) {
	m := NewGroups(70, Group{Kind: Bernoulli, Units: 62}, Group{Kind: Softmax, Units: 70}, Group{Kind: Bernoulli, Units: 3})
	m.Randomize(0.5, NewKey(1))
	s := NewStates(m, 50)
	s.H.Randomize(NewKey(2))
	m.Step(s, nil, 2, NewKey(3))
	if err := m.CheckSoftmax(s.V); err != nil {
		t.Fatal(err)
	}
	if !s.V.Get(0, 134) && !s.V.Get(1, 134) && !s.V.Get(2, 134) && !s.V.Get(3, 134) && !s.V.Get(4, 134) {
		t.Error("the last Bernoulli unit is never on")
	}
}

// Functions that enumerate or flip units refuse other groups, with the same text.
func TestGroupsAreRefused(t *testing.T) {
	m := grouped(Group{Kind: Softmax, Units: 2, Label: true})
	want := m.CheckBinary()
	if !errors.Is(want, ErrUnits) || want.Error() != "units are not binary: visible units 0 … 2 are one softmax group" {
		t.Errorf("got %v", want)
	}
	if err := New(4, 2, 2, Softmax).CheckBinary(); err != nil {
		t.Errorf("inputs and a label: %v", err)
	}
	if err := (&Constraint{On: HiddenUnits, Active: 1}).Check(m); !errors.Is(err, ErrUnits) {
		t.Errorf("a constraint: %v", err)
	}
}

// Draws of single rows are identical to those of many rows, whose rows are the lanes of vectors.
// Groups lie within a block, across two, or are longer than a block, at any β, with and without a
// base.
func TestGroupsRowByRow(t *testing.T) {
	m := NewGroups(70, Group{Kind: Softmax, Units: 3}, Group{Kind: Bernoulli, Units: 50}, Group{Kind: Softmax, Units: 21}, Group{Kind: Softmax, Units: 130}, Group{Kind: Softmax, Units: 64},
		Group{Kind: Softmax, Units: 1}, Group{Kind: Bernoulli, Units: 1}, Group{Kind: Softmax, Units: 10, Label: true})
	m.Randomize(0.4, NewKey(1))
	base := randomBase(m, 1, 4)
	for _, b := range []*Base{nil, base} {
		for _, rows := range []int{transposedRows, 100, 200} {
			var s [2]*States
			var beta []float32
			for k := range s {
				s[k] = NewStates(m, rows)
				s[k].Base = b
				s[k].H.Randomize(NewKey(2))
			}
			if rows > transposedRows {
				beta = make([]float32, rows)
				for r := range beta {
					beta[r] = float32(r%4) / 3
				}
			}
			m.Step(s[0], beta, 2, NewKey(3))
			for r := range rows {
				m.StepRows(s[1], r, r+1, beta, 2, NewKey(3))
			}
			if !slices.Equal(s[0].V.Words, s[1].V.Words) || !slices.Equal(s[0].H.Words, s[1].H.Words) {
				t.Errorf("%d rows: others row by row", rows)
			}
			if err := m.CheckSoftmax(s[0].V); err != nil {
				t.Error(err)
			}
		}
	}
}

// Methods that need Gaussian visible units or bits refuse a model of other real units under their name.
func TestOtherRealUnitsAreRefused(t *testing.T) {
	m := NewGroups(2, Group{Kind: Bernoulli, Units: 2}, Group{Kind: units.ReLU, Units: 3})
	for name, err := range map[string]error{"CheckGaussian": m.CheckGaussian(), "CheckSites": m.CheckSites(), "CheckBits": m.CheckBits(), "CheckSpins": m.CheckSpins()} {
		if !errors.Is(err, ErrUnits) || !strings.Contains(err.Error(), "visible units 2 … 4 are relu units") {
			t.Errorf("%s: got %v, want an error that names relu units", name, err)
		}
	}
	if m := NewGroups(2, Group{Kind: Gaussian, Units: 3}); m.CheckGaussian() != nil || m.CheckSites() != nil || m.CheckBits() == nil {
		t.Error("Gaussian units: got a refusal other than that of CheckBits")
	}
}
