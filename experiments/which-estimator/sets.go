package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/training"
	"gorbm/negphase/logz"
	"gorbm/rbm"
)

// A problem is a data set with the settings of the models that are trained on it.
type problem struct {
	name    string
	hidden  int
	load    loader
	unknown bool // the distribution of the data is unknown
	file    bool // the data need files
	ladder  int  // approximate number of temperatures of pt; 0: 10
	// brackets are settings of estimates of log Z for models that are too large to enumerate. The next settings
	// are used if the ladder of the previous ones does not settle.
	brackets []logz.Settings
}

// A loader returns data.
type loader func(ctx context.Context, p *files) (*data.Set, error)

// builtIn returns a loader of data by their spec.
func builtIn(spec string) loader {
	return func(ctx context.Context, p *files) (*data.Set, error) { return training.Load(ctx, spec, p.dir) }
}

// scikitDigits loads scikit-learn's digits.
func scikitDigits(ctx context.Context, p *files) (*data.Set, error) {
	if p.digits == "" {
		return nil, errors.New("give the file of the digits by -digits")
	}
	return builtIn(p.digits)(ctx, p)
}

// zerosAndOnes loads the rows of MNIST that are a 0 or a 1.
func zerosAndOnes(ctx context.Context, p *files) (*data.Set, error) {
	all, err := builtIn("mnist")(ctx, p)
	if err != nil {
		return nil, err
	}
	var rows []int32
	for r, y := range all.Y {
		if y <= 1 {
			rows = append(rows, int32(r))
		}
	}
	return all.Take(rows), nil
}

const (
	// flips is the probability that a bit of a row differs from its mode.
	flips     = 0.02
	modeRows  = 2000
	modeUnits = 8 // hidden units
)

// modes returns data of count modes with equal numbers of rows. The nearest modes differ in distance bits.
func modes(count, distance int) problem {
	return problem{name: fmt.Sprintf("%d modes, distance %d", count, distance), hidden: modeUnits, load: builtIn(fmt.Sprintf("toy:%d,%d,%d,%g:plain", count, distance, modeRows/count, flips))}
}

// unequal returns data of four modes like those of modes, with the probabilities 8/15, 4/15, 2/15 and 1/15.
func unequal(distance int) problem {
	return problem{name: fmt.Sprintf("4 unequal modes, distance %d", distance), hidden: modeUnits, load: func(context.Context, *files) (*data.Set, error) {
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
	bars  = problem{name: "bars and stripes", hidden: 16, load: builtIn("bars")}
	fonts = problem{name: "digits of fonts", hidden: 12, load: builtIn("fontdigits:2000"), unknown: true, ladder: 35}

	clusters = []problem{modes(4, 4), modes(4, 8), modes(4, 12), modes(4, 16), modes(4, 24), modes(4, 32), modes(2, 16), modes(8, 16), unequal(4), unequal(16), unequal(32)}
	// pictures begin with the problems that need no files.
	pictures = []problem{
		bars, fonts,
		{name: "four modes of 4×4", hidden: 10, load: builtIn("desjardins:0.001")},
		{name: "MNIST 0/1", hidden: 12, load: zerosAndOnes, unknown: true, file: true, ladder: 40},
		{name: "digits of scikit-learn", hidden: 14, load: scikitDigits, unknown: true, file: true},
	}
)
