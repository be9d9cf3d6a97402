package data

import (
	"context"
	"fmt"
	"math"

	"gorbm/rbm"
)

// loadShifter lists the labelled shifter ensemble (Hinton and Sejnowski, 1986;
// MacKay 2003, section 43) of patterns of n bits, 8 unless shifter:n says
// otherwise: a pattern, then the same pattern shifted by one place to the left,
// not at all, or by one to the right, what leaves at one end coming in at the
// other. The shift is the class. Its 3·2ⁿ rows are the whole law, equally
// likely, so the best possible mean log-likelihood, classes included, is
// −log(3·2ⁿ): −6.6438 nats of the usual 768 rows.
func loadShifter(ctx context.Context, sp spec, _ Options) (train, test *Set, err error) {
	if err := sp.noSeed(); err != nil {
		return nil, nil, err
	}
	n := 8
	switch len(sp.args) {
	case 0:
	case 1:
		if n, err = sp.listed(sp.args[0], "the length of a pattern"); err != nil {
			return nil, nil, err
		}
	default:
		return nil, nil, specErrorf("%s: setting %s is one too many; write shifter:N", sp.text, quote(sp.args[1]))
	}
	rows := 3 << n
	s := &Set{
		Name:     fmt.Sprintf("shifter:%d", n),
		X:        rbm.NewBits(rows, 2*n),
		Y:        make([]int32, rows),
		Classes:  []string{"left", "none", "right"},
		Height:   2,
		Width:    n,
		Binarize: Binary,
		LogProb: func(x []uint64, y int) float64 {
			a, b := bitsAt(x, 0, n), bitsAt(x, n, n)
			ways := 0
			for c := range 3 {
				if (y < 0 || y == c) && shifted(a, n, c) == b {
					ways++ // a pattern may have equal shifts
				}
			}
			return math.Log(float64(ways)) - math.Log(float64(rows))
		},
	}
	err = forBlocks(ctx, rows, 4096, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, pattern, class := s.X.Row(r), uint64(r/3), r%3
			putBits(x, 0, n, pattern)
			putBits(x, n, n, shifted(pattern, n, class))
			s.Y[r] = int32(class)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return s, nil, nil
}

// shifted returns a pattern of n bits after the shift that a class stands for.
// The first bit of a row, its leftmost, is the lowest.
func shifted(a uint64, n, class int) uint64 {
	switch class {
	case 0:
		a = a>>1 | a<<(n-1)
	case 2:
		a = a<<1 | a>>(n-1)
	}
	return a & (1<<n - 1)
}
