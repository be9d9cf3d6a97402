package tune_test

import (
	"fmt"

	"gorbm/negphase/tune"
)

// DIRECT finds the maximum of a function on the unit square without its gradient.
func ExampleDirect() {
	hill := func(x []float64) float64 { return -(x[0]-0.3)*(x[0]-0.3) - (x[1]-0.8)*(x[1]-0.8) }
	best, value := tune.Direct(hill, 2, 500)
	fmt.Printf("%.3f %.3f, %.4f\n", best[0], best[1], value)
	// Output: 0.300 0.800, -0.0000
}
