package vec

import (
	"fmt"
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

// The plain Go of Blend against its formula; both ends are exact.
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
			t.Fatalf("unit %d: %v, %v, %v", i, got[i], got[Block+i], got[2*Block+i])
		}
	}
}
