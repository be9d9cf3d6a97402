package negphase

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// constrainedStart is newExactStart for a model with a constraint on its hidden
// units. It leaves out states that the constraint forbids.
func constrainedStart(s shape, base bool, c *rbm.Constraint) *exactStart {
	m := s.random(31, sharpSD)
	m.Constraint = c
	x := &exactStart{m: m, all: permitted(m)}
	if base {
		x.base = randomBase(m, 6)
		x.all = withBase(x.all, x.base)
	}
	for _, t := range testTemperatures {
		x.p = append(x.p, distribution(x.all, 1/t))
	}
	x.c = newCensus(x.all)
	return x
}

// permitted lists the states of m that its constraint allows.
func permitted(m *rbm.RBM) []state {
	return slices.DeleteFunc(states(m), func(s state) bool {
		units := s.h
		if m.Constraint.On == rbm.AllUnits {
			units = append(slices.Clone(s.v), s.h...)
		}
		active := 0
		for _, x := range units {
			active += x
		}
		return active != m.Constraint.Active
	})
}

// constrainedMoments returns E f under the distribution p over the states all, where f has v hᵀ, v and h.
func constrainedMoments(all []state, p []float64) []float64 {
	var mean []float64
	for x, s := range all {
		var f []float64
		for _, v := range s.v {
			for _, h := range s.h {
				f = append(f, float64(v*h))
			}
		}
		for _, v := range append(slices.Clone(s.v), s.h...) {
			f = append(f, float64(v))
		}
		mean = addTo(mean, p[x], f)
	}
	return mean
}

// constraints has one constraint for each model of sharp.
var constraints = []*rbm.Constraint{
	{On: rbm.HiddenUnits, Active: 2},
	{On: rbm.HiddenUnits, Active: 3},
	{On: rbm.HiddenUnits, Active: 1},
	{On: rbm.HiddenUnits, Active: 1},
}

// Under a constraint on the hidden units, every estimator that keeps the constraint leaves the distribution at each
// temperature invariant from an exact start, and its estimate has the exact mean. With a wrong β it does not.
func TestConstrainedEstimatesAreStationary(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for i, s := range sharp {
		if !taken(i, len(sharp)) {
			continue
		}
		for _, base := range []bool{false, true} {
			x := constrainedStart(s, base, constraints[i])
			want := constrainedMoments(x.all, x.p[0])
			check := func(name string, z float64, phase rbm.Phase) {
				t.Helper()
				d := deviation(groupEstimates(phase, exactGroups), want)
				if z > 6 || d > 1 {
					t.Errorf("%v, base %v: %s: z = %.1f, the mean is off by %.2f tolerances", s, base, name, z, d)
				}
			}
			run := func(e Estimator, pos rbm.Batch) rbm.Phase {
				t.Helper()
				phase, _, err := e.Estimate(x.m, pos, callFrom)
				if err != nil {
					t.Fatal(err)
				}
				return phase
			}
			pt, ins, pins := x.pt(Sweep), x.ins("ins"), x.ins("pins")
			for _, c := range []struct {
				name string
				e    Estimator
				l    *ladder
			}{{"pt", pt, &pt.ladder}, {"ins", ins, &ins.ladder}, {"pins", pins, &pins.ladder}} {
				phase := run(c.e, rbm.Batch{})
				check(c.name, x.worst(t, c.l), phase)
			}
			if base {
				continue
			}
			p := build[*pcd](set(t, "pcd:k=2", "chains", exactGroups))
			p.saved = savedChains{h: drawExactly(x.all, x.p[:1], p.rows)}
			phase := run(p, rbm.Batch{})
			check("pcd", x.c.z(t, p.states, numbers(p.rows), x.p[0]), phase)

			pos := rbm.Batch{V: rbm.NewBits(exactGroups, x.m.Visible()), H: rbm.NewMatrix(exactGroups, x.m.Hidden())}
			for r := range exactGroups {
				for i, v := range x.all[pick(x.p[0], startFrom.Uniform(uint64(r)))].v {
					pos.V.Set(r, i, v != 0)
				}
			}
			x.m.HiddenMean(pos.H, pos.V)
			c := build[*cd](set(t, "cd", "k", 2))
			phase = run(c, pos)
			check("cd", x.c.z(t, c.states, numbers(exactGroups), x.p[0]), phase)

			// The β of one row is wrong by a fifth.
			broken := x.pt(Sweep)
			if err := broken.begin(x.m, rbm.Batch{}, callFrom); err != nil {
				t.Fatal(err)
			}
			for k, beta := range broken.beta {
				for _, row := range broken.rowsAt(k) {
					broken.rowBeta[row] = float32(1.2 * beta)
				}
			}
			x.m.Step(broken.states, broken.rowBeta, 1, callFrom)
			if z := x.worst(t, &broken.ladder); z < 6 {
				t.Errorf("%v: a β off by a fifth is not seen: z = %.1f, want at least 6", s, z)
			}
		}
	}
}

// exact has the correct moments under both kinds of constraint.
func TestConstrainedExact(t *testing.T) {
	for i, s := range sharp {
		for _, c := range []*rbm.Constraint{constraints[i], {On: rbm.AllUnits, Active: 3}} {
			m := s.random(31, sharpSD)
			m.Constraint = c
			e := estimator(t, "exact")
			phase, _, err := e.Estimate(m, rbm.Batch{}, rbm.Key{})
			if err != nil {
				t.Fatal(err)
			}
			all := permitted(m)
			got := rbm.NewMoments(m)
			phase.SetMoments(got)
			var f []float64
			for _, x := range slices.Concat(got.VH.Data, got.V, got.H) {
				f = append(f, float64(x))
			}
			// The moments are float32.
			if d := farthest(f, constrainedMoments(all, distribution(all, 1))); d > 2.0/(1<<24) {
				t.Errorf("%v, %v: off by %v, want at most %v", s, c, d, 2.0/(1<<24))
			}
			m.Constraint = nil
			if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.Key{}); err == nil {
				t.Errorf("%v, %v: a model without the constraint is taken", s, c)
			}
		}
	}
}

// Estimate returns an error for each constraint that the kind does not keep according to Keeps.
func TestKeeps(t *testing.T) {
	for _, kind := range Kinds() {
		for _, on := range []rbm.Layer{rbm.HiddenUnits, rbm.AllUnits} {
			m := shape{6, 5, 0, rbm.Softmax}.random(3, 1)
			m.Constraint = &rbm.Constraint{On: on, Active: 3}
			want := parse(t, kind).Keeps(m.Constraint) // for walk, that of its default sampler
			pos := positive(m, 4, 2)
			if want != nil {
				pos = rbm.Batch{V: rbm.NewBits(4, 6), H: rbm.NewMatrix(4, 5)}
				if s := want.Error(); strings.Contains(s, "\n") || !strings.Contains(s, "; use ") || !strings.HasPrefix(s, kind) {
					t.Errorf("message %q", s)
				}
			}
			_, _, err := estimator(t, kind).Estimate(m, pos, rbm.NewKey(1))
			if fmt.Sprint(err) != fmt.Sprint(want) {
				t.Errorf("%s, %v: Estimate says %v, Keeps %v", kind, m.Constraint, err, want)
			}
		}
		if err := parse(t, kind).Keeps(nil); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if DefaultSettings("nothing").Keeps(&rbm.Constraint{On: rbm.HiddenUnits, Active: 3}) == nil {
		t.Error("an unknown kind keeps all")
	}
}

// Under a constraint, results are identical at any GOMAXPROCS and after saving and restoring, and every particle
// has the required number of active hidden units.
func TestConstrainedEstimators(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	eachKind(t, func(t *testing.T, settings string) {
		for _, s := range modest[:3] {
			m := s.random(5, 0.7)
			m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
			if parse(t, settings).Keeps(m.Constraint) != nil {
				return
			}
			pos := positive(m, 6, 6)
			e := estimator(t, settings)
			runtime.GOMAXPROCS(1)
			call(t, e, m, pos, 0, 2)
			saved, err := e.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			want := call(t, e, m, pos, 2, 4)
			restored := estimator(t, settings)
			if err := restored.UnmarshalBinary(saved); err != nil {
				t.Fatal(err)
			}
			runtime.GOMAXPROCS(5)
			if got := call(t, restored, m, pos, 2, 4); !slices.Equal(got, want) {
				t.Errorf("%v: restored at another GOMAXPROCS it continues with other bits: %s", s, firstDifference(got, want))
			}
			phase, _, err := e.Estimate(m, pos, rbm.NewKey(3))
			if err != nil {
				t.Fatal(err)
			}
			for r := range phase.H.Rows {
				sum := 0.0
				for _, p := range phase.H.Row(r) {
					sum += float64(p)
				}
				near(t, "active hidden units", sum, 2, 7.0/(1<<24)) // the error of seven roundings to float32
			}
			// Saved chains that violate the constraint are rejected.
			if end, _ := e.MarshalBinary(); len(end) > 0 && !bytes.Equal(end, saved) {
				m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 3}
				other := estimator(t, settings)
				if err := other.UnmarshalBinary(end); err != nil {
					t.Fatal(err)
				}
				if _, _, err := other.Estimate(m, pos, rbm.NewKey(1)); !errors.Is(err, rbm.ErrFormat) {
					t.Errorf("%v: chains with 2 active units are taken for 3: %v, want %v", s, err, rbm.ErrFormat)
				}
			}
		}
	})
}

// Chains start at sets of active units that are uniformly distributed.
func TestConstrainedStart(t *testing.T) {
	m := shape{3, 6, 0, rbm.Softmax}.random(1, 2)
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	s := rbm.NewStates(m, 30000)
	if err := drawStart(m, s, Uniform, rbm.Batch{}, rbm.NewKey(5)); err != nil {
		t.Fatal(err)
	}
	counts := map[uint64]int{}
	for r := range s.H.Rows {
		counts[s.H.Row(r)[0]]++
	}
	if len(counts) != 15 {
		t.Fatalf("%d sets of 2 of 6, want 15", len(counts))
	}
	for set, n := range counts {
		if d := math.Abs(float64(n) - 2000); d > 6*math.Sqrt(2000) {
			t.Errorf("set %b comes %d times of 30000: got %v, want at most %v", set, n, d, 6*math.Sqrt(2000))
		}
	}
}
