package data

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"gorbm/rbm"
)

// The largest pictures of bars, and patterns of the shifter, that are listed in
// full: some two and three million rows.
const maxListed = 20

// loadBars lists bars and stripes (MacKay, Information Theory, Inference, and
// Learning Algorithms, 2003, section 43), in pictures of n × n, n = 4 unless
// bars:n says otherwise. Of the 2ⁿ patterns of a line, first each is every row
// of a picture (bars), then each is every column (stripes): 2·2ⁿ rows, which
// are the whole law, equally likely. The blank and the full picture are among
// the bars and among the stripes and so count twice, as in Fischer and Igel's
// experiments; the best possible mean log-likelihood of 4 × 4 is −3.3791 nats.
// With "distinct" they count once, and the best is −log(2·2ⁿ−2), −3.4012 nats.
func loadBars(ctx context.Context, sp spec, _ Options) (train, test *Set, err error) {
	n, distinct := 4, false
	sized := false
	if err := sp.noSeed(); err != nil {
		return nil, nil, err
	}
	for _, arg := range sp.args {
		switch {
		case arg == "distinct" && !distinct:
			distinct = true
		case arg != "distinct" && !sized:
			sized = true
			if n, err = sp.listed(arg, "the side of a picture"); err != nil {
				return nil, nil, err
			}
		default:
			return nil, nil, specErrorf("%s: setting %s is one too many; write bars:N[:distinct]", sp.text, quote(arg))
		}
	}
	lines := uint64(1) << n // patterns of a line
	rows := 2 * int(lines)
	name := fmt.Sprintf("bars:%d", n)
	if distinct {
		rows -= 2
		name += ":distinct"
	}
	s := &Set{
		Name:     name,
		X:        rbm.NewBits(rows, n*n),
		Height:   n,
		Width:    n,
		Binarize: Binary,
		LogProb:  barsLaw(n, rows, distinct),
	}
	err = forBlocks(ctx, rows, 4096, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, line := s.X.Row(r), uint64(r)
			if line < lines {
				for i := range n {
					putBits(x, i*n, n, line)
				}
				continue
			}
			line -= lines
			if distinct {
				line++ // past the blank one, and the full one is not reached
			}
			for i := range n {
				putBits(x, i*n, n, -(line>>i&1)&(lines-1))
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return s, nil, nil
}

// barsLaw returns the law of bars and stripes for Set.LogProb. There are no
// classes.
func barsLaw(n, rows int, distinct bool) func(x []uint64, y int) float64 {
	all := uint64(1)<<n - 1
	return func(x []uint64, y int) float64 {
		bar, stripe := true, true
		first := bitsAt(x, 0, n)
		for i := range n {
			row := bitsAt(x, i*n, n)
			bar = bar && row == first
			stripe = stripe && (row == 0 || row == all)
		}
		switch {
		case y >= 0 || !bar && !stripe:
			return math.Inf(-1)
		case bar && stripe && !distinct:
			return -math.Log(float64(rows) / 2)
		}
		return -math.Log(float64(rows))
	}
}

// listed reads the size of a set that is listed in full.
func (sp spec) listed(arg, what string) (int, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > maxListed {
		return 0, specErrorf("%s: %s, %s, must be a whole number from 1 to %d", sp.text, what, quote(arg), maxListed)
	}
	return n, nil
}

// putBits puts the n ≤ 64 low bits of v, above which it has none, into zero
// bits of x, from bit at on.
func putBits(x []uint64, at, n int, v uint64) {
	x[at/64] |= v << (at % 64)
	if at%64+n > 64 {
		x[at/64+1] |= v >> (64 - at%64)
	}
}

// bitsAt returns n < 64 bits of x, from bit at on.
func bitsAt(x []uint64, at, n int) uint64 {
	v := x[at/64] >> (at % 64)
	if at%64+n > 64 {
		v |= x[at/64+1] << (64 - at%64)
	}
	return v & (1<<n - 1)
}
