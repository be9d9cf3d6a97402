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
	Repeats   int           // independent runs that the numbers are means over
	Info      negphase.Info // of all of them

	// About the mean of a whole run, at the last point:
	Bias     Bias
	Variance float64 // trace of the covariance of one run's mean; NaN of one run
	Cosine   Moment  // between the estimate and the truth, of gradients if there is a positive phase, otherwise of negative phases

	spread  *spread
	seconds []float64 // for each repeat, in the estimator
}

// A Point of a curve is the distance of the mean of the first updates from the
// truth. Everything is a mean over the repeats.
type Point struct {
	Updates    int     // calls of the estimator
	Steps      float64 // block Gibbs steps of each chain; each replica counts as a chain
	GibbsSteps float64 // of all chains and replicas
	Seconds    float64 // in the estimator, as in the median repeat
	Distance   Moment  // Euclidean, over all elements of ⟨vhᵀ⟩, ⟨v⟩ and ⟨h⟩
}

// Last returns the last point. It panics if there is none.
func (c *Curve) Last() Point { return c.Points[len(c.Points)-1] }

// SecondsPerStep returns the seconds for a step of all chains in the median repeat, because other
// programs may slow single repeats. It is NaN if no steps were taken.
func (c *Curve) SecondsPerStep() float64 {
	last := c.Last()
	if last.Steps == 0 {
		return math.NaN()
	}
	return last.Seconds / last.Steps
}

// Bias is the systematic part of an error: the mean over the repeats, less the
// truth.
type Bias struct {
	Norm  float64 // its length
	Floor float64 // the length due to noise alone, in the root mean square
}

// Corrected returns the length of the bias less the expected part of noise; 0 if
// noise explains all of it.
func (b Bias) Corrected() float64 {
	return math.Sqrt(max(0, float64(b.Norm*b.Norm)-float64(b.Floor*b.Floor)))
}

// A Moment is the mean of a number over the repeats and its standard
// deviation, NaN of one repeat.
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

// A trace is the result of one repeat, point by point.
type trace struct {
	Steps, Gibbs, Distance []float64
	Seconds                float64   // in all
	Value                  []float64 // the mean at the last point
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

// pace adds the seconds of a repeat and sets those of all points to the median.
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

// maxPoints is the number of points of a long curve: more than a picture shows.
const maxPoints = 100

// grid returns at most maxPoints numbers from 1 to last, evenly spaced on a
// logarithmic scale as far as whole numbers are.
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
