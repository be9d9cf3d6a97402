package train

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// On 99 rows of one class and one of another, the answer that is always the first has an error of 1 % of
// the rows, and of half of the classes.
func TestConfusion(t *testing.T) {
	always, told := make([]float64, 200), make([]float64, 200)
	y := make([]int32, 100)
	y[7] = 1
	for i := range y {
		always[2*i], always[2*i+1] = math.Log(0.9), math.Log(0.1)
		told[2*i+1-int(y[i])] = math.Inf(-1)
	}
	for _, c := range []struct {
		name    string
		logp    []float64
		y       []int32
		error   float64
		never   []int
		unequal bool
	}{
		{"always the first", always, y, 0.5, []int{1}, true},
		{"all right", told, y, 0, nil, true},
		{"rows of one class", always[:20], make([]int32, 10), 0, nil, false},
	} {
		got := Confuse(c.logp, c.y, nil, 2)
		if e := got.BalancedError(); e != c.error || !slices.Equal(got.Never(), c.never) || got.Unequal() != c.unequal {
			t.Errorf("%s: balanced error %v, never %v, unequal %v; want %+v", c.name, e, got.Never(), got.Unequal(), c)
		}
	}
	if e := Confuse(nil, nil, nil, 2).BalancedError(); !math.IsNaN(e) {
		t.Errorf("of no rows %v, want NaN", e)
	}
}

// A row of weight w counts as w rows in the confusion and in the calibration.
func TestWeightedScores(t *testing.T) {
	logp, y := drawnLabels(60, 0.6, 3)
	classes := len(logp) / len(y)
	weights := make([]float64, len(y))
	var repeated labelled
	for r := range y {
		weights[r] = float64(1 + r%3)
		for range 1 + r%3 {
			repeated.logp = append(repeated.logp, logp[r*classes:(r+1)*classes]...)
			repeated.y = append(repeated.y, y[r])
		}
	}
	a, b := Confuse(logp, y, weights, classes), Confuse(repeated.logp, repeated.y, nil, classes)
	if !slices.Equal(a.Rows, b.Rows) || a.BalancedError() != b.BalancedError() {
		t.Errorf("confusion %v with weights, %v with repeated rows", a.Rows, b.Rows)
	}
	weighted := labelled{logp, y, weights}
	near(t, "calibration error", weighted.calibrationError(1), repeated.calibrationError(1), 1e-12)
	near(t, "temperature", weighted.bestInverse(), repeated.bestInverse(), 1e-9)
	near(t, "negative log-likelihood", weighted.scores(0.7).NLL, repeated.scores(0.7).NLL, 1e-12)
	c, ok := Calibrate(logp, y, weights, rbm.NewKey(1))
	plain, _ := Calibrate(logp, y, nil, rbm.NewKey(1))
	if !ok || c.ECE != weighted.calibrationError(1) || c.Before == plain.Before || c.Temperature == plain.Temperature {
		t.Errorf("Calibrate leaves the weights out: %+v", c)
	}
}
