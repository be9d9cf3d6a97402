package figures

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"gorbm/cmd/cli"
)

// Errors is the number of standard errors that a paired difference must exceed
// before one side counts as better. If both sides are equal, a difference exceeds
// it by chance in one of 270 claims with 20 repetitions, one of 130 with 10, one of 50
// with five and one of 21 with three (Student's t).
const Errors = 3

// leastRepeats is the smallest number of repetitions that decides a claim. With
// fewer the standard error is hardly known.
const leastRepeats = 3

// A Claim is a sentence that was compared with numbers.
type Claim struct {
	Text      string
	Statistic string  // the statistic and its value as text
	Value     float64 // value of the statistic
	Mean      float64 // of the paired difference, if there is one
	Pass      bool
	Kind      Kind
	contrary  bool // the numbers show the opposite
}

// A Kind says who makes a claim.
type Kind string

// The kinds. A claim is the paper's, in the paper's unit of cost, unless it says otherwise.
const (
	Papers    Kind = ""
	OtherUnit Kind = "another unit" // of the paper, but in a unit of cost that it does not plot, such as seconds
	Own       Kind = "ours"
)

// Unsettled marks a claim whose failure does not show its opposite.
func (c Claim) Unsettled() Claim { c.contrary = false; return c }

// InOtherUnit marks a claim that the paper makes in another unit of cost.
func (c Claim) InOtherUnit() Claim { c.Kind = OtherUnit; return c }

// Aside marks a claim that the paper does not make.
func (c Claim) Aside() Claim { c.Kind = Own; return c }

// Times adds to a claim about logarithms the factor between both sides.
func (c Claim) Times() Claim {
	if c.Value != 0 {
		c.Statistic += fmt.Sprintf("; a factor of %s", Digits(math.Exp(math.Abs(c.Mean))))
	}
	return c
}

// The verdicts on a figure.
const (
	Holding    = "holds"
	PerStep    = "holds per step" // but not in other units of cost
	Unresolved = "not resolved"   // the numbers show neither the claim nor its opposite
	Contrary   = "does not hold"
)

// VerdictOf returns the verdict on a figure with these claims. Claims of kind Own do not count.
func VerdictOf(claims []Claim) string {
	verdict := Holding
	for _, c := range claims {
		switch {
		case c.Pass || c.Kind == Own:
		case c.Kind == OtherUnit:
			if verdict == Holding {
				verdict = PerStep
			}
		case c.contrary:
			return Contrary
		default:
			verdict = Unresolved
		}
	}
	return verdict
}

// compare returns a claim about the paired difference a − b, in standard errors, with at least leastRepeats
// pairs; needed names the condition. holds and opposite tell from the number of standard errors whether the claim
// passes, and whether the numbers show its opposite.
func compare(text string, a, b Repeats, needed string, holds, opposite func(ratio float64) bool) (c Claim, stdErr float64) {
	c.Text = text
	var d []float64
	for _, r := range slices.Sorted(maps.Keys(a)) {
		if y, ok := b[r]; ok && !math.IsNaN(a[r]-y) {
			d = append(d, a[r]-y)
		}
	}
	if len(d) < 2 {
		c.Statistic = fmt.Sprintf("pairs of repetitions: %d, at least %d needed", len(d), leastRepeats)
		return c, 0
	}
	mean, sd := stat.MeanStdDev(d, nil)
	c.Mean, stdErr = mean, stat.StdErr(sd, float64(len(d)))
	switch {
	case mean == 0:
	case stdErr == 0: // no spread
		c.Value = math.Copysign(math.Inf(1), mean)
	default:
		c.Value = mean / stdErr
	}
	if len(d) >= leastRepeats {
		c.Pass, c.contrary = holds(c.Value), opposite(c.Value)
	}
	c.Statistic = fmt.Sprintf("paired difference %s over %d repetitions: %.2f standard errors, %s", plusMinus(mean, stdErr), len(d), c.Value, needed)
	return c, stdErr
}

// Larger is the claim that a is larger than b. It passes if the paired
// difference exceeds three standard errors.
func Larger(text string, a, b Repeats) Claim {
	c, _ := compare(text, a, b, fmt.Sprintf("more than %d needed", Errors), func(z float64) bool { return z > Errors }, func(z float64) bool { return z < -Errors })
	return c
}

// Smaller is the claim that a is smaller than b.
func Smaller(text string, a, b Repeats) Claim { return Larger(text, b, a) }

// Loss is the factor by which one side may be worse than the other in a claim that it is not worse.
const Loss = 1.5

// NotLess is the claim that logarithms a are not smaller than b. It passes if a loss by more than a factor of Loss is three
// standard errors of the paired difference away. The statistic gives the largest loss that the numbers do not exclude.
func NotLess(text string, a, b Repeats) Claim {
	c, stdErr := compare(text, a, b, fmt.Sprintf("below -%d is a loss", Errors), func(float64) bool { return true }, func(z float64) bool { return z < -Errors })
	loss := math.Exp(max(0, Errors*stdErr-c.Mean))
	c.Pass = c.Pass && loss <= Loss
	c.Statistic += fmt.Sprintf("; a loss by more than a factor of %.2g is excluded, of %g needed", loss, Loss)
	return c
}

// Alike is the claim that a and b do not differ. It passes if the paired
// difference is within three standard errors. The statistic gives the largest
// difference that the numbers do not exclude.
func Alike(text string, a, b Repeats) Claim {
	differ := func(z float64) bool { return math.Abs(z) > Errors }
	c, stdErr := compare(text, a, b, fmt.Sprintf("at most %d allowed", Errors), func(z float64) bool { return !differ(z) }, differ)
	c.Statistic += fmt.Sprintf(", so a difference above %.2g is excluded", math.Abs(c.Mean)+Errors*stdErr)
	return c
}

// Holds returns a claim about numbers without noise.
func Holds(text string, pass bool, value float64, statistic string, args ...any) Claim {
	return Claim{Text: text, Statistic: fmt.Sprintf(statistic, args...), Value: value, Pass: pass, contrary: !pass}
}

// Steadier is the claim that curve a of a panel varies less between repetitions than b, for lo ≤ x ≤ hi. It applies
// Smaller to the distances from the median over repetitions at each x, averaged over x
// (Brown & Forsythe 1974). The statistic has the ratio of the standard deviations, a geometric mean over x.
func Steadier(text string, t *Table, panel, a, b string, lo, hi float64) Claim {
	xs := slices.DeleteFunc(t.Xs(panel, a), func(x float64) bool { return x < lo || x > hi })
	near, far, ratio := Repeats{}, Repeats{}, 0.0
	for _, x := range xs {
		ra, rb := t.At(panel, a, x), t.At(panel, b, x)
		for r, d := range deviations(ra) {
			near[r] += d / float64(len(xs))
		}
		for r, d := range deviations(rb) {
			far[r] += d / float64(len(xs))
		}
		_, sa := ra.Average()
		_, sb := rb.Average()
		ratio += math.Log(sb/sa) / float64(len(xs))
	}
	c := Smaller(text, near, far)
	c.Statistic = fmt.Sprintf("%.2f times the standard deviation, geometric mean over %d steps; distances from the medians: %s", math.Exp(ratio), len(xs), c.Statistic)
	return c
}

// deviations returns the distances from the median.
func deviations(a Repeats) Repeats {
	if len(a) == 0 {
		return nil
	}
	x := slices.Sorted(maps.Values(a))
	median := (x[(len(x)-1)/2] + x[len(x)/2]) / 2
	d := Repeats{}
	for r, v := range a {
		d[r] = math.Abs(v - median)
	}
	return d
}

// plusMinus formats a mean and its standard error, with two digits of the error.
func plusMinus(mean, stdErr float64) string {
	if stdErr == 0 || math.IsNaN(stdErr) || math.IsInf(stdErr, 0) {
		return fmt.Sprintf("%.3g ± %.2g", mean, stdErr)
	}
	return cli.PlusMinus(mean, stdErr, cli.Decimals(stdErr))
}
