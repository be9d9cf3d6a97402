package diag

import "math"

// A Summary has estimates of the mean and the autocorrelation time of a stationary series.
type Summary struct {
	N         int64 // number of values
	Mean      float64
	StdErr    float64 // standard error of Mean, including autocorrelation; NaN if unknown
	Variance  float64 // variance of one value
	Time      Time    // in steps of the series
	Effective float64 // number of independent values whose mean has the same StdErr
	// Slow is true if the autocorrelation has a small but long tail beyond the
	// window of τ: the means of 32 long batches vary more than the sum over the window
	// predicts. StdErr, τ and Effective are then computed from the batches. StdErr and τ
	// may still be too small.
	Slow bool
}

// Trusted reports whether the series is long enough for StdErr and Time to be reliable.
func (s Summary) Trusted() bool {
	return s.Effective >= LeastEffective && !math.IsInf(s.Time.StdErr, 1) && !s.Slow
}

// Doubt returns why the series is not Trusted, or "" if it is: Constant, SlowTail or FewValues.
func (s Summary) Doubt() Kind {
	switch {
	case s.Trusted():
		return ""
	case s.Variance == 0:
		return Constant
	case s.Slow:
		return SlowTail
	}
	return FewValues
}

// TauBound returns a lower bound of τ from a series that is too short to measure τ (see Trusted). It is
// half of the estimate, which is usually too small for such a series. In tests with autoregressive series
// of length 5τ to 320τ that were not trusted, at most 6 % had a bound above τ. The bound is
// 0 if τ is unknown.
func (s Summary) TauBound() float64 {
	if math.IsNaN(s.Time.Tau) {
		return 0
	}
	return s.Time.Tau / 2
}

// Summarize summarises a series. The variance of the mean is 2τ·Variance/N. All
// numbers are NaN if the series is empty or has a value that is not finite. For a
// constant series Variance is 0, τ is +Inf, Effective is 0, and StdErr is NaN,
// because a chain that never moved gives no information about other states.
func Summarize(x []float64) Summary {
	t := NewTrace(2 * (len(x)/2 + 1)) // never full: blocks of one value
	for _, v := range x {
		t.Add(v)
	}
	return t.Summary()
}

// Z returns the difference of the means of two independent series, a − b, divided by its standard error;
// NaN if the error is unknown.
func Z(a, b Summary) float64 { return (a.Mean - b.Mean) / math.Hypot(a.StdErr, b.StdErr) }

// A Trace summarises a series of any length in bounded memory. It stores the means
// of blocks of Stride consecutive values. When its limit is reached, neighbouring blocks
// are merged and Stride doubles.
type Trace struct {
	limit  int
	blocks []float64
	stride int
	filled int     // number of values in the last block, which is not full
	block  float64 // sum of these values

	n             int64
	first         float64 // first value; subtracted from every value in the sums, for precision
	sum, sumOfSqs float64
}

// NewTrace returns an empty trace that stores fewer than limit blocks, and at least limit/2 once blocks
// have been merged. It panics if limit is odd or below 2.
func NewTrace(limit int) *Trace {
	if limit < 2 || limit%2 != 0 {
		panic("diag: the limit of a trace must be even and at least 2")
	}
	return &Trace{limit: limit, stride: 1}
}

// Add appends a value.
func (t *Trace) Add(x float64) {
	if t.n == 0 {
		t.first = x
	}
	d := x - t.first
	t.n++
	t.sum += d
	t.sumOfSqs += float64(d * d)
	t.block += d
	if t.filled++; t.filled == t.stride {
		t.close()
	}
}

// close ends the last block.
func (t *Trace) close() {
	t.blocks = append(t.blocks, t.first+t.block/float64(t.stride))
	t.block, t.filled = 0, 0
	if len(t.blocks) < t.limit {
		return
	}
	for i := range t.limit / 2 {
		t.blocks[i] = t.blocks[2*i]/2 + t.blocks[2*i+1]/2
	}
	t.blocks = t.blocks[:t.limit/2]
	t.stride *= 2
}

// Len returns the number of values added.
func (t *Trace) Len() int64 { return t.n }

// Stride returns the number of values in a block.
func (t *Trace) Stride() int { return t.stride }

// Blocks returns the means of the full blocks, oldest first. The trace owns the slice, which is valid
// until the next Add.
func (t *Trace) Blocks() []float64 { return t.blocks }

// Summary summarises all values added, like Summarize. The error of the mean is computed from the
// blocks and their autocorrelation at lags of up to half the series. τ in steps of single values
// follows from this error and the variance of single values by StdErr² = 2τ·Variance/N, so blocks may
// be longer than τ. If the means of batches show a slow tail, the error is computed from these means;
// see Summary.Slow.
func (t *Trace) Summary() Summary {
	nan := math.NaN()
	s := Summary{N: t.n, Mean: nan, StdErr: nan, Variance: nan, Effective: nan, Time: Time{Tau: nan, StdErr: nan}}
	n := float64(len(t.blocks))
	if n == 0 {
		return s
	}
	s.Mean = t.first + t.sum/float64(t.n)
	variance := max(0, t.sumOfSqs/float64(t.n)-float64(t.sum/float64(t.n)*t.sum/float64(t.n)))
	s.Variance = variance
	time := IntegratedTime(Autocorrelation(t.blocks, len(t.blocks)/2), len(t.blocks))
	if math.IsInf(time.Tau, 1) {
		if variance == 0 { // otherwise only the blocks are constant
			s.Time, s.Effective = time, 0
		}
		return s
	}
	// The variances of values and of blocks are about the estimated mean, and so too small by the
	// variance of this mean.
	ofMean := t.blockVariance() / time.EffectiveSize(len(t.blocks))
	s.Variance += ofMean
	ofMean *= 1 + 2*time.Tau/n
	relative := time.StdErr / time.Tau
	if v := t.batchVariance(); v > slowRatio*ofMean {
		s.Slow, ofMean, relative = true, v, math.Sqrt(2./(Batches-1))
	}
	s.StdErr = math.Sqrt(ofMean)
	s.Effective = s.Variance / ofMean
	tau := float64(t.n) / (2 * s.Effective)
	s.Time = Time{Tau: tau, StdErr: relative * tau, Window: time.Window * t.stride}
	return s
}

const (
	// Batches is the number of long batches that serve to detect slow tails. With fewer batches
	// the variance would be less accurate; with more, batches would be shorter.
	Batches = 32
	// A slow tail is reported if the variance of the mean by batches, divided by the variance of the
	// mean by the window, is above slowRatio. By chance (χ² with 31 degrees of freedom, divided by 31)
	// one series in 100,000 has such a ratio.
	slowRatio = 2.5
)

// batchVariance returns the variance of the mean, estimated from the means
// of long batches; 0 if there are fewer blocks than Batches.
func (t *Trace) batchVariance() float64 {
	long := len(t.blocks) / Batches
	if long == 0 {
		return 0
	}
	rest := t.blocks[len(t.blocks)-Batches*long:]
	var means [Batches]float64
	mean := 0.0
	for b := range means {
		for _, x := range rest[b*long : (b+1)*long] {
			means[b] += (x - t.first) / float64(long)
		}
		mean += means[b] / Batches
	}
	sum := 0.0
	for _, m := range means {
		sum += float64((m - mean) * (m - mean))
	}
	return sum / (Batches * (Batches - 1))
}

func (t *Trace) blockVariance() float64 {
	mean, sum := 0.0, 0.0
	for _, b := range t.blocks {
		mean += (b - t.first) / float64(len(t.blocks))
	}
	for _, b := range t.blocks {
		d := b - t.first - mean
		sum += float64(d * d)
	}
	return sum / float64(len(t.blocks))
}

// MeanVariance returns the mean of x, which must not be empty, and the mean squared
// deviation from it. Unlike those of gonum, its sums run in order and its
// products do not fuse, so that the results are identical on every processor.
func MeanVariance(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += float64((v - mean) * (v - mean))
	}
	return mean, variance / float64(len(x))
}
