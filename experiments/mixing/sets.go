package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/sets"
	"gorbm/rbm"
)

// A problem is clustered data with a model that can be enumerated.
type problem struct {
	name   string
	hidden int
	rate   float64
	load   func(ctx context.Context, p *places) (*data.Set, error)
}

// problems are the data, those without files first.
var problems = []problem{
	{"four modes", 10, 0.05, func(ctx context.Context, _ *places) (*data.Set, error) {
		set, _, err := data.Load(ctx, "desjardins:0.001", data.Options{})
		return set, err
	}},
	{"prototypes", 12, 0.05, func(context.Context, *places) (*data.Set, error) { return prototypes(), nil }},
	{"MNIST 0/1", 12, 0.05, func(ctx context.Context, p *places) (*data.Set, error) { return sets.ZerosAndOnes(ctx, p.dir) }},
	{"digits", 14, 0.05, func(ctx context.Context, p *places) (*data.Set, error) {
		if p.digits == "" {
			return nil, errors.New("give the file of the digits by -digits")
		}
		set, _, err := data.Load(ctx, p.digits, data.Options{})
		return set, err
	}},
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
