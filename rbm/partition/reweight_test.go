package partition

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// A spectrum is a system of states with these energies.
type spectrum []float64

// at returns log Z and the mean of f at an inverse temperature.
func (s spectrum) at(beta float64, f func(e float64) float64) (logZ, mean float64) {
	least := slices.Min(s)
	z := 0.0
	for _, e := range s {
		p := math.Exp(-beta * (e - least))
		z += p
		mean += p * f(e)
	}
	return math.Log(z) - beta*least, mean / z
}

// draw draws n energies at an inverse temperature.
func (s spectrum) draw(beta float64, n int, key rbm.Key) []float64 {
	sums, z := make([]float64, len(s)), 0.0
	for i, e := range s {
		z += math.Exp(-beta * (e - s[0]))
		sums[i] = z
	}
	d := make([]float64, n)
	for i := range d {
		at, _ := slices.BinarySearch(sums, key.Uniform(uint64(i))*z)
		d[i] = s[at]
	}
	return d
}

func normalSpectrum(n int, sd float64) spectrum {
	r := rbm.NewKey(12).Rand()
	s := make(spectrum, n)
	for i := range s {
		s[i] = 1000 + sd*r.NormFloat64()
	}
	return s
}

func square(e float64) float64 { return (e - 1000) * (e - 1000) }

// TestReweighting checks log Z, a mean and a variance between the temperatures of a ladder: they
// are within their errors, which have the right size. The same test rejects a reweighting to
// another temperature.
func TestReweighting(t *testing.T) {
	const repeats, groups = 150, 20
	s := normalSpectrum(4000, 3)
	beta := []float64{0.9, 0.3, 0.5, 0.7}
	counts := []int{400, 600, 500, 300}
	for _, at := range []float64{0.3, 0.4, 0.62, 0.9} {
		var squares, wrong [3]float64
		for k := range repeats {
			key := rbm.NewKey(3).Child(uint64(k))
			d, squared := make([][]float64, len(beta)), make([][]float64, len(beta))
			for i, b := range beta {
				d[i] = s.draw(b, counts[i], key.Child(uint64(i)))
				for _, e := range d[i] {
					squared[i] = append(squared[i], square(e))
				}
			}
			logZ0, _ := s.at(0.3, square)
			w, err := NewReweighting(beta, d, groups, logZ0)
			if err != nil {
				t.Fatal(err)
			}
			got := w.At(at, d, squared)
			add := func(sums *[3]float64, at float64) {
				logZ, mean := s.at(at, func(e float64) float64 { return e })
				_, second := s.at(at, square)
				variance := make([]float64, groups) // of the energy; its derivatives are 1 and −2(mean − 1000)
				for g := range variance {
					variance[g] = got.Shift[1][g] - 2*(got.Mean[0]-1000)*got.Shift[0][g]
				}
				for i, z := range []float64{
					(got.LogZ - logZ) / StdErr(got.LogZShift),
					(got.Mean[0] - mean) / StdErr(got.Shift[0]),
					(got.Mean[1] - (got.Mean[0]-1000)*(got.Mean[0]-1000) - second + (mean-1000)*(mean-1000)) / StdErr(variance),
				} {
					sums[i] += z * z / repeats
				}
			}
			if at > 0.3 { // where log Z is given it has no error
				add(&squares, at)
				add(&wrong, at+0.1)
			}
		}
		if at == 0.3 {
			continue
		}
		for i, z2 := range squares {
			// Student's t with 19 degrees of freedom has the variance 19/17. The skewness of the
			// variance increases it by a few tenths.
			if tol := 5 * math.Sqrt(2./repeats); z2 > 19./17+tol+0.1 || z2 < 1-tol {
				t.Errorf("β = %v: the mean of z² is %.2f, of %s, want %.3g to %.3g", at, z2, []string{"log Z", "the mean", "the variance"}[i], 1-tol, 19./17+tol+0.1)
			}
			if wrong[i] < 4 && i < 2 {
				t.Errorf("β = %v: taken for that of another β, the mean of z² is %.2f only, of %d", at, wrong[i], i)
			}
		}
	}
}

// TestReweightingIsBennett checks that log Z and its errors at the ladder's temperatures are those
// of Bennett, and that log Z is exact where it is given.
func TestReweightingIsBennett(t *testing.T) {
	const groups = 10
	s := normalSpectrum(1000, 4)
	beta := []float64{0.4, 0, 0.8, 0.2}
	d := make([][]float64, len(beta))
	for i, b := range beta {
		d[i] = s.draw(b, 500, rbm.NewKey(4).Child(uint64(i)))
	}
	logZ0 := math.Log(1000)
	w, err := NewReweighting(beta, d, groups, logZ0)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Bennett(beta, d, groups, logZ0)
	if err != nil {
		t.Fatal(err)
	}
	if w.overlap != want.Overlap {
		t.Errorf("the overlap is %v, by Bennett %v", w.overlap, want.Overlap)
	}
	for k, b := range beta {
		got := w.At(b)
		if z, e := got.LogZ-want.LogZ[k], StdErr(got.LogZShift)-want.StdErr[k]; math.Abs(z) > 1e-8*math.Abs(got.LogZ) || math.Abs(e) > 1e-9 {
			t.Errorf("β = %v: log Z is %v ± %v, by Bennett %v ± %v", b, got.LogZ, StdErr(got.LogZShift), want.LogZ[k], want.StdErr[k])
		}
	}
}

func TestReweightingErrors(t *testing.T) {
	s := normalSpectrum(1000, 4)
	two := func(a, b float64) [][]float64 {
		return [][]float64{s.draw(a, 100, rbm.NewKey(1)), s.draw(b, 100, rbm.NewKey(2))}
	}
	for want, err := range map[string]error{
		"two groups or more": second(NewReweighting([]float64{1, 2}, two(1, 2), 1, 0)),
		"inverse temper":     second(NewReweighting([]float64{1, 1}, two(1, 1), 10, 0)),
		"it takes 2 to":      second(NewReweighting([]float64{1}, two(1, 1)[:1], 10, 0)),
		"equally many":       second(NewReweighting([]float64{1, 1.1}, two(1, 1.1), 7, 0)),
		"at β = 0 and 9":     second(NewReweighting([]float64{0, 9}, two(0, 9), 10, 0)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want …%s…", err, want)
		}
	}
	if err := second(NewReweighting([]float64{0, 9}, two(0, 9), 10, 0)); !errors.Is(err, ErrOverlap) {
		t.Errorf("error %v does not wrap ErrOverlap", err)
	}
	w, err := NewReweighting([]float64{0.5, 0.6}, two(0.5, 0.6), 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"another range":    func() { w.At(0.7) },
		"too few values":   func() { w.At(0.55, [][]float64{{1}, {2}}) },
		"a range below it": func() { w.At(0.49) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func second[T any](_ T, err error) error { return err }
