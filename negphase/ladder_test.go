package negphase

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
)

// newTestLadder returns one group at k temperatures.
func newTestLadder(k int) *ladder {
	s := DefaultSettings("pt")
	s.ladder().chains, s.ladder().Temperatures.List = 1, nil
	for i := range k {
		s.ladder().Temperatures.List = append(s.ladder().Temperatures.List, float64(i+1))
	}
	l := newLadder(s)
	return &l
}

func TestRoundTrips(t *testing.T) {
	l := newTestLadder(3)
	for i, step := range []struct {
		rows  []int32
		trips int64
	}{
		{[]int32{0, 1, 2}, 0}, // particle 2 is at the top but was never at the bottom
		{[]int32{2, 1, 0}, 0}, // 0 is at the top; 2 is at the bottom for the first time
		{[]int32{1, 0, 2}, 0}, // 2 is at the top
		{[]int32{0, 1, 2}, 1}, // 0 is back at the bottom
		{[]int32{0, 1, 2}, 1}, // and stays
		{[]int32{2, 1, 0}, 2}, // 2 is back at the bottom, 0 at the top
		{[]int32{0, 2, 1}, 3},
	} {
		l.trace(step.rows)
		if int64(l.info.Get(RoundTrips)) != step.trips {
			t.Errorf("after step %d: %d round trips, want %d", i, int64(l.info.Get(RoundTrips)), step.trips)
		}
	}
}

// A pair of temperatures is crossed if the set of particles below it has changed.
func TestCrossings(t *testing.T) {
	for _, c := range []struct {
		after []int32
		want  []int64
	}{
		{[]int32{0, 1, 2, 3}, []int64{0, 0, 0}},
		{[]int32{1, 0, 2, 3}, []int64{1, 0, 0}},
		{[]int32{0, 1, 3, 2}, []int64{0, 0, 1}},
		{[]int32{1, 0, 3, 2}, []int64{1, 0, 1}},
		{[]int32{3, 1, 2, 0}, []int64{1, 1, 1}},
		{[]int32{0, 3, 1, 2}, []int64{0, 1, 1}},
	} {
		l := newTestLadder(4)
		copy(l.last, []int32{0, 1, 2, 3})
		l.countCrossings(c.after, 0, 4)
		if !slices.Equal(l.info.Swaps, c.want) || !slices.Equal(l.info.SwapTries, []int64{1, 1, 1}) {
			t.Errorf("%v: crossed %v of %v, want %v", c.after, l.info.Swaps, l.info.SwapTries, c.want)
		}
	}
	// In a block only the pairs within it are counted.
	l := newTestLadder(5)
	copy(l.last, []int32{0, 1, 2, 3, 4})
	l.countCrossings([]int32{0, 3, 1, 2, 4}, 1, 4)
	if !slices.Equal(l.info.Swaps, []int64{0, 1, 1, 0}) || !slices.Equal(l.info.SwapTries, []int64{0, 1, 1, 0}) {
		t.Errorf("in a block: crossed %v of %v, want %v and %v", l.info.Swaps, l.info.SwapTries, []int64{0, 1, 1, 0}, []int64{0, 1, 1, 0})
	}
}

// The counts of calls agree with the settings, for a ladder on a model with weak weights, which
// exchanges often.
func TestInfoCounts(t *testing.T) {
	m := shape{6, 4, 0, rbm.Softmax}.random(1, 0.1)
	for _, text := range []string{"pt:k=3:swaps=2:chains=50:tau=1/1.2/1.5", "ins:k=3:swaps=2:chains=50:tau=1/1.2/1.5",
		"pins:k=3:swaps=2:chains=50:tau=1/1.2/1.5"} {
		s := parse(t, text)
		_, info, err := estimator(t, text).Estimate(m, rbm.Batch{}, rbm.NewKey(1))
		if err != nil {
			t.Fatal(err)
		}
		if info.Updates != 3*2*50*3 {
			t.Errorf("%s: %d updates, want %d", text, info.Updates, 3*2*50*3)
		}
		for k, n := range info.SwapTries {
			if n != 2*50 || info.Swaps[k] <= 0 || info.Swaps[k] > n {
				t.Errorf("%s: pair %d: %d of %d", text, k, info.Swaps[k], n)
			}
		}
		off, groups := info.OffWeight()
		any := groups > 0
		switch {
		case any != (s.Kind != "pt"):
			t.Errorf("%s: off weight %v, %v", text, off, any)
		case any && (groups != 50 || !(off > 0.5 && off < 0.75)):
			// Energies are nearly equal, so the weight on hotter particles is nearly 1 − 1/K = 2/3.
			t.Errorf("%s: %d groups weighed, %v off", text, groups, off)
		}
	}
	// cd and pcd count k steps per chain.
	for text, want := range map[string]int64{"cd:k=4": 4 * 6, "pcd:k=4:chains=11": 44} {
		_, info, err := estimator(t, text).Estimate(m, positive(m, 6, 1), rbm.NewKey(1))
		if err != nil || info.Updates != want || info.SwapRates() != nil {
			t.Errorf("%s: %v, %v; want %d updates", text, info, err, want)
		}
	}
}

func TestInfoAdds(t *testing.T) {
	a := Info{Updates: 1, SwapTries: []int64{2, 3}, Swaps: []int64{1, 0}, Counts: []Count{{RoundTrips, 4}, {"Off", 0.5}, {"Groups", 2}}}
	var sum Info
	sum.Add(Info{Updates: 5})
	sum.Add(a)
	sum.Add(a)
	if sum.Updates != 7 || sum.Get(RoundTrips) != 8 || sum.Get("Off") != 1 || sum.Get("Groups") != 4 ||
		!slices.Equal(sum.SwapTries, []int64{4, 6}) || !slices.Equal(sum.Swaps, []int64{2, 0}) {
		t.Errorf("got %+v", sum)
	}
	if a.SwapTries[0] != 2 {
		t.Errorf("what is added is changed: got %v, want 2", a.SwapTries[0])
	}
	if r := sum.SwapRates(); !slices.Equal(r, []float64{0.5, 0}) {
		t.Errorf("rates %v, want %v", r, []float64{0.5, 0})
	}
	sum.Reset()
	if sum.Updates != 0 || sum.Get("Groups") != 0 || sum.Get("Off") != 0 || !slices.Equal(sum.Swaps, []int64{0, 0}) || sum.SwapRates() != nil {
		t.Errorf("after Reset: %+v", sum)
	}
	// After a tuning only the latest counts of pairs are kept; all other counts are added.
	tuned := Info{Updates: 1, SwapTries: []int64{5}, Swaps: []int64{4}, Tuned: 1, Counts: []Count{{RoundTrips, 1}}}
	for _, infos := range [][]Info{{a, tuned, tuned}, {tuned, a, tuned}, {tuned, tuned, a}, {{}, a, tuned, {Updates: 0}, tuned}} {
		var sum Info
		for _, i := range infos {
			sum.Add(i)
		}
		if sum.Updates != 3 || sum.Get(RoundTrips) != 6 || sum.Tuned != 1 || !slices.Equal(sum.SwapTries, []int64{10}) || !slices.Equal(sum.Swaps, []int64{8}) {
			t.Errorf("got %+v", sum)
		}
	}
	if tuned.Swaps[0] != 4 || a.Swaps[0] != 1 {
		t.Error("what is added is changed")
	}
	defer func() {
		if recover() == nil {
			t.Error("counts of another ladder are added")
		}
	}()
	sum.Add(Info{SwapTries: []int64{1}, Swaps: []int64{1}})
}

func TestSwapProbability(t *testing.T) {
	for _, c := range []struct{ betaA, betaB, energyA, energyB, want float64 }{
		{1, 0.5, 3, 1, 1},            // the colder one has more energy
		{1, 0.5, 1, 3, math.Exp(-1)}, // exp(½·(1−3))
		{1, 0.5, 2, 2, 1},
		{1, 0.2, -1e6, 1e6, 0},
		{1, 0.2, 1e6, -1e6, 1},
		{1, 0.75, -4, 4, math.Exp(-2)},
	} {
		got := swapProbability(c.betaA, c.betaB, c.energyA, c.energyB)
		near(t, "probability", got, c.want, 4e-16) // rounding errors of rbm.Exp and math.Exp
	}
}
