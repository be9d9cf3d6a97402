package negphase

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// exactWalks is the number of chains, and of groups in a ladder, that start
// from the exact distribution in these tests. It is less than exactGroups, because each chain needs a
// system.
const exactWalks = 1500

// drawJointly returns states of both layers. Row r is drawn from the distribution
// p[r mod len(p)] over the states all.
func drawJointly(all []state, p [][]float64, rows int) savedChains {
	s := savedChains{rbm.NewBits(rows, len(all[0].h)), rbm.NewBits(rows, len(all[0].v))}
	for r := range rows {
		x := all[pick(p[r%len(p)], startFrom.Uniform(uint64(r)))]
		for j, h := range x.h {
			s.h.Set(r, j, h != 0)
		}
		for i, v := range x.v {
			s.v.Set(r, i, v != 0)
		}
	}
	return s
}

// walk returns an estimator with the settings in text, whose chains are at the exact start.
func (x *exactStart) walk(t *testing.T, text string) *walk {
	t.Helper()
	w := build[*walk](set(t, text, "chains", exactWalks))
	w.saved = drawJointly(x.all, x.p[:1], w.rows)
	return w
}

// zOf runs w and returns the z-score of the final states of its chains.
func (x *exactStart) zOf(t *testing.T, w *walk) float64 {
	t.Helper()
	if _, _, err := w.Estimate(x.m, rbm.Batch{}, callFrom); err != nil {
		t.Fatal(err)
	}
	return x.c.z(t, w.states, w.at, x.p[0])
}

// Walks leave the distribution of the model invariant, and their estimate has
// the exact mean.
func TestWalksAreStationary(t *testing.T) {
	eachExactStart(t, fewer(sharp), func(t *testing.T, x *exactStart) {
		want := expectation(x.m, x.all, x.p[0])
		for _, text := range []string{
			"sardonics:k=1-3:moves=2", "sardonics:k=1-2:gamma=.7/1.3:mix=2/1/1:gibbs=1",
			"sardonics:k=1-3:gamma=.5:weights=boltzmann", "im:k=1-2:moves=2", "im:k=1-2:gamma=.5:weights=boltzmann", "walk:exchange", "walk:gibbs:order=random", "walk:metropolis", "walk:block-gibbs", "walk:flip",
		} {
			w := x.walk(t, text)
			z := x.zOf(t, w)
			phase := rbm.Phase{Batch: rbm.Batch{V: w.states.V, H: w.states.Mean}}
			d := deviation(groupEstimates(phase, exactWalks), want)
			t.Logf("%s: z = %.1f, %.2f of the tolerance", text, z, d)
			if z > 6 || d > 1 {
				t.Errorf("%s: z = %.1f, the mean is off by %.2f tolerances", text, z, d)
			}
			if w.info.Moves().Accepted == 0 && strings.HasPrefix(text, "sardonics") {
				t.Errorf("%s: no move was accepted", text)
			}
		}
	})
}

// Ladders whose particles are moved by a sampler leave the distribution at each
// temperature invariant.
func TestLaddersOfMovesAreStationary(t *testing.T) {
	eachExactStart(t, sharp, func(t *testing.T, x *exactStart) {
		for _, kind := range []string{"pt", "ins"} {
			for _, mover := range []string{"sardonics:k=1-3", "im:k=1"} {
				e := build[Estimator](set(t, kind+":swaps=2:tau=1/1.6/16:"+mover, "chains", exactWalks/2))
				var l *ladder
				if p, ok := e.(*pt); ok {
					l = &p.ladder
				} else {
					l = &e.(*ins).ladder
				}
				l.saved = drawJointly(x.all, x.p, l.rows)
				if _, _, err := e.Estimate(x.m, rbm.Batch{}, callFrom); err != nil {
					t.Fatal(err)
				}
				z := x.worst(t, l)
				t.Logf("%s, %s: z = %.1f", kind, mover, z)
				if z > 6 {
					t.Errorf("%s, %s: z = %.1f", kind, mover, z)
				}
			}
		}
	})
}

// Chains of a constrained model leave its distribution invariant, without and
// with a ladder. New chains satisfy the constraint.
func TestConstrainedWalksAreStationary(t *testing.T) {
	for _, c := range []struct {
		shape      shape
		constraint rbm.Constraint
		texts      []string
	}{
		{shape{5, 4, 3, rbm.Softmax}, rbm.Constraint{On: rbm.HiddenUnits, Active: 2}, []string{"im:k=1-2", "walk:exchange", "im:k=1:gibbs=1"}},
		{shape{3, 4, 0, rbm.Softmax}, rbm.Constraint{On: rbm.HiddenUnits, Active: 1}, []string{"im:k=1"}},
		{shape{5, 3, 3, rbm.Softmax}, rbm.Constraint{On: rbm.AllUnits, Active: 3}, []string{"im:k=1-2:moves=2", "walk:exchange"}},
		{shape{4, 3, 0, rbm.Softmax}, rbm.Constraint{On: rbm.AllUnits, Active: 3}, []string{"im", "walk:exchange"}},
	} {
		m := c.shape.random(46, sharpSD)
		m.Constraint = &c.constraint
		x := &exactStart{m: m, all: allowed(m)}
		x.p = [][]float64{distribution(x.all, 1)}
		x.c = newCensus(x.all)
		for _, text := range c.texts {
			w := x.walk(t, text)
			z := x.zOf(t, w)
			t.Logf("%v, %v, %s: z = %.1f", c.shape, m.Constraint, text, z)
			if z > 6 {
				t.Errorf("%v, %v, %s: z = %.1f", c.shape, m.Constraint, text, z)
			}
			if w.info.Moves().Flips == 0 {
				t.Errorf("%v, %v, %s: nothing moved", c.shape, m.Constraint, text)
			}
			fresh := estimator(t, text).(*walk)
			call(t, fresh, m, rbm.Batch{}, 0, 3)
			for r := range fresh.rows {
				x.c.state(t, fresh.states, r) // fails for states that violate the constraint
			}
		}
	}
}

// Settings that cannot keep a constraint are rejected by CheckModel, and by
// the estimator.
func TestConstraintsThatWalksCannotKeep(t *testing.T) {
	for _, c := range []struct {
		text       string
		constraint rbm.Constraint
		want       string
	}{
		{"sardonics", rbm.Constraint{On: rbm.HiddenUnits, Active: 2}, "sardonics cannot keep the constraint hidden=2"},
		{"sardonics", rbm.Constraint{On: rbm.AllUnits, Active: 2}, "its walks change the number of active units"},
		{"walk:gibbs", rbm.Constraint{On: rbm.AllUnits, Active: 2}, "moves of gibbs change"},
		{"pt:sardonics", rbm.Constraint{On: rbm.HiddenUnits, Active: 2}, "use im or walk:exchange"},
		{"im:gibbs=1", rbm.Constraint{On: rbm.AllUnits, Active: 3}, "leave gibbs out"},
		{"im:k=3", rbm.Constraint{On: rbm.HiddenUnits, Active: 2}, "give k at most 1"},
		{"im", rbm.Constraint{On: rbm.HiddenUnits, Active: 3}, "have a single state; use pcd or exact"},
	} {
		m := shape{5, 3, 3, rbm.Softmax}.random(1, .5)
		m.Constraint = &c.constraint
		s := parse(t, c.text)
		if _, err := s.CheckModel(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s under %v: got %v, want %q", c.text, m.Constraint, err, c.want)
		}
		if _, _, err := estimator(t, c.text).Estimate(m, rbm.Batch{}, rbm.NewKey(1)); err == nil {
			t.Errorf("%s under %v: the estimator does not refuse", c.text, m.Constraint)
		}
	}
	for _, text := range []string{"im", "walk:exchange", "pt:im", "pcd"} {
		m := shape{5, 3, 3, rbm.Softmax}.random(1, .5)
		m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 1}
		if _, err := parse(t, text).CheckModel(m); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// CheckModel warns of samplers that may never reach some states of a model, with the temperature. The
// Metropolis sampler reaches all, also where every flip costs nothing: at β = 0, and without parameters.
func TestDoubts(t *testing.T) {
	flat, m := rbm.New(4, 3, 0, rbm.Softmax), shape{4, 3, 0, rbm.Softmax}.random(1, .5)
	for text, m := range map[string]*rbm.RBM{
		"walk:metropolis":              m,
		"walk:modified-metropolis":     flat,
		"pt:tau=1/2/inf:metropolis":    m,
		"walk:metropolis:order=random": flat,
		"pcd":                          m,
	} {
		if got, err := parse(t, text).CheckModel(m); err != nil || got != "" {
			t.Errorf("%s: %q, %v, want no warning", text, got, err)
		}
	}
	two := shape{1, 1, 0, rbm.Softmax}.random(1, .5)
	if got, err := parse(t, "pt:tau=1/inf:exchange").CheckModel(two); err != nil || !strings.HasPrefix(got, "at inverse temperature 0: exchange") {
		t.Errorf("exchange of two units: %q, %v, want a warning", got, err)
	}
}

// Saved chains that violate the constraint of the model are rejected.
func TestSavedChainsMeetTheConstraint(t *testing.T) {
	m := shape{4, 3, 0, rbm.Softmax}.random(1, .5)
	w := estimator(t, "im").(*walk)
	call(t, w, m, rbm.Batch{}, 0, 1)
	saved, err := w.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []rbm.Constraint{{On: rbm.HiddenUnits, Active: 1}, {On: rbm.AllUnits, Active: 2}} {
		m.Constraint = &c
		if _, _, err := w.Estimate(m, rbm.Batch{}, rbm.NewKey(1)); err == nil {
			t.Errorf("%v: chains of another constraint are continued", &c)
		}
		again := estimator(t, "im")
		if err := again.UnmarshalBinary(saved); err != nil {
			t.Fatal(err)
		}
		if _, _, err := again.Estimate(m, rbm.Batch{}, rbm.NewKey(1)); !errors.Is(err, rbm.ErrFormat) {
			t.Errorf("%v: got %v, want ErrFormat", &c, err)
		}
	}
}

// A forgetful mover is a broken one, whose chains keep their caches at
// Reset.
type forgetful struct{ mcmc.Mover }

func (f forgetful) Bind(s mcmc.System, beta float64, sites []int32) (mcmc.Chain, error) {
	c, err := f.Mover.Bind(s, beta, sites)
	return keeping{c}, err
}

type keeping struct{ mcmc.Chain }

func (keeping) Reset() {}

// If one part of an update is wrong, the distribution changes.
func TestBrokenWalksLeaveTheLaw(t *testing.T) {
	for _, s := range []shape{{4, 3, 0, rbm.Softmax}, {5, 3, 3, rbm.Softmax}} {
		x := newExactStart(s.random(31, sharpSD), false)
		check := func(name string, z float64) {
			t.Helper()
			t.Logf("%v: %s: z = %.1f", s, name, z)
			if z < 6 {
				t.Errorf("%v: mutant is not seen: %s: z = %.1f", s, name, z)
			}
		}
		w := x.walk(t, "sardonics:k=1-3:moves=3")
		w.moves.betas, w.moves.replicas = bindAt(t, w, x.m, .8)
		check("another temperature", x.zOf(t, w))

		w = x.walk(t, "sardonics:k=1-3:moves=3")
		if err := w.begin(x.m, rbm.Batch{}, callFrom); err != nil {
			t.Fatal(err)
		}
		if err := w.moves.prepare(s.random(32, sharpSD), coldest, w.rows); err != nil {
			t.Fatal(err)
		}
		w.moves.run(x.m, w.states, w.at, nil, callFrom, &w.info, new(team))
		check("costs of before the parameters changed", x.c.z(t, w.states, w.at, x.p[0]))
	}
}

// Caches that are not updated after states and parameters
// changed hardly affect the distribution, because walks may have any weights. But
// a run that was interrupted then continues differently.
func TestForgetfulWalksDoNotGoOn(t *testing.T) {
	m := shape{9, 7, 0, rbm.Softmax}.random(5, 0.7)
	for _, forget := range []bool{false, true} {
		e, restored := estimator(t, "sardonics:k=1-3").(*walk), estimator(t, "sardonics:k=1-3").(*walk)
		if forget {
			e.moves.mover, restored.moves.mover = forgetful{e.moves.mover}, forgetful{e.moves.mover}
		}
		call(t, e, m, rbm.Batch{}, 0, 2)
		saved, err := e.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		m.Randomize(0.7, rbm.NewKey(6))
		if err := restored.UnmarshalBinary(saved); err != nil {
			t.Fatal(err)
		}
		if same := slices.Equal(call(t, e, m, rbm.Batch{}, 2, 4), call(t, restored, m, rbm.Batch{}, 2, 4)); same == forget {
			t.Errorf("forgetful %v: equal bits are %v", forget, same)
		}
	}
}

// bindAt binds the replicas of w at a wrong inverse temperature.
func bindAt(t *testing.T, w *walk, m *rbm.RBM, beta float64) ([]float64, []replica) {
	t.Helper()
	if err := w.moves.prepare(m, []float64{beta}, w.rows); err != nil {
		t.Fatal(err)
	}
	return coldest, w.moves.replicas
}
