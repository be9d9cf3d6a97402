package diag

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"gorbm/rbm"
)

var long = flag.Bool("long", false, "test every case")

// TestErrorBars checks, over many series with known τ, that τ and the mean are
// right on average, and that intervals of one standard error contain the true values with the right frequency. The
// traces have blocks of one value, and blocks shorter and longer than τ.
func TestErrorBars(t *testing.T) {
	const n, series = 1 << 14, 200
	for _, phi := range []float64{0.9, 0.5, 0, -0.5} {
		for _, limit := range []int{1 << 15, 1 << 12, 1 << 9} {
			if !*long && limit != 1<<9 && phi != 0.9 {
				continue
			}
			tau := tauOf(phi)
			var sum, squares, window, tauWithin, meanWithin float64
			for k := range series {
				trace := NewTrace(limit)
				for _, x := range autoregression(phi, n, rbm.NewKey(3).Child(uint64(k))) {
					trace.Add(x)
				}
				s := trace.Summary()
				if s.N != n || !s.Trusted() {
					t.Fatalf("φ = %v, limit %d: %+v is not trusted", phi, limit, s)
				}
				sum += s.Time.Tau
				squares += s.Time.Tau * s.Time.Tau
				window += float64(s.Time.Window) / series
				tauWithin += within((s.Time.Tau - tau) / s.Time.StdErr)
				meanWithin += within(s.Mean / s.StdErr)
			}
			// The window omits a fraction e⁻⁶ of τ. The remaining error of the correction for the mean
			// is less than the correction itself, a fraction (2W+1)/n.
			mean := sum / series
			sd := math.Sqrt(squares/series - mean*mean)
			bias := tau * (math.Exp(-windowFactor) + (2*window+1)/n)
			if math.Abs(mean-tau) > 4*sd/math.Sqrt(series)+bias {
				t.Errorf("φ = %v, limit %d: τ is %v on average, want %v", phi, limit, mean, tau)
			}
			// 68.3 % of normal values lie within one standard deviation. Errors of the standard
			// errors change this little compared with the binomial error.
			const p = 0.6827
			tol := 4 * math.Sqrt(p*(1-p)/series)
			for what, share := range map[string]float64{"τ": tauWithin / series, "the mean": meanWithin / series} {
				if math.Abs(share-p) > tol {
					t.Errorf("φ = %v, limit %d: the error of %s covers the truth in %.3f of the series, want %.3f ± %.3f", phi, limit, what, share, p, tol)
				}
			}
		}
	}
}

func within(z float64) float64 {
	if math.Abs(z) <= 1 {
		return 1
	}
	return 0
}

// TestWindowMatters checks that a window is necessary: with the estimated mean, the sum of ρ over all lags is
// −½ for any series, so without a window τ would be 0.
func TestWindowMatters(t *testing.T) {
	const n = 4096
	x := autoregression(0.9, n, rbm.NewKey(1))
	rho := Autocorrelation(x, n-1)
	all := 0.5
	for _, r := range rho[1:] {
		all += r
	}
	if math.Abs(all) > n*n*0x1p-53 { // rounding error of n sums of n terms
		t.Errorf("over all lags τ is %v, want 0", all)
	}
	if got := IntegratedTime(rho, n); math.Abs(got.Tau-9.5) > 4*got.StdErr || got.Window >= n/2 {
		t.Errorf("%+v, want τ = 9.5", got)
	}
}

// TestSlowTail has a series in which a twentieth of the variance decorrelates in 5000 steps, and the rest fast. The
// window ends after some ten lags and misses the slow part, but batches of
// some 8000 steps detect it. τ is 240, not 2.
func TestSlowTail(t *testing.T) {
	const n, share = 1 << 18, 0.05
	key := rbm.NewKey(6)
	x, slow := autoregression(0.5, n, key.Child(1)), autoregression(1-1./5000, n, key.Child(2))
	for i := range x {
		x[i] += math.Sqrt(share) * slow[i]
	}
	short := IntegratedTime(Autocorrelation(x, n/2), n)
	s := Summarize(x)
	truth := (tauOf(0.5) + share*tauOf(1-1./5000)) / (1 + share)
	if short.Tau > truth/10 {
		t.Errorf("the window alone finds τ = %v of %v: the test is blind, want at most %v", short.Tau, truth, truth/10)
	}
	if !s.Slow || s.Trusted() {
		t.Errorf("not slow: %+v", s)
	}
	// Batches of L steps show a fraction 1 − 5000/L·(1 − e^(−L/5000)) = ½ of a τ of 5000 steps, with a
	// relative error of √(2/31) = ¼.
	if r := s.Time.Tau / truth; r < 0.5*(1-3*0.25) || r > 1+3*0.25 {
		t.Errorf("τ is %v by batches, want some %v", s.Time.Tau, truth)
	}
}

// TestErrorsOfCorrelatedSeries checks that the error includes autocorrelation. For independent values it would be
// smaller by √(2τ).
func TestErrorsOfCorrelatedSeries(t *testing.T) {
	const n = 1 << 16
	s := Summarize(autoregression(0.9, n, rbm.NewKey(9)))
	naive := math.Sqrt(s.Variance / n)
	want := naive * math.Sqrt(2*tauOf(0.9))
	// τ has a relative error of √(2(12τ+1)/n), and its square root has half of that.
	if math.Abs(s.StdErr/want-1) > 4*math.Sqrt(2*(12*tauOf(0.9)+1)/n)/2 {
		t.Errorf("the mean's error is %v, want %v", s.StdErr, want)
	}
	if s.StdErr < 3*naive {
		t.Errorf("the naive error is as large: the test is blind, got %v, want at least %v", s.StdErr, 3*naive)
	}
}

func TestSummaryOfOddSeries(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type numbers struct{ mean, stdErr, variance, tau, tauErr, effective float64 }
	for _, c := range []struct {
		name string
		x    []float64
		want numbers
	}{
		{"empty", nil, numbers{nan, nan, nan, nan, nan, nan}},
		{"one value", []float64{7}, numbers{7, nan, 0, inf, inf, 0}},
		{"constant", []float64{0.1, 0.1, 0.1, 0.1}, numbers{0.1, nan, 0, inf, inf, 0}},
		{"not a number", []float64{1, nan, 2, 1}, numbers{nan, nan, nan, nan, nan, nan}},
		{"infinite", []float64{1, inf, 2, 1}, numbers{nan, nan, nan, nan, nan, nan}},
	} {
		s := Summarize(c.x)
		got := numbers{s.Mean, s.StdErr, s.Variance, s.Time.Tau, s.Time.StdErr, s.Effective}
		if fmt.Sprint(got) != fmt.Sprint(c.want) && c.name != "infinite" || s.Trusted() || s.N != int64(len(c.x)) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if c.name == "infinite" && !math.IsNaN(s.StdErr) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	// The error from few values is not trusted.
	if s := Summarize([]float64{1, 3, 2, 5, 1}); s.Trusted() || s.Mean != 2.4 || !(s.StdErr > 0) {
		t.Errorf("five values: %+v", s)
	}
	// The autocorrelation time of a series with a trend exceeds its length.
	drift := make([]float64, 1000)
	for i := range drift {
		drift[i] = float64(i)
	}
	if s := Summarize(drift); s.Trusted() {
		t.Errorf("a drift is trusted: %+v", s)
	}
}

func TestTraceKeepsAllValues(t *testing.T) {
	trace := NewTrace(6)
	for i := range 25 {
		trace.Add(float64(i))
	}
	// The limit was reached with blocks of 1, 2 and 4 values; blocks now have 8.
	if got := fmt.Sprint(trace.Blocks()); trace.Stride() != 8 || got != "[3.5 11.5 19.5]" || trace.Len() != 25 {
		t.Errorf("stride %d, blocks %s, %d values, want 8, %s, 25", trace.Stride(), got, trace.Len(), "[3.5 11.5 19.5]")
	}
	if s := trace.Summary(); s.Mean != 12 {
		t.Errorf("mean %v, want 12", s.Mean)
	}
	// Blocks of two values hide an alternating series.
	trace = NewTrace(4)
	for i := range 16 {
		trace.Add(float64(i % 2))
	}
	if s := trace.Summary(); s.Trusted() || !math.IsNaN(s.StdErr) {
		t.Errorf("blocks of %d hide an alternating series: %+v", trace.Stride(), s)
	}
}

func TestTraceAllocatesNothingOnceFull(t *testing.T) {
	trace := NewTrace(64)
	for range 64 {
		trace.Add(1)
	}
	if n := testing.AllocsPerRun(100, func() { trace.Add(2) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestPanics(t *testing.T) {
	for what, f := range map[string]func(){
		"diag: negative lags":                                    func() { Autocorrelation(nil, -1) },
		"diag: no lags, or more lags than values":                func() { IntegratedTime(nil, 2) },
		"diag: the limit of a trace must be even and at least 2": func() { NewTrace(3) },
	} {
		func() {
			defer func() {
				if r := recover(); r != what {
					t.Errorf("panics with %v, want %s", r, what)
				}
			}()
			f()
		}()
	}
}

func ExampleSummarize() {
	// An autoregression with ρ(t) = 0.9ᵗ: τ = 9.5.
	r := rbm.NewKey(1).Rand()
	x := make([]float64, 100000)
	for i := 1; i < len(x); i++ {
		x[i] = 0.9*x[i-1] + r.NormFloat64()
	}
	s := Summarize(x)
	fmt.Printf("τ = %.0f, so %d values are worth some %.0f000\n", s.Time.Tau, s.N, s.Effective/1000)
	// Output: τ = 10, so 100000 values are worth some 5000
}
func TestMeanVariance(t *testing.T) {
	for _, c := range []struct {
		x              []float64
		mean, variance float64
	}{
		{[]float64{3}, 3, 0},
		{[]float64{1, 3}, 2, 1},
		{[]float64{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6}, 1e9 + 3, 3.5},
	} {
		if mean, variance := MeanVariance(c.x); mean != c.mean || variance != c.variance {
			t.Errorf("%v: mean %v and variance %v, want %v and %v", c.x, mean, variance, c.mean, c.variance)
		}
	}
	if mean, _ := MeanVariance([]float64{1, math.NaN()}); !math.IsNaN(mean) {
		t.Errorf("the mean with NaN is %v, want NaN", mean)
	}
}

// TestShortSeriesMeasureNoTau checks that series of at most 20 τ are hardly ever trusted. For series of any length
// that are not trusted, the bound of τ must usually be right.
func TestShortSeriesMeasureNoTau(t *testing.T) {
	const phi, series = 0.96, 300
	tau := tauOf(phi)
	for _, length := range []float64{5, 20, 40, 80, 160} { // in units of τ
		trusted, wrong := 0.0, 0.0
		for k := range series {
			s := Summarize(autoregression(phi, int(length*tau), rbm.NewKey(5).Child(uint64(k))))
			switch {
			case s.Trusted():
				trusted++
			case s.TauBound() > tau:
				wrong++
			}
		}
		if length <= 20 && trusted > 0.04*series {
			t.Errorf("%v of %d series of %v τ are trusted", trusted, series, length)
		}
		if wrong > 0.1*series {
			t.Errorf("series of %v τ: %v of %d bounds are above τ, want at most %v", length, wrong, series, 0.1*series)
		}
	}
}
