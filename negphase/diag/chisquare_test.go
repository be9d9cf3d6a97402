package diag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func draw(r *rand.Rand, p []float64, n int) []int {
	counts := make([]int, len(p))
	for range n {
		u := r.Float64()
		k := 0
		for ; k < len(p)-1 && u >= p[k]; k++ {
			u -= p[k]
		}
		counts[k]++
	}
	return counts
}

func TestStationarityZ(t *testing.T) {
	p := make([]float64, 100)
	sum := 0.0
	for i := range p {
		p[i] = math.Exp(-float64(i) / 8)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	r := rand.New(rand.NewPCG(1, 2))
	// For draws from p, 400 z-scores have mean 0 and variance 1.
	var mean, square float64
	for range 400 {
		z := StationarityZ(draw(r, p, 20000), p)
		mean += z / 400
		square += z * z / 400
	}
	// The skewness and kurtosis of χ² with some 50 degrees of freedom increase the
	// standard error of the mean square from √2/√400 to 1.6/√400.
	if math.Abs(mean) > 6/math.Sqrt(400) || math.Abs(square-1) > 6*1.6/math.Sqrt(400) {
		t.Errorf("z has mean %v and mean square %v, want 0 and 1", mean, square)
	}
	wrong := append([]float64(nil), p...)
	wrong[0], wrong[1] = p[1], p[0]
	if z := StationarityZ(draw(r, wrong, 20000), p); z < 6 {
		t.Errorf("two cells exchanged: z = %v, want at least 6", z)
	}
	if z := StationarityZ([]int{5, 1}, []float64{1, 0}); !math.IsInf(z, 1) {
		t.Errorf("a draw of probability zero: z = %v, want ∞", z)
	}
}

func ExampleStationarityZ() {
	// 6000 rolls of a die with too high a probability of six.
	counts := []int{950, 960, 940, 955, 945, 1250}
	p := []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}
	fmt.Printf("z = %.1f\n", StationarityZ(counts, p))
	// Output: z = 22.2
}
