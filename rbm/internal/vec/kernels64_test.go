package vec

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// normal fills fenced memory with N(0, sd²). In a wild source some values are extreme, but not NaN.
func (s *source) normal(t *testing.T, n int, sd float64, low bool) []float64 {
	x := fenced[float64](t, n, low)
	for i := range x {
		x[i] = s.NormFloat64() * sd
		if s.wild && s.IntN(20) == 0 {
			if y := float64(s.float()); y == y {
				x[i] = y
			}
		}
	}
	return x
}

func TestOddsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := 0; n < 1100; n += Wide * (1 + n/200) {
			s := newSource(uint64(n), n%16 == 0)
			x := s.normal(t, n, 20, n%3 == 0)
			on, off := fenced[float64](t, n, n%3 == 1), fenced[float64](t, n, n%3 == 2)
			wantOn, wantOff := make([]float64, n), make([]float64, n)
			var got, want [2]float64
			atGo(func() { want[0], want[1] = Odds(wantOn, wantOff, x) })
			at(func() { got[0], got[1] = Odds(on, off, x) })
			same64(t, "on", on, wantOn)
			same64(t, "off", off, wantOff)
			same64(t, "sums", got[:], want[:])
			if sum := SoftplusSum(x); n <= softplusRun && sum != want[0]+want[1] {
				t.Fatalf("%d terms: sums %v, SoftplusSum is %v", n, want, sum)
			}
		}
		x := []float64{1, 2, math.NaN(), 3, 4, 5, 6, 7}
		at(func() {
			if got, _ := Odds(make([]float64, 8), make([]float64, 8), x); got == got {
				t.Errorf("a NaN gives %v, want NaN", got)
			}
		})
	})
}

// Odds agrees with the library; both exponentials have errors of at most 2⁻⁵².
func TestOddsAccuracy(t *testing.T) {
	for x := -800.0; x < 800; x += 0.377 {
		on, off := make([]float64, 8), make([]float64, 8)
		Odds(on, off, []float64{x, 0, 0, 0, 0, 0, 0, -x})
		if want := math.Exp(min(max(x, -708), 0)); math.Abs(on[0]-want) > 4*0x1p-53*want {
			t.Fatalf("on(%v) = %v, want %v", x, on[0], want)
		}
		if on[0] != off[7] || off[0] != on[7] || max(on[0], off[0]) != 1 {
			t.Fatalf("odds of %v: %v to %v; of %v: %v to %v", x, on[0], off[0], -x, on[7], off[7])
		}
	}
}

func TestExpsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := range 258 {
			s := newSource(uint64(n), n%2 == 0)
			x := s.normal(t, n, 200, n%3 == 0)
			got, want := fenced[float64](t, n, n%3 == 1), make([]float64, n)
			atGo(func() { Exps(want, x) })
			at(func() { Exps(got, x) })
			same64(t, "exps", got, want)
			for i, x := range x {
				if want[i] != Exp(min(max(x, -700), 700)) {
					t.Fatalf("e^%v is %v", x, want[i])
				}
			}
		}
	})
}

// odd returns odds of units and ratios e^±size.
func (s *source) odd(t *testing.T, n, tables int, size float64, low bool) (on, off, table []float64) {
	on, off = fenced[float64](t, n, low), fenced[float64](t, n, !low)
	for i := range on {
		on[i], off[i] = s.Float64(), 1
		if s.IntN(2) == 0 {
			on[i], off[i] = off[i], on[i]
		}
	}
	table = fenced[float64](t, n*tables, low)
	for i := range table {
		table[i] = Exp((2*s.Float64() - 1) * size)
	}
	return on, off, table
}

func TestProductsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		s := newSource(1, false)
		for n := Wide; n < 260; n += Wide * (1 + s.IntN(3)) {
			for tables := 1; tables < 14; tables++ {
				size := []float64{0.1, 5, 170, 600}[s.IntN(4)]
				on, off, table := s.odd(t, n, tables, size, s.IntN(2) == 0)
				offsets := fenced[uint32](t, tables, s.IntN(2) == 0)
				for y := range offsets {
					offsets[y] = uint32(s.IntN(tables) * n)
				}
				m, e := fenced[float64](t, tables, n%16 == 0), fenced[int64](t, tables, n%16 != 0)
				for y := range m {
					m[y], e[y] = 1+s.Float64(), int64(s.IntN(100))
				}
				wantM, wantE := slices.Clone(m), slices.Clone(e)
				span := Span(size)
				atGo(func() { Products(wantM, wantE, on, off, table, offsets, span) })
				at(func() { Products(m, e, on, off, table, offsets, span) })
				same64(t, fmt.Sprintf("%d units, %d tables", n, tables), m, wantM)
				if !slices.Equal(e, wantE) {
					t.Fatalf("powers %v, plain Go gives %v", e, wantE)
				}
			}
		}
	})
}

// Products agree with exact ones: 3 roundings for each unit and one for each split.
func TestProductsDefinition(t *testing.T) {
	s := newSource(1, false)
	for _, n := range []int{8, 64, 504} {
		for _, size := range []float64{0.1, 30, 700} {
			on, off, table := s.odd(t, n, 3, size, true)
			m, e := []float64{1, 1, 1}, make([]int64, 3)
			offsets := []uint32{0, uint32(2 * n), uint32(n)}
			Products(m, e, on, off, table, offsets, Span(size))
			for y, o := range offsets {
				want, largest := big.NewFloat(1).SetPrec(200), 1.0
				for j := range n {
					largest = max(largest, off[j]+on[j]*table[int(o)+j])
					f := new(big.Float).SetPrec(200).Mul(big.NewFloat(on[j]), big.NewFloat(table[int(o)+j]))
					want.Mul(want, f.Add(f, big.NewFloat(off[j])))
				}
				ratio, _ := want.Quo(want, new(big.Float).SetMantExp(big.NewFloat(m[y]), int(e[y]))).Float64()
				tol := float64(4*n) * 0x1p-53
				if math.Abs(ratio-1) > tol || m[y] < 1 || m[y] >= 2 {
					t.Errorf("%d units of ratio e^%v: off by %v", n, size, ratio-1)
				}
				if math.Abs(ratio*largest-1) <= tol { // must fail: one unit counts twice
					t.Errorf("%d units of ratio e^%v: a unit too many goes unseen", n, size)
				}
			}
		}
	}
}

func TestSpan(t *testing.T) {
	for _, size := range []float64{701, math.Inf(1), math.NaN()} {
		if Span(size) != 0 {
			t.Errorf("span of %v is %d, want 0", size, Span(size))
		}
	}
	if Span(700) != 8 || Span(349) != 16 || Span(0) != 8*1009 {
		t.Errorf("spans %d, %d, %d, want 8, 16, %d", Span(700), Span(349), Span(0), 8*1009)
	}
}

func TestQuadsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		s := newSource(1, false)
		for n := Wide; n < 520; n += Wide {
			for _, size := range []float64{0.1, 5, 50} {
				low := s.IntN(2) == 0
				on, off, table := s.odd(t, n, 3, size, low)
				upper, first, second := table[:n], table[n:2*n], table[2*n:]
				m, e := [4]float64{1, 1.5, 1.75, 1.1}, [4]int64{3, 2, -1, 0}
				wantM, wantE := m, e
				atGo(func() { QuadProducts(&wantM, &wantE, on, off, upper, first, second, Span(3*size)) })
				at(func() { QuadProducts(&m, &e, on, off, upper, first, second, Span(3*size)) })
				same64(t, "quad products", m[:], wantM[:])
				if e != wantE {
					t.Fatalf("powers %v, plain Go gives %v", e, wantE)
				}
				weight := [4]float64{s.Float64(), s.Float64(), 0, s.Float64()}
				var got, want [3][]float64
				for i := range got {
					got[i] = s.normal(t, n, 1, low)
					want[i] = slices.Clone(got[i])
				}
				atGo(func() { QuadMeans(want[0], want[1], want[2], on, off, upper, first, second, &weight) })
				at(func() { QuadMeans(got[0], got[1], got[2], on, off, upper, first, second, &weight) })
				for i := range got {
					same64(t, "quad means", got[i], want[i])
				}
			}
		}
	})
}

// QuadProducts and QuadMeans agree with their definition: at most 12 roundings of positive terms.
func TestQuadsDefinition(t *testing.T) {
	s := newSource(1, false)
	const n = 64
	on, off, table := s.odd(t, n, 3, 20, true)
	upper, first, second := table[:n], table[n:2*n], table[2*n:]
	m, e := [4]float64{1, 1, 1, 1}, [4]int64{}
	QuadProducts(&m, &e, on, off, upper, first, second, Span(60))
	weight := [4]float64{0.25, 0.5, 0.125, 1}
	all, one, two := make([]float64, n), make([]float64, n), make([]float64, n)
	QuadMeans(all, one, two, on, off, upper, first, second, &weight)
	var sums [4]float64
	for j := range n {
		var want [3]float64
		for q := range 4 {
			x := on[j] * upper[j]
			if q&1 != 0 {
				x *= first[j]
			}
			if q&2 != 0 {
				x *= second[j]
			}
			sums[q] += math.Log(off[j] + x)
			g := weight[q] * x / (off[j] + x)
			want[0] += g
			want[1] += g * float64(q&1)
			want[2] += g * float64(q>>1)
		}
		if math.Abs(one[j]-want[2]) <= 24*0x1p-53*want[2] { // must fail: the units exchanged
			t.Fatalf("unit %d: the two units of a quad are not told apart", j)
		}
		for i, got := range []float64{all[j], one[j], two[j]} {
			if math.Abs(got-want[i]) > 24*0x1p-53*want[i] {
				t.Fatalf("unit %d, sum %d: %v, want %v", j, i, got, want[i])
			}
		}
	}
	for q, want := range sums { // n logarithms of up to 60
		if got := Log(m[q]) + float64(e[q])*math.Ln2; math.Abs(got-want) > n*60*2*0x1p-53 {
			t.Errorf("state %d: %v, want %v", q, got, want)
		}
	}
}

// someLists returns lists of rows of a panel, with at most whole offsets. Lists of that length are
// equal.
func (s *source) someLists(t *testing.T, n, rows int, low bool) (lists []uint32, values []float32, cuts []uint32, whole int) {
	cuts = []uint32{uint32(s.IntN(3))}
	l := make([]uint32, cuts[0])
	random := func(n int) (list []uint32) {
		for range n {
			list = append(list, uint32(s.IntN(rows))*Block)
		}
		return list
	}
	longest := random(1 + s.IntN(3)*s.IntN(40))
	whole = len(longest)
	for i := range n {
		if i < 2*n/3 || s.IntN(3) == 0 {
			l = append(l, longest...)
		} else {
			l = append(l, random(s.IntN(whole))...)
		}
		cuts = append(cuts, uint32(len(l)))
	}
	lists = fenced[uint32](t, len(l), low)
	copy(lists, l)
	return lists, s.fill(fenced[float32](t, len(l), low)), cuts, whole
}

func TestWeightedSumsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			const rows = 70
			base := s.fill(shifted(t, rows*Block, shift, low))
			for n := 1; n < 30; n += 1 + s.IntN(6) {
				lists, values, cuts, whole := s.someLists(t, n, rows, low)
				got := s.fill(shifted(t, n*Block, shift, low))
				want, apart := slices.Clone(got), slices.Clone(got)
				atGo(func() { RowSumsTimes(want, base, lists, values, cuts, whole) })
				at(func() { RowSumsTimes(got, base, lists, values, cuts, whole) })
				same(t, "times", got, want)
				atGo(func() { RowSumsTimes(apart, base, lists, values, cuts, 0) })
				same(t, "times, each list apart", apart, want)

				stride := Block + s.IntN(3)
				for _, v := range [][]float32{nil, values} {
					got := s.normal(t, (n-1)*stride+Block, 1, low)
					want := slices.Clone(got)
					atGo(func() { RowSums64(want, stride, base, lists, v, cuts) })
					at(func() { RowSums64(got, stride, base, lists, v, cuts) })
					same64(t, "sums in float64", got, want)
				}
				wide := fenced[float64](t, len(base), low)
				at(func() { Widen(wide, base) })
				for i, x := range base {
					if wide[i] != float64(x) && x == x {
						t.Fatalf("%v widened is %v", x, wide[i])
					}
				}
				for _, v := range [][]float32{nil, values} {
					got := s.normal(t, (n-1)*stride+Block, 1, low)
					want := slices.Clone(got)
					atGo(func() { RowSums64(want, stride, base, lists, v, cuts) })
					at(func() { RowSums64(got, stride, wide, lists, v, cuts) })
					same64(t, "sums of widened rows", got, want)
				}
			}
		})
	})
}

// Weighted sums in plain Go agree with their definitions.
func TestWeightedSumsDefinition(t *testing.T) {
	defer SetLevel(Go)()
	s := newSource(3, false)
	base := s.fill(make([]float32, 50*Block))
	lists, values, cuts, whole := s.someLists(t, 5, 50, true)
	acc, acc64 := make([]float32, 5*Block), make([]float64, 5*Block)
	plain := make([]float64, 5*Block)
	RowSumsTimes(acc, base, lists, values, cuts, whole)
	RowSums64(acc64, Block, base, lists, values, cuts)
	RowSums64(plain, Block, base, lists, nil, cuts)
	for i := range 5 {
		for c := range Block {
			a, b, d := float32(0), 0.0, 0.0
			for k := cuts[i]; k < cuts[i+1]; k++ {
				w := base[int(lists[k])+c]
				a += float32(values[k] * w)
				b += float64(values[k]) * float64(w)
				d += float64(w)
			}
			if acc[i*Block+c] != a || acc64[i*Block+c] != b || plain[i*Block+c] != d {
				t.Fatalf("list %d, column %d: %v, %v and %v, want %v, %v and %v", i, c,
					acc[i*Block+c], acc64[i*Block+c], plain[i*Block+c], a, b, d)
			}
		}
	}
}

func TestAddTimes(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for width := 1; width < 90; width++ {
				rows := 1 + s.IntN(4)
				stride, xStride := width+s.IntN(5), width+s.IntN(5)
				x := s.fill(shifted(t, (rows-1)*xStride+width, shift, low))
				got := s.fill(shifted(t, (rows-1)*stride+width, shift, low))
				want := slices.Clone(got)
				a := s.float()
				atGo(func() { AddTimes(want, stride, x, xStride, a, rows, width) })
				at(func() { AddTimes(got, stride, x, xStride, a, rows, width) })
				same(t, fmt.Sprintf("%d rows of %d", rows, width), got, want)
			}
		})
	})
}

func TestNonzero(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := range 200 {
			s := newSource(uint64(n), true)
			low := n%2 == 0
			x := s.fill(fenced[float32](t, n, !low))
			for i := range x {
				if s.IntN(2) == 0 {
					x[i] = 0
				}
			}
			list, values := fenced[uint32](t, n+ListSlack, low), fenced[float32](t, n+ListSlack, low)
			var count int
			at(func() { count = Nonzero(list, values, x) })
			p := 0
			for i, y := range x {
				if y == 0 {
					continue
				}
				if p >= count || list[p] != uint32(i)*Block || values[p] != y && y == y {
					t.Fatalf("%d values: place %d of %d is %v at %d, want %v at %d", n, p, count, values[p], list[p], y, i*Block)
				}
				p++
			}
			if p != count {
				t.Fatalf("%d values: %d are not zero, got %d", n, p, count)
			}
		}
		// More than one call.
		x := make([]float32, nonzeroWork+20)
		x[3], x[nonzeroWork+7] = 1, 2
		list, values := make([]uint32, len(x)+ListSlack), make([]float32, len(x)+ListSlack)
		at(func() {
			if n := Nonzero(list, values, x); n != 2 || list[0] != 3*Block || list[1] != (nonzeroWork+7)*Block || values[1] != 2 {
				t.Errorf("%d values, offsets %v", n, list[:2])
			}
		})
	})
}

// LargestSize finds the largest |x| at any position. NaN is above all numbers.
func TestLargestSize(t *testing.T) {
	for n := range 12 {
		for i := range n {
			for _, top := range []float64{3, -3, math.Inf(-1), math.NaN()} {
				x := make([]float64, n)
				for k := range x {
					x[k] = -1
				}
				x[i] = top
				if got := LargestSize(x); math.Float64bits(got) != math.Float64bits(math.Abs(top)) {
					t.Errorf("%v of %v", got, x)
				}
			}
		}
	}
	if got := LargestSize(nil); got != 0 {
		t.Errorf("%v of nothing, want 0", got)
	}
}

// Quantiles of the normal distribution are the same at all levels, and have the given
// probabilities.
func TestCentralNormals(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := Wide; n <= 5*Wide; n += Wide {
			p, got, want := fenced[float64](t, n, true), fenced[float64](t, n, false), make([]float64, n)
			for i := range p {
				p[i] = 0.5 + CentralHalf*(2*float64(i)/float64(n-1)-1)
			}
			atGo(func() { CentralNormals(want, p) })
			at(func() { CentralNormals(got, p) })
			same64(t, "quantiles", got, want)
			for i, x := range got {
				if back := math.Erfc(-x/math.Sqrt2) / 2; math.Abs(back-p[i]) > 1e-15 {
					t.Errorf("the quantile at %v is %v, which is at %v", p[i], x, back)
				}
			}
		}
	})
}
