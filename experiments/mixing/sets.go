package main

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/race"
	"gorbm/rbm"
)

// problems are clustered data with models that can be enumerated, those without files first.
var problems = []race.Problem{
	{Name: "four modes", Hidden: 10, Batch: 20, Rate: 0.05, Load: race.BuiltIn("desjardins:0.001")},
	{Name: "prototypes", Hidden: 12, Batch: 20, Rate: 0.05, Load: func(context.Context, *race.Places) (*data.Set, error) { return prototypes(), nil }},
	{Name: "MNIST 0/1", Hidden: 12, Batch: 20, Rate: 0.05, Load: race.ZerosAndOnes},
	{Name: "digits", Hidden: 14, Batch: 20, Rate: 0.05, Load: race.ScikitDigits},
}

const (
	prototypeCount, prototypeBits = 8, 100
	// leastDistance is the least Hamming distance between prototypes. Independent ones
	// differ in half of the bits, 50 ± 5.
	leastDistance = 30
	// flipped is the share of the bits of a row that differ from its prototype.
	flipped       = 0.02
	prototypeRows = 4000
)

// prototypes returns rows that are each a random prototype with some bits flipped.
func prototypes() *data.Set {
	key := rbm.NewKey(20)
	var centres rbm.Values
	for try := uint64(0); ; try++ {
		centres = rbm.NewBits(prototypeCount, prototypeBits)
		centres.Randomize(key.Child(0).Child(try))
		near := math.MaxInt
		for i := range prototypeCount {
			for j := range i {
				near = min(near, rbm.Hamming(centres.Row(i), centres.Row(j)))
			}
		}
		if near >= leastDistance {
			break
		}
	}
	set := &data.Set{Name: fmt.Sprintf("%d prototypes of %d bits", prototypeCount, prototypeBits), X: rbm.NewBits(prototypeRows, prototypeBits), Height: 10, Width: 10, Binarize: data.Binary}
	for r := range prototypeRows {
		of := int(key.Child(1).Uniform(uint64(r)) * prototypeCount)
		for i := range prototypeBits {
			flip := key.Child(2).Uniform(uint64(r*prototypeBits+i)) < flipped
			set.X.Set(r, i, centres.Get(of, i) != flip)
		}
	}
	return set
}
