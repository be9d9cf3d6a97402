package data

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
)

// A toyModel is a distribution of modes with independent flips; see loadToy.
type toyModel struct {
	modes, repeat, copies int
	flip                  float64
	plain                 bool // without labels
}

// loadToy generates the toy data of Hult, Nyquist and Ringqvist's paper on infinite swapping for restricted
// Boltzmann machines, section 4.3 ("Toy data"). The spec toy:μ,δ,ν,π has μ modes (a power of two), whose
// binary codes of log₂ μ bits have each bit repeated δ times. There are ν copies of each mode, in which
// every bit is flipped with probability π. The class is the mode. Modes count down from the code of all
// ones, as in the paper's example. With "plain" after the numbers there are no labels, as in Desjardins et
// al. 2010. Rows are in the order of the modes.
func loadToy(ctx context.Context, sp spec, _ Options) ([]*Set, error) {
	t := toyModel{modes: 4, repeat: 4, copies: 2500, flip: 0.2}
	values, plain, err := sp.values(1, "plain", "toy:modes,repeats,copies,flips[:plain][:seed=N]")
	if err == nil && len(values) > 0 {
		err = t.parse(sp, values[0])
	}
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("toy:%d,%d,%d,%g", t.modes, t.repeat, t.copies, t.flip)
	if t.plain = plain; plain {
		name += ":plain"
	}
	return t.generate(ctx, sp, name)
}

// parse reads the four numbers of a toy set.
func (t *toyModel) parse(sp spec, numbers string) error {
	f := strings.Split(numbers, ",")
	if len(f) != 4 {
		return specErrorf("%s: toy takes four numbers (modes, repeats of a bit, copies of a mode, flip probability), as in toy:4,4,2500,0.2", sp.text)
	}
	for i, p := range []struct {
		what string
		to   *int
		most int
	}{{"modes", &t.modes, maxClasses}, {"repeats of a bit", &t.repeat, maxCols}, {"copies of a mode", &t.copies, maxRows}} {
		if err := sp.integer(p.to, strings.TrimSpace(f[i]), "the number of "+p.what, p.most); err != nil {
			return err
		}
	}
	if t.modes < 2 || t.modes&(t.modes-1) != 0 {
		return specErrorf("%s: the number of modes, %d, must be a power of two from 2 to %d", sp.text, t.modes, maxClasses)
	}
	var err error
	if t.flip, err = sp.probability(f[3]); err != nil {
		return err
	}
	cols := int64(t.repeat) * int64(bits.Len(uint(t.modes-1)))
	if why := checkShape(int64(t.modes)*int64(t.copies), cols); why != "" {
		return specErrorf("%s: %s; ask for less", sp.text, why)
	}
	return nil
}

// loadDesjardins generates the toy data of Desjardins, Courville, Bengio, Vincent and Delalleau (AISTATS
// 2010), who train with tempered chains: four modes of 4 × 4 pixels, equally many rows of each, and every
// pixel flipped with probability p. The spec is desjardins:p:rows; p is 0.001 and rows is 10000 if they are
// not given. The smaller p, the further apart the modes are for a Markov chain.
//
// Later experiments with these data agree on four modes in two complementary pairs, 16 pixels, 10000 rows,
// and the probabilities 0.1, 0.05, 0.01 and 0.001. The modes here are those of the Shark library: blank,
// full, the upper half and the lower half. For these probabilities the entropies of the distribution are
// then 6.5764, 4.5618, 2.2823 and 1.5128 nats.
//
// Toy data of 2 bits with 8 repeats have the same modes: the rows of
// desjardins:p are those of toy:4,8,2500,p:plain.
func loadDesjardins(ctx context.Context, sp spec, _ Options) ([]*Set, error) {
	t := toyModel{modes: 4, repeat: 8, copies: 2500, flip: 0.001, plain: true}
	values, _, err := sp.values(2, "", "desjardins[:p[:rows]][:seed=N]")
	if err == nil && len(values) > 0 {
		t.flip, err = sp.probability(values[0])
	}
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("desjardins:%g", t.flip)
	if len(values) > 1 {
		n, err := strconv.Atoi(values[1])
		if err != nil || n < t.modes || n > maxRows || n%t.modes != 0 {
			return nil, specErrorf("%s: the number of rows, %s, must be a multiple of 4 up to %d, as many of each mode", sp.text, quote(values[1]), maxRows)
		}
		if t.copies != n/t.modes {
			t.copies = n / t.modes
			name += fmt.Sprintf(":%d", n)
		}
	}
	return t.generate(ctx, sp, name)
}

// generate draws the rows. name is the canonical name without the seed.
func (t toyModel) generate(ctx context.Context, sp spec, name string) ([]*Set, error) {
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
	return []*Set{s}, forBlocks(ctx, s.X.Rows, 1024, func(lo, hi int) {
		var r rng
		for row := lo; row < hi; row++ {
			// Each row has its own stream, so any goroutine may draw it.
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
}

// codes returns the modes without flips, one in each row.
func (t toyModel) codes() rbm.Values {
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

// logProb returns Set.LogProb of the set, whose rows are modes drawn uniformly and then flipped bit by bit,
// independently. The class y is the mode, in a plain set too.
func (t toyModel) logProb(codes rbm.Values) func(x []uint64, y int) float64 {
	logFlip, logKeep := math.Log(t.flip), math.Log1p(-t.flip)
	last := ^uint64(0) >> (uint(-codes.Cols) % 64) // mask of the last word of a row
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
		// Here 0·log 0 is 0.
		if flips > 0 {
			lp += float64(float64(flips) * logFlip)
		}
		if kept := codes.Cols - flips; kept > 0 {
			lp += float64(float64(kept) * logKeep)
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
		terms := make([]float64, t.modes)
		for c := range terms {
			terms[c] = joint(x, c)
		}
		return floats.LogSumExp(terms)
	}
}
