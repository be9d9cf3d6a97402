package train

import (
	"math"
	"testing"

	"gorbm/negphase"
	"gorbm/rbm"
)

// strict is an estimator that rejects a given number of updates.
type strict struct {
	negphase.Estimator
	rejects, asked int
}

func (s *strict) Veto(*rbm.RBM) bool {
	s.asked++
	return s.asked <= s.rejects
}

// An update that is rejected n times makes 2⁻ⁿ of its step, and none after more than maxHalvings. The
// momentum shrinks likewise. The average follows the remaining step.
func TestRejectedUpdatesAreHalved(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "cd:k=1")
	s.Momentum, s.Average = 0.5, 0.9
	step := func(rejects int) (before, after *rbm.RBM, tr *Trainer) {
		inner, err := negphase.New(s.Negative)
		if err != nil {
			t.Fatal(err)
		}
		m := NewModel(set, 6, true, rbm.Softmax, 1)
		before = m.Clone()
		tr, err = NewWith(&strict{inner, rejects, 0}, s, set, m)
		if err != nil {
			t.Fatal(err)
		}
		run(t, tr, 1)
		return before, m, tr
	}
	start, whole, full := step(0)
	for n := range maxHalvings + 2 {
		_, got, tr := step(n)
		share := math.Ldexp(1, -n)
		if n > maxHalvings {
			share = 0
		}
		for i, x := range flat(got) {
			from, to := flat(start)[i], flat(whole)[i]
			want := from + share*(to-from)
			// Each halving rounds to float32 twice.
			tol := float64(2*n+1) * 0x1p-24 * math.Max(math.Abs(from), math.Abs(to))
			near(t, "parameter", x, want, tol)
			near(t, "average", flat(tr.optimizer.average)[i], from+0.1*(want-from), tol+0x1p-23*math.Abs(from))
			near(t, "velocity", flatOf(tr.optimizer.ascent.Slots[0])[i], share*flatOf(full.optimizer.ascent.Slots[0])[i], 0x1p-24)
		}
		if t.Failed() {
			t.Fatalf("after %d rejections", n)
		}
	}
}
