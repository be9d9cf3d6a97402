package train

import (
	"math"

	"gorbm/rbm"
)

// CalibrationBins is the number of bins of the expected calibration error, all of equal width, as in Guo,
// Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML 2017.
const CalibrationBins = 15

// A Calibration says how well the probabilities p(y|x) of a model agree with how often the model is right,
// before and after temperature scaling. At temperature T, p(y|x) becomes proportional to p(y|x)^(1/T). T
// maximises the likelihood of the labels of half of the rows, chosen at random; Before and After score the
// other half.
type Calibration struct {
	Bins        int         `json:"bins"` // number of bins of each ECE
	ECE         float64     `json:"ece"`  // expected calibration error of all rows
	Temperature float64     `json:"temperature"`
	Fitted      int         `json:"fitted_on"` // number of rows that Temperature is fitted on
	N           int         `json:"n"`         // number of rows that Before and After score
	Before      LabelScores `json:"before"`    // at temperature 1
	After       LabelScores `json:"after"`     // at Temperature
}

// LabelScores are scores of p(y|x).
type LabelScores struct {
	NLL float64 `json:"negative_log_likelihood"` // mean −log p(y|x), nats
	ECE float64 `json:"ece"`                     // expected calibration error
}

const (
	// Temperatures lie between leastTemperature and its inverse. A best temperature at a bound means that
	// the likelihood has no maximum in between: all rows are right, or the labels do not depend on p(y|x).
	leastTemperature = 1. / 128
	// calibrationSteps is the number of bisections, from an interval of 2·log 128 in the log temperature to
	// an interval of 10⁻¹².
	calibrationSteps = 43
)

// Calibrate returns the calibration of log p(y|x) on rows with the labels y. logp has shape rows × classes.
// weights are the rows' weights, or nil if they are equal. key chooses the rows that the temperature is
// fitted on. ok is false if there are fewer than two rows.
func Calibrate(logp []float64, y []int32, weights []float64, key rbm.Key) (c Calibration, ok bool) {
	if len(y) < 2 {
		return c, false
	}
	classes := len(logp) / len(y)
	order := key.Rand().Perm(len(y))
	all := labelled{logp, y, weights}
	fit, rest := all.take(classes, order[:len(y)/2]), all.take(classes, order[len(y)/2:])
	c = Calibration{Bins: CalibrationBins, ECE: all.calibrationError(1), Fitted: len(fit.y), N: len(rest.y)}
	c.Temperature = 1 / fit.bestInverse()
	c.Before, c.After = rest.scores(1), rest.scores(1/c.Temperature)
	return c, true
}

// AtBound reports whether Temperature is the smallest or the largest that was tried, so that the best
// temperature may lie beyond.
func (c Calibration) AtBound() bool {
	const near = 1e-6
	return math.Abs(math.Abs(math.Log(c.Temperature))+math.Log(leastTemperature)) < near
}

// labelled holds log p(y|x), rows × classes, and the rows' labels and weights. weights is nil if they are
// equal.
type labelled struct {
	logp    []float64
	y       []int32
	weights []float64
}

func (l labelled) take(classes int, rows []int) (t labelled) {
	for _, r := range rows {
		t.logp = append(t.logp, l.logp[r*classes:(r+1)*classes]...)
		t.y = append(t.y, l.y[r])
		if l.weights != nil {
			t.weights = append(t.weights, l.weights[r])
		}
	}
	return t
}

// bestInverse returns the inverse temperature β that maximises the likelihood of the labels. The
// log-likelihood is concave in β, so bisection finds the zero of its derivative Σ_r w_r (log p_r(y_r) − Σ_k
// q_rk log p_r(k)), with w_r the weight of row r and q_r ∝ p_r^β.
func (l labelled) bestInverse() float64 {
	low, high := math.Log(leastTemperature), -math.Log(leastTemperature)
	for range calibrationSteps {
		middle := (low + high) / 2
		if l.slope(rbm.Exp(middle)) >= 0 { // 0 once float64 rounds every q to 0 or 1
			low = middle
		} else {
			high = middle
		}
	}
	return rbm.Exp((low + high) / 2)
}

func (l labelled) slope(beta float64) float64 {
	sum, classes := 0.0, len(l.logp)/len(l.y)
	for r, y := range l.y {
		row := l.logp[r*classes:][:classes]
		z := logSumPower(row, beta)
		mean := 0.0
		for _, lp := range row {
			if q := rbm.Exp(float64(beta*lp) - z); q > 0 { // a class that a constraint excludes has −Inf
				mean += float64(q * lp)
			}
		}
		sum += float64(weightAt(l.weights, r) * (row[y] - mean))
	}
	return sum
}

// logSumPower returns log Σ_k p_k^β, given log p_k.
func logSumPower(logp []float64, beta float64) float64 {
	powers := make([]float64, len(logp))
	for k, lp := range logp {
		powers[k] = beta * lp
	}
	return rbm.LogSumExp(powers)
}

func (l labelled) scores(beta float64) (s LabelScores) {
	classes, total := len(l.logp)/len(l.y), 0.0
	for r, y := range l.y {
		row, w := l.logp[r*classes:][:classes], weightAt(l.weights, r)
		total += w
		s.NLL -= float64(w * (float64(beta*row[y]) - logSumPower(row, beta)))
	}
	s.NLL /= total
	s.ECE = l.calibrationError(beta)
	return s
}

// calibrationError returns the expected calibration error at inverse temperature β. Rows are put into bins
// by the probability p of their likeliest class. The error is the mean over the rows of |mean p − fraction
// classified correctly| in the row's bin.
func (l labelled) calibrationError(beta float64) float64 {
	var excess [CalibrationBins]float64 // by bin: sum of p minus number of correct rows, both weighted
	classes, total := len(l.logp)/len(l.y), 0.0
	for r, label := range l.y {
		row, w := l.logp[r*classes:][:classes], weightAt(l.weights, r)
		total += w
		k := Likeliest(row)
		p := rbm.Exp(float64(beta*row[k]) - logSumPower(row, beta))
		bin := min(int(p*CalibrationBins), CalibrationBins-1)
		excess[bin] += float64(w * p)
		if k == int(label) {
			excess[bin] -= w
		}
	}
	sum := 0.0
	for _, x := range excess {
		sum += math.Abs(x)
	}
	return sum / total
}
