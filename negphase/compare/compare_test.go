package compare

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// model returns a small RBM far from uniform.
func model(visible, hidden, classes int, labels rbm.Kind) *rbm.RBM {
	m := rbm.New(visible, hidden, classes, labels)
	m.Randomize(1.5, rbm.NewKey(31))
	return m
}

func parse(t testing.TB, texts ...string) (list []negphase.Settings) {
	t.Helper()
	for _, text := range texts {
		s, err := negphase.Parse(text, negphase.DefaultSettings(""))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

func enumerate(t testing.TB, m *rbm.RBM) *Truth {
	t.Helper()
	truth, err := Enumerate(m)
	if err != nil {
		t.Fatal(err)
	}
	return truth
}

func run(t testing.TB, m *rbm.RBM, truth *Truth, s Settings, texts ...string) []Curve {
	t.Helper()
	curves, err := Run(context.Background(), m, truth, parse(t, texts...), s)
	if err != nil {
		t.Fatal(err)
	}
	return curves
}

// batches returns fixed positive phases of random rows.
func batches(m *rbm.RBM, rows int) func(int) func(int) rbm.Batch {
	return func(repeat int) func(int) rbm.Batch {
		return func(update int) rbm.Batch {
			b := rbm.Batch{V: rbm.NewBits(rows, m.Visible()), H: rbm.NewMatrix(rows, m.Hidden())}
			b.V.Randomize(rbm.NewKey(9).Child(uint64(repeat)).Child(uint64(update)))
			m.HiddenMean(b.H, b.V)
			return b
		}
	}
}

// flat returns moments in the order of the package.
func flat(s *rbm.Moments) (x []float64) {
	for _, part := range [][]float32{s.VH.Data, s.V, s.H} {
		for _, v := range part {
			x = append(x, float64(v))
		}
	}
	return x
}

// The mean of phases of every form is the mean of their moments, up to the rounding of moments in float32: some ten
// rounding errors of sums of at most 2.
func TestMeanIsThatOfTheMoments(t *testing.T) {
	m := model(70, 9, 0, rbm.Softmax)
	bits := batches(m, 5)(0)(0)
	weighted := batches(m, 5)(0)(1)
	weighted.Weight = []float32{0.5, -0.25, 0, 0.5, 0.25}
	grey := rbm.Batch{V: rbm.NewMatrix(2, 70).Values(), H: bits.H.Slice(0, 2)}
	for i := range grey.V.Real {
		grey.V.Real[i] = float32(rbm.NewKey(3).Uniform(uint64(i)))
	}
	moments := rbm.NewMoments(m)
	moments.Set(bits)
	all := []rbm.Phase{{Batch: bits}, {Batch: weighted}, {Batch: grey}, {Moments: moments}}
	mean := NewMean(m)
	for range 2 { // the second time after Reset
		mean.Reset()
		want := make([]float64, len(mean.sum))
		for _, p := range all {
			mean.Add(p)
			s := rbm.NewMoments(m)
			p.SetMoments(s)
			for i, x := range flat(s) {
				want[i] += x / float64(len(all))
			}
		}
		got := make([]float64, len(want))
		mean.Value(got)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 20*0x1p-24 {
				t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
			}
		}
		d := 0.0
		for _, x := range want {
			d += (x - 0.5) * (x - 0.5)
		}
		if got := mean.Distance(slices.Repeat([]float64{0.5}, len(want))); math.Abs(got-math.Sqrt(d)) > 1e-5 {
			t.Errorf("distance %v, want %v", got, math.Sqrt(d))
		}
	}
}

// The points and counts of a curve equal those computed here from direct calls of the estimator.
func TestCurveIsThatOfTheRunningMean(t *testing.T) {
	m := model(6, 5, 3, rbm.Softmax)
	truth := enumerate(t, m)
	s := Settings{Steps: 300, Repeats: 3, Seed: 5, Batches: batches(m, 4)}
	for _, c := range []struct {
		text           string
		steps, updates int // Gibbs steps per update, of each chain and of all chains
	}{{"pcd:k=1:chains=6", 1, 6}, {"pt:k=2:swaps=3:chains=2:tau=1/2/4", 6, 36}, {"cd:k=10", 10, 40}} {
		curve := run(t, m, truth, s, c.text)[0]
		if want := 300 / c.steps; curve.Last().Updates != want || curve.Last().Steps != 300 || curve.Last().GibbsSteps != float64(want*c.updates) {
			t.Errorf("%s: the last point is %+v, want %d updates", c.text, curve.Last(), want)
		}
		if curve.Repeats != 3 || curve.Info.Updates != int64(3*curve.Last().GibbsSteps) {
			t.Errorf("%s: %d repeats, %d Gibbs steps", c.text, curve.Repeats, curve.Info.Updates)
		}
		if half := curve.Points[len(curve.Points)/2]; math.Abs(half.Seconds-half.Steps*curve.SecondsPerStep()) > 1e-12 {
			t.Errorf("%s: %v seconds at step %v", c.text, half.Seconds, half.Steps)
		}
		if curve.SecondsPerStep() <= 0 {
			t.Errorf("%s: %v seconds a step, want more than 0", c.text, curve.SecondsPerStep())
		}
		distances := make([][]float64, len(curve.Points)) // [point][repeat]
		for repeat := range s.Repeats {
			e, err := negphase.New(curve.Estimator)
			if err != nil {
				t.Fatal(err)
			}
			sum := make([]float64, len(truth.Negative))
			at := 0
			for n := range curve.Last().Updates {
				phase, _, err := e.Estimate(m, s.Batches(repeat)(n), rbm.NewKey(5).Child(repeatKey).Child(uint64(repeat)).Child(uint64(n)))
				if err != nil {
					t.Fatal(err)
				}
				moments := rbm.NewMoments(m)
				phase.SetMoments(moments)
				d := 0.0
				for i, x := range flat(moments) {
					sum[i] += x
					d += (sum[i]/float64(n+1) - truth.Negative[i]) * (sum[i]/float64(n+1) - truth.Negative[i])
				}
				if n+1 == curve.Points[at].Updates {
					distances[at] = append(distances[at], math.Sqrt(d))
					at++
				}
			}
		}
		for i, p := range curve.Points {
			mean, square := 0.0, 0.0
			for _, d := range distances[i] {
				mean += d / 3
			}
			for _, d := range distances[i] {
				square += (d - mean) * (d - mean) / 2
			}
			// The moments summed here are float32.
			if math.Abs(p.Distance.Mean-mean) > 1e-5 || math.Abs(p.Distance.SD-math.Sqrt(square)) > 1e-5 {
				t.Errorf("%s: point %d is %+v, want %v ± %v", c.text, i, p.Distance, mean, math.Sqrt(square))
			}
			if p.Steps != float64(p.Updates*c.steps) {
				t.Errorf("%s: point %d has %v steps, want %v", c.text, i, p.Steps, float64(p.Updates*c.steps))
			}
		}
	}
}

// After one Gibbs step from uniform states the mean of pcd is computed by enumeration of
// all states. The error of the estimated bias agrees with its floor.
func TestBias(t *testing.T) {
	m := model(3, 2, 0, rbm.Softmax)
	truth := enumerate(t, m)
	mean := NewMean(m)
	h := rbm.NewBits(4, 2)
	for r := range 4 {
		h.Row(r)[0] = uint64(r)
	}
	p := rbm.NewMatrix(4, 3)
	m.VisibleMean(p, h)
	one := rbm.Batch{V: rbm.NewBits(8, 3), H: rbm.NewMatrix(8, 2), Weight: make([]float32, 8)}
	for v := range 8 {
		one.V.Row(v)[0] = uint64(v)
		for r := range 4 {
			w := float32(0.25)
			for i, q := range p.Row(r) {
				if v>>i&1 == 0 {
					q = 1 - q
				}
				w *= q
			}
			one.Weight[v] += w
		}
	}
	m.HiddenMean(one.H, one.V)
	mean.Add(rbm.Phase{Batch: one})
	want := mean.Distance(truth.Negative)

	curves := run(t, m, truth, Settings{Steps: 1, Repeats: 400, Seed: 2}, "pcd:k=1:chains=50")
	pcd := curves[0]
	t.Logf("true bias %.4f, found %+v", want, pcd.Bias)
	if d := math.Abs(pcd.Bias.Norm - want); d > 6*pcd.Bias.Floor || want < 20*pcd.Bias.Floor {
		t.Errorf("bias %+v, want %v", pcd.Bias, want)
	}
	if b := (Bias{3, 5}); b.Corrected() != 0 {
		t.Error("noise alone is called a bias")
	}
	if b := (Bias{5, 3}); b.Corrected() != 4 {
		t.Errorf("corrected %v, want 4", b.Corrected())
	}
	// The variance of the mean of several chains is that of one chain divided by their number.
	many := run(t, m, truth, Settings{Steps: 1, Repeats: 400, Seed: 3}, "pcd:k=1:chains=200")[0]
	// Each of two variances from 400 repeats has a relative error of at least √(2/400), and up to
	// twice that in few dimensions.
	if ratio := pcd.Variance / many.Variance; math.Abs(ratio-4) > 4*6*2*0.1 || math.Abs(ratio-1) < 1 {
		t.Errorf("four times the chains divide the variance by %v", ratio)
	}
}

func TestExactIsAtTheTruth(t *testing.T) {
	m := model(6, 5, 3, rbm.Softmax)
	truth := enumerate(t, m)
	c := run(t, m, truth, Settings{Steps: 100, Repeats: 2}, "exact")[0]
	if last := c.Last(); len(c.Points) != 1 || last.Updates != 1 || last.Steps != 0 || last.Distance.Mean != 0 || last.Seconds <= 0 {
		t.Errorf("%+v", c.Points)
	}
	if math.Abs(c.Cosine.Mean-1) > 1e-12 || !math.IsNaN(c.SecondsPerStep()) {
		t.Errorf("cosine %v, seconds a step %v", c.Cosine, c.SecondsPerStep())
	}
}

func TestCosine(t *testing.T) {
	a, b := []float64{1, 0}, []float64{1, 1}
	if got := cosine(a, b, nil); math.Abs(got-math.Sqrt(0.5)) > 1e-15 {
		t.Errorf("got %v, want %v ± 1e-15", got, math.Sqrt(0.5))
	}
	// The gradients are (2,3)−a = (1,3) and (2,3)−b = (1,2).
	if got := cosine(a, b, []float64{2, 3}); math.Abs(got-7/math.Sqrt(50)) > 1e-15 {
		t.Errorf("got %v, want %v ± 1e-15", got, 7/math.Sqrt(50))
	}
	truth := &Truth{Negative: []float64{3, 4}}
	if truth.Norm() != 5 || !math.IsNaN(truth.GradientNorm()) {
		t.Error("norms of a truth without data")
	}
	if truth.Positive = []float64{4, 4}; truth.GradientNorm() != 1 {
		t.Error("the gradient's norm")
	}
}

// The error of a reference run agrees with its StdErr.
func TestReference(t *testing.T) {
	m := model(8, 6, 0, rbm.Softmax)
	truth := enumerate(t, m)
	calls := 0
	ref, err := Reference(context.Background(), nil, m, parse(t, "pt:chains=4:tau=1/2/4")[0], 400, rbm.NewKey(1), func() { calls++ })
	if err != nil {
		t.Fatal(err)
	}
	d := 0.0
	for i, x := range ref.Negative {
		d += (x - truth.Negative[i]) * (x - truth.Negative[i])
	}
	// In few dimensions the distance is nearly always between a tenth of its root mean square and three times
	// it.
	if ratio := math.Sqrt(d) / ref.StdErr; ratio > 3 || ratio < 0.1 {
		t.Errorf("off by %v, and the standard error is %v", math.Sqrt(d), ref.StdErr)
	}
	if ref.Exact || ref.Info.Updates != 20*400*12 || calls != 20*400 || ref.Info.SwapRates()[0] < 0.1 {
		t.Errorf("%+v, %d calls", ref.Info, calls)
	}
	// The error of the truth increases the floor of a bias.
	c := run(t, m, ref, Settings{Steps: 50, Repeats: 4}, "pcd")[0]
	if want := math.Hypot(math.Sqrt(c.Variance/4), ref.StdErr); math.Abs(c.Bias.Floor-want) > 1e-12 {
		t.Errorf("floor %v, want %v", c.Bias.Floor, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Reference(ctx, nil, m, DefaultReference(), 10, rbm.NewKey(1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := DefaultReference().Check(); err != nil {
		t.Error(err)
	}
	if _, err := Enumerate(rbm.New(30, 30, 0, rbm.Softmax)); !errors.Is(err, exact.ErrTooLarge) {
		t.Errorf("got %v, want %v", err, exact.ErrTooLarge)
	}
}

// Under a constraint that Gibbs steps do not keep, the reference exchanges units,
// and its error agrees with its StdErr too.
func TestConstrainedReference(t *testing.T) {
	m := model(6, 5, 0, rbm.Softmax)
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	if s := ReferenceFor(m); s.Sampler() != "" {
		t.Errorf("%v: %v", m.Constraint, s)
	}
	m.Constraint = &rbm.Constraint{On: rbm.AllUnits, Active: 5}
	truth := enumerate(t, m)
	ref, err := Reference(context.Background(), nil, m, ReferenceFor(m), 200, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	d := 0.0
	for i, x := range ref.Negative {
		d += (x - truth.Negative[i]) * (x - truth.Negative[i])
	}
	// The same limits as in TestReference.
	if ratio := math.Sqrt(d) / ref.StdErr; ratio > 3 || ratio < 0.1 {
		t.Errorf("off by %v, and the standard error is %v", math.Sqrt(d), ref.StdErr)
	}
}

// figures returns all numbers of a curve except seconds.
func figures(c Curve) (x []float64) {
	for _, p := range c.Points {
		x = append(x, float64(p.Updates), p.Steps, p.GibbsSteps, p.Distance.Mean, p.Distance.SD)
	}
	return append(x, c.Bias.Norm, c.Bias.Floor, c.Variance, c.Cosine.Mean, c.Cosine.SD)
}

// With equal seeds the curve of an estimator is identical at any GOMAXPROCS and with any other estimators in the list.
// With another seed it differs.
func TestEqualSeeds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	m := model(6, 5, 3, rbm.Softmax)
	truth := enumerate(t, m)
	s := Settings{Steps: 50, Repeats: 2, Seed: 1, Batches: batches(m, 3)}
	list := []string{"cd:k=2", "pcd", "pt", "ins", "exact"}
	all := run(t, m, truth, s, list...)
	for i, text := range list {
		runtime.GOMAXPROCS(1 + i%3)
		if !slices.Equal(figures(run(t, m, truth, s, text)[0]), figures(all[i])) {
			t.Errorf("%s alone gives another curve", text)
		}
	}
	s.Seed = 2
	if slices.Equal(figures(run(t, m, truth, s, "pcd")[0]), figures(all[1])) {
		t.Error("another seed gives the same curve")
	}
}

// If the context ends, Run returns the completed repeats.
// TestTunedLadder checks that a tuned ladder does not change during the comparison: the curve is that of the
// temperatures in Curve.Estimator.
func TestTunedLadder(t *testing.T) {
	m := model(6, 4, 0, rbm.Softmax)
	truth := enumerate(t, m)
	s := Settings{Steps: 100, Repeats: 3, Seed: 4}
	auto := run(t, m, truth, s, "pins:tau=auto:chains=3")[0]
	if auto.Estimator.Ladder().Temperatures.Auto || auto.Info.Tuned != 0 || len(auto.Estimator.Ladder().Temperatures.List) < 3 {
		t.Fatalf("what ran is %s, tuned %d times", auto.Estimator, auto.Info.Tuned)
	}
	fixed := run(t, m, truth, s, "pcd", auto.Estimator.String())[1]
	if fixed.Last().Distance != auto.Last().Distance || fixed.Bias != auto.Bias {
		t.Errorf("the tuned ladder ends at %+v, the same one given at %+v", auto.Last(), fixed.Last())
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	m := model(6, 5, 0, rbm.Softmax)
	truth := enumerate(t, m)
	ctx, cancel := context.WithCancel(context.Background())
	top := 0.0
	s := Settings{Steps: 500, Repeats: 10, Progress: func(done float64) {
		if done < top || done > 1 {
			t.Errorf("progress goes from %v to %v", top, done)
		}
		if top = done; done > 0.5 {
			cancel()
		}
	}}
	curves, err := Run(ctx, m, truth, parse(t, "pcd", "ins"), s)
	if !errors.Is(err, context.Canceled) || err.Error() != context.Canceled.Error() {
		t.Errorf("got %v", err)
	}
	for _, c := range curves {
		if c.Repeats != 5 || !(c.Last().Distance.SD > 0) {
			t.Errorf("%s: %d repeats, %+v", c.Estimator, c.Repeats, c.Last())
		}
	}
}

func TestRunErrors(t *testing.T) {
	m := model(6, 5, 0, rbm.Softmax)
	truth := enumerate(t, m)
	for _, text := range []string{"cd", "pcd:start=data", "pt:start=data"} {
		if _, err := Run(context.Background(), m, truth, parse(t, text), Settings{Steps: 1, Repeats: 1}); !errors.Is(err, ErrNoData) {
			t.Errorf("%s: got %v, want %v", text, err, ErrNoData)
		}
	}
	large := rbm.New(40, 40, 0, rbm.Softmax)
	_, err := Run(context.Background(), large, &Truth{Negative: make([]float64, 1680)}, parse(t, "exact"), Settings{Steps: 1, Repeats: 1})
	if !errors.Is(err, exact.ErrTooLarge) {
		t.Errorf("got %v, want %v", err, exact.ErrTooLarge)
	}
	m.VisibleBias[0] = float32(math.Inf(1))
	if _, err := Run(context.Background(), m, truth, parse(t, "pcd"), Settings{Steps: 1, Repeats: 1}); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("got %v, want %v", err, rbm.ErrDiverged)
	}
}

// One slow repeat does not change the seconds.
func TestPaceIsThatOfTheMedian(t *testing.T) {
	c := Curve{Points: []Point{{Steps: 10}, {Steps: 100}}}
	for _, s := range []float64{2, 1, 50} {
		c.pace(s)
	}
	if c.Last().Seconds != 2 || math.Abs(c.Points[0].Seconds-0.2) > 1e-15 || math.Abs(c.SecondsPerStep()-0.02) > 1e-15 {
		t.Errorf("%+v", c.Points)
	}
}

func TestGrid(t *testing.T) {
	for _, last := range []int{1, 2, 7, 100, 10000, 1 << 30} {
		g := grid(last)
		if g[0] != 1 || g[len(g)-1] != last || len(g) > maxPoints || !slices.IsSorted(g) || len(slices.Compact(slices.Clone(g))) != len(g) {
			t.Errorf("%d: %v", last, g)
		}
	}
}
