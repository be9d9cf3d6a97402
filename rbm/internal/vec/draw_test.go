package vec

import (
	"math"
	"math/big"
	"testing"

	"gorbm/negphase/diag"
)

// The known answers for philox 4x32 10 of Random123 1.14, kat_vectors.
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = 0xffffffff
	for _, k := range []struct{ in, want []uint32 }{
		{[]uint32{0, 0, 0, 0, 0, 0}, []uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[]uint32{ones, ones, ones, ones, ones, ones}, []uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		// The digits of π.
		{[]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0},
			[]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		x0, x1, x2, x3 := Philox(k.in[0], k.in[1], k.in[2], k.in[3], k.in[4], k.in[5])
		for i, x := range []uint32{x0, x1, x2, x3} {
			if x != k.want[i] {
				t.Errorf("Philox(%x) word %d is %08x, want %08x", k.in, i, x, k.want[i])
			}
		}
	}
}

// Uniforms are the words of Philox in the documented order, at every level.
func TestUniforms(t *testing.T) {
	for l := Go; l <= Best(); l++ {
		restore := SetLevel(l)
		s := Stream{0xa4093822, 0x299f31d0, 0x13198a2e, 0x03707344}
		const row, j = 0x85a308d3, 0x243f6a8
		var u [Block]float32
		s.Uniforms(&u, row, j)
		x0, x1, x2, x3 := Philox(16*j+8, row, s.C2, s.C3, s.K0, s.K1)
		if x0 != 0xd16cfe09 { // the known answer
			t.Fatalf("word is %08x, want 0xd16cfe09", x0)
		}
		for w, x := range []uint32{x0, x1, x2, x3} {
			if got, want := u[16*w+8], float32(x>>8|1); got != want {
				t.Errorf("%v: uniform %d is %v, want %v", l, 16*w+8, got, want)
			}
		}
		for i, x := range u {
			if got := s.Uniform(row, j*Block+uint32(i)); got != x {
				t.Errorf("%v: uniform %d is %v, one by one %v", l, i, x, got)
			}
			if x < 1 || x >= 1<<24 || math.Mod(float64(x), 2) != 1 {
				t.Errorf("%v: uniform %d is %v", l, i, x)
			}
		}
		restore()
	}
}

// exp32 agrees with the library in float64 over the whole range. Five roundings of 2⁻²⁴, each
// relative to a term no larger than the result, allow 3·10⁻⁷; the documented error is 2·10⁻⁷.
func TestExp32(t *testing.T) {
	for i := uint32(0); i < 1<<32-1<<10; i += 997 {
		x := math.Float32frombits(i)
		if x != x {
			continue
		}
		want := math.Exp(math.Max(-expMax, math.Min(expMax, float64(x))))
		if e := math.Abs(float64(exp32(x))/want - 1); e > 2e-7 {
			t.Fatalf("exp32(%v) = %v, relative error %.2g, want at most 2e-7", x, exp32(x), e)
		}
	}
	if exp32(0) != 1 || exp32(float32(math.Copysign(0, -1))) != 1 {
		t.Error("exp32(0) is not 1")
	}
	if nan := float32(math.NaN()); exp32(nan) != exp32(expMax) {
		t.Error("NaN does not count as the largest argument")
	}
}

// The error of a mean is that of exp32 times p(1−p) ≤ ¼, plus two roundings.
func TestSigmoidAccuracy(t *testing.T) {
	var x, got [Block]float32
	for i := range 1 << 16 {
		x[i%Block] = (float32(i) - 1<<15) / 350
		if i%Block < Block-1 {
			continue
		}
		Sigmoids(got[:], Block, x[:], 1, Block)
		for k, x := range x {
			want := 1 / (1 + math.Exp(-float64(x)))
			if e := math.Abs(float64(got[k]) - want); e > 2e-7/4+2*0x1p-25 {
				t.Fatalf("σ(%v) = %v, error %.2g, want at most %.2g", x, got[k], e, 2e-7/4+2*0x1p-25)
			}
		}
	}
}

// The exponential and logarithm of the library have an error of one unit in the last place,
// 2.2·10⁻¹⁶. The tests add it to that of this package.
const libraryError = 2.3e-16

func TestExp(t *testing.T) {
	for x := -745.0; x < 709.7; x += 0.00137 {
		want := math.Exp(x)
		tol := (4e-16 + libraryError) * want
		if want < 0x1p-1022 {
			tol = 2 * math.SmallestNonzeroFloat64 // a subnormal result has fewer bits
		}
		if e := math.Abs(Exp(x) - want); e > tol {
			t.Fatalf("Exp(%v) = %v, want %v", x, Exp(x), want)
		}
	}
	for _, k := range []struct{ x, want float64 }{
		{0, 1}, {math.Inf(1), math.Inf(1)}, {math.Inf(-1), 0}, {710, math.Inf(1)}, {-746, 0},
	} {
		if got := Exp(k.x); got != k.want {
			t.Errorf("Exp(%v) = %v, want %v", k.x, got, k.want)
		}
	}
	if got := Exp(math.NaN()); got == got {
		t.Errorf("Exp(NaN) = %v, want NaN", got)
	}
}

func TestLog(t *testing.T) {
	for x := 0x1p-1022; x < math.MaxFloat64/2; x *= 1.00057 {
		want := math.Log(x)
		if e := math.Abs(Log(x) - want); e > 2*libraryError*math.Abs(want) {
			t.Fatalf("Log(%v) = %v, want %v", x, Log(x), want)
		}
	}
	// The library's logarithm is wrong for subnormal numbers on amd64.
	for n := -1074; n < -1022; n++ {
		if got, want := Log(math.Ldexp(1, n)), float64(n)*math.Ln2; math.Abs(got-want) > 2*libraryError*-want {
			t.Errorf("Log(2^%d) = %v, want %v", n, got, want)
		}
	}
	// Near 1 the result is small, and its relative error stays small.
	for x := 0.5; x < 2; x += 0.000171 {
		want := math.Log(x)
		if e := math.Abs(Log(x) - want); e > 3*libraryError*math.Abs(want) {
			t.Fatalf("Log(%v) = %v, want %v", x, Log(x), want)
		}
	}
	if Log(1) != 0 || !math.IsInf(Log(0), -1) || !math.IsInf(Log(math.Inf(1)), 1) {
		t.Error("Log is wrong at 0, 1 or ∞")
	}
	for _, x := range []float64{-1, math.NaN()} {
		if got := Log(x); got == got {
			t.Errorf("Log(%v) = %v, want NaN", x, got)
		}
	}
}

// A product of n factors has n roundings.
func TestSoftplusSumAccuracy(t *testing.T) {
	for l := Go; l <= Best(); l++ {
		restore := SetLevel(l)
		for _, n := range []int{0, 1, 7, 8, 100, 999, 1000, 1001, 2500} {
			s := newSource(uint64(n), false)
			x := make([]float64, n)
			want := new(big.Float).SetPrec(200)
			for i := range x {
				x[i] = s.NormFloat64() * 10
				want.Add(want, big.NewFloat(math.Max(x[i], 0)))
				want.Add(want, big.NewFloat(math.Log1p(math.Exp(-math.Abs(x[i])))))
			}
			w, _ := want.Float64()
			if e := math.Abs(SoftplusSum(x) - w); e > float64(n+1)*0x1p-52*math.Max(1, w) {
				t.Errorf("%v: %d terms: %v, want %v", l, n, SoftplusSum(x), w)
			}
		}
		for _, x := range []float64{800, 1e300, math.Inf(1)} {
			if got := SoftplusSum([]float64{x, -x}); got != x {
				t.Errorf("%v: softplus(%v) = %v", l, x, got)
			}
		}
		restore()
	}
}

func TestLogSumExp(t *testing.T) {
	if got := LogSumExp(nil); !math.IsInf(got, -1) {
		t.Errorf("no terms: %v, want −∞", got)
	}
	if got, want := LogSumExp([]float64{1000, 1000, -1000}), 1000+math.Ln2; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Counts of draws pass a χ² test of their means at every β, and fail if β is wrong by a tenth.
func TestDrawsFollowTheMean(t *testing.T) {
	const rows = 20000
	s := Stream{1, 2, 3, 4}
	var row [Block]float32
	for i := range row {
		row[i] = float32(i-32) / 8
	}
	x := make([]float32, rows*Block)
	for r := range rows {
		copy(x[r*Block:], row[:])
	}
	words := make([]uint64, rows)
	counts := func() []int {
		c := make([]int, 2*Block) // numbers of draws with each unit on and off
		for _, w := range words {
			for i := range Block {
				c[2*i+int(w>>i&1)]++
			}
		}
		return c
	}
	probabilities := func(beta float64) []float64 {
		p := make([]float64, 2*Block)
		for i, x := range row {
			on := 1 / (1 + math.Exp(-beta*float64(x)))
			p[2*i], p[2*i+1] = (1-on)/Block, on/Block
		}
		return p
	}
	for k, beta := range []float64{1, 0.5, 0.1} {
		b := make([]float32, rows)
		for i := range b {
			b[i] = float32(beta)
		}
		s.Draws(words, 1, x, b, 0, uint32(k), rows, Block)
		// The cells of a unit sum to the number of rows, so there are Block degrees of freedom
		// instead of 2·Block−1. The statistic is therefore smaller than z suggests.
		if z := diag.StationarityZ(counts(), probabilities(beta)); z > 6 {
			t.Errorf("β = %v: z = %.1f, want at most 6", beta, z)
		}
		if z := diag.StationarityZ(counts(), probabilities(beta+0.1)); z < 20 {
			t.Errorf("β = %v against %v: z = %.1f, want at least 20", beta, beta+0.1, z)
		}
	}
	means := make([]float32, rows*Block)
	Sigmoids(means, Block, x, rows, Block)
	s.DrawMeans(words, 1, means, Block, 0, 9, rows, Block)
	if z := diag.StationarityZ(counts(), probabilities(1)); z > 6 {
		t.Errorf("draws of means: z = %.1f, want at most 6", z)
	}
	// Neighbouring units and rows are independent: the frequency with which a unit and the next
	// agree follows from their means.
	agree := make([]int, 2)
	want := 0.0
	for _, w := range words {
		for i := range Block - 1 {
			agree[w>>i&1^w>>(i+1)&1]++
		}
	}
	for i := range Block - 1 {
		p, q := float64(means[i]), float64(means[i+1])
		want += p*q + (1-p)*(1-q)
	}
	n := float64(rows * (Block - 1))
	if z := (float64(agree[0]) - want*rows) / math.Sqrt(n/4); math.Abs(z) > 6 {
		t.Errorf("neighbours agree %d times of %v, want %v", agree[0], n, want*rows)
	}
}

func TestDrawOneFollowsTheSoftmax(t *testing.T) {
	const n = 100000
	x := []float32{-1, 0.5, 2, 0, 0.25, -3, 1, 1, -0.5, 0.75}
	p := make([]float32, len(x))
	Softmax(p, x)
	probabilities, tempered := make([]float64, len(x)), make([]float64, len(x))
	z := 0.0
	for k, q := range p {
		probabilities[k] = float64(q)
		tempered[k] = math.Exp(0.3 * float64(x[k]))
		z += tempered[k]
	}
	for k := range tempered {
		tempered[k] /= z
	}
	s := Stream{5, 6, 7, 8}
	for _, c := range []struct {
		beta                 float32
		probabilities, other []float64
	}{{1, probabilities, tempered}, {0.3, tempered, probabilities}} {
		counts := make([]int, len(x))
		for r := range uint32(n) {
			y := append([]float32(nil), x...)
			counts[DrawOne(y, s.Uniform(r, 3), c.beta)]++
		}
		if z := diag.StationarityZ(counts, c.probabilities); z > 6 {
			t.Errorf("β = %v: z = %.1f, want at most 6", c.beta, z)
		}
		if z := diag.StationarityZ(counts, c.other); z < 20 {
			t.Errorf("β = %v against the other: z = %.1f, want at least 20", c.beta, z)
		}
	}
}

func TestSetLevel(t *testing.T) {
	restore := SetLevel(Go)
	if InUse() != Go {
		t.Error("the level did not change")
	}
	restore()
	if InUse() != Best() {
		t.Error("the level was not restored")
	}
	defer func() {
		if recover() == nil {
			t.Error("a level that the machine lacks was accepted")
		}
	}()
	SetLevel(Best() + 1)
}
