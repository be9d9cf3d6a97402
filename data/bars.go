package data

import (
	"context"
	"fmt"
	"math"

	"gorbm/rbm"
)

// maxListed limits the side of a picture of bars and the length of a pattern of the shifter, because all
// rows are listed: two and three million at the limit.
const maxListed = 20

// loadBars lists bars and stripes (MacKay, Information Theory, Inference, and Learning Algorithms, 2003,
// section 43) in pictures of n × n. n is 4 unless the spec is bars:n. Each of the 2ⁿ patterns of n bits
// gives two pictures. In the first half of the set every row of pixels is the pattern (bars). In the second
// half every column is (stripes). These 2·2ⁿ pictures are all outcomes, equally likely.
//
// The blank and the full picture are both bars and stripes, so they count twice, as in Fischer and Igel's
// experiments. The largest possible mean log-likelihood of 4 × 4 is −3.3791 nats. With "distinct" they
// count once, and the largest mean is −log(2·2ⁿ−2), −3.4012 nats for 4 × 4.
func loadBars(ctx context.Context, sp spec, _ Options) ([]*Set, error) {
	values, distinct, err := sp.values(1, "distinct", "bars:N[:distinct]")
	n := 4
	if err == nil && len(values) > 0 {
		err = sp.integer(&n, values[0], "the side of a picture", maxListed)
	}
	if err != nil {
		return nil, err
	}
	patterns := uint64(1) << n
	rows := 2 * int(patterns)
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
		LogProb:  barsLogProb(n, rows, distinct),
	}
	return []*Set{s}, forBlocks(ctx, rows, 4096, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, pattern := s.X.Row(r), uint64(r)
			stripes := pattern >= patterns
			if stripes {
				pattern -= patterns
				if distinct {
					pattern++ // leaves out the blank picture; the full one is never reached
				}
			}
			for i := range n {
				line := pattern
				if stripes {
					line = -(pattern >> i & 1) & (patterns - 1) // all ones where bit i is set
				}
				putBits(x, i*n, n, line)
			}
		}
	})
}

// barsLogProb returns the log-probability of bars and stripes for Set.LogProb. There are no
// classes.
func barsLogProb(n, rows int, distinct bool) func(x []uint64, y int) float64 {
	all := uint64(1)<<n - 1
	return func(x []uint64, y int) float64 {
		bar, stripe := true, true
		first := bitsAt(x, 0, n)
		for i := range n {
			line := bitsAt(x, i*n, n)
			bar = bar && line == first
			stripe = stripe && (line == 0 || line == all)
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

// putBits writes the n lowest bits of v to bits at, at+1, … of x, which must be
// zero. The higher bits of v must be zero too; n is at most 64.
func putBits(x []uint64, at, n int, v uint64) {
	x[at/64] |= v << (at % 64)
	if at%64+n > 64 {
		x[at/64+1] |= v >> (64 - at%64)
	}
}

// bitsAt returns bits at, at+1, … of x as a number of n < 64 bits, with bit at as the lowest.
func bitsAt(x []uint64, at, n int) uint64 {
	v := x[at/64] >> (at % 64)
	if at%64+n > 64 {
		v |= x[at/64+1] << (64 - at%64)
	}
	return v & (1<<n - 1)
}
