package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// forLevels runs a test at every level above plain Go that the machine supports.
func forLevels(t *testing.T, f func(t *testing.T, at func(func()))) {
	for l := AVX2; l <= Best(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			f(t, func(run func()) {
				defer SetLevel(l)()
				run()
			})
		})
	}
}

// atGo runs f in plain Go.
func atGo(f func()) {
	defer SetLevel(Go)()
	f()
}

// A source generates test data. In a wild source one value in eight is subnormal, very large, a
// signed zero, an infinity or NaN.
type source struct {
	*rand.Rand
	wild bool
}

func newSource(seed uint64, wild bool) *source {
	return &source{rand.New(rand.NewPCG(seed, 1)), wild}
}

func (s *source) float() float32 {
	if s.wild && s.IntN(8) == 0 {
		odd := [...]float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()),
			1e-45, -3e-42, 1.1754944e-38, math.MaxFloat32, -math.MaxFloat32, 87, -87, 88.5, -104, 100, -16}
		return odd[s.IntN(len(odd))]
	}
	return float32(s.NormFloat64() * 3)
}

func (s *source) fill(x []float32) []float32 {
	for i := range x {
		x[i] = s.float()
	}
	return x
}

// words fills w with bits that are one at the given density.
func (s *source) words(w []uint64, density float64) []uint64 {
	for i := range w {
		w[i] = 0
		for b := range 64 {
			if s.Float64() < density {
				w[i] |= 1 << b
			}
		}
	}
	return w
}

// same fails unless both have the same bits, or NaN of any payload.
func same(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		g, w := math.Float32bits(got[i]), math.Float32bits(want[i])
		if g != w && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: value %d is %v (%08x), plain Go gives %v (%08x)", what, i, got[i], g, want[i], w)
		}
	}
}

// forData runs f with tame and wild data, fenced at either end, and all alignments of a float32 in
// a vector.
func forData(t *testing.T, f func(t *testing.T, s *source, low bool, misalign int)) {
	seed := uint64(1)
	for _, wild := range []bool{false, true} {
		for _, low := range []bool{false, true} {
			for misalign := range 4 {
				seed++
				f(t, newSource(seed, wild), low, misalign*5)
			}
		}
	}
}

// shifted returns n fenced values. They start shift values after a multiple of the vector size if
// the low end is fenced; otherwise they end shift values before one.
func shifted(t *testing.T, n, shift int, low bool) []float32 {
	x := fenced[float32](t, n+shift, low)
	if low {
		return x[:n]
	}
	return x[shift:]
}

func TestRowSums(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := 1; n < 40; n += 1 + s.IntN(6) {
				count := 1 + s.IntN(RowSumsWords)
				stride := count + s.IntN(2)
				words := fenced[uint64](t, (n-1)*stride+count, low)
				for i := range words {
					s.words(words[i:i+1], []float64{0, 0.02, 0.3, 1}[s.IntN(4)])
				}
				base := s.fill(shifted(t, count*Block*Block, shift, low))
				got := s.fill(shifted(t, n*Block, shift, low))
				want := slices.Clone(got)
				atGo(func() { RowSums(want, base, words, stride, count, n, nil) })
				at(func() { RowSums(got, base, words, stride, count, n, base[:s.IntN(len(base))]) })
				same(t, fmt.Sprintf("%d rows of %d words", n, count), got, want)
			}
		})
	})
}

// RowSums in plain Go agrees with its definition, in float32 and in order. Prefetching changes
// nothing.
func TestRowSumsDefinition(t *testing.T) {
	defer SetLevel(Go)()
	s := newSource(3, false)
	base := s.fill(make([]float32, RowSumsWords*Block*Block))
	for n := range 20 {
		const stride = RowSumsWords + 1
		words := s.words(make([]uint64, n*stride), 0.3)
		for count := range RowSumsWords + 1 {
			got := s.fill(make([]float32, n*Block))
			want := slices.Clone(got)
			RowSums(got, base, words, stride, count, n, base)
			for i := range n {
				for b := range count * Block {
					if words[i*stride+b/Block]>>(b%Block)&1 == 0 {
						continue
					}
					for c := range Block {
						want[i*Block+c] += base[b*Block+c]
					}
				}
			}
			same(t, "sums", got, want)
		}
	}
}

// ColumnSums agrees with RowSums after TransposePanel, for one row.
func TestColumnSums(t *testing.T) {
	levels := func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for units := range Block + 1 {
				n := PanelRows(units)
				panel := s.fill(shifted(t, n*Block, shift, low))
				got := s.fill(shifted(t, n, shift, low))
				want := make([]float32, Block)
				copy(want, got)
				word := s.words(make([]uint64, 1), []float64{0, 0.02, 0.3, 1}[s.IntN(4)])
				atGo(func() {
					turned := make([]float32, Block*Block)
					TransposePanel(turned, panel, n, Block)
					RowSums(want, turned, word, 1, 1, 1, nil)
				})
				at(func() { ColumnSums(got, panel, word[0], units) })
				same(t, fmt.Sprintf("%d units of %x", units, word), got, want[:n])
			}
		})
	}
	t.Run("go", func(t *testing.T) { levels(t, atGo) })
	forLevels(t, levels)
}

func TestMaskedSums(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := range 20 {
				dstStride, xStride, stride := 1+s.IntN(3), s.IntN(2)*(Block+s.IntN(3)), 1+s.IntN(3)
				x := s.fill(shifted(t, max(0, n-1)*xStride+Block, shift, low))
				for i := range x { // makes sure that values are rounded
					x[i] = float32(math.Ldexp(float64(x[i]), s.IntN(60)-30))
				}
				words := s.words(fenced[uint64](t, max(0, n-1)*stride+1, low), 0.3)
				got := fenced[float64](t, max(0, n-1)*dstStride+1, low)
				want := make([]float64, len(got))
				atGo(func() { MaskedSums(want, dstStride, x, xStride, words, stride, n) })
				at(func() { MaskedSums(got, dstStride, x, xStride, words, stride, n) })
				for r, y := range want {
					if math.Float64bits(got[r]) != math.Float64bits(y) && (got[r] == got[r] || y == y) {
						t.Fatalf("sums of %d rows: %v, plain Go gives %v", n, got, want)
					}
				}
			}
		})
	})
}

// MaskedSums in plain Go agrees with the definition to the rounding of 64 float64 additions, which
// is 64·2⁻⁵³ of the sum of absolute values.
func TestMaskedSumsDefinition(t *testing.T) {
	defer SetLevel(Go)()
	s := newSource(4, false)
	for range 100 {
		x, word, got := s.fill(make([]float32, Block)), s.words(make([]uint64, 1), s.Float64()), make([]float64, 1)
		MaskedSums(got, 1, x, 0, word, 1, 1)
		want, size := 0.0, 0.0
		for c, x := range x {
			if word[0]>>c&1 != 0 {
				want += float64(x)
				size += math.Abs(float64(x))
			}
		}
		if math.Abs(got[0]-want) > Block*0x1p-53*size {
			t.Errorf("sum over %x is %v, must be %v", word, got[0], want)
		}
	}
}

func TestTurn(t *testing.T) {
	levels := func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for rows := range Block + 9 {
				cols := s.IntN(Block + 1)
				m, n := PanelRows(min(rows, Block)), PanelRows(cols)
				panel := s.fill(shifted(t, m*Block, shift, low))
				got := s.fill(shifted(t, max(0, n-1)*Block+m, shift, low))
				want := slices.Clone(got)
				for r := range m {
					for c := range n {
						want[c*Block+r] = panel[r*Block+c]
					}
				}
				at(func() { TransposePanel(got, panel, rows, cols) })
				same(t, fmt.Sprintf("%d rows, %d columns", rows, cols), got, want)
			}
		})
	}
	t.Run("go", func(t *testing.T) { levels(t, atGo) })
	forLevels(t, levels)
}

func TestDraws(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := range 20 {
				stream := Stream{s.Uint32(), s.Uint32(), s.Uint32(), s.Uint32()}
				first, j := s.Uint32(), s.Uint32N(1<<28)
				stride := 1 + s.IntN(3)
				words := fenced[uint64](t, max(0, n-1)*stride+1, low)
				want := make([]uint64, len(words))
				x := s.fill(shifted(t, n*Block, shift, low))
				width := s.IntN(Block + 1)
				var beta []float32
				if s.IntN(3) > 0 {
					beta = fenced[float32](t, n, low)
					for i := range beta {
						beta[i] = s.Float32()
					}
				}
				atGo(func() { stream.Draws(want, stride, x, beta, first, j, n, width) })
				at(func() { stream.Draws(words, stride, x, beta, first, j, n, width) })
				if !slices.Equal(words, want) {
					t.Fatalf("draws of %d rows of %d: %x, plain Go gives %x", n, width, words, want)
				}
			}
		})
	})
}

func TestDrawMeans(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for width := 1; width <= Block; width++ {
				n := 1 + s.IntN(4)
				stream := Stream{s.Uint32(), s.Uint32(), s.Uint32(), s.Uint32()}
				pStride := width + s.IntN(9)
				p := shifted(t, (n-1)*pStride+width, shift, low)
				for i := range p {
					p[i] = s.Float32()
					if s.wild && s.IntN(9) == 0 {
						p[i] = s.float()
					}
				}
				words := fenced[uint64](t, n, low)
				want := make([]uint64, n)
				atGo(func() { stream.DrawMeans(want, 1, p, pStride, 7, 3, n, width) })
				at(func() { stream.DrawMeans(words, 1, p, pStride, 7, 3, n, width) })
				if !slices.Equal(words, want) {
					t.Fatalf("draws of %d rows of %d: %x, plain Go gives %x", n, width, words, want)
				}
			}
		})
	})
}

func TestUniformsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		s := newSource(1, false)
		for range 200 {
			stream := Stream{s.Uint32(), s.Uint32(), s.Uint32(), s.Uint32()}
			row, j := s.Uint32(), s.Uint32N(1<<28)
			var want [Block]float32
			got := (*[Block]float32)(fenced[float32](t, Block, s.IntN(2) == 0))
			atGo(func() { stream.Uniforms(&want, row, j) })
			at(func() { stream.Uniforms(got, row, j) })
			same(t, "uniforms", got[:], want[:])
		}
	})
}

func TestSigmoids(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for width := range Block + 1 {
				n := s.IntN(4)
				stride := width + s.IntN(9)
				x := s.fill(shifted(t, n*Block, shift, low))
				got := shifted(t, max(0, n-1)*stride+width, shift, low)
				for i := range got {
					got[i] = float32(math.NaN()) // values between rows must not change
				}
				want := slices.Clone(got)
				atGo(func() { Sigmoids(want, stride, x, n, width) })
				at(func() { Sigmoids(got, stride, x, n, width) })
				same(t, fmt.Sprintf("%d rows of %d", n, width), got, want)
			}
		})
	})
}

// SigmoidsOfSums agrees with Sigmoids, also for more rows and shifts than one call of a kernel.
func TestSigmoidsOfSums(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for _, size := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {7, 10}, {2, rowsWork + 3}, {rowsWork/2 + 1, 2}, {rowsWork + 1, 1}} {
				n, m := size[0], size[1]
				x, shifts := s.fill(shifted(t, n*Block, shift, low)), s.fill(shifted(t, m*Block, shift, low))
				sums, want := make([]float32, n*m*Block), make([]float32, n*m*Block)
				for i := range sums {
					r, c := i/Block, i%Block
					sums[i] = x[r/m*Block+c] + shifts[r%m*Block+c]
				}
				got, plain := shifted(t, n*m*Block, shift, low), make([]float32, n*m*Block)
				atGo(func() { Sigmoids(want, Block, sums, n*m, Block); SigmoidsOfSums(plain, x, shifts, n, m) })
				at(func() { SigmoidsOfSums(got, x, shifts, n, m) })
				same(t, fmt.Sprintf("%d rows and %d shifts", n, m), got, want)
				same(t, fmt.Sprintf("%d rows and %d shifts in plain Go", n, m), plain, want)
			}
		})
	})
}

func TestListsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		s := newSource(1, false)
		for range 200 {
			n, count := s.IntN(70), s.IntN(5)
			rowStride, wordStride := 1, max(n, 1)
			if s.IntN(2) == 0 {
				rowStride, wordStride = max(count, 1), 1
			}
			low := s.IntN(2) == 0
			words := s.words(fenced[uint64](t, n*count, low), []float64{0, 0.02, 0.2, 1}[s.IntN(4)])
			start, first := uint32(s.IntN(5)), uint32(s.IntN(1000))
			size := int(start) + n*count*Block
			got, want := fenced[uint32](t, size, low), make([]uint32, size)
			cuts, wantCuts := fenced[uint32](t, n+1, low), make([]uint32, n+1)
			cuts[0], wantCuts[0] = start, start
			atGo(func() { Lists(want, wantCuts, words, rowStride, wordStride, n, count, first) })
			at(func() { Lists(got, cuts, words, rowStride, wordStride, n, count, first) })
			if count == 0 {
				continue
			}
			if !slices.Equal(cuts, wantCuts) {
				t.Fatalf("cuts %v, plain Go gives %v", cuts, wantCuts)
			}
			if end := cuts[n]; !slices.Equal(got[start:end], want[start:end]) {
				t.Fatalf("list %v, plain Go gives %v", got[start:end], want[start:end])
			}
		}
	})
}

func TestListsDefinition(t *testing.T) {
	words := []uint64{1<<63 | 5, 1 << 7, 0, 1} // two rows of two words
	list, cuts := make([]uint32, 4*Block+ListSlack), make([]uint32, 3)
	Lists(list, cuts, words, 2, 1, 2, 2, 100)
	want := []uint32{100, 100 + 2*Block, 100 + 63*Block, 100 + 71*Block, 100 + 64*Block}
	if !slices.Equal(list[:5], want) || !slices.Equal(cuts, []uint32{0, 4, 5}) {
		t.Errorf("got %v and %v, want %v and [0 4 5]", list[:5], cuts, want)
	}
}

// exps and its callers DrawOne and Softmax, at all lengths.
func TestLabelsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := 1; n < 258; n++ {
				x := s.fill(shifted(t, n, shift, low))
				got, want := shifted(t, n, shift, low), make([]float32, n)
				a, b := s.float(), s.float()
				atGo(func() { exps(want, x, a, b) })
				at(func() { exps(got, x, a, b) })
				same(t, "exps", got, want)
				atGo(func() { Softmax(want, x) })
				at(func() { Softmax(got, x) })
				same(t, "softmax", got, want)
				u, beta := float32(s.IntN(1<<24)|1), s.Float32()
				var k, l int
				atGo(func() { k = DrawOne(slices.Clone(x), u, beta) })
				at(func() { l = DrawOne(x, u, beta) })
				if k != l {
					t.Fatalf("label %d of %d, plain Go draws %d", l, n, k)
				}
			}
		})
	})
}

func TestSoftplusSumLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for n := range 258 {
			for _, wild := range []bool{false, true} {
				s := newSource(uint64(n), wild)
				x := fenced[float64](t, n, n%2 == 0)
				for i := range x {
					x[i] = s.NormFloat64() * 20
					if wild && s.IntN(50) == 0 {
						x[i] = float64(s.float())
					}
				}
				var got, want float64
				atGo(func() { want = SoftplusSum(x) })
				at(func() { got = SoftplusSum(x) })
				if math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
					t.Fatalf("%d terms: %v, plain Go gives %v", n, got, want)
				}
			}
		}
	})
}

func TestTransposeLevels(t *testing.T) {
	check := func(t *testing.T) {
		s := newSource(1, false)
		for range 50 {
			m := (*[Block]uint64)(s.words(fenced[uint64](t, Block, s.IntN(2) == 0), 0.3))
			old := *m
			Transpose(m)
			for i := range Block {
				for j := range Block {
					if old[i]>>j&1 != m[j]>>i&1 {
						t.Fatalf("bit %d of word %d is not bit %d of word %d", j, i, i, j)
					}
				}
			}
		}
	}
	t.Run("go", func(t *testing.T) { atGo(func() { check(t) }) })
	forLevels(t, func(t *testing.T, at func(func())) { at(func() { check(t) }) })
}
