// Package claims runs the experiments that reproduce figures of papers, checks
// the papers' claims, and writes pages with the results.
//
// An Experiment is a paper and has a Figure for each picture. A Figure has jobs,
// which yield points. All points of a figure are in one CSV file, from which
// the picture, the claims and README.md are made. An interrupted experiment resumes
// with the jobs that the file lacks.
package claims

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
)

// Errors is the number of standard errors that a paired difference must exceed
// before one side counts as better. If both sides are equal, a difference exceeds
// it by chance in one of 270 claims with 20 repetitions, one of 130 with 10, one of 50
// with five and one of 21 with three (Student's t).
const Errors = 3

// leastRepeats is the smallest number of repetitions that decides a claim. With
// fewer the standard error is hardly known.
const leastRepeats = 3

// A Verdict is the outcome of a claim.
type Verdict string

// The verdicts. Open means that there are too few repetitions.
const (
	Pass Verdict = "PASS"
	Fail Verdict = "FAIL"
	Open Verdict = "OPEN"
)

// A Claim is a sentence that was compared with numbers.
type Claim struct {
	Text      string
	Statistic string  // the statistic and its value as text
	Value     float64 // value of the statistic
	// Mean and StdErr are those of the paired difference, if there is one.
	Mean, StdErr float64
	Verdict      Verdict
	Refusal      string // reason to give no verdict, although there are numbers; "": none
	Kind         Kind
	contrary     bool // the numbers show the opposite
}

// A Kind says who makes a claim.
type Kind string

// The kinds. A claim is the paper's unless it says otherwise.
const (
	Papers    Kind = "paper"
	OtherUnit Kind = "another unit" // of the paper, but in a unit of cost that it does not plot, such as seconds
	Own       Kind = "ours"
)

// Unsettled marks a claim whose failure does not show its opposite.
func (c Claim) Unsettled() Claim { c.contrary = false; return c }

// InOtherUnit marks a claim that the paper makes in another unit of cost.
func (c Claim) InOtherUnit() Claim { c.Kind = OtherUnit; return c }

// Aside marks a claim that the paper does not make.
func (c Claim) Aside() Claim { c.Kind = Own; return c }

// Passed returns the number of claims that pass.
func Passed(claims []Claim) (n int) {
	for _, c := range claims {
		if c.Verdict == Pass {
			n++
		}
	}
	return n
}

// A Word is the outcome of all claims of a figure.
type Word string

// The words.
const (
	Holding    Word = "holds"
	PerStep    Word = "holds per step" // but not in other units of cost
	Unresolved Word = "not resolved"   // the numbers show neither the claim nor its opposite
	Contrary   Word = "does not hold"
)

// WordOf returns the outcome of the claims of a figure. Claims of kind Own do not count.
func WordOf(claims []Claim) Word {
	word := Holding
	for _, c := range claims {
		switch {
		case c.Verdict == Pass || c.Kind == Own:
		case c.Kind == OtherUnit:
			if word == Holding {
				word = PerStep
			}
		case c.contrary:
			return Contrary
		default:
			word = Unresolved
		}
	}
	return word
}

// Repeats are numbers by repetition. Paired differences are between equal keys.
type Repeats map[int]float64

// differences returns a − b for the repetitions that both have, in order.
func differences(a, b Repeats) (d []float64) {
	for _, r := range slices.Sorted(maps.Keys(a)) {
		if y, ok := b[r]; ok && !math.IsNaN(a[r]-y) {
			d = append(d, a[r]-y)
		}
	}
	return d
}

// paired returns the number of pairs, the mean difference a − b, its standard
// error and their ratio. The ratio of a difference without spread is infinite.
func paired(a, b Repeats) (n int, mean, stdErr, ratio float64) {
	d := differences(a, b)
	if len(d) < 2 {
		return len(d), 0, 0, 0
	}
	mean, sd := stat.MeanStdDev(d, nil)
	stdErr = stat.StdErr(sd, float64(len(d)))
	switch {
	case mean == 0:
	case stdErr == 0:
		ratio = math.Copysign(math.Inf(1), mean)
	default:
		ratio = mean / stdErr
	}
	return len(d), mean, stdErr, ratio
}

// Larger is the claim that a is larger than b. It passes if the paired
// difference exceeds three standard errors.
func Larger(text string, a, b Repeats) Claim {
	n, mean, stdErr, ratio := paired(a, b)
	c := Claim{Text: text, Value: ratio, Mean: mean, StdErr: stdErr, Verdict: Fail, Kind: Papers}
	switch {
	case n < leastRepeats:
		c.Verdict = Open
	case ratio > Errors:
		c.Verdict = Pass
	default:
		c.contrary = ratio < -Errors
	}
	if n < 2 {
		c.Statistic = tooFew(n)
		return c
	}
	c.Statistic = fmt.Sprintf("paired difference %s over %d repetitions: %.2f standard errors, more than %d needed", plusMinus(mean, stdErr), n, ratio, Errors)
	return c
}

// tooFew is the statistic of a claim with n < 2 pairs of repetitions, which have no standard error. leastRepeats are
// needed for a verdict.
func tooFew(n int) string {
	return fmt.Sprintf("pairs of repetitions: %d, at least %d needed", n, leastRepeats)
}

// Smaller is the claim that a is smaller than b.
func Smaller(text string, a, b Repeats) Claim { return Larger(text, b, a) }

// NotLess is the claim that a is not smaller than b: it fails if b is larger by more than
// three standard errors of the paired difference. The statistic gives the largest loss that the
// numbers do not exclude, formatted by loss.
func NotLess(text string, a, b Repeats, loss func(x float64) string) Claim {
	c := Larger(text, a, b)
	switch {
	case c.Verdict == Open:
	case c.Value < -Errors:
		c.Verdict = Fail
	default:
		c.Verdict, c.contrary = Pass, false
	}
	c.Statistic = strings.Replace(c.Statistic, fmt.Sprintf("more than %d needed", Errors),
		fmt.Sprintf("below -%d is a loss; a loss by more than %s is excluded", Errors, loss(max(0, Errors*c.StdErr-c.Mean))), 1)
	return c
}

// Factor formats a difference of logarithms as a factor, for NotLess.
func Factor(x float64) string { return fmt.Sprintf("a factor of %.2g", math.Exp(x)) }

// Refused withdraws the verdict of a claim for the given reason. The first reason stays.
func (c Claim) Refused(format string, args ...any) Claim {
	if c.Verdict == Open || c.Refusal != "" {
		return c
	}
	c.Verdict, c.contrary, c.Refusal = Fail, false, fmt.Sprintf(format, args...)
	c.Statistic += "; no verdict: " + c.Refusal
	return c
}

// Resolution is the factor between two times that repetitions must resolve for a verdict; see Resolved.
const Resolution = 1.5

// Resolved withdraws the verdict of a claim about logarithms if three standard errors exceed the logarithm of Resolution, unless
// the difference is larger than three standard errors.
func (c Claim) Resolved() Claim {
	finest := Errors * c.StdErr
	if finest <= math.Log(Resolution) || math.Abs(c.Mean) > finest {
		return c
	}
	times := finest / math.Log(Resolution)
	return c.Refused("these runs resolve a factor of %.3g; a factor of %g needs %.0f times as many repetitions", math.Exp(finest), Resolution, math.Ceil(times*times))
}

// Alike is the claim that a and b do not differ. It passes if the paired
// difference is within three standard errors. The statistic gives the largest
// difference that the numbers do not exclude.
func Alike(text string, a, b Repeats) Claim {
	n, mean, stdErr, ratio := paired(a, b)
	c := Claim{Text: text, Value: ratio, Mean: mean, StdErr: stdErr, Verdict: Fail, Kind: Papers}
	switch {
	case n < leastRepeats:
		c.Verdict = Open
	case math.Abs(ratio) <= Errors:
		c.Verdict = Pass
	default:
		c.contrary = true
	}
	if n < 2 {
		c.Statistic = tooFew(n)
		return c
	}
	c.Statistic = fmt.Sprintf("paired difference %s over %d repetitions: %.2f standard errors, at most %d allowed, so a difference above %.2g is excluded",
		plusMinus(mean, stdErr), n, ratio, Errors, math.Abs(mean)+Errors*stdErr)
	return c
}

// Steadier is the claim that curve a of a panel varies less between repetitions than b, for lo ≤ x ≤ hi. It applies
// Smaller to the distances from the median over repetitions at each x, averaged over x
// (Brown & Forsythe 1974).
func Steadier(text string, t *Table, panel, a, b string, lo, hi float64) Claim {
	distances := map[string]Repeats{a: {}, b: {}}
	xs := between(t.Xs(panel, a), lo, hi)
	for curve, mean := range distances {
		for _, x := range xs {
			for r, d := range deviations(t.At(panel, curve, x)) {
				mean[r] += d / float64(len(xs))
			}
		}
	}
	c := Smaller(text, distances[a], distances[b])
	c.Statistic = fmt.Sprintf("%.2f times the standard deviation, geometric mean over %d steps; distances from the medians: %s", SpreadRatio(t, panel, b, a, lo, hi), len(xs), c.Statistic)
	return c
}

// SpreadRatio returns the standard deviation of curve a between repetitions divided by that of b, as the geometric mean over lo ≤ x ≤ hi.
func SpreadRatio(t *Table, panel, a, b string, lo, hi float64) float64 {
	sum := 0.
	xs := between(t.Xs(panel, b), lo, hi)
	for _, x := range xs {
		_, sa := t.At(panel, a, x).Average()
		_, sb := t.At(panel, b, x).Average()
		sum += math.Log(sa / sb)
	}
	return math.Exp(sum / float64(len(xs)))
}

// between returns the xs in [lo, hi]. It overwrites xs.
func between(xs []float64, lo, hi float64) []float64 {
	return slices.DeleteFunc(xs, func(x float64) bool { return x < lo || x > hi })
}

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

// Differ reports whether the means of a and b differ at p < 0.001 by Welch's test, and by how many
// standard errors. Three standard errors are not enough for few repetitions and many comparisons.
func Differ(a, b Repeats) (t float64, yes bool) {
	if len(a) < 2 || len(b) < 2 {
		return 0, false
	}
	t, p := diag.Welch(slices.Sorted(maps.Values(a)), slices.Sorted(maps.Values(b)))
	return math.Abs(t), p < 0.001
}

// Holds returns a claim about numbers without noise.
func Holds(text string, pass bool, value float64, statistic string, args ...any) Claim {
	c := Claim{Text: text, Statistic: fmt.Sprintf(statistic, args...), Value: value, Verdict: Fail, Kind: Papers, contrary: !pass}
	if pass {
		c.Verdict = Pass
	}
	return c
}

// plusMinus formats a mean and its standard error, with two digits of the error.
func plusMinus(mean, stdErr float64) string {
	if stdErr == 0 || math.IsNaN(stdErr) || math.IsInf(stdErr, 0) {
		return fmt.Sprintf("%.3g ± %.2g", mean, stdErr)
	}
	return cli.PlusMinus(mean, stdErr, cli.Decimals(stdErr))
}
