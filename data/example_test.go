package data_test

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/rbm"
)

func ExampleLoad() {
	train, test, err := data.Load(context.Background(), "fontdigits:1000", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.Name, train.Len(), "rows of", train.Height, "×", train.Width)
	fmt.Println(test.Name, test.Len())
	// Output:
	// fontdigits:1000:seed=1 1000 rows of 28 × 28
	// fontdigits:seed=1 test 10000
}

func ExampleLoad_unknown() {
	_, _, err := data.Load(context.Background(), "mnits", data.Options{})
	fmt.Println(err)
	// Output: unknown data set "mnits"; did you mean mnist?
}

// The best mean log-likelihood that any model can reach on toy data is minus
// the entropy of their law.
func ExampleSet_logProb() {
	toy, _, err := data.Load(context.Background(), "toy:4,4,2500,0.2", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := 0.0
	for x := range uint64(1) << toy.X.Cols {
		for y := range toy.Classes {
			lp := toy.LogProb([]uint64{x}, y)
			best += math.Exp(lp) * lp
		}
	}
	fmt.Printf("%.4f nats\n", best)
	// Output: -5.3895 nats
}

func ExampleSet_Visible() {
	toy, _, err := data.Load(context.Background(), "toy:4,2,2,0", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := rbm.NewBits(2, toy.X.Cols+4)
	toy.Visible(v, []int32{0, 2}, 4)
	for r := range v.Rows {
		for j := range v.Cols {
			if v.Get(r, j) {
				fmt.Print("1")
			} else {
				fmt.Print("0")
			}
		}
		fmt.Println()
	}
	// Output:
	// 11111000
	// 11000100
}

func ExampleBatches() {
	// Three rows an epoch, two a step: the second step is half of the second
	// epoch already.
	batches := data.NewBatches(3, 2, rbm.NewKey(1))
	rows := make([]int32, 2)
	count := make([]int, 3)
	for step := range 3 {
		batches.Rows(rows, step)
		for _, r := range rows {
			count[r]++
		}
	}
	fmt.Println(count)
	// Output: [2 2 2]
}

func ExampleNearest() {
	fmt.Println(data.Nearest("font-digits", data.Names()))
	// Output: fontdigits
}
