package train

import (
	"testing"

	"gorbm/negphase"
	"gorbm/rbm"
)

// The copy that goes on while the model stands still adapts no more, as trials and
// sweeps would take time that a measurement has not.
func TestFollowedChainsDoNotAdapt(t *testing.T) {
	const every = 60
	set := toy(t, smallToy)
	for _, text := range []string{"sardonics:tune=60:chains=2:moves=300", "ptt:chains=8:freeze=0.99:sweeps=4"} {
		tr := newTrainer(t, settingsOf(t, text), set, 4, false, rbm.Softmax)
		run(t, tr, every)
		copied, err := tr.copyNegative(nil)
		if err != nil {
			t.Fatal(err)
		}
		count := func(i negphase.Info) int64 { return int64(i.Get("Tunings")) + i.Tuned }
		var followed, trained int64
		for i := range leastContinued {
			_, info, err := copied.Estimate(tr.model, tr.batch, rbm.NewKey(uint64(i)))
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				followed = -info.Tuned
			}
			followed += int64(info.Get("Tunings"))
			if i == leastContinued-1 {
				followed += info.Tuned
			}
		}
		before, err := tr.Step()
		if err != nil {
			t.Fatal(err)
		}
		trained = count(before)
		if trained == 0 {
			t.Errorf("%s: training does not adapt: the test sees nothing", text)
		}
		if followed != 0 {
			t.Errorf("%s: the copy was adapted %d times", text, followed)
		}
	}
}

// A discriminative run has no chains, whatever its settings say of a negative phase.
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
