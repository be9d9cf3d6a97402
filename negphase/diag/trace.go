package diag

import "math"

// A Trace keeps a series of any length in bounded memory. It holds the means
// of blocks of Stride consecutive values; when it is full, neighbouring blocks
// are merged and Stride doubles. So nothing is thrown away, and what is kept is
// a function of the series alone.
type Trace struct {
	limit  int
	blocks []float64
	stride int
	filled int     // values in the block under way
	block  float64 // and their sum

	n             int64
	first         float64 // sums are of differences from it, to keep their digits
	sum, sumOfSqs float64
}

// NewTrace returns an empty trace that holds fewer than limit blocks, and half
// of them or more once it has been full. It panics if limit is odd or below 2.
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

// close ends the block under way.
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

// Blocks returns the means of the blocks, oldest first; values of a block not
// yet full are missing. The slice is the trace's own, valid until the next Add.
func (t *Trace) Blocks() []float64 { return t.blocks }

// Summary summarises all values added, as Summarize does. The error of the mean
// comes from the blocks and their autocorrelation at lags of up to half the
// series; τ in steps of single values follows from that error and their
// variance, StdErr² = 2τ·Variance/N, so that blocks longer than τ do no harm.
// Batch means take over where they show a slow tail; see Summary.
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
		if variance == 0 { // otherwise blocks hide what single values do
			s.Time, s.Effective = time, 0
		}
		return s
	}
	// Both variances are about the series' own mean, which takes the variance
	// of that mean off them.
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
	// Batches is the number of long batches by which slow tails are found: with
	// fewer their scatter says little, with more they are shorter.
	Batches = 32
	// slowRatio is how much larger than that of the window the variance of the
	// mean by batches must be to show a slow tail: by chance, χ² of 31 degrees
	// of freedom over 31, it is in one series in 100,000.
	slowRatio = 2.5
)

// batchVariance returns the variance of the mean by the scatter of the means
// of long batches; 0 if there are not enough blocks.
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

// blockVariance returns the variance of the blocks about their mean.
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
