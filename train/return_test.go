package train

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"gorbm/negphase"
	"gorbm/rbm"
)

// homing is an estimator of the tests' own that returns to the first model in one of its
// calls.
type homing struct {
	negphase.Estimator
	first     *rbm.RBM
	calls, at int
}

func (h *homing) Veto(*rbm.RBM) bool { return false }

func (h *homing) Return(m *rbm.RBM) bool {
	if h.calls++; h.calls == 1 {
		h.first = m.Clone()
	}
	if h.calls != h.at {
		return false
	}
	m.Set(h.first)
	return true
}

// A return takes the place of an update. The parameters are then those that the
// estimator gives, the velocity is gone, and steps are half as long, that
// of sparseness included, also
// of a run that was saved.
func TestReturnHalvesTheRate(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "cd:k=1")
	s.Momentum, s.Sparse = 0.5, 0.01
	const back = 4
	trainer := func() (*Trainer, *homing) {
		t.Helper()
		inner, err := negphase.New(s.Negative)
		if err != nil {
			t.Fatal(err)
		}
		h := &homing{Estimator: inner, at: back}
		tr, err := NewWith(h, s, set, NewModel(set, 6, true, rbm.Softmax, 1))
		if err != nil {
			t.Fatal(err)
		}
		return tr, h
	}
	tr, h := trainer()
	run(t, tr, back-1)
	if tr.Model().Equal(h.first) {
		t.Fatal("training goes nowhere")
	}
	run(t, tr, back)
	if !tr.Model().Equal(h.first) || tr.Steps() != back {
		t.Errorf("after step %d the parameters are not those returned to", tr.Steps())
	}
	if slices.ContainsFunc(flat(tr.optimizer.velocity), func(x float64) bool { return x != 0 }) {
		t.Error("the velocity stays")
	}
	var saved bytes.Buffer
	if err := tr.Save(&saved, nil); err != nil {
		t.Fatal(err)
	}
	after := func(steps int, fast bool) []float64 {
		t.Helper()
		other, h := trainer()
		h.at = 0
		if _, err := other.Load(bytes.NewReader(saved.Bytes())); err != nil {
			t.Fatal(err)
		}
		if fast {
			other.optimizer.returns = 0
		}
		run(t, other, back+steps)
		return flat(other.Model())
	}
	start, slow, fast := flat(h.first), after(1, false), after(1, true)
	for i, x := range start {
		// Each of the two steps rounds to float32, and so do the gradient and its decay.
		near(t, "half a step", slow[i]-x, (fast[i]-x)/2, 4*0x1p-24*(math.Abs(x)+math.Abs(fast[i]-x)))
	}
	run(t, tr, back+5)
	if !slices.Equal(flat(tr.Model()), after(5, false)) {
		t.Error("a run that was saved after a return goes on with other bits")
	}
}
