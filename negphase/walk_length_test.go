package negphase

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"testing"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// lengthModel is a model on which walks of 20 flips are mostly rejected.
func lengthModel() *rbm.RBM {
	m := rbm.New(30, 20, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(5))
	return m
}

// acceptedAfter makes the given number of warm calls and freezes the estimator. It returns the fraction of walks that
// are accepted in the following calls.
func acceptedAfter(t *testing.T, text string, m *rbm.RBM, warm int) (e *walk, accepted float64) {
	t.Helper()
	e = estimator(t, text).(*walk)
	call(t, e, m, rbm.Batch{}, 0, warm)
	e.Freeze()
	low, high := e.lengths()
	var all mcmc.Info
	for n := range 100 {
		_, info, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(8).Child(uint64(n)))
		if err != nil {
			t.Fatal(err)
		}
		all.Add(info.Moves())
	}
	if l, h := e.lengths(); l != low || h != high {
		t.Errorf("%s: frozen lengths go from %d-%d to %d-%d", text, low, high, l, h)
	}
	accepted, _ = all.Acceptance()
	return e, accepted
}

// The length of walks adapts until the acceptance is TargetAcceptance, and does not change after Freeze.
func TestLengthsFollowTheAcceptance(t *testing.T) {
	m := lengthModel()
	for _, text := range []string{"sardonics:k=auto", "sardonics:k=auto:walks=single:moves=3", "im:k=auto", "walk:sardonics:k=auto:weights=boltzmann"} {
		e, a := acceptedAfter(t, text, m, 200)
		// The acceptance of 1000 walks has an error of 0.016. Lengths are whole numbers, and one flip more
		// changes the acceptance of such short walks by up to 0.1.
		if low, high := e.lengths(); math.Abs(a-mcmc.TargetAcceptance) > 0.1 {
			t.Errorf("%s: walks of %d-%d flips are accepted with %.3f, want %.3g ± 0.1", text, low, high, a, mcmc.TargetAcceptance)
		}
		if e, b := acceptedAfter(t, text, m, 1); math.Abs(b-mcmc.TargetAcceptance) < 0.1 {
			low, high := e.lengths()
			t.Errorf("%s: after one call walks of %d-%d flips are accepted with %.3f: the model does not test this", text, low, high, b)
		}
	}
}

// Lengths are identical at any GOMAXPROCS and after a checkpoint.
func TestLengthsGOMAXPROCSAndResume(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	m := lengthModel()
	for _, text := range []string{"sardonics:k=auto:chains=200", "im:k=auto:chains=200"} {
		var want []byte
		for _, procs := range []int{1, 4} {
			runtime.GOMAXPROCS(procs)
			e := estimator(t, text)
			call(t, e, m, rbm.Batch{}, 0, 30)
			got, err := e.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: other bits on %d processors", text, procs)
			}
		}
		e := estimator(t, text)
		call(t, e, m, rbm.Batch{}, 0, 11)
		saved, err := e.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again := estimator(t, text)
		if err := again.UnmarshalBinary(saved); err != nil {
			t.Fatal(err)
		}
		if b, err := again.MarshalBinary(); err != nil || !bytes.Equal(b, saved) {
			t.Errorf("%s: what was read is written otherwise", text)
		}
		call(t, again, m, rbm.Batch{}, 11, 30)
		if got, _ := again.MarshalBinary(); !bytes.Equal(got, want) {
			t.Errorf("%s: a resumed run has other bits", text)
		}
		again.(*walk).Freeze()
		saved, _ = again.MarshalBinary()
		frozen := estimator(t, text).(*walk)
		if err := frozen.UnmarshalBinary(saved); err != nil || !frozen.moves.frozen {
			t.Errorf("%s: a frozen length is read as one that is not: %v", text, err)
		}
	}
}

func TestLengthsOfCheckpointsAreChecked(t *testing.T) {
	m := lengthModel()
	old := estimator(t, "sardonics:k=fit:chains=3")
	call(t, old, m, rbm.Batch{}, 0, 1)
	saved, err := old.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := estimator(t, "sardonics:k=auto:chains=3").UnmarshalBinary(saved); !errors.Is(err, rbm.ErrFormat) {
		t.Errorf("chains without a length: %v", err)
	}
	e := estimator(t, "sardonics:k=auto:chains=3")
	call(t, e, m, rbm.Batch{}, 0, 1)
	if saved, err = e.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float64{math.NaN(), -2, 1e3} {
		b := appendValues(bytes.Clone(saved[:len(saved)-lengthBytes]), bad, false)
		if err := e.UnmarshalBinary(b); !errors.Is(err, rbm.ErrFormat) {
			t.Errorf("the logarithm of a length %v: %v, want %v", bad, err, rbm.ErrFormat)
		}
	}
	// The largest length is known only with the model.
	b := appendValues(bytes.Clone(saved[:len(saved)-lengthBytes]), 5.0, false)
	if err := e.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(1)); !errors.Is(err, rbm.ErrFormat) {
		t.Errorf("walks of exp(5) flips on 50 units: %v, want %v", err, rbm.ErrFormat)
	}
}

// Tuned returns the lengths that an estimator has after the same number of calls.
func TestTunedLengths(t *testing.T) {
	m := lengthModel()
	for _, text := range []string{"sardonics:k=auto:chains=5:moves=2", "im:k=auto:chains=5"} {
		s := parse(t, text)
		fixed, err := Tuned(nil, s, m, rbm.Batch{}, 40, rbm.NewKey(77))
		if err != nil {
			t.Fatal(err)
		}
		e := estimator(t, text).(*walk)
		call(t, e, m, rbm.Batch{}, 0, 40)
		low, high := e.lengths()
		if want := withLengths(s.sampler().mover, low, high); mcmc.FormatMover(fixed.sampler().mover) != mcmc.FormatMover(want) {
			t.Errorf("%s becomes %s, want %s", s, fixed, mcmc.FormatMover(want))
		}
		if mcmc.FindsLength(fixed.sampler().mover) || s.String() == fixed.String() {
			t.Errorf("%s becomes %s", s, fixed)
		}
	}
}
