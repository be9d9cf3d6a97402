package data

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"gorbm/rbm"
)

// toySettings are the four numbers of a toy set; see loadToy.
type toySettings struct {
	modes, repeat, copies int
	flip                  float64
	plain                 bool
}

// loadToy generates the toy data of Hult, Nyquist and Ringqvist's paper on
// infinite swapping for restricted Boltzmann machines, section 4.3 ("Toy
// data"). A spec toy:μ,δ,ν,π stands for μ modes (a power of two), whose binary
// codes of log₂ μ bits have each bit repeated δ times; of every mode there are
// ν copies, in which each bit is flipped with probability π. The class is the
// mode; modes count down, from the code of all ones, as in the paper's example.
// With "plain" after the numbers there are no labels, as in Desjardins et al.
// 2010. Rows are in the order of the modes.
func loadToy(ctx context.Context, sp spec, _ Options) (train, test *Set, err error) {
	t, err := parseToy(sp)
	if err != nil {
		return nil, nil, err
	}
	name := fmt.Sprintf("toy:%d,%d,%d,%s", t.modes, t.repeat, t.copies, formatFloat(t.flip))
	if t.plain {
		name += ":plain"
	}
	return t.generate(ctx, sp, name)
}

// generate draws the rows, under a canonical name that the seed is put after.
func (t toySettings) generate(ctx context.Context, sp spec, name string) (train, test *Set, err error) {
	codes := t.codes()
	s := &Set{
		Name:     sp.withSeed(name),
		X:        rbm.NewBits(t.modes*t.copies, codes.Cols),
		Binarize: Binary,
		LogProb:  t.logProb(codes),
	}
	s.Height, s.Width = NearSquare(codes.Cols)
	if !t.plain {
		s.Y = make([]int32, s.X.Rows)
		for r := range s.Y {
			s.Y[r] = int32(r / t.copies)
		}
		for c := range t.modes {
			s.Classes = append(s.Classes, fmt.Sprintf("%0*b", bits.Len(uint(t.modes-1)), t.modes-1-c))
		}
	}
	key := dataKey(sp.seed, streamToy)
	err = forBlocks(ctx, s.X.Rows, 1024, func(lo, hi int) {
		var r rng
		for row := lo; row < hi; row++ {
			// A stream a row: the blocks may go to any worker.
			r.seed(key.Child(uint64(row)))
			x := s.X.Row(row)
			copy(x, codes.Row(row/t.copies))
			for j := range codes.Cols {
				if r.uniform() < t.flip {
					x[j/64] ^= 1 << (j % 64)
				}
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return s, nil, nil
}

func parseToy(sp spec) (toySettings, error) {
	t := toySettings{modes: 4, repeat: 4, copies: 2500, flip: 0.2}
	var numbers string
	for _, arg := range sp.args {
		switch {
		case arg == "plain" && !t.plain:
			t.plain = true
		case numbers == "" && arg != "plain":
			numbers = arg
		default:
			return t, specErrorf("%s: setting %s is one too many; write toy:modes,repeats,copies,flips[:plain][:seed=N]", sp.text, quote(arg))
		}
	}
	if numbers == "" {
		return t, nil
	}
	f := strings.Split(numbers, ",")
	if len(f) != 4 {
		return t, specErrorf("%s: toy takes four numbers (modes, repeats of a bit, copies of a mode, flip probability), as in toy:4,4,2500,0.2", sp.text)
	}
	for i, p := range []struct {
		what string
		to   *int
		most int
	}{{"modes", &t.modes, maxClasses}, {"repeats of a bit", &t.repeat, maxCols}, {"copies of a mode", &t.copies, maxRows}} {
		n, err := strconv.Atoi(strings.TrimSpace(f[i]))
		if err != nil || n < 1 || n > p.most {
			return t, specErrorf("%s: the number of %s, %s, must be a whole number from 1 to %d", sp.text, p.what, quote(f[i]), p.most)
		}
		*p.to = n
	}
	if t.modes < 2 || t.modes&(t.modes-1) != 0 {
		return t, specErrorf("%s: the number of modes, %d, must be a power of two from 2 to %d", sp.text, t.modes, maxClasses)
	}
	var err error
	if t.flip, err = sp.probability(f[3]); err != nil {
		return t, err
	}
	cols := int64(t.repeat) * int64(bits.Len(uint(t.modes-1)))
	if why := checkShape(int64(t.modes)*int64(t.copies), cols); why != "" {
		return t, specErrorf("%s: %s; ask for less", sp.text, why)
	}
	return t, nil
}

// codes returns the modes without flips, one a row.
func (t toySettings) codes() rbm.Bits {
	n := bits.Len(uint(t.modes - 1))
	codes := rbm.NewBits(t.modes, n*t.repeat)
	for c := range t.modes {
		code := t.modes - 1 - c
		for j := range codes.Cols {
			// The code's highest bit comes first.
			codes.Set(c, j, code>>(n-1-j/t.repeat)&1 != 0)
		}
	}
	return codes
}

// logProb returns the law of the set for Set.LogProb: a mode drawn uniformly,
// then independent flips. Labels of a plain set are the modes all the same.
func (t toySettings) logProb(codes rbm.Bits) func(x []uint64, y int) float64 {
	logFlip, logKeep := math.Log(t.flip), math.Log1p(-t.flip)
	last := ^uint64(0) >> (uint(-codes.Cols) % 64) // the bits of the last word that count
	joint := func(x []uint64, mode int) float64 {
		flips := 0
		for i, w := range codes.Row(mode) {
			d := w ^ x[i]
			if i == codes.Stride-1 {
				d &= last
			}
			flips += bits.OnesCount64(d)
		}
		lp := -math.Log(float64(t.modes))
		// 0·log 0 is 0: what cannot happen and did not costs nothing.
		if flips > 0 {
			lp += float64(flips) * logFlip
		}
		if kept := codes.Cols - flips; kept > 0 {
			lp += float64(kept) * logKeep
		}
		return lp
	}
	return func(x []uint64, y int) float64 {
		switch {
		case y >= t.modes:
			return math.Inf(-1)
		case y >= 0:
			return joint(x, y)
		}
		most := math.Inf(-1)
		for c := range t.modes {
			most = max(most, joint(x, c))
		}
		if math.IsInf(most, -1) {
			return most
		}
		sum := 0.0
		for c := range t.modes {
			sum += math.Exp(joint(x, c) - most)
		}
		return most + math.Log(sum)
	}
}
