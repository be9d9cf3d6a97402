package train

import (
	"math"

	"gorbm/rbm"
)

// CalibrationBins is the number of bins of equal width of the calibration error, that
// of Guo, Pleiss, Sun & Weinberger, On calibration of modern neural networks, ICML
// 2017.
const CalibrationBins = 15

// A Calibration says how far the p(y|x) of a model can be taken at their word. It has
// one temperature T, at which p(y|x) becomes ∝ p(y|x)^(1/T). T is that of the largest
// likelihood of the labels of half of the rows, chosen at random, and is judged on
// the other half.
type Calibration struct {
	Bins        int         `json:"bins"`
	ECE         float64     `json:"ece"` // expected calibration error of all rows
	Temperature float64     `json:"temperature"`
	Fitted      int         `json:"fitted_on"` // rows
	N           int         `json:"n"`         // other rows, of which are
	Before      LabelScores `json:"before"`    // at temperature 1
	After       LabelScores `json:"after"`     // at Temperature
}

// LabelScores are scores of p(y|x).
type LabelScores struct {
	NLL float64 `json:"negative_log_likelihood"` // mean −log p(y|x), nats
	ECE float64 `json:"ece"`
}

const (
	// leastTemperature and its inverse bound the temperature. Where a bound is the
	// best, the likelihood has no largest value near it: all rows are right, or
	// labels have nothing to do with p(y|x).
	leastTemperature = 1. / 128
	// calibrationSteps halve the interval of log temperatures, 2·log 128, to 10⁻¹².
	calibrationSteps = 43
)

// Calibrate returns the calibration of log p(y|x), rows × classes, against the labels
// y, by the weights of the rows, which are nil if they are equal. ok is false if there are fewer
// than two rows.
func Calibrate(logp []float64, y []int32, weights []float64, key rbm.Key) (c Calibration, ok bool) {
	if len(y) < 2 {
		return c, false
	}
	classes := len(logp) / len(y)
	order := make([]int, len(y))
	for i := range order {
		order[i] = i
	}
	key.Rand().Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	all := labelled{logp, y, weights}
	fit, rest := all.take(classes, order[:len(y)/2]), all.take(classes, order[len(y)/2:])
	c = Calibration{Bins: CalibrationBins, ECE: all.calibrationError(1), Fitted: len(fit.y), N: len(rest.y)}
	c.Temperature = 1 / fit.bestInverse()
	c.Before, c.After = rest.scores(1), rest.scores(1/c.Temperature)
	return c, true
}

// AtBound reports whether the likelihood has its largest value beyond the
// temperatures that are tried.
func (c Calibration) AtBound() bool {
	const near = 1e-6
	return math.Abs(math.Abs(math.Log(c.Temperature))+math.Log(leastTemperature)) < near
}

// labelled is log p(y|x) of some rows with their labels and their weights, nil if they are equal.
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

// bestInverse returns the inverse temperature β of the largest likelihood. Its
// logarithm is concave in β with the derivative Σ_r log p(y_r) − Σ_k q_k log p(k),
// q ∝ p^β, so that bisection finds it.
func (l labelled) bestInverse() float64 {
	low, high := math.Log(leastTemperature), -math.Log(leastTemperature)
	for range calibrationSteps {
		middle := (low + high) / 2
		if l.slope(rbm.Exp(middle)) >= 0 { // 0 where no doubt is left that float64 can hold
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

// logSumPower returns log Σ_k p_k^β of log p.
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

// calibrationError returns the expected calibration error at inverse temperature β.
// Rows are put into bins by the probability p of their likeliest class. The error is the mean
// over the rows of |mean p − fraction classified correctly| of their bin.
func (l labelled) calibrationError(beta float64) float64 {
	var excess [CalibrationBins]float64 // Σ p − right
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
