package compare

import (
	"math"
	"slices"

	"gorbm/negphase"
)

// A Curve is the result of one estimator.
type Curve struct {
	Estimator negphase.Settings
	Points    []Point
	Repeats   int           // number of independent runs, over which the numbers are averaged
	Info      negphase.Info // counts of all runs

	// The following describe the estimate at the last point, the mean over all updates of a run.
	Bias     Bias
	Variance float64 // trace of the covariance of the estimate over runs; NaN if there is one run
	Cosine   Moment  // cosine between estimate and truth: of the gradients if Truth.Positive is set, otherwise of the negative phases

	spread  *spread
	seconds []float64 // seconds in the estimator for each repeat, ascending
}

// A Point of a curve has the distance from the truth of the estimate after a number of updates. The
// estimate is the mean over these updates. All fields but Seconds are averaged over the repeats.
type Point struct {
	Updates    int     // calls of the estimator
	Steps      float64 // block Gibbs steps of each chain; each replica counts as a chain
	GibbsSteps float64 // block Gibbs steps, summed over all chains and replicas
	Seconds    float64 // seconds in the estimator, in the median repeat
	Distance   Moment  // Euclidean distance over all elements of ⟨vhᵀ⟩, ⟨v⟩ and ⟨h⟩
}

// Last returns the last point. It panics if there is none.
func (c *Curve) Last() Point { return c.Points[len(c.Points)-1] }

// SecondsPerStep returns the seconds for a block Gibbs step of all chains, in the median repeat, because
// other programs may slow single repeats. It is NaN if there were no steps.
func (c *Curve) SecondsPerStep() float64 {
	last := c.Last()
	if last.Steps == 0 {
		return math.NaN()
	}
	return last.Seconds / last.Steps
}

// Bias describes the systematic error: the mean of the estimates over the repeats, minus the
// truth.
type Bias struct {
	Norm  float64 // Euclidean norm
	Floor float64 // root mean square of the norm due to noise alone
}

// Corrected returns the norm without the expected contribution of noise, √(Norm² − Floor²); 0 if
// noise explains all of it.
func (b Bias) Corrected() float64 {
	return math.Sqrt(max(0, float64(b.Norm*b.Norm)-float64(b.Floor*b.Floor)))
}

// A Moment is the mean of a number over the repeats, with its standard
// deviation, which is NaN for one repeat.
type Moment struct {
	Mean, SD float64

	n       int
	squares float64
}

func (m *Moment) add(x float64) {
	m.n++
	d := x - m.Mean
	m.Mean += d / float64(m.n)
	m.squares += float64(d * (x - m.Mean))
	m.SD = math.NaN()
	if m.n > 1 {
		m.SD = math.Sqrt(m.squares / float64(m.n-1))
	}
}

// A trace is the result of one repeat.
type trace struct {
	Steps, Gibbs, Distance []float64 // for each point
	Seconds                float64   // total
	Value                  []float64 // the estimate at the last point
	Info                   negphase.Info
}

// add adds one repeat to the curve.
func (c *Curve) add(t trace, truth *Truth) {
	c.Repeats++
	n := float64(c.Repeats)
	for i := range c.Points {
		p := &c.Points[i]
		p.Steps += (t.Steps[i] - p.Steps) / n
		p.GibbsSteps += (t.Gibbs[i] - p.GibbsSteps) / n
		p.Distance.add(t.Distance[i])
	}
	c.pace(t.Seconds)
	c.Info.Add(t.Info)
	c.Cosine.add(cosine(t.Value, truth.Negative, truth.Positive))
	c.spread.add(t.Value)
	c.Variance = c.spread.variance()
	d := 0.0
	for i, x := range c.spread.mean {
		d += float64((x - truth.Negative[i]) * (x - truth.Negative[i]))
	}
	c.Bias = Bias{math.Sqrt(d), math.Sqrt(c.Variance/n + float64(truth.StdErr*truth.StdErr))}
}

// pace adds the seconds of a repeat and recomputes Seconds of all points from the median.
func (c *Curve) pace(seconds float64) {
	at, _ := slices.BinarySearch(c.seconds, seconds)
	c.seconds = slices.Insert(c.seconds, at, seconds)
	whole := c.seconds[len(c.seconds)/2]
	last := c.Last()
	for i := range c.Points {
		p := &c.Points[i]
		p.Seconds = whole
		if last.Steps > 0 {
			p.Seconds = whole * p.Steps / last.Steps
		}
	}
}

// maxPoints is the largest number of points of a curve, enough for a picture.
const maxPoints = 100

// grid returns at most maxPoints whole numbers from 1 to last, approximately equally spaced on a
// logarithmic scale.
func grid(last int) []int {
	var points []int
	for k := range maxPoints {
		n := int(math.Round(math.Pow(float64(last), float64(k)/(maxPoints-1))))
		if len(points) == 0 || n > points[len(points)-1] {
			points = append(points, n)
		}
	}
	return slices.Clip(points)
}
