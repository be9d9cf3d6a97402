package diag

import (
	"math"
	"testing"
)

func TestMeanVariance(t *testing.T) {
	for _, c := range []struct {
		x              []float64
		mean, variance float64
	}{
		{[]float64{3}, 3, 0},
		{[]float64{1, 3}, 2, 1},
		{[]float64{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 6}, 1e9 + 3, 3.5},
	} {
		if mean, variance := MeanVariance(c.x); mean != c.mean || variance != c.variance {
			t.Errorf("%v: mean %v and variance %v, want %v and %v", c.x, mean, variance, c.mean, c.variance)
		}
	}
	if mean, _ := MeanVariance([]float64{1, math.NaN()}); !math.IsNaN(mean) {
		t.Errorf("the mean with NaN is %v", mean)
	}
}
