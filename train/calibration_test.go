package train

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"gorbm/rbm"
)

// drawnLabels returns log p of three classes for the given number of rows, with labels drawn from p^β,
// normalised.
func drawnLabels(rows int, beta float64, seed uint64) (logp []float64, y []int32) {
	r := rbm.NewKey(seed).Rand()
	for range rows {
		p, q, z, zq := [3]float64{}, [3]float64{}, 0.0, 0.0
		for k := range p {
			p[k] = math.Exp(2 * r.NormFloat64())
			z += p[k]
		}
		for k := range p {
			q[k] = math.Pow(p[k]/z, beta)
			logp = append(logp, math.Log(p[k]/z))
			zq += q[k]
		}
		u, k := r.Float64()*zq, 0
		for ; k < 2 && u >= q[k]; k++ {
			u -= q[k]
		}
		y = append(y, int32(k))
	}
	return logp, y
}

// The temperature is the one from which labels were drawn, to five standard errors. The variance of β is
// one over the sum of the variances of log p under p^β.
func TestCalibrateFindsTheTemperature(t *testing.T) {
	const rows = 20000
	for _, beta := range []float64{0.4, 1, 3} {
		logp, y := drawnLabels(rows, beta, 3)
		information := 0.0
		for r := range y {
			z, one, two := 0.0, 0.0, 0.0
			for _, lp := range logp[3*r:][:3] {
				q := math.Exp(beta * lp)
				z, one, two = z+q, one+q*lp, two+q*lp*lp
			}
			information += two/z - one/z*one/z
		}
		c, ok := Calibrate(logp, y, nil, rbm.NewKey(1))
		if !ok || c.Fitted != rows/2 || c.N != rows/2 || c.Bins != 15 || c.AtBound() {
			t.Fatalf("%+v", c)
		}
		near(t, "inverse temperature", 1/c.Temperature, beta, 5*math.Sqrt(2/information))
		if beta != 1 && (c.After.NLL >= c.Before.NLL || c.After.ECE >= c.Before.ECE) {
			t.Errorf("drawn at β = %v: the temperature makes scores no better: %+v", beta, c)
		}
		// The count of a well calibrated bin of n rows has a standard deviation of √(p(1−p)·n), at most
		// ½√n.
		most := 0.0
		for range c.Bins {
			most += 0.5 * math.Sqrt(float64(c.N)/float64(c.Bins))
		}
		if c.After.ECE > 5*most/float64(c.N) {
			t.Errorf("β = %v: a calibration error of %v is left", beta, c.After.ECE)
		}
	}
}

// The temperature is judged on rows that it was not fitted on. Labels are drawn from p itself, so that the
// right temperature is 1. Let I be the Fisher information of n rows. The temperature fitted on n rows is
// wrong by v/√I, and the derivative at 1 of the log-likelihood of n other rows is u√I, with u and v
// independent N(0,1). The other rows then lose n·ΔNLL = v²/2 − u·v, with mean ½ (Akaike 1974) and mean
// square 1 + 3/4. The broken twin, which is judged on the rows of the fit, gains ½. If only one of the
// scores were of other rows, the mean square would be some n times as large.
func TestCalibrationIsJudgedOnOtherRows(t *testing.T) {
	const half, runs = 100, 1500
	var loss, square [runs]float64
	for i := range runs {
		logp, y := drawnLabels(2*half, 1, uint64(i))
		c, _ := Calibrate(logp, y, nil, rbm.NewKey(uint64(i)).Child(1))
		loss[i] = half * (c.After.NLL - c.Before.NLL)
		square[i] = loss[i] * loss[i]
	}
	for what, c := range map[string]struct {
		x    []float64
		want float64
	}{"loss": {loss[:], 0.5}, "square of the loss": {square[:], 1.75}} {
		mean, sd := stat.MeanStdDev(c.x, nil)
		near(t, what, mean, c.want, 6*sd/math.Sqrt(runs))
	}
	if mean, sd := stat.MeanStdDev(loss[:], nil); mean-6*sd/math.Sqrt(runs) < -0.5 {
		t.Errorf("the loss is %v ± %v: −½ would pass too", mean, sd/math.Sqrt(runs))
	}
}

// The fitted temperature has the largest likelihood on the rows of the fit.
func TestTemperatureIsTheBest(t *testing.T) {
	logp, y := drawnLabels(500, 0.6, 3)
	l := labelled{logp, y, nil}
	best := l.bestInverse()
	for _, other := range []float64{best * 1.01, best / 1.01} {
		if l.scores(other).NLL <= l.scores(best).NLL {
			t.Errorf("β = %v is better than %v", other, best)
		}
	}
	near(t, "slope", l.slope(best), -500*(l.scores(best*(1+1e-5)).NLL-l.scores(best*(1-1e-5)).NLL)/(2e-5*best), 1e-6*500)
}

// Scores of a few rows equal the sums computed by hand.
func TestCalibrationByHand(t *testing.T) {
	l := math.Log
	logp := []float64{l(0.9), l(0.1), l(0.3), l(0.7), l(0.6), l(0.4), l(0.65), l(0.35)}
	y := []int32{0, 0, 0, 1}
	// Bins of width 1/15: 0.9 in [13/15, 14/15), right; 0.7 in [10/15, 11/15), wrong; 0.6
	// and 0.65 in [9/15, 10/15), one right and one wrong.
	near(t, "calibration error", labelled{logp, y, nil}.calibrationError(1), (0.1+0.7+math.Abs(0.6+0.65-1))/4, 1e-15)
	s := labelled{logp, y, nil}.scores(2)
	want := 0.0
	for r, k := range y {
		p, q := math.Exp(logp[2*r+int(k)]), math.Exp(logp[2*r+1-int(k)])
		want -= l(p*p/(p*p+q*q)) / 4
	}
	near(t, "negative log-likelihood", s.NLL, want, 1e-14)
	// An answer of probability 1 that is right is in the last bin. A constraint may exclude classes.
	inf := math.Inf(-1)
	if e := (labelled{[]float64{0, inf, inf, 0}, []int32{0, 1}, nil}).calibrationError(1); e != 0 {
		t.Errorf("rows without a doubt have the error %v", e)
	}
	if _, ok := Calibrate(logp[:2], y[:1], nil, rbm.NewKey(1)); ok {
		t.Error("one row is calibrated")
	}
	sure := make([]float64, 0, 40)
	for range 20 {
		sure = append(sure, l(0.9), l(0.1))
	}
	if c, ok := Calibrate(sure, make([]int32, 20), nil, rbm.NewKey(1)); !ok || !c.AtBound() || c.Temperature > 1 {
		t.Errorf("rows that are all right: %+v", c)
	}
	wrong := slices.Repeat([]int32{1}, 20)
	if c, ok := Calibrate(sure, wrong, nil, rbm.NewKey(1)); !ok || !c.AtBound() || c.Temperature < 1 {
		t.Errorf("rows that are all wrong: %+v", c)
	}
}
