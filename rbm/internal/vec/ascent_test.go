package vec

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// Sums of no row up to several runs at every level agree with plain Go.
func TestSumsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := 1; n <= Block; n += 1 + s.IntN(12) {
				count, ahead := 1+s.IntN(SumsWords), s.IntN(2)*s.IntN(100)
				base := s.fill(shifted(t, count*Block*Block, shift, low))
				words := fenced[uint64](t, (count-1)*Block+n, low)
				for i := range words {
					s.words(words[i:i+1], []float64{0, 0.02, 0.3, 1}[s.IntN(4)])
				}
				lists, values, cuts, whole := s.someLists(t, n, count*Block, low)
				part := s.fill(shifted(t, n*Block, shift, low))
				mu, gb := s.fill(fenced[float32](t, n, low)), s.fill(fenced[float32](t, n, low))
				gc, lambda := (*[Block]float32)(s.fill(shifted(t, Block, shift, low))), (*[Block]float32)(s.fill(shifted(t, Block, shift, low)))
				for name, f := range map[string]func(dst []float32){
					"Sums":       func(dst []float32) { Sums(dst, base, words, count, n) },
					"AddSums":    func(dst []float32) { AddSums(dst, base, words, count, n, ahead) },
					"AddSumsTo":  func(dst []float32) { AddSumsTo(dst, part, base, words, count, n, ahead) },
					"AddCentred": func(dst []float32) { AddCentred(dst, base, words, count, n, ahead, mu, gb, gc, lambda) },
					"AddSumsTimes, each list apart": func(dst []float32) {
						n := whole // assembly processes equal lists together; plain Go is the reference
						if InUse() != Go {
							n = 0
						}
						AddSumsTimes(dst, base, lists, values, cuts, n)
					},
					"AddSumsTimes": func(dst []float32) { AddSumsTimes(dst, base, lists, values, cuts, whole) },
				} {
					got := s.fill(shifted(t, n*Block, shift, low))
					want := slices.Clone(got)
					atGo(func() { f(want) })
					at(func() { f(got) })
					same(t, fmt.Sprintf("%s of %d rows, %d words", name, n, count), got, want)
				}
			}
		})
	})
}

// Sums agree with their definition, for lengths around the end of a run.
func TestSumsDefinition(t *testing.T) {
	defer SetLevel(Go)()
	s := newSource(3, false)
	base := s.fill(make([]float32, SumsWords*Block*Block))
	for _, ones := range []int{0, 1, 2, Run - 1, Run, Run + 1, 2*Run - 1, 2 * Run, 2*Run + 1, 4*Run + 7, SumsWords * Block} {
		// Row 1 of three has the bits, at several positions; the others have other bits.
		const n, row = 3, 1
		words, on := s.words(make([]uint64, (SumsWords-1)*Block+n), 0.3), s.Perm(SumsWords * Block)[:ones]
		slices.Sort(on)
		for q := range SumsWords {
			words[q*Block+row] = 0
		}
		list, values := make([]uint32, ones), s.fill(make([]float32, ones))
		for k, b := range on {
			words[b/Block*Block+row] |= 1 << (b % Block)
			list[k] = uint32(b) * Block
		}
		tree := func(c int, times bool) (sum float32) {
			for lo := 0; lo < ones; lo += Run {
				run := float32(0) // 0 + x is x except for the sign of zero
				for k := lo; k < min(lo+Run, ones); k++ {
					x := base[on[k]*Block+c]
					if times {
						x = float32(x * values[k])
					}
					run += x
				}
				sum += run
			}
			return sum
		}
		dst, part := s.fill(make([]float32, n*Block)), s.fill(make([]float32, n*Block))
		sums, once, to, times := make([]float32, n*Block), slices.Clone(dst), slices.Clone(dst), slices.Clone(dst)
		centred, mu, gb, gc, lambda := slices.Clone(dst), []float32{1, 3, 1}, []float32{1, -2, 1}, (*[Block]float32)(part), (*[Block]float32)(base)
		AddCentred(centred, base, words, SumsWords, n, 0, mu, gb, gc, lambda)
		Sums(sums, base, words, SumsWords, n)
		AddSums(once, base, words, SumsWords, n, 0)
		AddSumsTo(to, part, base, words, SumsWords, n, 8)
		AddSumsTimes(times[row*Block:][:Block], base, list, values, []uint32{0, uint32(ones)}, 0)
		for i, x := range dst[row*Block:][:Block] {
			c := row*Block + i
			sum := tree(i, false)
			if sums[c] != sum || once[c] != x+sum || to[c] != x+(part[c]+sum) || times[c] != x+tree(i, true) || centred[c] != x+(sum-float32(3*gc[i])-float32(-2*lambda[i])) {
				t.Fatalf("%d ones, column %d: %v, %v, %v, %v and %v", ones, i, sums[c], once[c], to[c], times[c], centred[c])
			}
		}
	}
}

// The error of the two-level sum of equal terms is within its documented bound. That of a single
// accumulator is not.
func TestSumsKeepTheirDigits(t *testing.T) {
	const n = 1 << 12
	s := newSource(5, false)
	base := make([]float32, n*Block)
	list, want := make([]uint32, n), make([]float64, Block)
	for k := range list {
		list[k] = uint32(k) * Block
		for c := range Block {
			x := 0.5 + s.Float32()
			base[k*Block+c] = x
			want[c] += float64(x)
		}
	}
	off := func(sum []float32) float64 {
		var squares, size float64
		for c, x := range sum {
			squares += (float64(x) - want[c]) * (float64(x) - want[c])
			size += want[c] * want[c]
		}
		return math.Sqrt(squares / size)
	}
	sums, plain := make([]float32, Block), make([]float32, Block)
	treeGo((*[Block]float32)(sums), base, list)
	rowSumGo((*[Block]float32)(plain), base, list)
	// A rounding is uniform within half of the last bit, on average 2.5·10⁻⁸ of the number. The
	// k-th partial sum of a run is about k/Run of its end, and the k-th sum of runs about
	// k/(n/Run).
	const bit = 2.53e-8
	bound := bit * math.Sqrt(Run/3.0*Run/n+n/Run/3.0)
	// The mean square of 64 values has a standard deviation of √(2/64); the tolerance is five of
	// these.
	margin := math.Sqrt(1 + 5*math.Sqrt(2.0/Block))
	if got := off(sums); got > bound*margin {
		t.Errorf("the tree is off by %.3g, which should be some %.3g", got, bound)
	}
	if got := off(plain); got < 3*bound*margin {
		t.Errorf("one accumulator is off by %.3g only: the test sees nothing", got)
	}
}

func TestWideLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := 0; n < 260; n += Wide {
				x, d := s.fill(shifted(t, n, shift, low)), s.normal(t, n, 1, low)
				got, want := slices.Clone(d), slices.Clone(d)
				at(func() { AddWide(got, x) })
				for i, x := range x {
					want[i] += float64(x)
				}
				same64(t, "wide", got, want)
				narrow := slices.Clone(x)
				at(func() { AddNarrow(narrow, d) })
				for i, d := range d {
					x[i] += float32(d)
				}
				same(t, "narrow", narrow, x)
			}
		})
	})
}

// Every sweep at every level agrees with plain Go, at lengths with and without an incomplete block.
func TestSweepsLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := 0; n < 300; n += 1 + s.IntN(40) {
				x, rest := s.fill(shifted(t, n, shift, low)), s.fill(shifted(t, n, shift, low))
				a, b := s.float(), s.Float32()
				for name, f := range sweepsOf(x, a, b) {
					for _, kept := range []bool{false, true} {
						got := s.fill(shifted(t, n, shift, low))
						want := slices.Clone(got)
						var r, q []float32
						if kept {
							r, q = slices.Clone(rest), slices.Clone(rest)
						}
						atGo(func() { f(want, r) })
						at(func() { f(got, q) })
						same(t, name, got, want)
						same(t, name+": rest", q, r)
					}
				}
			}
		})
	})
}

func sweepsOf(x []float32, a, b float32) map[string]func(m, rest []float32) {
	return map[string]func(m, rest []float32){
		"shrink":   func(m, _ []float32) { Shrink(m, a) },
		"advance":  func(m, rest []float32) { Advance(m, x, rest, a) },
		"approach": func(m, rest []float32) { Approach(m, x, rest, a) },
		"decay":    func(m, rest []float32) { Decay(m, rest, b, a) },
		"decay 2":  func(m, rest []float32) { Decay(m, rest, 0, a) },
	}
}

// A thousand steps are each far below the last bit of the parameters. With a rest their sum is
// exact to the digits of two words; without it the parameters do not change.
func TestSweepsWithRest(t *testing.T) {
	const steps = 1000
	s := newSource(8, false)
	x, start := s.fill(make([]float32, 70)), make([]float32, 70)
	for i := range start {
		start[i] = 1 + s.Float32()
	}
	const a = 0x1p-30
	for name, f := range sweepsOf(x, a, 0) {
		if name == "shrink" {
			continue
		}
		m, rest, plain := slices.Clone(start), make([]float32, len(x)), slices.Clone(start)
		exact := make([]float64, len(x))
		for i, v := range start {
			exact[i] = float64(v)
		}
		for range steps {
			f(m, rest)
			f(plain, nil)
			for i := range exact {
				switch name {
				case "advance":
					exact[i] += a * float64(x[i])
				case "approach":
					exact[i] += a * (float64(x[i]) - exact[i])
				default:
					exact[i] -= a * exact[i]
				}
			}
		}
		for i, v := range m {
			// A step of up to 10·2⁻³⁰ loses its 24th bit, a thousand times.
			if off := math.Abs(float64(v) + float64(rest[i]) - exact[i]); off > steps*10*a*0x1p-23 {
				t.Errorf("%s: parameter %d and its rest are off by %v, want at most %v", name, i, off, steps*10*a*0x1p-23)
			}
			if name != "approach" && plain[i] != start[i] { // x−m may be large
				t.Errorf("%s: without a rest parameter %d moves: the test sees nothing", name, i)
			}
		}
	}
}

// Numbers that decay end at zero, or at a value far above the subnormal numbers.
func TestSweepsStayNormal(t *testing.T) {
	m := []float32{1, -1, 1e-20, -1e-20}
	for name, f := range sweepsOf(make([]float32, 4), 0.25, 0) {
		if name == "advance" {
			continue
		}
		m := slices.Clone(m)
		for range 2000 {
			f(m, nil)
		}
		for i, x := range m {
			if x != 0 && (math.Abs(float64(x)) < Tiny || math.Abs(float64(x)) > 1e-29) {
				t.Errorf("%s: value %d ends at %v, want 0", name, i, x)
			}
		}
	}
}

func TestScale(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		for width := 1; width <= Block; width++ {
			for _, n := range []int{1, 2, 7} {
				s := newSource(uint64(width), width%2 == 0)
				low := s.IntN(2) == 0
				shift := s.IntN(16)
				stride := width + s.IntN(3)*20
				x := s.fill(shifted(t, (n-1)*stride+width, shift, low))
				a := s.fill(fenced[float32](t, n, low))
				got := s.fill(shifted(t, n*Block, shift, low))
				want := slices.Clone(got)
				atGo(func() { Scale(want, x, stride, a, width) })
				at(func() { Scale(got, x, stride, a, width) })
				same(t, fmt.Sprintf("%d rows of %d", n, width), got, want)
				for i, y := range want {
					r, c := i/Block, i%Block
					product := float32(0)
					if c < width {
						product = x[r*stride+c] * a[r]
						if product < Tiny && product > -Tiny {
							product = 0
						}
					}
					if y != product && (y == y || product == product) {
						t.Fatalf("value %d of row %d is %v, want %v", c, r, y, product)
					}
				}
			}
		}
	})
}

func TestAddWhere(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := range 40 {
				words := s.words(fenced[uint64](t, n, low), 0.3)
				coef := s.fill(fenced[float32](t, n, low))
				got := (*[Block]float64)(s.normal(t, Block, 1, low))
				want, sum := *got, *got
				atGo(func() { AddWhere(&want, words, coef) })
				at(func() { AddWhere(got, words, coef) })
				same64(t, "sums", got[:], want[:])
				for i, a := range coef {
					for c := range sum {
						if words[i]>>c&1 != 0 {
							sum[c] += float64(a)
						}
					}
				}
				same64(t, "definition", want[:], sum[:])
			}
		})
	})
}

func TestNonzeroWord(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := 0; n <= Block; n++ {
				x := s.fill(shifted(t, n, shift, low))
				want := uint64(0)
				for b := range x {
					if s.IntN(3) == 0 {
						x[b] = float32(math.Copysign(0, float64(b%2)-0.5))
					}
					if x[b] != 0 {
						want |= 1 << b
					}
				}
				at(func() {
					if got := NonzeroWord(x); got != want {
						t.Fatalf("%x of %d values, want %x", got, n, want)
					}
				})
			}
		})
	})
}

func TestCentreLevels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := range 12 {
				mu, gb := s.fill(fenced[float32](t, n, low)), s.fill(fenced[float32](t, n, low))
				gc, lambda := (*[Block]float32)(s.fill(shifted(t, Block, shift, low))), (*[Block]float32)(s.fill(shifted(t, Block, shift, low)))
				got := s.fill(shifted(t, n*Block, shift, low))
				want := slices.Clone(got)
				atGo(func() { Centre(want, mu, gb, gc, lambda) })
				at(func() { Centre(got, mu, gb, gc, lambda) })
				same(t, "rows", got, want)
			}
		})
	})
}

func TestDot64Levels(t *testing.T) {
	forLevels(t, func(t *testing.T, at func(func())) {
		forData(t, func(t *testing.T, s *source, low bool, shift int) {
			for n := range 100 {
				x, y := s.fill(fenced[float32](t, n, low)), s.normal(t, n, 1, low)
				var want, got, plain float64
				atGo(func() { want = Dot64(x, y) })
				at(func() { got = Dot64(x, y) })
				same64(t, "product", []float64{got}, []float64{want})
				size := 0.0
				for i, x := range x {
					plain += float64(x) * y[i]
					size += math.Abs(float64(x) * y[i])
				}
				if !(math.Abs(got-plain) <= 100*0x1p-52*size) && !math.IsNaN(plain-plain) { // finite; n roundings in each order
					t.Errorf("%d values: %v, want %v", n, got, plain)
				}
			}
		})
	})
}

// Largest finds the largest |x| at any position and length, at every level. NaN is above all
// numbers.
func TestLargest(t *testing.T) {
	check := func(level string) {
		for n := range 70 {
			for i := range n {
				for _, top := range []float32{3, -3, float32(math.Inf(-1)), float32(math.NaN())} {
					x := slices.Repeat([]float32{-1}, n)
					x[i] = top
					if got := Largest(x); math.Float32bits(got) != math.Float32bits(top)&^(1<<31) {
						t.Fatalf("%s: %v of %v", level, got, x)
					}
				}
			}
		}
		if got := Largest(nil); got != 0 {
			t.Errorf("%s: %v of nothing, want 0", level, got)
		}
		x := make([]float32, 2*sweepWork+17) // more than one call of the kernel
		for _, i := range []int{0, sweepWork, 2*sweepWork - 1, 2 * sweepWork, len(x) - 1} {
			if x[i] = -2; Largest(x) != 2 {
				t.Errorf("%s: value %d of %d is missed", level, i, len(x))
			}
			x[i] = 0
		}
	}
	atGo(func() { check("go") })
	forLevels(t, func(t *testing.T, at func(func())) { at(func() { check(InUse().String()) }) })
}
