package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/internal/rbmtest"
	"gorbm/rbm/internal/vec"
)

// ais runs AIS and fails the test on an error.
func ais(t *testing.T, m *rbm.RBM, s Annealing, seed uint64) Annealed {
	t.Helper()
	out, err := AIS(context.Background(), m, s, rbm.NewKey(seed), nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// exactDraws returns rows of visible states drawn from the distribution p over all.
func exactDraws(all []rbmtest.State, p []float64, rows int, key rbm.Key) rbm.Values {
	v := rbm.NewBits(rows, len(all[0].V))
	for r := range rows {
		u, k := key.Uniform(uint64(r)), 0
		for ; k < len(p)-1 && u >= p[k]; k++ {
			u -= p[k]
		}
		for i, x := range all[k].V {
			v.Set(r, i, x != 0)
		}
	}
	return v
}

// tenModels returns models with small layers and weights from small to large.
func tenModels() (all []*rbm.RBM) {
	for k := range 10 {
		shape := []shape{{10, 8, 0, rbm.Softmax}, {9, 8, 3, rbm.Softmax}, {7, 9, 3, rbm.Bernoulli}}[k%3]
		all = append(all, shape.random(uint64(k+1), 0.3*math.Pow(10, float64(k)/9)))
	}
	return all
}

// If the effective sample size is large, log Z is within two standard errors at least nine times in
// ten.
func TestAISIsCalibrated(t *testing.T) {
	repeats := 10
	if testing.Short() {
		repeats = 4
	}
	inside, trusted := 0, 0
	for k, m := range tenModels() {
		logZ, err := exact.LogZ(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		s := Annealing{Chains: 100, Temperatures: 100, Pilot: 20}
		if k%2 == 1 {
			s.Base = randomBase(m, 0.5, uint64(k))
		}
		good, worst := 0, 0.0
		for i := range repeats {
			out := ais(t, m, s, uint64(100*k+i))
			if out.ESS <= 50 {
				continue
			}
			good++
			z := math.Abs(out.LogZ-logZ) / out.StdErr
			worst = max(worst, z)
			if z <= 2 {
				inside++
			}
		}
		trusted += good
		t.Logf("model %d: %d of %d runs with ESS > 50, worst error %.1f standard errors", k, good, repeats, worst)
	}
	t.Logf("%d of %d within two standard errors", inside, trusted)
	if trusted < 5*repeats || float64(inside) < 0.9*float64(trusted) {
		t.Errorf("%d of %d estimates within two standard errors", inside, trusted)
	}
}

// With too few temperatures AIS is too low on average and the reverse too high. Over many runs they
// bracket log Z by many standard errors.
func TestReverseAISBrackets(t *testing.T) {
	for _, shape := range []shape{{6, 5, 0, rbm.Softmax}, {7, 4, 3, rbm.Softmax}} {
		m := shape.random(2, 1.5)
		all := rbmtest.States(m)
		p, logZ := rbmtest.Probabilities(all, 1)
		for _, b := range []*rbm.Base{nil, randomBase(m, 0.5, 4)} {
			s := Annealing{Chains: 4, Temperatures: 6, Base: b}
			var low, high []float64
			for i := range uint64(400) {
				low = append(low, ais(t, m, s, i).LogZ-logZ)
				start := exactDraws(all, p, s.Chains, rbm.NewKey(i).Child(1))
				keep := slices.Clone(start.Words)
				out, err := ReverseAIS(context.Background(), m, s, start, rbm.NewKey(i), nil)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(keep, start.Words) {
					t.Fatal("the rows that it starts at have changed")
				}
				high = append(high, out.LogZ-logZ)
			}
			z := func(x []float64) float64 {
				mean, sd := stat.MeanStdDev(x, nil)
				return mean / sd * math.Sqrt(float64(len(x)))
			}
			t.Logf("AIS %.3f, reverse %+.3f", stat.Mean(low, nil), stat.Mean(high, nil))
			if z(low) > -4 || z(high) < 4 {
				t.Errorf("%v: AIS is off by %.1f standard errors, the reverse by %.1f", shape, z(low), z(high))
			}
		}
		// The mean weight of the reverse is Z₀/Z.
		const chains = 20000
		out, err := ReverseAIS(context.Background(), m, Annealing{Temperatures: 6}, exactDraws(all, p, chains, rbm.NewKey(1)), rbm.NewKey(2), nil)
		if err != nil {
			t.Fatal(err)
		}
		rbmtest.Near(t, "log Z", out.LogZ, logZ, 5*out.StdErr)
		if out.StdErr > 0.2 {
			t.Errorf("standard error %v of %d chains, want at most 0.2", out.StdErr, chains)
		}
	}
}

// Steps between placed temperatures have equal conditional effective sample sizes; even steps do
// not. The variance of 2000 chains has an error of 3 %, and that of the pilot runs, smoothed over
// five steps of 500 chains, about 2 %. The evenly spread part and terms of second order change a
// step by 10 or 20 %.
func TestPlacedTemperatures(t *testing.T) {
	m := shape{14, 10, 0, rbm.Softmax}.random(3, 1)
	base := randomBase(m, 1, 4)
	s := Annealing{Chains: 2000, Temperatures: 60, Pilot: 500, Base: base}
	spread := func(path []float64) (lo, hi float64) {
		v, h := rbm.NewBits(s.Chains, m.Visible()), rbm.NewBits(s.Chains, m.Hidden())
		base.Draw(m, v, h, rbm.NewKey(7))
		logw, loss := make([]float64, s.Chains), []float64{}
		err := rbm.Anneal(context.Background(), m, base, path, v, rbm.NewKey(8), func(_ int, gains []float64) {
			loss = append(loss, 1-conditionalESS(logw, gains))
			for r, g := range gains {
				logw[r] += g
			}
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		middle := slices.Sorted(slices.Values(loss))[len(loss)/2]
		return slices.Min(loss) / middle, slices.Max(loss) / middle
	}
	placed, err := s.place(context.Background(), m, rbm.NewKey(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkPath(placed); err != nil || len(placed) != 60 {
		t.Fatalf("%d temperatures: %v, want 60", len(placed), err)
	}
	lo, hi := spread(placed)
	evenLo, evenHi := spread(evenPath(60))
	t.Logf("1 − CESS over its median: %.2f … %.2f placed, %.2f … %.2f even", lo, hi, evenLo, evenHi)
	if lo < 0.6 || hi > 1.5 {
		t.Errorf("1 − CESS is %.2f to %.2f times its median", lo, hi)
	}
	if evenLo > 0.6 && evenHi < 1.5 {
		t.Error("evenly spaced temperatures pass too: the model is too easy")
	}
}

// Pilot runs start at draws from the base. Without weights the inputs are independent. If biases go
// from b to −b along the path, the gain of a step is −2b·Δβ times the number of inputs that are on,
// which is binomial at every β. Temperatures are compared with those for gains drawn from these
// binomial distributions, and may be six standard deviations from their mean. If few inputs are off
// under the base, chains that start at the uniform distribution have a much larger variance in the
// first step, which moves temperatures there.
func TestPilotsStartAtTheBase(t *testing.T) {
	const inputs, bias, temperatures, references = 100, 6.0, 41, 50
	m := rbm.New(inputs, 2, 0, rbm.Softmax)
	base := uniformBase(m)
	for i := range m.VisibleBias {
		m.VisibleBias[i], base.VisibleBias[i] = -bias, bias
	}
	s := Annealing{Chains: 10, Temperatures: temperatures, Pilot: 2000, Base: base}
	r := rbm.NewKey(2).Rand()
	reference := func() []float64 {
		path := evenPath(11)
		for _, next := range []int{21, temperatures} {
			length, gains, cumulative := make([]float64, len(path)-1), make([]float64, s.Pilot), make([]float64, inputs+1)
			for k := range length {
				odds := math.Exp(bias - 2*bias*path[k])
				cumulative[0] = 1
				for n, p := 0, 1.0; n < inputs; n++ { // cumulative, times (1+odds)^inputs
					p *= odds * float64(inputs-n) / float64(n+1)
					cumulative[n+1] = cumulative[n] + p
				}
				for i := range gains {
					on, _ := slices.BinarySearch(cumulative, r.Float64()*cumulative[inputs])
					gains[i] = -2 * bias * (path[k+1] - path[k]) * float64(on)
				}
				length[k] = deviation(gains)
			}
			path = equalParts(path, smooth(length, path), next)
		}
		return path
	}
	got, err := s.place(context.Background(), m, rbm.NewKey(1), nil)
	if err != nil || len(got) != temperatures {
		t.Fatalf("%d temperatures, want %d: %v", len(got), temperatures, err)
	}
	paths := make([][]float64, temperatures)
	for range references {
		for k, b := range reference() {
			paths[k] = append(paths[k], b)
		}
	}
	for k := 1; k < temperatures-1; k++ {
		mean, sd := stat.MeanStdDev(paths[k], nil)
		rbmtest.Near(t, fmt.Sprintf("temperature %d", k), got[k], mean, 6*sd*math.Sqrt(1+1./references))
	}
}

// The squared standard error is an unbiased estimate of the variance of the mean weight, divided by
// the squared mean, for any number of chains. With two temperatures a weight is that of importance
// sampling from the uniform distribution, whose variance is a sum over all visible states. For
// three chains the variance without the factor n/(n−1) is a third too small, and must fail.
func TestStdErrOfFewChains(t *testing.T) {
	const chains, runs = 3, 20_000
	m := shape{5, 4, 0, rbm.Softmax}.random(2, 0.4)
	visible, z := map[string]float64{}, 0.0 // Σ_h e^−E, and Z
	for _, st := range rbmtest.States(m) {
		w := math.Exp(-st.Energy)
		visible[fmt.Sprint(st.V)] += w
		z += w
	}
	square := 0.0 // variance of a chain's estimate of Z, 2⁵·Σ_h e^−E at one of 2⁵ equally probable states
	for _, w := range visible {
		square += 32 * w * w
	}
	want := (square - z*z) / chains
	var got []float64
	for i := range uint64(runs) {
		out := ais(t, m, Annealing{Chains: chains, Temperatures: 2}, i)
		got = append(got, math.Pow(out.StdErr*math.Exp(out.LogZ), 2))
	}
	mean, sd := stat.MeanStdDev(got, nil)
	stdErr := sd / math.Sqrt(runs)
	rbmtest.Near(t, "variance of the mean weight", mean, want, 6*stdErr)
	if math.Abs(mean*(chains-1)/chains-want) < 6*stdErr {
		t.Errorf("the variance is %v ± %v: without n/(n−1) it would pass too", mean, stdErr)
	}
}

// Even if float32 cannot distinguish the temperatures, the path is valid as an argument. All of its
// length is in the last 2⁻¹⁶, which has 2⁸ numbers in float32.
func TestPlacedTemperaturesAreDistinct(t *testing.T) {
	at := []float64{0, 1 - 0x1p-16, 1}
	for name, path := range map[string][]float64{
		"placed": equalParts(at, []float64{0, 1}, 2000),
		"given":  onFloat32([]float64{0, 0.5, 0.5 + 0x1p-40, 1 - 0x1p-40, 1}),
	} {
		if err := checkPath(path); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConditionalESS(t *testing.T) {
	logw := []float64{800, 799, 790, 801}
	gains := []float64{-1, 0.5, 2, 0.1}
	var top, sum, squares float64
	for r, w := range logw {
		w, g := math.Exp(w-800), math.Exp(gains[r])
		top, sum, squares = top+w, sum+w*g, squares+w*g*g
	}
	rbmtest.Near(t, "CESS", conditionalESS(logw, gains), sum*sum/top/squares, 1e-14)
	rbmtest.Near(t, "CESS of equal gains", conditionalESS(logw, []float64{5, 5, 5, 5}), 1, 1e-14)
	for _, far := range [][]float64{{-1e6, 0, 0, 0}, {1e6, 0, 0, 0}} {
		if c := conditionalESS(make([]float64, 4), far); !(c >= 0.24 && c <= 1) {
			t.Errorf("gains %v: %v, want 0.24 to 1", far, c)
		}
	}
	for _, far := range []float64{700, 1000, 1e6} { // the whole weight moves to a chain that had almost none
		if c := conditionalESS([]float64{0, -far}, []float64{0, 3 * far}); c > 1e-300 {
			t.Errorf("all weight on a chain that had e^−%v of it: CESS %v, want at most 1e-300", far, c)
		}
	}
}

// With two temperatures AIS is importance sampling from the base.
func TestTwoTemperatures(t *testing.T) {
	m := shape{5, 4, 0, rbm.Softmax}.random(2, 0.5)
	_, logZ := rbmtest.Probabilities(rbmtest.States(m), 1)
	out := ais(t, m, Annealing{Chains: 5000, Temperatures: 2, Pilot: 20}, 1)
	rbmtest.Near(t, "log Z", out.LogZ, logZ, 4*out.StdErr)
	rbmtest.Near(t, "smallest CESS", out.CESS, out.ESS/5000, 1e-12) // one step from equal weights

	// A model that equals its base has equal weights.
	flat := rbm.New(5, 4, 3, rbm.Softmax)
	out = ais(t, flat, DefaultAnnealing(), 1)
	rbmtest.Near(t, "log Z", out.LogZ, (*rbm.Base)(nil).LogZ(flat), 1e-12)
	rbmtest.Near(t, "ESS", out.ESS, 100, 1e-9)
	rbmtest.Near(t, "standard error", out.StdErr, 0, 1e-7) // the root of a rounding error
}

func TestOneChain(t *testing.T) {
	m := shape{5, 4, 0, rbm.Softmax}.random(2, 0.5)
	s := DefaultAnnealing()
	s.Chains, s.Temperatures = 1, 30
	out := ais(t, m, s, 1)
	if !math.IsInf(out.StdErr, 1) || out.ESS != 1 {
		t.Errorf("standard error %v, ESS %v of one chain", out.StdErr, out.ESS)
	}
}

func TestAnnealingErrors(t *testing.T) {
	m := shape{4, 3, 2, rbm.Softmax}.random(2, 0.5)
	for want, spoil := range map[string]func(s *Annealing, m *rbm.RBM){
		"0 chains":               func(s *Annealing, m *rbm.RBM) { s.Chains = 0 },
		"-1 pilot chains":        func(s *Annealing, m *rbm.RBM) { s.Pilot = -1 },
		"one pilot chain":        func(s *Annealing, m *rbm.RBM) { s.Pilot = 1 },
		"1 temperatures":         func(s *Annealing, m *rbm.RBM) { s.Temperatures = 1 },
		"ends with 1":            func(s *Annealing, m *rbm.RBM) { s.Path = []float64{0, 0.5} },
		"0.5 follows 0.5":        func(s *Annealing, m *rbm.RBM) { s.Path = []float64{0, 0.5, 0.5, 1} },
		"NaN follows 0":          func(s *Annealing, m *rbm.RBM) { s.Path = []float64{0, math.NaN(), 1} },
		"make the base":          func(s *Annealing, m *rbm.RBM) { s.Base = &rbm.Base{} },
		"visible_bias[2] is":     func(s *Annealing, m *rbm.RBM) { m.VisibleBias[2] = float32(math.NaN()) },
		"hidden_bias[1] is +Inf": func(s *Annealing, m *rbm.RBM) { s.Base = uniformBase(m); s.Base.HiddenBias[1] = float32(math.Inf(1)) },
	} {
		s, bad := DefaultAnnealing(), m.Clone()
		spoil(&s, bad)
		if _, err := AIS(context.Background(), bad, s, rbm.NewKey(1), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("AIS: got %v, want %q", err, want)
		}
		if s.Chains < 1 {
			continue
		}
		start := rbm.NewBits(1, 4)
		start.Set(0, 2, true)
		if _, err := ReverseAIS(context.Background(), bad, s, start, rbm.NewKey(1), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReverseAIS: got %v, want %q", err, want)
		}
	}
	if _, err := ReverseAIS(context.Background(), m, DefaultAnnealing(), rbm.NewBits(2, 4), rbm.NewKey(1), nil); err == nil || !strings.Contains(err.Error(), "row 0 has 0 of units 2 … 3 on") {
		t.Errorf("got %v, want %q in it", err, "row 0 has 0 of units 2 … 3 on")
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := DefaultAnnealing()
	_, err := AIS(ctx, m, s, rbm.NewKey(1), func(done float64) {
		if done > 0.5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

// Very large finite weights give finite results instead of NaN, and a small effective sample size.
func TestHugeWeights(t *testing.T) {
	for _, sd := range []float64{30, 1000, 3000} {
		for _, shape := range []shape{{8, 6, 0, rbm.Softmax}, {9, 6, 3, rbm.Softmax}, {30, 70, 3, rbm.Bernoulli}} {
			m := shape.random(3, sd)
			if m.CheckFinite() != nil {
				continue // a few of thousands of weights are too large, at a standard deviation of 3000
			}
			s := DefaultAnnealing()
			s.Temperatures = 50
			out := ais(t, m, s, 1)
			for _, x := range []float64{out.LogZ, out.StdErr, out.ESS, out.CESS} {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Errorf("sd %v: %+v", sd, out)
				}
			}
			if out.ESS < 1-1e-12 || out.ESS > 100 || out.CESS < 0 || out.CESS > 1 {
				t.Errorf("sd %v: ESS %v, CESS %v", sd, out.ESS, out.CESS)
			}
		}
	}
}

// Equal keys give bit-identical results at any number of processors and level, and progress covers
// the pilot runs and the run.
func TestAISDeterminism(t *testing.T) {
	m := shape{90, 140, 10, rbm.Softmax}.random(4, 0.1)
	s := Annealing{Chains: 60, Temperatures: 150, Pilot: 30, Base: randomBase(m, 0.3, 2)}
	type tensor struct {
		name   string
		values []float64
	}
	run := func() []tensor {
		out := ais(t, m, s, 3)
		down, err := ReverseAIS(context.Background(), m, s, aFewSteps(m), rbm.NewKey(3), nil)
		if err != nil {
			t.Fatal(err)
		}
		return []tensor{{"log weights", out.LogWeights}, {"path", out.Path}, {"log Z and its error", []float64{out.LogZ, out.StdErr}},
			{"log weights in reverse", down.LogWeights}, {"log Z in reverse", []float64{down.LogZ}}}
	}
	var want []tensor
	for level := vec.Go; level <= vec.Best(); level++ {
		for _, procs := range []int{1, 2, 5} {
			if level == vec.Go && procs > 2 {
				continue // two runs at the slow level are enough
			}
			restore := vec.SetLevel(level)
			old := runtime.GOMAXPROCS(procs)
			got := run()
			runtime.GOMAXPROCS(old)
			restore()
			if want == nil {
				want = got
			}
			for k, w := range want {
				if i := firstDifference(got[k].values, w.values); i >= 0 {
					t.Errorf("%v on %d processors: %s: element %d is %v, want %v", level, procs, w.name, i, got[k].values[i:min(i+1, len(got[k].values))], w.values[i:min(i+1, len(w.values))])
				}
			}
		}
	}
	last := 0.0
	_, err := AIS(context.Background(), m, s, rbm.NewKey(3), func(done float64) {
		if done < last {
			t.Errorf("progress falls from %v to %v", last, done)
		}
		last = done
	})
	if err != nil || last != 1 {
		t.Errorf("progress ends at %v: %v, want 1", last, err)
	}
}

// firstDifference returns the first index at which the bits of got and want differ, or −1.
func firstDifference(got, want []float64) int {
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			return i
		}
	}
	return -1
}

// aFewSteps returns 30 rows after a few steps of chains of m.
func aFewSteps(m *rbm.RBM) rbm.Values {
	s := rbm.NewStates(m, 30)
	m.Step(s, nil, 3, rbm.NewKey(9))
	return s.V
}
