package main

import (
	"math"
	"strings"
	"testing"

	"gorbm/experiments/internal/claims"
)

// A verdict needs runs of 50 τ by both samplers.
func TestResolved(t *testing.T) {
	for short, says := range map[string]string{automatic: "the runs of k=auto are 49 τ long", byPaper: "the runs of tuned as in the paper are 49 τ long", "": ""} {
		var points []claims.Point
		for draw := range 4 {
			for curve, tau := range map[string]float64{automatic: 100, byPaper: 1000 + 10*float64(draw)} {
				times := 1000.
				if curve == short {
					times = leastTimes - 1
				}
				points = append(points, claims.Point{Panel: tauMoves, Curve: curve, Repeat: draw, Y: tau}, claims.Point{Panel: timesPanel, Curve: curve, Repeat: draw, Y: times})
			}
		}
		table := claims.TableOf(points...)
		got := resolved(table, claims.Smaller("", logsAt(table, tauMoves, automatic, 0), logsAt(table, tauMoves, byPaper, 0)), 0, automatic, byPaper)
		if (got.Verdict == claims.Pass) != (short == "") || !strings.HasPrefix(got.Refusal, says) {
			t.Errorf("short runs of %q: %s, %s", short, got.Verdict, got.Statistic)
		}
	}
}

// The finding names only systems with a difference.
func TestLengthFinding(t *testing.T) {
	var points []claims.Point
	for draw := range 4 {
		noise := 1 + float64(draw)/100
		add := func(at int, curve string, tau, gain, times float64) {
			for panel, y := range map[string]float64{tauMoves: tau, allGainPanel: gain * noise, timesPanel: times} {
				points = append(points, claims.Point{Panel: panel, Curve: curve, Repeat: draw, X: float64(at), Y: y})
			}
		}
		add(0, automatic, 300*noise, 10, 1000) // worse per move; per second better than tuned, and equal to untuned
		add(0, byPaper, 100, 5, 1000)
		add(0, untuned, 900, 10/noise, 1000)
		add(1, automatic, 300*noise, 10, 10) // too short
		add(1, byPaper, 100, 5, 1000)
		add(1, untuned, 900, 10/noise, 1000)
	}
	got := lengthFinding(claims.TableOf(points...))
	for _, want := range []string{"per move with the paper's tuning, it is faster on none of them, and slower on T = 2.27 (3.04 times).", "tuning included, it is faster on T = 2.27 (2 times), and slower on none of them.", "with untuned settings, it is faster on none of them, and slower on none of them."} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Tuning for a fraction of the time of the paper's protocol loses that fraction of the independent energies.
func TestSpent(t *testing.T) {
	p := newPrograms()
	points, err := match{cube, 1, 0.02}.race(t.Context(), p, 0, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	table := claims.TableOf(points...)
	at := func(panel, curve string) float64 { return table.At(panel, curve, 0)[1] }
	protocol := at(tunePanel, byPaper) + (1-contestBurn)*contestMoves*at(microPanel, byPaper)/1e6
	for _, curve := range lengthCurves {
		want := at(gainPanel, curve) * (1 - at(tunePanel, curve)/protocol)
		if got := at(allGainPanel, curve); !(at(tunePanel, curve) >= 0) || math.Abs(got/want-1) > 1e-4 { // tables have seven digits
			t.Errorf("%s: %g with tuning, want %g", curve, got, want)
		}
	}
	if at(tunePanel, byPaper) <= 0 || at(tunePanel, automatic) <= 0 || at(tunePanel, untuned) != 0 {
		t.Errorf("seconds of tuning: got %g by the paper, %g by k=auto, %g untuned; want more than 0, more than 0 and 0", at(tunePanel, byPaper), at(tunePanel, automatic), at(tunePanel, untuned))
	}
}
