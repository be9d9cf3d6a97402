package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"gorbm/data"
	"gorbm/rbm"
)

// A problem is data of a known law and the size of the model.
type problem struct {
	name    string
	hidden  int
	rate    float64
	lawless bool // no law is known
	load    func(ctx context.Context) (*data.Set, error)
}

// named returns a problem of a built-in set.
func named(name, spec string, hidden int) problem {
	return problem{name: name, hidden: hidden, rate: 0.05, lawless: spec != "bars" && !strings.HasPrefix(spec, "toy:"), load: func(ctx context.Context) (*data.Set, error) {
		set, _, err := data.Load(ctx, spec, data.Options{})
		return set, err
	}}
}

const (
	// flips is the probability that a bit of a row differs from its mode.
	flips     = 0.02
	modeRows  = 2000
	modeUnits = 8 // hidden
)

// modes returns data of so many modes, of which the nearest differ in so many bits, and of
// which all have the same number of rows.
func modes(count, distance int) problem {
	return named(fmt.Sprintf("%d modes, distance %d", count, distance), fmt.Sprintf("toy:%d,%d,%d,%g:plain", count, distance, modeRows/count, flips), modeUnits)
}

// unequal returns data of four such modes of which each has half the probability of the one
// before: 8, 4, 2 and 1 of 15.
func unequal(distance int) problem {
	return problem{name: fmt.Sprintf("4 unequal modes, distance %d", distance), hidden: modeUnits, rate: 0.05, load: func(context.Context) (*data.Set, error) {
		const count = 4
		centres := rbm.NewBits(count, 2*distance)
		for k := range count {
			for i := range 2 * distance {
				centres.Set(k, i, k>>(i/distance)&1 == 0)
			}
		}
		weight := func(k int) float64 { return math.Exp2(float64(count-1-k)) / 15 }
		set := &data.Set{Name: "unequal modes", X: rbm.NewBits(modeRows, 2*distance), Height: 2, Width: distance, Binarize: data.Binary}
		key := rbm.NewKey(21)
		for r := range modeRows {
			u, k := key.Child(0).Uniform(uint64(r)), 0
			for ; k < count-1 && u >= weight(k); k++ {
				u -= weight(k)
			}
			for i := range 2 * distance {
				flip := key.Child(1).Uniform(uint64(r*2*distance+i)) < flips
				set.X.Set(r, i, centres.Get(k, i) != flip)
			}
		}
		set.LogProb = func(x []uint64, _ int) float64 {
			terms := make([]float64, count)
			for k := range terms {
				d := float64(rbm.Hamming(x, centres.Row(k)))
				terms[k] = math.Log(weight(k)) + d*math.Log(flips) + (float64(2*distance)-d)*math.Log1p(-flips)
			}
			return rbm.LogSumExp(terms)
		}
		return set, nil
	}}
}

var (
	clusters = []problem{modes(4, 4), modes(4, 8), modes(4, 12), modes(4, 16), modes(4, 24), modes(4, 32), modes(2, 16), modes(8, 16), unequal(4), unequal(16), unequal(32)}
	pictures = []problem{named("bars and stripes", "bars", 16), named("digits of fonts", "fontdigits:2000", 12)}
)
