package train

import (
	"context"
	"math"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// The log Z that ptt reports is that of the model after the last update: it is within two standard errors
// as often as a normal error is. That of the model before the update is not.
func TestLogZIsOfTheLastModel(t *testing.T) {
	if testing.Short() {
		t.Skip("60 short runs")
	}
	const runs = 60
	set := toy(t, "bars:3")
	now, before := 0, 0
	for seed := range runs {
		s := settingsOf(t, "ptt:chains=50")
		s.Rate, s.Batch, s.Seed = 0.3, 10, uint64(seed+1)
		tr := newTrainer(t, s, set, 6, false, rbm.Softmax)
		run(t, tr, 299)
		old, oldErr, ok, err := tr.LogZ()
		if !ok || err != nil {
			t.Fatalf("seed %d: no log Z: %v", seed, err)
		}
		run(t, tr, 300)
		got, gotErr, ok, err := tr.LogZ()
		if !ok || err != nil {
			t.Fatalf("seed %d: no log Z: %v", seed, err)
		}
		want, err := exact.LogZ(context.Background(), tr.Model())
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-want) < 2*gotErr {
			now++
		}
		if math.Abs(old-want) < 2*oldErr {
			before++
		}
	}
	t.Logf("within two standard errors: %d of %d, of the model before the update %d", now, runs, before)
	const p = 0.9545 // probability of a normal error within two standard deviations
	least := runs*p - 6*math.Sqrt(runs*p*(1-p))
	if float64(now) < least {
		t.Errorf("%d of %d are within two standard errors, expected %.1f or more", now, runs, least)
	}
	if float64(before) >= least {
		t.Errorf("%d of %d of the model before the update are: the test sees nothing, want less than %v", before, runs, least)
	}
}
