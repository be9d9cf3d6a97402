package logz_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// The estimate for a small model is compared with its exact value, by enumeration.
func ExampleEstimate() {
	ctx := context.Background()
	m := rbm.New(20, 10, 0, rbm.Softmax)
	m.Randomize(1, rbm.NewKey(1))
	s := logz.DefaultSettings() // the base is the uniform distribution: without data there are no base rates
	s.Annealing.Temperatures, s.BurnIn, s.Rounds = 300, 300, 300
	b, err := logz.Estimate(ctx, m, s, rbm.NewKey(2), nil)
	if err != nil {
		log.Fatal(err)
	}
	want, err := exact.LogZ(ctx, m)
	if err != nil {
		log.Fatal(err)
	}
	best, stdErr, by := b.Best()
	fmt.Println("by", by, "within three errors:", math.Abs(best-want) < 3*stdErr)
	fmt.Println("warnings:", len(b.Warnings))
	// Output:
	// by bennett within three errors: true
	// warnings: 0
}
