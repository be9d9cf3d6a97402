package negphase

import (
	"slices"
	"strings"
	"testing"

	"gorbm/negphase/binary"
	"gorbm/rbm"
)

// exactWalks is the number of chains, and of groups in a ladder, that start
// from the exact law in these tests: fewer than exactGroups, as each has a
// system of its own.
const exactWalks = 4000

// drawJointly returns states of both layers whose row r is drawn from
// p[r mod len(p)], laws over all.
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

// walk returns the estimator of text at the exact start.
func (x *exactStart) walk(t *testing.T, text string) *walk {
	t.Helper()
	s := parse(t, text)
	s.Chains = exactWalks
	w := newWalk(s)
	w.saved = drawJointly(x.all, x.p[:1], w.rows)
	return w
}

// zOf runs w and tests where its chains end.
func (x *exactStart) zOf(t *testing.T, w *walk) float64 {
	t.Helper()
	if _, _, err := w.Estimate(x.m, rbm.Batch{}, callFrom); err != nil {
		t.Fatal(err)
	}
	return x.c.z(t, w.states, w.at, x.p[0])
}

// Walks that start at the law of the model end there, and their estimate has
// the mean of the model.
func TestWalksAreStationary(t *testing.T) {
	eachExactStart(t, sharp, func(t *testing.T, x *exactStart) {
		want := expectation(x.m, x.all, x.p[0])
		for _, text := range []string{
			"sardonics:k=1-3:moves=2", "sardonics:k=1-2:gamma=.7/1.3:mix=2/1/1:gibbs=1",
			"im:k=1-2:moves=2", "walk:exchange", "walk:gibbs:order=random", "walk:metropolis",
		} {
			w := x.walk(t, text)
			z := x.zOf(t, w)
			phase := rbm.Phase{Batch: rbm.Batch{V: w.states.V, H: w.states.Mean}}
			d := deviation(groupEstimates(phase, exactWalks), want)
			t.Logf("%s: z = %.1f, %.2f of the tolerance", text, z, d)
			if z > 6 || d > 1 {
				t.Errorf("%s: z = %.1f, the mean is off by %.2f tolerances", text, z, d)
			}
			if w.info.Moves.Accepted == 0 && strings.HasPrefix(text, "sardonics") {
				t.Errorf("%s: no move was accepted", text)
			}
		}
	})
}

// Ladders whose particles move by a sampler stay at the law of each
// temperature.
func TestLaddersOfMovesAreStationary(t *testing.T) {
	eachExactStart(t, sharp, func(t *testing.T, x *exactStart) {
		for _, kind := range []string{"pt", "ins"} {
			for _, mover := range []string{"sardonics:k=1-3", "im:k=1"} {
				s := parse(t, kind+":swaps=2:tau=1/1.6/4:"+mover)
				s.Chains = exactWalks / 2
				e := find1(t, kind).make(s)
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

func find1(t *testing.T, name string) kind {
	t.Helper()
	k, err := find(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A forgetful mover is bound as another, but its chains keep their caches at
// Reset.
type forgetful struct{ binary.Mover }

func (f forgetful) Bind(s binary.System, beta float64, sites []int32) (binary.Chain, error) {
	c, err := f.Mover.Bind(s, beta, sites)
	return keeping{c}, err
}

type keeping struct{ binary.Chain }

func (keeping) Reset() {}

// Where one part of an update is wrong, the law is left.
func TestBrokenWalksLeaveTheLaw(t *testing.T) {
	for _, s := range []shape{{4, 3, 0, 0}, {5, 3, 3, rbm.Softmax}} {
		x := newExactStart(s, false)
		check := func(name string, z float64) {
			t.Helper()
			t.Logf("%v: %s: z = %.1f", s, name, z)
			if z < 6 {
				t.Errorf("%v: mutant is not seen: %s: z = %.1f", s, name, z)
			}
		}
		w := x.walk(t, "sardonics:k=1-3:moves=3")
		w.walks.rung, w.walks.places = bindAt(t, w, x.m, .8)
		check("another temperature", x.zOf(t, w))

		w = x.walk(t, "sardonics:k=1-3:moves=3")
		if err := w.begin(x.m, rbm.Batch{}, callFrom); err != nil {
			t.Fatal(err)
		}
		if err := w.walks.prepare(s.random(32, sharpSD), coldest, w.rows); err != nil {
			t.Fatal(err)
		}
		w.walks.run(x.m, w.states, w.at, nil, callFrom, &w.info)
		check("costs of before the parameters changed", x.c.z(t, w.states, w.at, x.p[0]))
	}
}

// Caches that are kept from call to call, though states and parameters
// changed, are hardly seen in the law, as walks are drawn with any weights. But
// they make another chain of a run that was interrupted.
func TestForgetfulWalksDoNotGoOn(t *testing.T) {
	m := shape{9, 7, 0, 0}.random(5, 0.7)
	for _, forget := range []bool{false, true} {
		e, restored := estimator(t, "sardonics:k=1-3").(*walk), estimator(t, "sardonics:k=1-3").(*walk)
		if forget {
			e.walks.mover, restored.walks.mover = forgetful{e.walks.mover}, forgetful{e.walks.mover}
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

// bindAt binds the places of w at another inverse temperature than they will
// be asked for.
func bindAt(t *testing.T, w *walk, m *rbm.RBM, beta float64) ([]float64, []place) {
	t.Helper()
	if err := w.walks.prepare(m, []float64{beta}, w.rows); err != nil {
		t.Fatal(err)
	}
	return coldest, w.walks.places
}
