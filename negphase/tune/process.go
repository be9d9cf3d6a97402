package tune

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"gorbm/negphase/diag"
)

// An Observation is a noisy value of the function that a Process models.
type Observation struct {
	At    []float64 // point in the unit cube
	Value float64
}

// Hyper has the hyper-parameters of a Process. Signal and Noise are divided by the standard deviation of
// the observed values; the side of the cube is 1.
type Hyper struct {
	Signal float64   // standard deviation of the function
	Noise  float64   // standard deviation of the noise of an observation
	Length []float64 // length scale of each coordinate
}

// A Process is the posterior of a Gaussian process. It has a
// squared-exponential kernel with one length scale per coordinate,
//
//	k(x, x') = Signal² · exp(−½ Σ_d (x_d − x'_d)²/Length_d²)
//
// Gaussian noise (section 4.1 of the paper), and the mean of the observed values as prior mean.
type Process struct {
	Hyper
	at     [][]float64
	z      []float64 // standardised values
	mean   float64   // value = mean + scale·z
	scale  float64
	root   [][]float64 // row i of L⁻¹, with i+1 elements, where LLᵀ is the covariance of z
	weight []float64   // covariance⁻¹ z
}

var errSingular = errors.New("tune: the covariance of the observations is singular")

// Condition returns the posterior given the observations, of which there must be at least one, and the
// hyper-parameters. It returns an error if the covariance is singular even with
// jitter, because values or points are not finite.
func Condition(h Hyper, data []Observation) (*Process, error) {
	p := newProcess(data)
	p.Hyper = h
	chol, err := p.factor(p.covariance())
	if err != nil {
		return nil, err
	}
	n := len(p.z)
	var lower, inverse mat.TriDense
	chol.LTo(&lower)
	if err := inverse.InverseTri(&lower); err != nil && !isCondition(err) {
		return nil, errSingular
	}
	for i := range n {
		row := make([]float64, i+1)
		for j := range row {
			row[j] = inverse.At(i, j)
		}
		p.root = append(p.root, row)
	}
	p.solve()
	return p, nil
}

// isCondition reports whether err, from gonum, only says that a matrix is nearly
// singular. The result is then still usable.
func isCondition(err error) bool {
	var c mat.Condition
	return errors.As(err, &c) && !math.IsInf(float64(c), 1)
}

// newProcess returns a process with the standardised values, but without root and weight.
func newProcess(data []Observation) *Process {
	p := &Process{scale: 1}
	for _, o := range data {
		p.at, p.z = append(p.at, o.At), append(p.z, o.Value)
	}
	mean, variance := diag.MeanVariance(p.z)
	p.mean = mean
	if variance > 0 {
		p.scale = math.Sqrt(variance)
	}
	for i := range p.z {
		p.z[i] = (p.z[i] - p.mean) / p.scale
	}
	return p
}

// kernel returns k(x, y) for standardised values.
func (p *Process) kernel(x, y []float64) float64 {
	sum := 0.0
	for d, l := range p.Length {
		u := (x[d] - y[d]) / l
		sum += u * u
	}
	return p.Signal * p.Signal * math.Exp(-sum/2)
}

// covariance returns the covariance matrix of the standardised observations.
func (p *Process) covariance() *mat.SymDense {
	n := len(p.at)
	k := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			k.SetSym(i, j, p.kernel(p.at[i], p.at[j]))
		}
		k.SetSym(i, i, p.Signal*p.Signal+p.Noise*p.Noise)
	}
	return k
}

const (
	// maxCond is the largest condition number of a covariance that is accepted.
	// A solution then has at least four correct digits of float64's sixteen.
	maxCond = 1e12
	// Jitter is added to the diagonal until the covariance is well conditioned. Relative to the
	// diagonal it is 0, leastJitter, and further powers of ten up to mostJitter.
	leastJitter, mostJitter = 1e-12, 1e-4
)

// factor returns the Cholesky factor of k with the least
// jitter that makes it well conditioned.
func (p *Process) factor(k *mat.SymDense) (*mat.Cholesky, error) {
	var chol mat.Cholesky
	n := k.SymmetricDim()
	for jitter := 0.0; jitter <= mostJitter; jitter = max(leastJitter, 10*jitter) {
		with := k
		if jitter > 0 {
			with = mat.NewSymDense(n, nil)
			with.CopySym(k)
			for i := range n {
				with.SetSym(i, i, k.At(i, i)*(1+jitter))
			}
		}
		if chol.Factorize(with) && chol.Cond() <= maxCond {
			return &chol, nil
		}
	}
	return nil, errSingular
}

// Add conditions on one more observation, in O(n²) time for n
// observations. It does not change the hyper-parameters, mean or scale.
// It reports whether the covariance is still well conditioned;
// otherwise p is unchanged.
func (p *Process) Add(o Observation) bool {
	n := len(p.at)
	k, v := make([]float64, n), make([]float64, n)
	for i, at := range p.at {
		k[i] = p.kernel(o.At, at)
	}
	variance := p.Signal*p.Signal + p.Noise*p.Noise
	rest := variance
	for i, row := range p.root {
		v[i] = floats.Dot(row, k[:i+1])
		rest -= v[i] * v[i]
	}
	if !(rest > variance/maxCond) {
		return false
	}
	row := make([]float64, n+1)
	for i, r := range p.root {
		floats.AddScaled(row[:i+1], -v[i]/math.Sqrt(rest), r)
	}
	row[n] = 1 / math.Sqrt(rest)
	p.at, p.root = append(p.at, o.At), append(p.root, row)
	p.z = append(p.z, (o.Value-p.mean)/p.scale)
	p.solve()
	return true
}

// solve computes weight from root and z.
func (p *Process) solve() {
	p.weight = make([]float64, len(p.z))
	for i, row := range p.root {
		floats.AddScaled(p.weight[:i+1], floats.Dot(row, p.z[:i+1]), row)
	}
}

// Predict returns the mean and the standard deviation of the function at x,
// without noise.
func (p *Process) Predict(x []float64) (mean, sd float64) {
	k := make([]float64, len(p.at))
	for i, at := range p.at {
		k[i] = p.kernel(x, at)
	}
	variance := p.Signal * p.Signal
	for i, row := range p.root {
		v := floats.Dot(row, k[:i+1])
		variance -= v * v
	}
	return p.mean + p.scale*floats.Dot(k, p.weight), p.scale * math.Sqrt(max(0, variance))
}

// Mean returns the mean of Predict alone, which is faster.
func (p *Process) Mean(x []float64) float64 {
	sum := 0.0
	for i, at := range p.at {
		sum += p.weight[i] * p.kernel(x, at)
	}
	return p.mean + p.scale*sum
}

// likelihood returns the log marginal likelihood of the standardised values,
// and its gradient with respect to the logarithms of the hyper-parameters in the order
// Signal, Noise, Length (Rasmussen & Williams 2006, equations 2.30 and 5.9). The value
// is −Inf if the covariance is singular.
func (p *Process) likelihood() (value float64, gradient []float64) {
	n := len(p.z)
	gradient = make([]float64, 2+len(p.Length))
	k := p.covariance()
	chol, err := p.factor(k)
	if err != nil {
		return math.Inf(-1), gradient
	}
	z, alpha := mat.NewVecDense(n, p.z), mat.NewVecDense(n, nil)
	var inverse mat.SymDense
	if err := chol.SolveVecTo(alpha, z); err != nil && !isCondition(err) {
		return math.Inf(-1), gradient
	}
	if err := chol.InverseTo(&inverse); err != nil && !isCondition(err) {
		return math.Inf(-1), gradient
	}
	value = -mat.Dot(z, alpha)/2 - chol.LogDet()/2 - float64(n)/2*math.Log(2*math.Pi)
	a, inv, cov := alpha.RawVector().Data, inverse.RawSymmetric(), k.RawSymmetric()
	byLength := gradient[2:]
	for i := range n {
		for j := i + 1; j < n; j++ {
			w := (a[i]*a[j] - inv.Data[i*inv.Stride+j]) * cov.Data[i*cov.Stride+j]
			gradient[0] += 2 * w
			for d, x := range p.at[i] {
				u := x - p.at[j][d]
				byLength[d] += w * u * u
			}
		}
		w := a[i]*a[i] - inv.Data[i*inv.Stride+i]
		gradient[0] += w * p.Signal * p.Signal
		gradient[1] += w * p.Noise * p.Noise
	}
	for d, l := range p.Length {
		byLength[d] /= l * l
	}
	return value, gradient
}

// Bounds of the hyper-parameters. Values are standardised, so neither Signal nor Noise can
// be much larger than one. A length of ten sides means that a coordinate is irrelevant. Below a
// twentieth of a side, a trial would give no information about points near it.
var (
	signalBounds = [2]float64{0.05, 5}
	noiseBounds  = [2]float64{0.02, 2}
	lengthBounds = [2]float64{0.05, 10}
)

// initial returns the hyper-parameters from which the first search starts.
func initial(dims int) Hyper {
	h := Hyper{Signal: 1, Noise: 0.3, Length: make([]float64, dims)}
	for d := range h.Length {
		h.Length[d] = 0.5
	}
	return h
}

// A logit maps real numbers u to the interval between two bounds. The logarithm of the result is a
// scaled logistic function of u.
type logit [2]float64

func (b logit) value(u float64) (x, slope float64) {
	lo, hi := math.Log(b[0]), math.Log(b[1])
	s := 1 / (1 + math.Exp(-u))
	return math.Exp(lo + (hi-lo)*s), (hi - lo) * s * (1 - s)
}

func (b logit) inverse(x float64) float64 {
	lo, hi := math.Log(b[0]), math.Log(b[1])
	s := min(0.99, max(0.01, (math.Log(x)-lo)/(hi-lo))) // the slope is 0 at the bounds
	return math.Log(s / (1 - s))
}

// Fit returns the hyper-parameters within their bounds that maximise the log
// marginal likelihood, and the value of this maximum. It searches by L-BFGS from each of the starts, with
// at most the given number of iterations for each, and returns the best
// point. There must be at least one start.
func Fit(data []Observation, iterations int, starts ...Hyper) (best Hyper, value float64) {
	p := newProcess(data)
	dims := len(starts[0].Length)
	bounds := []logit{signalBounds, noiseBounds}
	for range dims {
		bounds = append(bounds, lengthBounds)
	}
	at := func(u []float64) (slopes []float64) {
		x := make([]float64, len(u))
		slopes = make([]float64, len(u))
		for i, b := range bounds {
			x[i], slopes[i] = b.value(u[i])
		}
		p.Hyper = Hyper{Signal: x[0], Noise: x[1], Length: x[2:]}
		return slopes
	}
	// The optimiser requests value and gradient at one point in separate calls.
	var last struct {
		u, gradient []float64
		value       float64
	}
	evaluate := func(u []float64) {
		if last.u != nil && floats.Equal(u, last.u) {
			return
		}
		slopes := at(u)
		v, g := p.likelihood()
		if math.IsInf(v, -1) {
			v = -1e300 // the line search needs finite values
		}
		for i := range g {
			g[i] *= -slopes[i]
		}
		last.u, last.value, last.gradient = append(last.u[:0], u...), -v, g
	}
	problem := optimize.Problem{
		Func: func(u []float64) float64 { evaluate(u); return last.value },
		Grad: func(grad, u []float64) { evaluate(u); copy(grad, last.gradient) },
	}
	settings := &optimize.Settings{
		MajorIterations: iterations, GradientThreshold: 1e-3, // likelihoods that differ by less than 0.001 are equally good
		Converger: &optimize.FunctionConverge{Absolute: 1e-3, Iterations: 3},
	}
	value = math.Inf(-1)
	for _, start := range starts {
		u := []float64{logit(signalBounds).inverse(start.Signal), logit(noiseBounds).inverse(start.Noise)}
		for _, l := range start.Length {
			u = append(u, logit(lengthBounds).inverse(l))
		}
		// A search that ends with an error, such as one of the line search, still returns the best
		// point so far.
		r, _ := optimize.Minimize(problem, u, settings, &optimize.LBFGS{})
		if r != nil && -r.F > value {
			value = -r.F
			at(r.X)
			best = p.Hyper
		}
	}
	if math.IsInf(value, -1) {
		best = starts[0]
	}
	return best, value
}
