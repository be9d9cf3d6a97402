package vec

import (
	"fmt"
	"math"
	"testing"
)

// Choose draws the same as DrawOne for each row, at every level, for inputs of any size and NaN.
func TestChoose(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for _, units := range []int{1, 2, 3, 20, 21, 64, 130} {
				x := s.fill(shifted(t, units*Block, shift, low))
				var beta, u [Block]float32
				s.fill(beta[:])
				for r := range u {
					u[r] = float32(s.Uint32()>>8 | 1)
				}
				u[0], u[1] = 1, 1<<24-1
				var want, got, plain [Block]uint32
				for r := range want {
					column := make([]float32, units)
					for k := range column {
						column[k] = x[k*Block+r]
					}
					want[r] = uint32(DrawOne(column, u[r], beta[r]))
				}
				copied := append([]float32{}, x...)
				atGo(func() { Choose(&plain, copied, units, &beta, &u) })
				at(func() { Choose(&got, x, units, &beta, &u) })
				for r := range want {
					if got[r] != want[r] || plain[r] != want[r] {
						t.Fatalf("%d units, row %d: got %d, in plain Go %d, want %d", units, r, got[r], plain[r], want[r])
					}
				}
				same(t, fmt.Sprintf("exponentials of %d units", units), x, copied)
			}
		})
	})
}

// Draws of many rows have the probabilities of their units: a χ² test of 64000 draws.
func TestChooseProbabilities(t *testing.T) {
	const units, calls = 5, 1000
	z := [units]float32{0.3, -1, 2, 0, 1}
	sum := 0.0
	for _, z := range z {
		sum += math.Exp(float64(z) / 2)
	}
	chi2 := func(beta float32) (x2 float64) {
		var counts [units]float64
		var scratch [4 * Block]float32
		var state [Block]uint32
		var b [Block]float32
		for r := range b {
			b[r] = beta
		}
		for call := range uint32(calls) {
			x := make([]float32, units*Block)
			for i := range x {
				x[i] = z[i/Block]
			}
			Choose(&state, x, units, &b, Stream{K0: 3}.Column(&scratch, call*Block, 77))
			for _, k := range state {
				counts[k]++
			}
		}
		for k, n := range counts {
			want := calls * Block * math.Exp(float64(z[k])/2) / sum
			x2 += (n - want) * (n - want) / want
		}
		return x2
	}
	const df = units - 1
	if z := (chi2(0.5) - df) / math.Sqrt(2*df); z > 6 {
		t.Errorf("z = %.1f, want at most 6", z)
	}
	if z := (chi2(0.55) - df) / math.Sqrt(2*df); z < 6 {
		t.Errorf("draws at another β pass: z = %.1f, want at least 6", z)
	}
}

func TestColumn(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		s := newSource(2, false)
		for range 50 {
			stream := Stream{s.Uint32(), s.Uint32(), s.Uint32(), s.Uint32()}
			row, unit := s.Uint32(), s.Uint32N(1<<28)
			var scratch [4 * Block]float32
			var got *[Block]float32
			at(func() { got = stream.Column(&scratch, row, unit) })
			for r, u := range got {
				if want := stream.Uniform(row+uint32(r), unit); u != want {
					t.Fatalf("row %d, unit %d: got %v, want %v", row, unit, u, want)
				}
			}
		}
	})
}
