package ranks_test

import (
	"fmt"

	"gorbm/rbm/ranks"
)

// Three ranks square six numbers: each computes its rows, and Gather completes the table on all.
func ExampleEach() {
	results := make([][]float32, 3)
	err := ranks.Each(3, func(g *ranks.Group) error {
		x := make([]float32, 6)
		low, high := g.Rows(len(x))
		for i := low; i < high; i++ {
			x[i] = float32(i * i)
		}
		results[g.Rank()] = x
		return ranks.GatherRows(g, x, len(x))
	})
	fmt.Println(results[0], results[2], err)
	// Output: [0 1 4 9 16 25] [0 1 4 9 16 25] <nil>
}
