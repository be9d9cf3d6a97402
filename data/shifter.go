package data

import (
	"context"
	"fmt"
	"math"

	"gorbm/rbm"
)

// loadShifter lists the labelled shifter ensemble (Hinton and Sejnowski, 1986; MacKay 2003, section 43) of
// patterns of n bits. n is 8 unless the spec is shifter:n. A row is a pattern, followed by the same pattern
// shifted cyclically by one place to the left, not at all, or by one place to the right. The shift is the
// class. The 3·2ⁿ rows are all outcomes, equally likely. So the largest possible mean log-likelihood of
// rows with their classes is −log(3·2ⁿ), −6.6438 nats for n = 8.
func loadShifter(ctx context.Context, sp spec, _ Options) ([]*Set, error) {
	values, _, err := sp.values(1, "", "shifter:N")
	n := 8
	if err == nil && len(values) > 0 {
		err = sp.integer(&n, values[0], "the length of a pattern", maxListed)
	}
	if err != nil {
		return nil, err
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
					ways++ // some patterns are equal after different shifts
				}
			}
			return math.Log(float64(ways)) - math.Log(float64(rows))
		},
	}
	return []*Set{s}, forBlocks(ctx, rows, 4096, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, pattern, class := s.X.Row(r), uint64(r/3), r%3
			putBits(x, 0, n, pattern)
			putBits(x, n, n, shifted(pattern, n, class))
			s.Y[r] = int32(class)
		}
	})
}

// shifted returns a pattern of n bits after the shift of a class. The leftmost
// bit of a row is the lowest bit of the pattern.
func shifted(a uint64, n, class int) uint64 {
	switch class {
	case 0:
		a = a>>1 | a<<(n-1)
	case 2:
		a = a<<1 | a>>(n-1)
	}
	return a & (1<<n - 1)
}
