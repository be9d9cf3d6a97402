package train

import (
	"context"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// A frozen is a fixed model with chains of pcd. Before each measurement their hidden states are drawn from
// a distribution that the test chooses.
type frozen struct {
	t          *Trainer
	mixing     *mixing
	cumulative []float64 // cumulative p(h)
}

// newFrozen returns a frozen model of n + n units with chains. Its data are draws from a different
// distribution.
func newFrozen(t *testing.T, m *rbm.RBM, chains string) *frozen {
	t.Helper()
	f := &frozen{}
	set := &data.Set{Name: "draws", X: rbm.NewBits(200, m.Visible())}
	logp := make([]float64, 1<<m.Hidden())
	h := rbm.NewBits(len(logp), m.Hidden())
	for i := range logp {
		for j := range m.Hidden() {
			h.Set(i, j, i>>j&1 == 1)
		}
	}
	// p(h) ∝ Σ_v exp(−E(v,h)), where the sum over v factorises.
	for i := range logp {
		for j, c := range m.HiddenBias {
			if h.Get(i, j) {
				logp[i] += float64(c)
			}
		}
		for k, b := range m.VisibleBias {
			a := float64(b)
			for j := range m.Hidden() {
				if h.Get(i, j) {
					a += float64(m.Weight(k, j))
				}
			}
			logp[i] += math.Log1p(math.Exp(a))
		}
	}
	z, sum := rbm.LogSumExp(logp), 0.0
	for _, x := range logp {
		sum += math.Exp(x - z)
		f.cumulative = append(f.cumulative, sum)
	}
	s := settingsOf(t, "pcd:chains="+chains)
	s.Negative.Set("start", "uniform")
	tr, err := New(s, set, m)
	if err != nil {
		t.Fatal(err)
	}
	f.t = tr
	start := rbm.NewStates(m, set.Len())
	f.draw(start.H, rbm.NewKey(9))
	m.Step(start, nil, 1, rbm.NewKey(10))
	set.X.CopyFrom(start.V)
	f.mixing = newMixing(&subject{m: m, run: s, key: rbm.NewKey(5), parts: []measuredSet{newMeasuredSet("train", set, m, rbm.NewKey(3))}}, rbm.NewKey(4))
	f.mixing.s.watch(tr)
	return f
}

// draw overwrites h with draws of p(h).
func (f *frozen) draw(h rbm.Values, key rbm.Key) {
	for r := range h.Rows {
		u := key.Uniform(uint64(r))
		i, _ := slices.BinarySearch(f.cumulative, u)
		for j := range h.Cols {
			h.Set(r, j, min(i, len(f.cumulative)-1)>>j&1 == 1)
		}
	}
}

// measure sets the chains to h and returns a measurement.
func (f *frozen) measure(t *testing.T, h rbm.Values) (p diag.Look, values []float64) {
	t.Helper()
	var b []byte
	for _, x := range []any{uint32(1), uint32(h.Rows), uint32(h.Cols), h.Words} { // in the format of saved chains
		b, _ = binary.Append(b, binary.LittleEndian, x)
	}
	if err := f.t.negative.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	f.t.step += leftEvery
	values, err := f.mixing.measure(context.Background(), f.t.model, false)
	if err != nil {
		t.Fatal(err)
	}
	return f.mixing.Window[len(f.mixing.Window)-1], values
}

// small returns a model of 8 + 6 units in which Gibbs steps mix fast.
func small(seed uint64) *rbm.RBM {
	m := rbm.New(8, 6, 0, rbm.Softmax)
	m.Randomize(0.8, rbm.NewKey(seed))
	return m
}

// Chains that are drawn exactly from the model get no warning. Their drift has the mean 0. Its variance is
// at most 2/chains, because the first and the last values of a chain can only be correlated positively.
// Five standard errors of both are allowed. The
// probability of a false verdict is then at most 3·10⁻⁵ a measurement, so that none is expected here.
func TestMixingFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	for _, c := range []struct {
		chains  string
		n       int
		repeats int
	}{{"1", 1, 400}, {"10", 10, 400}, {"100", 100, 100}} {
		f := newFrozen(t, small(1), c.chains)
		h := rbm.NewBits(c.n, 6)
		var drifts, left []float64
		alarms := 0
		for i := range c.repeats {
			f.draw(h, rbm.NewKey(uint64(100+i)))
			p, values := f.measure(t, h)
			drifts = append(drifts, p.Drift)
			if f.mixing.warn(true) != nil {
				alarms++
			}
			if unknown := c.n == 1 || i == 0; unknown != math.IsNaN(values[leftValue]) {
				t.Errorf("%s chains, measurement %d: they left their places by %v", c.chains, i, values[leftValue])
			} else if !unknown {
				left = append(left, values[leftValue])
			}
		}
		n := float64(c.repeats)
		mean, variance := diag.MeanVariance(drifts)
		limit := 2 / float64(c.n)
		if math.Abs(mean) > 5*math.Sqrt(limit/n) {
			t.Errorf("%s chains: the mean drift is %.3f, want 0 within %.3f", c.chains, mean, 5*math.Sqrt(limit/n))
		}
		if c.n > 1 && variance > limit*(1+5*math.Sqrt(2/n)) { // for a single chain the standard deviation is a guess
			t.Errorf("%s chains: the variance of the drift is %.3g, want at most %.3g", c.chains, variance, limit)
		}
		if mean, _ := diag.MeanVariance(left); c.n > 1 && math.Abs(mean-1) > 5*math.Sqrt(float64(c.n+1)/(3*float64(c.n)*float64(c.n-1))/n) {
			t.Errorf("%s chains: exact draws left their places by %.3f, want 1 within %.3f", c.chains, mean, 5*math.Sqrt(float64(c.n+1)/(3*float64(c.n)*float64(c.n-1))/n))
		}
		if alarms > 0 {
			t.Errorf("%s chains: %d false alarms in %d measurements", c.chains, alarms, c.repeats)
		}
		t.Logf("%s chains: drift %.3f ± %.3f, at most %.3f", c.chains, mean, math.Sqrt(variance), math.Sqrt(limit))
	}
}

// Chains in a mode that the model has left, which they leave at once, get a warning. Chains drawn from the
// same model get none.
func TestMixingDetects(t *testing.T) {
	for _, good := range []bool{true, false} {
		f := newFrozen(t, tilted(0.6), "20")
		h := rbm.NewBits(20, f.t.model.Hidden()) // all off
		for i := range diag.WindowLooks {
			if good {
				f.draw(h, rbm.NewKey(uint64(i)))
			}
			f.measure(t, h)
		}
		switch w := f.mixing.warn(false); {
		case good && w != nil:
			t.Errorf("chains of the model itself are accused: %v", w)
		case !good && (w == nil || w.Kind != diag.Lagging):
			t.Errorf("the warning is %v", w)
		case !good && f.mixing.warn(false) != nil:
			t.Error("the early warning comes twice")
		case !good && f.mixing.warn(true) == nil:
			t.Error("there is no warning at the end")
		}
		f.mixing.Told, f.t.settings.Schedule = false, "linear"
		if w := f.mixing.warn(false); w != nil {
			t.Errorf("where the rate falls to 0 the early warning is %v", w)
		}
	}
}

// tilted returns a model whose units attract each other, with a field that favours units that are on. From
// all units off, Gibbs steps take several steps to get there.
func tilted(field float32) *rbm.RBM {
	const weight = 0.55
	m := rbm.New(12, 6, 0, rbm.Softmax)
	w := rbm.NewMatrix(12, 6)
	for i := range w.Data {
		w.Data[i] = weight
	}
	m.SetWeights(w)
	for i := range m.VisibleBias {
		m.VisibleBias[i] = -weight*6/2 + field
	}
	for j := range m.HiddenBias {
		m.HiddenBias[j] = -weight*12/2 + field
	}
	return m
}

// The metric changes no bit of training, and its values do not depend on the number of processors. It is
// not measured more often than its budget allows.
func TestMixingDoesNotDisturb(t *testing.T) {
	set := toy(t, smallToy)
	for kind, text := range negatives {
		var want []byte
		var seen [][]float64
		for i, procs := range []int{0, 1, 4} {
			s := settingsOf(t, text)
			tr := newTrainer(t, s, set, 4, true, rbm.Softmax)
			if !s.Negative.Persists() {
				if _, err := NewRunMetrics([]string{"mixing"}, tr.Model(), Sets{Train: set}, s); err == nil || !strings.Contains(err.Error(), kind) {
					t.Errorf("%s: mixing is measured of it, or the error is %v", kind, err)
				}
				continue
			}
			var observers []Observer
			var values []float64
			if i > 0 {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				metrics, err := NewRunMetrics([]string{"mixing"}, tr.Model(), Sets{Train: set}, s)
				if err != nil {
					t.Fatal(err)
				}
				v := &Evaluator{Metrics: metrics, Every: 130, Report: func(e Evaluation) error {
					for _, x := range e.Values {
						values = append(values, x.Value)
					}
					return nil
				}}
				v.Watch(tr)
				observers = append(observers, v.Observe)
			}
			run(t, tr, 520, observers...)
			got := save(t, tr)
			if i == 0 {
				want = got
				continue
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: the run is another one with the metric", kind)
			}
			if n := len(values) / mixingValues; n != 4 || math.IsNaN(values[1*mixingValues]) || math.IsNaN(values[3*mixingValues]) || !math.IsNaN(values[0]) || !math.IsNaN(values[2*mixingValues]) {
				t.Errorf("%s: every second of 4 measurements has updates enough; the values are %v", kind, values)
			}
			seen = append(seen, values)
		}
		if len(seen) == 2 && !slices.EqualFunc(seen[0], seen[1], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("%s: one processor measures %v, four %v", kind, seen[0], seen[1])
		}
	}
}

// Chains that stay in their modes get a warning although they do not lag: those of pcd on four modes that
// differ in many bits. A ladder that crosses between the modes gets none.
func TestMixingStill(t *testing.T) {
	for text, want := range map[string]bool{"pcd:chains=50": true, "pt:chains=10:tau=auto": false} {
		set := toy(t, "desjardins:0.001")
		s := settingsOf(t, text)
		s.Rate, s.Batch, s.Center = 0.05, 20, 0.01
		tr := newTrainer(t, s, set, 10, false, rbm.Softmax)
		SetLogOdds(tr.Model(), set)
		metrics, err := NewRunMetrics([]string{"mixing"}, tr.Model(), Sets{Train: set}, s)
		if err != nil {
			t.Fatal(err)
		}
		said := false
		v := &Evaluator{Metrics: metrics, Every: 500, Report: func(Evaluation) error {
			w := metrics[0].Warning(true)
			said = said || w != nil && w.Kind == diag.Still
			return nil
		}}
		v.Watch(tr)
		run(t, tr, 12000, v.Observe)
		if said != want {
			t.Errorf("%s: chains are said to stand still: %v, want %v", text, said, want)
		}
	}
}

// pastStates.left is 1 if chains have forgotten their states, 1/modes if each stays in its mode, and 0 if
// nothing moves.
func TestPlaces(t *testing.T) {
	const chains, modes, cols = 64, 4, 60
	key := rbm.NewKey(3)
	// draw returns chains, with chain r near the mode of(r) and with independent noise.
	draw := func(of func(r int) int, key rbm.Key) pastStates {
		v := rbm.NewBits(chains, cols)
		for r := range chains {
			for j := range cols {
				v.Set(r, j, j%modes == of(r) != (key.Uniform(uint64(r*cols+j)) < 0.1))
			}
		}
		return placesOf(v)
	}
	own := func(r int) int { return r % modes }
	any := func(r int) int { return int(key.Child(9).Uniform(uint64(r)) * modes) }
	first := draw(own, key.Child(1))
	for name, c := range map[string]struct {
		now  pastStates
		want float64
	}{"forgotten": {draw(any, key.Child(2)), 1}, "in their modes": {draw(own, key.Child(3)), 1. / modes}, "still": {first, 0}} {
		if got := first.left(c.now); math.Abs(got-c.want) > 4*math.Sqrt((chains+1.)/(3*chains*(chains-1))) {
			t.Errorf("%s: chains left their places by %.3f, want %.2f", name, got, c.want)
		}
	}
	if got := first.left(first[:9]); !math.IsNaN(got) {
		t.Errorf("of another number of chains it is %v", got)
	}
	if got := append(pastStates{nil}, first[1:]...).left(first); !math.IsNaN(got) {
		t.Errorf("of places of another length it is %v", got)
	}
}
