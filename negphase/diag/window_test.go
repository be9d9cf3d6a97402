package diag

import (
	"math"
	"testing"
)

// A drift of less than a nat is ignored, however many standard deviations it is.
func TestLagInNats(t *testing.T) {
	for nats, want := range map[float64]bool{-0.9: false, 0.9: false, -1.1: true, 1.1: true} {
		if _, _, clear := (Window{{Drift: 3 * nats, Nats: nats, Chains: 100}}).lag(); clear != want {
			t.Errorf("a drift of %v nats is a lag: %v", nats, clear)
		}
	}
}

// Few chains must drift farther. The mean difference of n chains in equilibrium has the standard deviation
// √(2/n), and a lag must exceed driftZ of it.
func TestLagOfFewChains(t *testing.T) {
	for chains, want := range map[float64]bool{20: false, 35: false, 36: true, 100: true} {
		if _, _, clear := (Window{{Drift: -0.95, Nats: -3, Chains: chains}}).lag(); clear != want {
			t.Errorf("a drift of 0.95 standard deviations of %v chains is a lag: %v", chains, clear)
		}
	}
}

// A verdict before the end needs leastLooks looks, and a lag is no early warning if the rate falls to 0.
func TestJudge(t *testing.T) {
	lag := Look{Step: 1, Updates: 50, Chains: 50, Drift: -2, Nats: -5}
	still := Look{Step: 2, Updates: 50, Chains: 50, Left: 0.3, Places: 50, Since: 1600}
	for _, c := range []struct {
		w          Window
		end, falls bool
		want       Kind
	}{
		{nil, true, false, ""},
		{Window{lag, lag}, false, false, ""},
		{Window{lag, lag}, true, false, Lagging},
		{Window{lag, lag, lag}, false, false, Lagging},
		{Window{lag, lag, lag}, false, true, ""},
		{Window{lag, lag, lag}, true, true, Lagging},
		{Window{lag, lag, still, still}, true, true, Still}, // the last two looks have no lag
		{Window{still, still, still}, false, true, Still},
	} {
		got, bad := c.w.Judge(c.end, c.falls)
		if got.Kind != c.want || bad != (c.want != "") {
			t.Errorf("%+v, end %v, falls %v: got %q, want %q", c.w, c.end, c.falls, got.Kind, c.want)
		}
	}
}

// The worst pair of neighbours counts, among those with enough attempts.
func TestWorstExchange(t *testing.T) {
	for _, c := range []struct {
		tries, swaps []int64
		pair         int
		rate         float64
	}{
		{nil, nil, 0, math.NaN()},
		{[]int64{99}, []int64{0}, 0, math.NaN()},
		{[]int64{200, 99, 400}, []int64{100, 0, 4}, 2, 0.01},
		{[]int64{200, 200}, []int64{1, 100}, 0, 0.005},
	} {
		pair, rate := WorstExchange(c.tries, c.swaps)
		if pair != c.pair || math.Float64bits(rate) != math.Float64bits(c.rate) && !(math.IsNaN(rate) && math.IsNaN(c.rate)) {
			t.Errorf("%v of %v: got pair %d at %v, want %d at %v", c.swaps, c.tries, pair, rate, c.pair, c.rate)
		}
	}
}
