package main

import (
	"math"
	"testing"

	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/train"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment(&files{}), run) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment(&files{})) }

// The best estimator has the smallest mean. It is sure if it beats pcd by three standard errors; others are
// the estimators that it does not beat.
func TestWinner(t *testing.T) {
	d := clusters[0]
	table := func(values map[string][3]float64) *figures.Table {
		var points []figures.Point
		for name, ys := range values {
			for k, y := range ys {
				points = append(points, figures.Point{Panel: d.name, Curve: name, Repeat: k + 1, X: 1, Y: y})
			}
		}
		return figures.TableOf(points...)
	}
	v := winner(table(map[string][3]float64{"pcd": {5, 6, 5}, "pt": {1, 2, 1.1}, "pins": {1, 2.1, 1.05}, "cd": {3, 4, 3}}), d, 1)
	if v.best != "pt" || !v.sure || len(v.others) < 1 || v.others[len(v.others)-1] != "pins" && v.others[0] != "pins" {
		t.Errorf("%+v", v)
	}
	for _, name := range v.others {
		if name == "cd" || name == "pcd" {
			t.Errorf("%s is not beaten: %+v", name, v)
		}
	}
	if v := winner(table(map[string][3]float64{"pcd": {5, 1, 5}, "pt": {4, 1.1, 4.5}}), d, 1); v.best != "pt" || v.sure {
		t.Errorf("%+v", v)
	}
}

// The probabilities of unequal modes sum to 1, the modes have the given distance, and the rows are
// draws from this distribution.
func TestUnequal(t *testing.T) {
	const distance = 4
	set, err := unequal(distance).load(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum, entropy, square := 0., 0., 0.
	for x := range uint64(1) << (2 * distance) {
		l := set.LogProb([]uint64{x}, -1)
		sum += math.Exp(l)
		entropy -= l * math.Exp(l)
		square += l * l * math.Exp(l)
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("probabilities sum to %g, want 1 ± 1e-12", sum)
	}
	mean := 0.
	for r := range set.Len() {
		mean -= set.LogProb(set.X.Row(r), -1) / float64(set.Len())
	}
	if z := (mean - entropy) / math.Sqrt((square-entropy*entropy)/float64(set.Len())); math.Abs(z) > 4 {
		t.Errorf("rows have a mean log probability of %g, want %g ± 4 standard errors; they differ by %.1f", -mean, -entropy, z)
	}
	ones, zeros := set.LogProb([]uint64{0xFF}, -1), set.LogProb([]uint64{0}, -1)
	if math.Abs(ones-zeros-math.Log(8)) > 1e-3 { // 8 of 15 against 1 of 15, except for rows of other modes, 0.02⁴/8
		t.Errorf("the first mode is %g times as probable as the last", math.Exp(ones-zeros))
	}
	if half := set.LogProb([]uint64{0xF0}, -1); math.Abs(ones-half-math.Log(2)) > 1e-3 {
		t.Errorf("the first mode is %g times as probable as the second", math.Exp(ones-half))
	}
}

// Scores are logarithms of nats, of at least 0.05, if the distribution of the data is known, and otherwise nats.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		d    problem
		want [2]float64
	}{{bars, [2]float64{1, math.Log(0.05)}}, {fonts, [2]float64{math.E, 0.001}}} {
		table := figures.TableOf(figures.Point{Panel: c.d.name, Curve: "pt", Repeat: 1, X: 1, Y: math.E}, figures.Point{Panel: c.d.name, Curve: "pt", Repeat: 2, X: 1, Y: 0.001})
		if s := c.d.scores(table, "pt", 1); math.Abs(s[1]-c.want[0]) > 1e-6 || s[2] != c.want[1] {
			t.Errorf("%s: %v, want %v", c.d.name, s, c.want)
		}
	}
}

// pcd with as many chains as pt has as many chains as pt has particles.
func TestManyChains(t *testing.T) {
	for _, e := range estimators {
		settings, err := fonts.recipe(e).Settings(1)
		s := settings.Negative
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
		}
		if e.name == manyPCD && s.String() != "pcd:k=1:chains=350:start=uniform" {
			t.Errorf("%s is %v", e.name, s)
		}
	}
}

// A bracket contains the exact log-likelihood of a model that can be enumerated, within four standard
// errors. Ladders that are too short give no estimate, and longer ones are tried next.
func TestBracket(t *testing.T) {
	d := quickLarge(larges[0])
	set, err := d.load(t.Context(), &files{})
	if err != nil {
		t.Fatal(err)
	}
	m := train.NewModel(set, d.hidden, false, rbm.Softmax, 1)
	m.Randomize(0.1, rbm.NewKey(1))
	train.SetLogOdds(m, set) // near to the data, where the ladder ends
	measured := func(brackets ...logz.Settings) map[string]float64 {
		d.brackets = brackets
		got := map[string]float64{}
		if err := d.test(set).measure(t.Context(), m, 1, func(panel string, y float64) { got[panel] = y }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	truth := measured()[d.name]
	short := bracketed(100, 0, 10)
	if got := measured(short); len(got) != 1 || got[d.name+settledPanel] != 0 {
		t.Errorf("a ladder of ten rounds says %v", got)
	}
	got := measured(short, bracketed(200, 100, 600))
	if z := (got[d.name] - truth) / got[d.name+errorPanel]; got[d.name+settledPanel] != 1 || math.Abs(z) > 4 || math.IsNaN(z) {
		t.Errorf("%v; the exact number is %g, %.1f errors away", got, truth, z)
	}
	if low, high := got[d.name+aisPanel], got[d.name+reversePanel]; math.Abs(low-truth) > 1 || math.Abs(high-truth) > 1 {
		t.Errorf("the ends are %g and %g, the exact number is %g", low, high, truth)
	}
}
