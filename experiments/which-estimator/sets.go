package main

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/experiments/internal/race"
	"gorbm/negphase/logz"
	"gorbm/rbm"
)

// A problem is data, and what is known of them.
type problem struct {
	race.Problem
	lawless bool // no law is known
	mixes   bool // chains of pcd are said to do well
	file    bool // it needs files
	falls   bool // the rate falls linearly, to about 0 at the end; otherwise it is constant
	ladder  int  // temperatures that pt comes to have, about
	// brackets estimate log Z of models that are too large to be enumerated: each, if the ladder
	// of the one before has not settled.
	brackets []logz.Settings
}

// of returns a problem of this name, of known law.
func of(name string, hidden int, load race.Loader) problem {
	return problem{Problem: race.Problem{Name: name, Hidden: hidden, Batch: 20, Rate: 0.05, Load: load}, ladder: 10}
}

// builtIn returns a problem of a built-in set.
func builtIn(name, spec string, hidden int) problem { return of(name, hidden, race.BuiltIn(spec)) }

func (d problem) withoutLaw() problem           { d.lawless = true; return d }
func (d problem) easy() problem                 { d.mixes = true; return d }
func (d problem) ofFiles() problem              { d.file = true; return d }
func (d problem) longLadder(number int) problem { d.ladder = number; return d }

const (
	// flips is the probability that a bit of a row differs from its mode.
	flips     = 0.02
	modeRows  = 2000
	modeUnits = 8 // hidden
)

// modes returns data of so many modes, of which the nearest differ in so many bits, and of
// which all have the same number of rows.
func modes(count, distance int) problem {
	return builtIn(fmt.Sprintf("%d modes, distance %d", count, distance), fmt.Sprintf("toy:%d,%d,%d,%g:plain", count, distance, modeRows/count, flips), modeUnits)
}

// unequal returns data of four such modes of which each has half the probability of the one
// before: 8, 4, 2 and 1 of 15.
func unequal(distance int) problem {
	return of(fmt.Sprintf("4 unequal modes, distance %d", distance), modeUnits, func(context.Context, *race.Places) (*data.Set, error) {
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
	})
}

var (
	bars  = builtIn("bars and stripes", "bars", 16)
	fonts = builtIn("digits of fonts", "fontdigits:2000", 12).withoutLaw().easy().longLadder(35)

	clusters = []problem{modes(4, 4), modes(4, 8), modes(4, 12), modes(4, 16), modes(4, 24), modes(4, 32), modes(2, 16), modes(8, 16), unequal(4), unequal(16), unequal(32)}
	// pictures have those without files first.
	pictures = []problem{
		bars, fonts,
		builtIn("four modes of 4×4", "desjardins:0.001", 10),
		of("MNIST 0/1", 12, race.ZerosAndOnes).withoutLaw().ofFiles().longLadder(40),
		of("digits of scikit-learn", 14, race.ScikitDigits).withoutLaw().ofFiles(),
	}
)
