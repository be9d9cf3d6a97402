package logz

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

func annealed(logZ, stdErr, ess float64) *rbm.Annealed {
	return &rbm.Annealed{LogZ: logZ, StdErr: stdErr, ESS: ess, CESS: 0.9, LogWeights: make([]float64, 100), Path: []float64{0, 1}}
}

// Which warnings a bracket earns, and which estimate is gone by.
func TestWarnings(t *testing.T) {
	ratio := func(logZ, stdErr float64) *Ratio { return &Ratio{LogZ: logZ, StdErr: stdErr, Overlap: 0.5} }
	for name, c := range map[string]struct {
		b    Bracket
		want []string
		by   Method
	}{
		"sound":                {Bracket{AIS: annealed(10, 0.1, 50), Reverse: annealed(10.2, 0.1, 50), Bennett: ratio(10.1, 0.1), RoundTrips: 50}, nil, ByBennett},
		"reversed by chance":   {Bracket{AIS: annealed(10.3, 0.1, 50), Reverse: annealed(10, 0.1, 50), Bennett: ratio(10.1, 0.1), RoundTrips: 50}, nil, ByBennett},
		"AIS in few weights":   {Bracket{AIS: annealed(10, 0.1, 49), Reverse: annealed(10.2, 0.1, 50), Bennett: ratio(10.1, 0.1), RoundTrips: 50}, []string{"of AIS are worth 49.0"}, ByBennett},
		"reverse in few":       {Bracket{AIS: annealed(10, 0.1, 50), Reverse: annealed(10.2, 0.1, 1), Bennett: ratio(10.1, 0.1), RoundTrips: 50}, []string{"of reverse AIS are worth 1.0"}, ByBennett},
		"wide":                 {Bracket{AIS: annealed(10, 0.1, 50), Reverse: annealed(11.1, 0.1, 50), Bennett: ratio(10.1, 0.1), RoundTrips: 50}, []string{"the bracket is 1.1 nats wide"}, ByBennett},
		"ratio far above":      {Bracket{AIS: annealed(10, 0.1, 50), Reverse: annealed(10.2, 0.4, 50), Bennett: ratio(11.1, 0.1), RoundTrips: 50}, []string{"the bracket is 1.1 nats wide"}, ByBennett},
		"ratio above reverse":  {Bracket{AIS: annealed(10, 0.1, 50), Reverse: annealed(10.2, 0.1, 50), Bennett: ratio(10.9, 0.1), RoundTrips: 50}, []string{"Bennett's ratio lies above reverse AIS"}, ByBennett},
		"ratio and AIS apart":  {Bracket{AIS: annealed(10, 0.1, 50), Bennett: ratio(11.1, 0.1), RoundTrips: 50}, []string{"1.1 nats wide"}, ByBennett},
		"upside down":          {Bracket{AIS: annealed(10.5, 0.1, 50), Reverse: annealed(10, 0.1, 50), Bennett: ratio(10.4, 0.1), RoundTrips: 50}, []string{"upside down"}, ByBennett},
		"ratio below AIS":      {Bracket{AIS: annealed(10.5, 0.1, 50), Bennett: ratio(10, 0.1), RoundTrips: 50}, []string{"Bennett's ratio lies below AIS"}, ByAIS},
		"no overlap":           {Bracket{AIS: annealed(10, 0.1, 50), Bennett: &Ratio{LogZ: math.NaN(), Overlap: 0.002}, RoundTrips: 50}, []string{"overlap by 0.2 %"}, ByAIS},
		"no trips":             {Bracket{AIS: annealed(10, 0.1, 50), Reverse: annealed(10, 0.1, 50), RoundTrips: 49}, []string{"round trips of the ladder: 49 of"}, ByAIS},
		"AIS needs no ladder":  {Bracket{AIS: annealed(10, 0.1, 50)}, nil, ByAIS},
		"reverse alone":        {Bracket{Reverse: annealed(10, 0.1, 50), RoundTrips: 50}, nil, ByReverse},
		"no number, reverse":   {Bracket{Reverse: annealed(10, 0.1, 50), Bennett: &Ratio{LogZ: math.NaN()}, RoundTrips: 50}, []string{"gives no number"}, ByReverse},
		"nothing has a number": {Bracket{Bennett: &Ratio{LogZ: math.NaN()}, RoundTrips: 50}, []string{"gives no number"}, ""},
	} {
		got := DefaultSettings().warnings(c.b)
		if len(got) != len(c.want) {
			t.Errorf("%s: warnings %q, want %q", name, got, c.want)
		}
		for i, w := range c.want {
			if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
				t.Errorf("%s: warning %d lacks %q: %q", name, i, w, got)
			}
		}
		logZ, _, by := c.b.Best()
		if by != c.by || math.IsNaN(logZ) != (by == "") {
			t.Errorf("%s: best is %v by %q, want by %q", name, logZ, by, c.by)
		}
	}
}

func TestRatioJSON(t *testing.T) {
	for want, r := range map[string]Ratio{
		`{"log_z":2.5,"std_err":0.5,"overlap":0.25,"temperatures":7,"round_trips":3}`: {2.5, 0.5, 0.25, 7, 3},
		`{"overlap":0,"temperatures":7,"round_trips":3}`:                              {math.NaN(), math.NaN(), 0, 7, 3},
	} {
		if got, err := json.Marshal(r); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

// Series of known autocorrelation: xₜ₊₁ = a·xₜ + noise is worth (1−a)/(1+a) of
// its number.
func TestEffective(t *testing.T) {
	const groups, n = 20, 2000
	for _, a := range []float64{-0.5, 0, 0.5, 0.9, 0.98} {
		r := rbm.NewKey(7).Rand()
		x := make([]float64, 0, groups*n)
		for range groups {
			v := r.NormFloat64() / math.Sqrt(1-a*a) // stationary
			for range n {
				x = append(x, v)
				v = a*v + r.NormFloat64()
			}
		}
		want := min(1, (1-a)/(1+a)) * groups * n
		// Sokal (1997), eq. 3.19: var τ ≈ 2(2M+1)/N·τ², M the window of 5·2τ
		// lags at the most here; the window cuts e^{-5} off.
		lags := 10 * (1 + a) / (1 - a)
		bound := 5*math.Sqrt(2*(2*lags+1)/(groups*n)) + math.Exp(-5)
		if got := effective(x, groups); math.Abs(got/want-1) > bound {
			t.Errorf("a = %v: %v of %d, want %v to %.0f %%", a, got, groups*n, want, 100*bound)
		}
	}
	// Groups that never leave where they are count for one draw each, to the
	// factor that the triangle (1 − t/n) leaves of a constant: Σ(1 − t/n) ≈ n/2,
	// doubled, is n.
	stuck := make([]float64, groups*n)
	for i := range stuck {
		stuck[i] = float64(i / n)
	}
	if got := effective(stuck, groups); math.Abs(got-groups) > 1e-6 {
		t.Errorf("stuck groups are worth %v, want %d", got, groups)
	}
	if got := effective(make([]float64, 50), 5); got != 50 {
		t.Errorf("equal draws are worth %v", got)
	}
}

// Rows that come in equal copies within a group are worth one; independent
// ones have the usual error.
func TestGroupedStdErr(t *testing.T) {
	r := rbm.NewKey(3).Rand()
	const groups, rows = 40, 25
	one, copies, free := make([]float64, groups), []float64{}, make([]float64, groups*rows)
	for g := range one {
		one[g] = 1000 + 0.3*r.NormFloat64() // weights beyond float64
	}
	for range rows {
		copies = append(copies, one...)
	}
	for i := range free {
		free[i] = 0.3 * r.NormFloat64()
	}
	alone, copied := groupedStdErr(one, groups), groupedStdErr(copies, groups)
	if math.Abs(copied-alone) > 1e-12 {
		t.Errorf("copies have the error %v, their originals %v", copied, alone)
	}
	// The variance of a log-normal weight is e^{s²} − 1 of its squared mean; a
	// standard error from 40 groups has itself one of 1/√(2·39), and five of
	// these are allowed.
	want := math.Sqrt((math.Exp(0.09) - 1) / (groups * rows))
	if got := groupedStdErr(free, groups); math.Abs(got/want-1) > 5/math.Sqrt(2*39) {
		t.Errorf("error %v, want %v", got, want)
	}
	if broken := groupedStdErr(copies, groups*rows); math.Abs(broken/alone-1) < 0.5 {
		t.Errorf("rows taken as independent have the error %v: the test sees nothing", broken)
	}
}
