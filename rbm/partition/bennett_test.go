package partition

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"

	"gonum.org/v1/gonum/mat"
)

// A ladder is a ladder of temperatures of an enumerable model, with exact draws.
type ladder struct {
	beta []float64
	logZ []float64 // exact log Z
	d    [][]float64

	cumulative [][]float64 // cumulative distribution at each temperature
	energies   []float64   // D of each state
}

func newLadder(m *rbm.RBM, b *rbm.Base, beta []float64) ladder {
	s := ladder{beta: beta, d: make([][]float64, len(beta))}
	base := baseStates(m, b)
	for i, st := range rbmtest.States(m) {
		s.energies = append(s.energies, st.Energy-base[i].Energy)
	}
	for _, x := range beta {
		p, logZ := rbmtest.Probabilities(blended(m, b, x, 1-x), 1)
		for i := range p[1:] {
			p[i+1] += p[i]
		}
		s.cumulative, s.logZ = append(s.cumulative, p), append(s.logZ, logZ)
	}
	return s
}

// draw draws counts[k] independent states at each temperature k.
func (s ladder) draw(counts []int, key rbm.Key) {
	for k, p := range s.cumulative {
		s.d[k] = make([]float64, counts[k])
		for n := range s.d[k] {
			i, _ := slices.BinarySearch(p, key.Child(uint64(k)).Uniform(uint64(n))*p[len(p)-1])
			s.d[k][n] = s.energies[i]
		}
	}
}

// exactLadder returns a ladder with draws.
func exactLadder(m *rbm.RBM, b *rbm.Base, beta []float64, counts []int, key rbm.Key) ladder {
	s := newLadder(m, b, beta)
	s.draw(counts, key)
	return s
}

func (s ladder) bennett(t *testing.T, b *rbm.Base, m *rbm.RBM, groups int) BennettLogZ {
	t.Helper()
	out, err := Bennett(s.beta, s.d, groups, b.LogZ(m))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Over many repetitions errors have the size of the standard errors. For normal z the mean of z²
// has a standard error of √(2/repeats); the tolerance is five of these.
func TestBennettIsCalibrated(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	const repeats = 200
	for _, c := range []struct {
		shape shape
		beta  []float64
		count []int
	}{
		{shape{5, 4, 0, rbm.Softmax}, []float64{1, 0.6, 0.3, 0}, []int{60, 100, 80, 200}},
		{shape{6, 4, 3, rbm.Softmax}, []float64{1, 0}, []int{300, 200}},
		{shape{5, 4, 2, rbm.Bernoulli}, []float64{0, 0.5, 1, 1.5}, []int{100, 100, 30, 100}},
	} {
		m := c.shape.random(3, 0.8)
		for _, b := range []*rbm.Base{nil, randomBase(m, 0.5, 4)} {
			one := slices.Index(c.beta, 1)
			square, inside := 0.0, 0
			s := newLadder(m, b, c.beta)
			for i := range uint64(repeats) {
				s.draw(c.count, rbm.NewKey(i))
				out := s.bennett(t, b, m, 0)
				z := (out.LogZ[one] - s.logZ[one]) / out.StdErr[one]
				square += z * z / repeats
				if math.Abs(z) <= 2 {
					inside++
				}
			}
			t.Logf("%v: mean z² %.2f, %d of %d within two standard errors", c.shape, square, inside, repeats)
			if math.Abs(square-1) > 5*math.Sqrt(2.0/repeats) || float64(inside) < 0.9*repeats {
				t.Errorf("%v: mean z² %.2f, %d of %d within two standard errors", c.shape, square, inside, repeats)
			}
		}
	}
}

// The solution agrees with plain iteration of eq. 11, and with eq. 8 from the full matrix of
// weights.
func TestBennettAgainstTheEquations(t *testing.T) {
	m := shape{5, 4, 0, rbm.Softmax}.random(3, 1)
	beta, counts := []float64{0.4, 1, 0, 0.7}, []int{20, 15, 30, 10}
	s := exactLadder(m, nil, beta, counts, rbm.NewKey(1))
	got := s.bennett(t, nil, m, 0)

	var all []float64
	for _, d := range s.d {
		all = append(all, d...)
	}
	f := make([]float64, len(beta))
	weights := func() *mat.Dense { // draws × temperatures
		w := mat.NewDense(len(all), len(beta), nil)
		for n, d := range all {
			sum := 0.0
			for k := range beta {
				sum += float64(counts[k]) * math.Exp(f[k]-beta[k]*d)
			}
			for k := range beta {
				w.Set(n, k, math.Exp(f[k]-beta[k]*d)/sum)
			}
		}
		return w
	}
	const zero = 2 // index of the temperature β = 0
	for range 20000 {
		w := weights()
		for k := range f {
			f[k] -= math.Log(mat.Sum(w.ColView(k)))
		}
		for k, f0 := range slices.Clone(f) {
			f[k] = f0 - f[zero]
		}
	}
	w := weights()
	n := len(all)
	counted := mat.NewDense(n, len(beta), nil)
	for k := range beta {
		for i := range n {
			counted.Set(i, k, w.At(i, k)*float64(counts[k]))
		}
	}
	var inner, theta, left mat.Dense
	inner.Mul(counted, w.T())
	inner.Scale(-1, &inner)
	for i := range n {
		inner.Set(i, i, inner.At(i, i)+1)
	}
	left.Mul(w.T(), pseudoInverse(&inner))
	theta.Mul(&left, w)
	for k := range beta {
		rbmtest.Near(t, "log Z", got.LogZ[k], (*rbm.Base)(nil).LogZ(m)-f[k], 1e-9)
		v := theta.At(k, k) - 2*theta.At(k, zero) + theta.At(zero, zero)
		// At β = 0 the root of a variance that is a rounding error.
		rbmtest.Near(t, "standard error", got.StdErr[k], math.Sqrt(max(0, v)), 1e-7)
	}
}

// pseudoInverse returns the Moore–Penrose inverse of a, whose singular values are of size 1 or
// rounding errors.
func pseudoInverse(a *mat.Dense) *mat.Dense {
	var svd mat.SVD
	svd.Factorize(a, mat.SVDThin)
	var u, v, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	values := svd.Values(nil)
	for k, x := range values {
		scale := 0.0
		if x > 1e-10 {
			scale = 1 / x
		}
		for i := range values {
			v.Set(i, k, v.At(i, k)*scale)
		}
	}
	out.Mul(&v, u.T())
	return &out
}

// Adding c to all energies shifts log Z by −βc, for any c.
func TestBennettAtAnyScale(t *testing.T) {
	m := shape{5, 4, 0, rbm.Softmax}.random(3, 1)
	s := exactLadder(m, nil, []float64{1, 0.5, 0}, []int{200, 150, 100}, rbm.NewKey(1))
	want := s.bennett(t, nil, m, 0)
	for _, c := range []float64{-1e9, 1e6} {
		moved := ladder{beta: s.beta}
		for _, d := range s.d {
			d = slices.Clone(d)
			for i := range d {
				d[i] += c
			}
			moved.d = append(moved.d, d)
		}
		got := moved.bennett(t, nil, m, 0)
		for k, b := range s.beta {
			// An energy near c is rounded to 2⁻⁵³·c, and so is the result.
			rbmtest.Near(t, "log Z", got.LogZ[k], want.LogZ[k]-b*c, 1e-9+4*math.Abs(c)*0x1p-53)
			rbmtest.Near(t, "standard error", got.StdErr[k], want.StdErr[k], 1e-5*want.StdErr[k]+1e-9)
		}
	}
}

// The overlap is that of the definition. Below 1 % there is no estimate.
func TestBennettOverlap(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	m := shape{5, 4, 0, rbm.Softmax}.random(3, 1.2)
	count := []int{20000, 20000}
	s := exactLadder(m, nil, []float64{0, 1}, count, rbm.NewKey(1))
	got := s.bennett(t, nil, m, 0)
	p, _ := rbmtest.Probabilities(rbmtest.States(m), 1)
	q := 1 / float64(len(p))
	want, square := 0.0, 0.0
	for _, p := range p {
		want += 2 * p * q / (p + q)
		square += p * math.Pow(2*q/(p+q), 2)
	}
	rbmtest.Near(t, "overlap", got.Overlap, want, 6*math.Sqrt((square-want*want)/20000)) // six standard errors of its mean

	far := shape{12, 4, 0, rbm.Softmax}.random(3, 5)
	s = exactLadder(far, nil, []float64{0, 0.02, 1}, []int{300, 300, 300}, rbm.NewKey(1))
	out, err := Bennett(s.beta, s.d, 0, 0)
	if !errors.Is(err, ErrOverlap) || !strings.Contains(err.Error(), "β = 0.02 and 1") {
		t.Errorf("overlap %v: got error %v", out.Overlap, err)
	}
	if out.LogZ != nil || !(out.Overlap < leastOverlap) {
		t.Errorf("a number without overlap: %+v, got %v, want less than %v", out, out.Overlap, leastOverlap)
	}

	// Equal distributions have an overlap of 1, and the ratio of their partition functions is
	// known.
	same, err := Bennett([]float64{0, 1}, [][]float64{{2, 2, 2}, {2, 2}}, 0, 7)
	if err != nil {
		t.Fatal(err)
	}
	rbmtest.Near(t, "overlap", same.Overlap, 1, 1e-12)
	rbmtest.Near(t, "log Z", same.LogZ[1], 5, 1e-12)
	rbmtest.Near(t, "standard error", same.StdErr[1], 0, 1e-7) // the root of a rounding error
}

func TestBennettErrors(t *testing.T) {
	type args struct {
		beta   []float64
		d      [][]float64
		groups int
	}
	for want, a := range map[string]args{
		"it takes 2 to 512":         {[]float64{0}, [][]float64{{1}}, 0},
		"no temperature with β = 0": {[]float64{1, 0.5}, [][]float64{{1}, {1}}, 0},
		"draws of 1":                {[]float64{1, 0}, [][]float64{{1}}, 0},
		"no draws at β = 1":         {[]float64{0, 1}, [][]float64{{1}, {}}, 0},
		"temperature 0; they":       {[]float64{0, 0}, [][]float64{{1}, {1}}, 0},
		"temperature NaN":           {[]float64{0, math.NaN()}, [][]float64{{1}, {1}}, 0},
		"temperature -1":            {[]float64{0, -1}, [][]float64{{1}, {1}}, 0},
		"has the energy NaN":        {[]float64{0, 1}, [][]float64{{1}, {math.NaN()}}, 0},
		"has the energy +Inf":       {[]float64{0, 1}, [][]float64{{1, math.Inf(1)}, {1}}, 0},
		"1 groups; it takes":        {[]float64{0, 1}, [][]float64{{1}, {1}}, 1},
		"-1 groups; it takes":       {[]float64{0, 1}, [][]float64{{1}, {1}}, -1},
		"3 draws at β = 1, not eq":  {[]float64{0, 1}, [][]float64{{1, 2}, {1, 2, 3}}, 2},
		"inverse temperature +Inf":  {[]float64{0, math.Inf(1)}, [][]float64{{1}, {1}}, 0},
	} {
		if _, err := Bennett(a.beta, a.d, a.groups, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Results do not depend on the number of processors.
func TestBennettDeterminism(t *testing.T) {
	m := shape{5, 4, 0, rbm.Softmax}.random(3, 1)
	s := exactLadder(m, nil, []float64{1, 0.7, 0.4, 0}, []int{9000, 4000, 6000, 5000}, rbm.NewKey(1))
	run := func(procs int) BennettLogZ {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		return s.bennett(t, nil, m, 500)
	}
	want := run(1)
	for _, procs := range []int{2, 5} {
		got := run(procs)
		if !slices.Equal(got.LogZ, want.LogZ) || !slices.Equal(got.StdErr, want.StdErr) || got.Overlap != want.Overlap {
			t.Errorf("%d processors: %v, want %v", procs, got, want)
		}
	}
	for k, z := range s.logZ {
		rbmtest.Near(t, "log Z", want.LogZ[k], z, 5*want.StdErr[k]+1e-12)
	}
}

// Log Z of a long ladder of normal energies is known. With D ~ N(0, sd²) at β = 0, D is N(−β·sd²,
// sd²) at β, and log Z = ½β²sd².
func TestBennettOnALongLadder(t *testing.T) {
	const repeats, temperatures, sd = 60, 15, 8.0
	beta, d := make([]float64, temperatures), make([][]float64, temperatures)
	square := 0.0
	for i := range uint64(repeats) {
		r := rbm.NewKey(i).Rand()
		for k := range beta {
			beta[k] = float64(k) / (temperatures - 1)
			d[k] = make([]float64, 100)
			for n := range d[k] {
				d[k][n] = sd*r.NormFloat64() - beta[k]*sd*sd
			}
		}
		got, err := Bennett(beta, d, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		z := (got.LogZ[temperatures-1] - sd*sd/2) / got.StdErr[temperatures-1]
		square += z * z / repeats
	}
	if math.Abs(square-1) > 5*math.Sqrt(2.0/repeats) {
		t.Errorf("mean z² %.2f, want 1 ± %.3g", square, 5*math.Sqrt(2.0/repeats))
	}
}

// The overlap is the smaller of the estimates from the draws at either temperature, and one small
// estimate is enough to refuse. With n draws of energy difference a at β = 0 and m of b at β = 1,
// Bennett's equation n/(1+e^(a−t)) = m/(1+e^(t−b)), t = log(m/n) + f, is quadratic in e^t. If both
// overlaps are small, their ratio is n/m. With unequal counts one is therefore sixteen times the
// other.
func TestOverlapOfEitherSide(t *testing.T) {
	same := func(x float64, n int) []float64 { return slices.Repeat([]float64{x}, n) }
	const a, b = 0, -9.2 // √(4·e^(b−a)) is 0.02, twice the smallest overlap
	for _, c := range []struct {
		n, m  int
		there bool // whether there is an estimate
	}{{40, 40, true}, {160, 10, false}, {10, 160, false}} {
		n, m := float64(c.n), float64(c.m)
		q := (n - m) * math.Exp(b) / n
		root := -q/2 + math.Sqrt(q*q/4+m/n*math.Exp(a+b)) // e^t
		f := math.Log(root * n / m)
		sides := [2]float64{2 / (1 + math.Exp(a-f)), 2 / (1 + math.Exp(f-b))}
		out, err := Bennett([]float64{0, 1}, [][]float64{same(a, c.n), same(b, c.m)}, 0, 0)
		if c.there != (err == nil) || err != nil && !errors.Is(err, ErrOverlap) {
			t.Errorf("%d and %d draws, overlaps of %.3g and %.3g: %v", c.n, c.m, sides[0], sides[1], err)
		}
		rbmtest.Near(t, "overlap", out.Overlap, min(sides[0], sides[1]), 1e-9)
		if !c.there && max(sides[0], sides[1]) < 2*leastOverlap {
			t.Errorf("%d and %d draws: overlaps of %.3g and %.3g would be refused by either: the test sees nothing, got %v, want at least %v", c.n, c.m, sides[0], sides[1], max(sides[0], sides[1]), 2*leastOverlap)
		}
	}
}
