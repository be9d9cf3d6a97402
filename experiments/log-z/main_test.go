package main

import (
	"math"
	"testing"

	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/negphase/logz"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment, run) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment) }

// Three estimates without a warning, one of them off by more than 1.96 standard errors,
// one with a warning, and one that is impossible.
func TestCount(t *testing.T) {
	var points []figures.Point
	for i, p := range []struct{ score, off, warned float64 }{{1, 0.1, 0}, {-2.5, -0.5, 0}, {-1.9, -0.2, 0}, {7, 3, 1}, {math.NaN(), math.NaN(), 1}} {
		for panel, y := range map[string]float64{scorePanel: p.score, errorPanel: p.off, warnedPanel: p.warned} {
			points = append(points, figures.Point{Panel: panel + string(logz.ByAIS), Curve: sharp, Repeat: 1, X: float64(i), Y: y})
		}
	}
	c := count(figures.TableOf(points...), logz.ByAIS, "")
	if c.all != 5 || c.warned != 2 || c.impossible != 1 || len(c.doubtful) != 1 || within(c.scores, of95) != 2 || len(c.scores) != 3 || c.worst != 0.5 {
		t.Errorf("%+v", c)
	}
	if c := count(figures.TableOf(points...), logz.ByAIS, images); c.all != 0 {
		t.Errorf("of another kind there are %d, want 0", c.all)
	}
}
