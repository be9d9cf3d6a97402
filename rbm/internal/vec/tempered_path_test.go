package vec

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestBlend(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := range 258 {
			s := newSource(uint64(n), n%3 == 0)
			low, shift := s.IntN(2) == 0, s.IntN(16)
			x := s.fill(shifted(t, n*Block, shift, low))
			beta := fenced[float32](t, n, low)
			for i := range beta {
				beta[i] = [...]float32{0, 1, s.Float32(), s.Float32()}[s.IntN(4)]
			}
			base := (*[Block]float32)(s.fill(fenced[float32](t, Block, low)))
			got := shifted(t, n*Block, shift, low)
			want := slices.Clone(got)
			atGo(func() { Blend(want, x, beta, base, n) })
			at(func() { Blend(got, x, beta, base, n) })
			same(t, fmt.Sprintf("%d rows", n), got, want)
			at(func() { Blend(x, x, beta, base, n) })
			same(t, fmt.Sprintf("%d rows in place", n), x, want)
		}
	})
}

// Blend in plain Go agrees with its formula; both ends are exact.
func TestBlendDefinition(t *testing.T) {
	defer SetLevel(Go)()
	s := newSource(3, false)
	base := (*[Block]float32)(s.fill(make([]float32, Block)))
	beta := []float32{0, 0.25, 1}
	x, got := s.fill(make([]float32, len(beta)*Block)), make([]float32, len(beta)*Block)
	Blend(got, x, beta, base, len(beta))
	for i := range Block {
		quarter := float32(0.25*x[Block+i]) + float32(0.75*base[i])
		if got[i] != base[i] || got[Block+i] != quarter || got[2*Block+i] != x[2*Block+i] {
			t.Fatalf("unit %d: %v, %v, %v, want %v, %v, %v", i, got[i], got[Block+i], got[2*Block+i], base[i], quarter, x[2*Block+i])
		}
	}
}

// same64 is same for float64.
func same64(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: value %d is %v, plain Go gives %v", what, i, got[i], want[i])
		}
	}
}

func TestRises(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := range 66 {
			s := newSource(uint64(n), n%3 == 0)
			low, shift := s.IntN(2) == 0, s.IntN(16)
			x := s.fill(shifted(t, n*Block, shift, low))
			y, z := (*[Block]float64)(fenced[float64](t, Block, low)), (*[Block]float64)(fenced[float64](t, Block, low))
			for i := range y {
				y[i], z[i] = 3*s.NormFloat64(), float64(s.float())
			}
			factor, part := fenced[float64](t, n, low), fenced[float64](t, n, low)
			wantFactor, wantPart := make([]float64, n), make([]float64, n)
			from, to := s.Float64(), s.Float64()
			atGo(func() { Rises(wantFactor, wantPart, x, from, to, y, z, n) })
			at(func() { Rises(factor, part, x, from, to, y, z, n) })
			same64(t, fmt.Sprintf("parts of %d rows", n), part, wantPart)
			for r, p := range part {
				if p == p { // the factor is undefined for NaN
					same64(t, fmt.Sprintf("factor %d of %d rows", r, n), factor[r:r+1], wantFactor[r:r+1])
				}
			}
		}
	})
}

// A rise is the difference of two sums of 64 softpluses of size 100, rounded 64 times each.
func TestRisesDefinition(t *testing.T) {
	for l := Go; l <= Best(); l++ {
		restore := SetLevel(l)
		s := newSource(3, false)
		const n = 3
		x := s.fill(make([]float32, n*Block))
		var shift [2][Block]float64
		for i := range Block {
			shift[0][i], shift[1][i] = 40*s.NormFloat64(), 40*s.NormFloat64()
		}
		factor, part := make([]float64, n), make([]float64, n)
		Rises(factor, part, x, 0.25, 0.75, &shift[0], &shift[1], n)
		for r := range n {
			want := 0.0
			for i := range Block {
				a := float64(x[r*Block+i])
				want += Softplus(0.75*a+shift[1][i]) - Softplus(0.25*a+shift[0][i])
			}
			if got := part[r] + Log(factor[r]); math.Abs(got-want) > 2*64*64*100*0x1p-53 {
				t.Errorf("%v: gain %v, want %v", l, got, want)
			}
		}
		restore()
	}
}
