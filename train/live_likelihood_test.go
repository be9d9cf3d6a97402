package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/negphase/logz"
	"gorbm/rbm"
)

// liveOf returns the estimated log_likelihood of a run, as if its model could not be enumerated, and the
// exact one.
func liveOf(t *testing.T, tr *Trainer) (live, exact Metric) {
	t.Helper()
	metrics, err := NewMetrics([]string{"log_likelihood"}, tr.Model(), Sets{Train: tr.set}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &subject{m: tr.Model(), run: tr.settings, key: rbm.NewKey(8), parts: []measuredSet{newMeasuredSet("train", tr.set, tr.Model(), rbm.NewKey(9))}, enumErr: errors.New("too large")}
	liveMetric(s, &live)
	live.Watch(tr)
	return live, metrics[0]
}

// "auto" includes the likelihood of a model that cannot be enumerated if, and only if, log Z comes from the
// run's ladder.
func TestLiveLikelihoodIsAutomatic(t *testing.T) {
	set := toy(t, "toy:4,40,25,0.2")
	for text, want := range map[string]bool{"pins:chains=10:tau=auto": true, "ins:chains=10:tau=1/1.5/2.5/inf": true, "pcd:chains=10": false, "ins:chains=10:tau=reach/5": false, "pt:chains=1:tau=auto": false} {
		s := settingsOf(t, text)
		for average, want := range map[float64]bool{0: want, 0.9: false} {
			s.Average = average
			metrics, err := NewRunMetrics([]string{"auto"}, NewModel(set, 60, false, rbm.Softmax, 1), Sets{Train: set}, s)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.ContainsFunc(metrics, func(m Metric) bool { return m.Name == "log_likelihood" }); got != want {
				t.Errorf("%s, average %v: the likelihood is measured: %v, want %v", text, average, got, want)
			}
		}
	}
}

// During runs the estimate agrees with the exact log-likelihood: none differs by more than four standard
// errors. The errors are those of Student's t with nine degrees of freedom, so the mean z² is 0.97 and its
// variance is 3.0 over the number of estimates (see TestCoverage of package logz); five standard errors of
// it are allowed. The metric changes no bit of training. With the particles of the run, it has a value at
// every third measurement here, because too few updates precede the others.
func TestLiveLikelihoodAgainstEnumeration(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	set := toy(t, smallToy)
	n, squares := 0.0, 0.0
	for _, text := range []string{"pt:chains=10:tau=1/1.5/2.5/inf", "ins:chains=10:tau=1/1.5/2.5/inf", "pins:chains=10:tau=auto:path=data", "pcd:chains=10", "cd", "pt:chains=10:tau=1/2"} {
		s := settingsOf(t, text)
		s.Rate = 0.02
		own := strings.Contains(text, "inf") || strings.Contains(text, "auto")
		if ownLadder(s) != own {
			t.Errorf("%s: own particles give log Z: %v, want %v", text, !own, own)
		}
		plain := newTrainer(t, s, set, 4, true, rbm.Softmax)
		run(t, plain, 2400)
		tr := newTrainer(t, s, set, 4, true, rbm.Softmax)
		live, exact := liveOf(t, tr)
		run(t, tr, 2400, func(ctx context.Context, e Event) error {
			if e.Step%400 != 0 {
				return nil
			}
			got, err := live.Measure(ctx, e.Model, false)
			if err != nil {
				return err
			}
			if few := own && e.Step%1200 != 0; few != math.IsNaN(got[0]) {
				t.Errorf("%s, step %d: the estimate is %v", text, e.Step, got)
			}
			if math.IsNaN(got[0]) {
				return nil
			}
			want, err := exact.Measure(ctx, e.Model, false)
			if err != nil {
				return err
			}
			n++
			off := math.Abs(got[0]-want[0]) / got[1]
			squares += off * off
			if !(off <= 4) {
				t.Errorf("%s, step %d: the estimate is %.4f ± %.4f, the truth %.4f", text, e.Step, got[0], got[1], want[0])
			}
			return nil
		})
		if !bytes.Equal(save(t, tr), save(t, plain)) {
			t.Errorf("%s: the run is another one with the metric", text)
		}
		if memory, err := json.Marshal(live.Memory); err != nil || own == strings.Contains(string(memory), `"ladder":`) {
			t.Errorf("%s: the metric remembers %s, %v", text, memory, err)
		}
		last, err := live.Measure(context.Background(), tr.Model(), true)
		if err != nil {
			t.Fatal(err)
		}
		want, err := exact.Measure(context.Background(), tr.Model(), true)
		if err != nil {
			t.Fatal(err)
		}
		near(t, text+": at the end", last[0], want[0], 4*last[1])
	}
	t.Logf("mean z² of %v estimates: %.2f", n, squares/n)
	if squares/n > 0.97+5*math.Sqrt(3/n) {
		t.Errorf("the mean z² of %v estimates is %.2f: their errors are too small", n, squares/n)
	}
}

// If the run's ladder gives no number, the reason is reported once during training and again at the end.
// The state of the metric can be restored.
func TestLiveLikelihoodDoubt(t *testing.T) {
	set := toy(t, smallToy)
	s := settingsOf(t, "pt:chains=10:tau=1/1.5/2.5/inf")
	tr := newTrainer(t, s, set, 4, true, rbm.Softmax)
	live, _ := liveOf(t, tr)
	run(t, tr, 1200)
	other := tr.Model().Clone() // the particles are not of this model
	for i := range other.VisibleBias {
		other.VisibleBias[i] += 20
	}
	got, err := live.Measure(context.Background(), other, false)
	if err != nil {
		t.Fatal(err)
	}
	w := live.Warning(false)
	if !math.IsNaN(got[0]) || !math.IsNaN(got[1]) || w == nil || w.Cause.Kind != logz.NoOverlap || w.Numbers["step"] != 1200 {
		t.Errorf("the estimate is %v, the warning %v", got, w)
	}
	if live.Warning(false) != nil || live.Warning(true) != w {
		t.Errorf("the warning comes twice, or not at the end")
	}
	text, err := json.Marshal(live.Memory)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := liveOf(t, tr)
	if err := json.Unmarshal(text, again.Memory); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Warning(true), w) {
		t.Errorf("restored, the warning is %v", again.Warning(true))
	}
	if _, err := (&liveLikelihood{s: &subject{}}).measure(context.Background(), other, false); err == nil {
		t.Error("without a run there is no error")
	}
}

// The particles of a run give log Z if its ladder ends at β = 0, if there are several groups, from which
// the error is estimated, and if the measured model is that of the chains.
func TestOwnLadder(t *testing.T) {
	for text, want := range map[string]bool{
		"pt:tau=1/2/inf": true, "pt:tau=auto": true, "pins:tau=auto/5": true, "ins:tau=1/inf": true,
		"pt:tau=1/2": false, "pt:tau=reach/5": false, "pt:tau=auto:hottest=5": false, "pt:tau=1/inf:chains=1": false, "pcd": false, "exact": false,
	} {
		s := settingsOf(t, text)
		if got := ownLadder(s); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		if s.Average = 0.9; ownLadder(s) {
			t.Errorf("%s: averaged parameters are not those of the particles", text)
		}
	}
}

// The lower bound on estimates is computed from the training rows, each counted once.
func TestLiveLowerBound(t *testing.T) {
	set := toy(t, smallToy)
	tr := newTrainer(t, settingsOf(t, "pt:chains=10:tau=1/1.5/2.5/inf"), set, 4, true, rbm.Softmax)
	run(t, tr, 200)
	m := tr.Model()
	x := &liveLikelihood{s: &subject{m: m, run: tr.settings, parts: []measuredSet{newMeasuredSet("train", set, m, rbm.NewKey(9))}}, key: rbm.NewKey(8), ofRun: true}
	x.s.watch(tr)
	b, err := x.bracket(context.Background(), m, leastRounds)
	if err != nil {
		t.Fatal(err)
	}
	distinct, row := map[string]bool{}, set.NewRows(1, m.Classes())
	sum, free := 0.0, make([]float64, 1)
	for r := range set.Len() {
		set.Visible(row, []int32{int32(r)}, m.Classes())
		if name := fmt.Sprint(row.Row(0)); !distinct[name] {
			distinct[name] = true
			m.FreeEnergy(free, row)
			sum += math.Exp(-free[0])
		}
	}
	near(t, "the lower bound of log Z", b.LowerBound, math.Log(sum), 1e-9*math.Abs(math.Log(sum)))
}

// A scripted is a ladder of ten groups at β = 1 and 0 whose energies are exact normal draws, with log Z(1)
// − log Z(0) = ½. Before the given round the energies are far too high.
type scripted struct {
	negphase.Estimator
	settled, round int
	draws          *rand.Rand
}

func (s *scripted) CopyFrom(negphase.Estimator) bool { return true }
func (s *scripted) Freeze()                          {}
func (s *scripted) Retune()                          {}
func (s *scripted) Ladder() negphase.Ladder          { return negphase.Ladder{Beta: []float64{1, 0}} }
func (s *scripted) Estimate(*rbm.RBM, rbm.Batch, rbm.Key) (rbm.Phase, negphase.Info, error) {
	s.round++
	return rbm.Phase{}, negphase.Info{}, nil
}
func (s *scripted) Excess(dst []float64) {
	for i := range dst {
		dst[i] = s.draws.NormFloat64()
		if i%2 == 0 { // at β = 1
			dst[i]--
		}
		if s.round <= s.settled {
			dst[i] += 2
		}
	}
}

// Chains that reach the model within the first quarter of the rounds give a number, because that quarter is
// discarded. Chains that need most of the rounds give none.
func TestLiveFirstQuarter(t *testing.T) {
	set := toy(t, smallToy)
	tr := newTrainer(t, settingsOf(t, "pt:chains=10:tau=1/inf"), set, 4, true, rbm.Softmax)
	const rounds = 100
	for settled, want := range map[int]bool{0: true, rounds / settleShare: true, rounds * 7 / 10: false} {
		x := &liveLikelihood{s: &subject{m: tr.Model(), run: tr.settings}, ofRun: true, copy: &scripted{settled: settled, draws: rbm.NewKey(1).Rand()}}
		x.s.watch(tr)
		b, err := x.settle(context.Background(), tr.Model(), rounds, math.Inf(-1))
		if err != nil {
			t.Fatal(err)
		}
		logZ, stdErr, _ := b.Best()
		if want {
			near(t, fmt.Sprintf("log Z of chains that settle in %d rounds", settled), logZ, (*rbm.Base)(nil).LogZ(tr.Model())+0.5, 5*stdErr)
		} else if !math.IsNaN(logZ) {
			t.Errorf("chains that do not settle in %d rounds give %v ± %v", settled, logZ, stdErr)
		}
	}
}

// With a ladder that ends at β = 0, "auto" includes the log-likelihood of models of every size. It is exact
// if the enumeration has at most likelihoodWork, 2²⁸, terms. Otherwise it is an estimate, both for models
// that could be enumerated, up to 2²⁸ states, and for larger ones. If it is requested by name it is exact
// for all models that can be enumerated. Without such a ladder, "auto" includes only what is fast.
func TestEveryModelHasALikelihood(t *testing.T) {
	for _, c := range []struct {
		inputs, hidden int
		auto, named    bool // exact with "auto", and when requested by name
	}{
		{16, 24, true, true}, // 2¹⁶·24
		{23, 32, true, true}, // 2²³·32 = 2²⁸ terms: the first limit
		{23, 33, false, true},
		{32, 23, true, true}, // the same with the other layer enumerated
		{33, 23, false, true},
		{27, 25, false, true},
		{30, 27, false, true},
		{28, 28, false, true}, // 2²⁸ states: the second limit
		{40, 28, false, true},
		{29, 29, false, false},
		{40, 60, false, false},
	} {
		m := rbm.New(c.inputs, c.hidden, 0, rbm.Softmax)
		set := &data.Set{Name: "any", X: rbm.NewBits(2, c.inputs), Height: 1, Width: c.inputs}
		for _, text := range []string{"pt:chains=10:tau=auto", "pcd:chains=10"} {
			for _, names := range [][]string{{"auto"}, {"log_likelihood"}, {"auto", " log_likelihood"}} {
				want, byName := c.auto, len(names) > 1 || names[0] != "auto"
				if byName {
					want = c.named
				}
				metrics, err := NewRunMetrics(names, m, Sets{Train: set}, settingsOf(t, text))
				if err != nil {
					t.Fatal(err)
				}
				at := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == "log_likelihood" })
				if none := at < 0; none != (text == "pcd:chains=10" && !byName && !c.auto) {
					t.Errorf("%d × %d units, %s, %q: there is a log-likelihood: %v", c.inputs, c.hidden, text, names, !none)
				} else if !none && (metrics[at].Columns[0].Label == "exact log-likelihood") != want {
					t.Errorf("%d × %d units, %s, %q: it is %q", c.inputs, c.hidden, text, names, metrics[at].Columns[0].Label)
				}
			}
		}
		// Without a run there are no chains for an estimate.
		switch _, err := NewMetrics([]string{"log_likelihood"}, m, Sets{Train: set}, 1); {
		case (err == nil) != c.named:
			t.Errorf("%d × %d units, without a run: %v", c.inputs, c.hidden, err)
		}
	}
}

// For a model between the limits, a ladder during the run gives the same number as enumeration, to within
// four standard errors, as in TestLiveLikelihoodAgainstEnumeration.
func TestLikelihoodBetweenTheLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	set := toy(t, "toy:4,12,30,0.1") // 24 inputs
	s := settingsOf(t, "pt:chains=10:tau=auto")
	s.Rate = 0.02
	tr := newTrainer(t, s, set, 24, false, rbm.Softmax) // 2²⁴·24 terms
	var values [2][]float64
	for i, name := range []string{"auto", "log_likelihood"} {
		metrics, err := NewRunMetrics([]string{name}, tr.Model(), Sets{Train: set}, s)
		if err != nil {
			t.Fatal(err)
		}
		m := metrics[slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == "log_likelihood" })]
		if (m.Watch != nil) != (i == 0) {
			t.Fatalf("%s: %v", name, m.Values)
		}
		if m.Watch != nil {
			m.Watch(tr)
			run(t, tr, 1200)
		}
		if values[i], err = m.Measure(context.Background(), tr.Model(), false); err != nil {
			t.Fatal(err)
		}
	}
	if live, exact := values[0], values[1]; !(math.Abs(live[0]-exact[0]) <= 4*live[1]) || !(live[1] < 1) {
		t.Errorf("the estimate is %v, the truth %v", live, exact)
	}
}
