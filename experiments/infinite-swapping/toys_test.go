package main

import (
	"math"
	"testing"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase/compare"
)

// hyperbola is a curve of the distances 2/steps, of 0.03 ms a step.
func hyperbola() compare.Curve {
	var c compare.Curve
	for _, n := range []float64{1, 4, 9, 10, 40, 100} {
		c.Points = append(c.Points, compare.Point{Steps: n, Seconds: 3e-5 * n, Distance: compare.Moment{Mean: 2 / n}})
	}
	return c
}

// The last decade is from the tenth of the steps on.
func TestSettled(t *testing.T) {
	if got, want := settled(hyperbola()), (0.2+0.05+0.02)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
}

// Both states are fixed, the late one nearer to the data than the early one.
func TestStates(t *testing.T) {
	early, late, err := statesOf(smallToy.size(claims.Options{Quick: true}))
	if err != nil {
		t.Fatal(err)
	}
	if !(late.truth.Norm() > 0) || early.model.Equal(late.model) || !late.truth.Exact {
		t.Error("the states are alike")
	}
}
