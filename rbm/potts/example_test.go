package potts_test

import (
	"context"
	"fmt"

	"gorbm/rbm"
	"gorbm/rbm/potts"
)

// A hidden unit that prefers equal letters at two of three sites couples these sites.
func ExampleEffective() {
	site := rbm.Group{Kind: rbm.Softmax, Units: 2}
	m := rbm.NewGroups(1, site, site, site) // three sites of two letters, one hidden unit
	m.SetWeights(rbm.Matrix{Rows: 6, Cols: 1, Data: []float32{2, -2, 2, -2, 0, 0}})
	model, err := potts.Effective(context.Background(), m, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f nats if sites 0 and 1 agree, %.2f if not; sites 0 and 2: %.2f\n", model.Pair(0, 1)[0], model.Pair(0, 1)[1], model.Pair(0, 2)[0])
	// Output: 0.66 nats if sites 0 and 1 agree, -0.66 if not; sites 0 and 2: 0.00
}
