package train

import (
	"testing"

	"gorbm/rbm"
)

// The copy of the chains that is continued on a fixed model does not adapt. New rungs of a ladder would
// need sweeps for which a measurement has no time.
func TestFollowedChainsDoNotAdapt(t *testing.T) {
	tr := newTrainer(t, settingsOf(t, "ptt:chains=8:freeze=0.99:sweeps=4"), toy(t, smallToy), 4, false, rbm.Softmax)
	run(t, tr, 60)
	copied, err := tr.copyNegative(nil)
	if err != nil {
		t.Fatal(err)
	}
	var rungs []int64
	for i := range leastContinued {
		_, info, err := copied.Estimate(tr.model, tr.batch, rbm.NewKey(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		rungs = append(rungs, info.Tuned)
	}
	if rungs[0] == 0 {
		t.Error("got no new rung in training, so the test sees nothing; want one or more")
	}
	if first, last := rungs[0], rungs[len(rungs)-1]; first != last {
		t.Errorf("the copy went from %d to %d rungs, want no change", first, last)
	}
}

// A discriminative run has no chains, whatever its settings say about a negative phase.
func TestNoMixingWithoutNegativePhase(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "pcd")
	s.Objective = Discriminative
	tr := newTrainer(t, s, set, 4, true, rbm.Softmax)
	metrics, err := NewRunMetrics([]string{"auto"}, tr.Model(), Sets{Train: set}, s)
	if err != nil {
		t.Fatal(err)
	}
	v := &Evaluator{Metrics: metrics, Every: 400, Report: func(Evaluation) error { return nil }}
	v.Watch(tr)
	run(t, tr, 400, v.Observe)
}
