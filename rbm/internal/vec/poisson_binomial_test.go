package vec

import (
	"math"
	"testing"
)

// quads returns n quads between guards that are NaN.
func (s *source) quads(n int) (all, inner []Quad) {
	all = make([]Quad, n+2)
	for i := range all {
		for l := range all[i] {
			all[i][l] = s.Float64()
		}
	}
	nan := math.NaN()
	all[0], all[n+1] = Quad{nan, nan, nan, nan}, Quad{nan, nan, nan, nan}
	return all, all[1 : n+1 : n+1]
}

func sameQuads(t *testing.T, what string, got, want []Quad) {
	t.Helper()
	for i := range want {
		for l := range want[i] {
			if math.Float64bits(got[i][l]) != math.Float64bits(want[i][l]) {
				t.Fatalf("%s: element %d of row %d is %v, want %v", what, i, l, got[i][l], want[i][l])
			}
		}
	}
}

func TestSpreadAndJoin(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := range 258 {
			s := newSource(uint64(n), false)
			_, src := s.quads(n + 1)
			_, pq := s.quads(2)
			want, wantInner := s.quads(n)
			got := append([]Quad(nil), want...)
			atGo(func() { Spread(wantInner, src, &pq[0], &pq[1]) })
			at(func() { Spread(got[1:n+1], src, &pq[0], &pq[1]) })
			sameQuads(t, "spread", got, want)

			f, inner := s.quads(n + 1)
			g := append([]Quad(nil), f...)
			_, b := s.quads(n)
			var sums [2]Quad
			atGo(func() { Join(&sums[0], inner, b, &pq[0], &pq[1]) })
			at(func() { Join(&sums[1], g[1:n+2], b, &pq[0], &pq[1]) })
			sameQuads(t, "join", g, f)
			sameQuads(t, "sum", sums[1:], sums[:1])
		}
	})
}

// Spread and Join agree with their definitions, in another order of additions.
func TestSpreadAndJoinDefinition(t *testing.T) {
	const n = 11
	s := newSource(1, false)
	_, src := s.quads(n + 1)
	_, pq := s.quads(2)
	p, q := pq[0], pq[1]
	_, dst := s.quads(n)
	_, b := s.quads(n)
	Spread(dst, src, &p, &q)
	f := append([]Quad(nil), src...)
	var sum Quad
	Join(&sum, f, b, &p, &q)
	for l := range sum {
		total := 0.0
		for i := n - 1; i >= 0; i-- {
			if want := p[l]*src[i][l] + q[l]*src[i+1][l]; math.Abs(dst[i][l]-want) > 2e-16*want*2 { // three roundings
				t.Errorf("spread: element %d of row %d is %v, want %v", i, l, dst[i][l], want)
			}
			if want := q[l]*src[i][l] + p[l]*src[i+1][l]; math.Abs(f[i][l]-want) > 2e-16*want*2 {
				t.Errorf("join: element %d of row %d is %v, want %v", i, l, f[i][l], want)
			}
			total += src[i+1][l] * b[i][l]
		}
		if math.Abs(sum[l]-total) > 2e-16*n*total {
			t.Errorf("join: sum %d is %v, want %v", l, sum[l], total)
		}
		if f[n] != src[n] {
			t.Errorf("join changed the last element")
		}
	}
}

func TestChances(t *testing.T) {
	x := []float64{0, math.Copysign(0, -1), 1, -1, 1e-300, 36.5, -36.5, 40, -40, 700, -700, 708, -708, 709, -745, 1e6, -1e6, math.Inf(1), math.Inf(-1)}
	s := newSource(1, false)
	for range 1000 {
		x = append(x, 100*s.NormFloat64())
	}
	p, q := make([]float64, len(x)), make([]float64, len(x))
	atGo(func() { Chances(p, q, x) })
	for i, x := range x {
		x = max(-708, min(708, x))
		for _, c := range []struct{ got, x float64 }{{p[i], x}, {q[i], -x}} {
			want := 1 / (1 + math.Exp(-c.x))
			if c.x < 0 {
				want = math.Exp(c.x) / (1 + math.Exp(c.x))
			}
			// The error 4·10⁻¹⁶ of Exp, that of the library, and three roundings.
			if math.Abs(c.got-want) > 1.2e-15*want {
				t.Errorf("σ(%v) = %v, want %v", c.x, c.got, want)
			}
		}
	}
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := range len(x) {
			a, b := make([]float64, n), make([]float64, n)
			at(func() { Chances(a, b, x[:n]) })
			for i := range a {
				if a[i] != p[i] || b[i] != q[i] {
					t.Fatalf("%d values: σ(%v) is %v and %v, want %v and %v", n, x[i], a[i], b[i], p[i], q[i])
				}
			}
		}
	})
}
