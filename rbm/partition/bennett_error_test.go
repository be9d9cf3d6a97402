package partition

import (
	"math"
	"slices"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
)

// Repeating each draw four times within its group changes only the error of independent draws,
// which is halved.
func TestBennettCopies(t *testing.T) {
	const groups = 5
	m := shape{5, 4, 0, rbm.Softmax}.random(3, 1)
	s := exactLadder(m, nil, []float64{1, 0.5, 0}, []int{200, 150, 100}, rbm.NewKey(1))
	four := ladder{beta: s.beta}
	for _, d := range s.d {
		var copies []float64
		for g := range groups {
			one := d[g*len(d)/groups : (g+1)*len(d)/groups]
			copies = slices.Concat(copies, one, one, one, one)
		}
		four.d = append(four.d, copies)
	}
	want, got := s.bennett(t, nil, m, groups), four.bennett(t, nil, m, groups)
	for k := range s.beta {
		rbmtest.Near(t, "log Z", got.LogZ[k], want.LogZ[k], 1e-9)
		rbmtest.Near(t, "standard error", got.StdErr[k], want.StdErr[k], 1e-9)
		rbmtest.Near(t, "error of independent draws", got.IndependentErr[k], want.IndependentErr[k]/2, 1e-9)
	}
	rbmtest.Near(t, "overlap", got.Overlap, want.Overlap, 1e-12)
}

// For independent draws the variance between groups agrees with eq. 8 on average, at every
// temperature. The ratio of the variances is χ²/ν with ν = groups − 1 and standard deviation
// √(2/ν). The tolerance is five of these over √repeats.
func TestBennettGroupsOfIndependentDraws(t *testing.T) {
	m := shape{5, 4, 0, rbm.Softmax}.random(3, 1)
	base := randomBase(m, 0.5, 4)
	for _, c := range []struct{ groups, each, repeats int }{{800, 5, 1}, {3, 50, 400}} {
		if testing.Short() && c.repeats > 1 {
			continue
		}
		s := newLadder(m, base, []float64{0.4, 1, 0, 0.7})
		ratio := make([]float64, len(s.beta))
		n := c.groups * c.each
		for i := range uint64(c.repeats) {
			s.draw([]int{n, 2 * n, n, c.groups}, rbm.NewKey(i))
			got, eq8 := s.bennett(t, base, m, c.groups), s.bennett(t, base, m, 0)
			for k := range s.beta {
				if got.LogZ[k] != eq8.LogZ[k] || got.IndependentErr[k] != eq8.StdErr[k] || eq8.IndependentErr[k] != eq8.StdErr[k] {
					t.Fatalf("β = %v: %v ± %v, %v; without groups %v ± %v, %v", s.beta[k],
						got.LogZ[k], got.StdErr[k], got.IndependentErr[k], eq8.LogZ[k], eq8.StdErr[k], eq8.IndependentErr[k])
				}
				if s.beta[k] > 0 {
					ratio[k] += math.Pow(got.StdErr[k]/eq8.StdErr[k], 2) / float64(c.repeats)
				} else if got.StdErr[k] != 0 {
					t.Errorf("at β = 0, whose log Z is known, the error is %v", got.StdErr[k])
				}
			}
		}
		for k, r := range ratio {
			if s.beta[k] > 0 && math.Abs(r-1) > 5*math.Sqrt(2/float64((c.groups-1)*c.repeats)) {
				t.Errorf("%d groups, β = %v: the variance between groups is %.3f of that of eq. 8, want at most 0", c.groups, s.beta[k], r)
			}
		}
	}
}

// Draws within a group depend on each other at any distance in time and across temperatures, as in
// a ladder that stays in one mode: a fraction rho of the variance of each energy is common to the
// group. Then z follows Student's t with ν = groups − 1 = 9. z² has the mean ν/(ν−2) = 9/7 and the
// variance 3ν²/((ν−2)(ν−4)) − (9/7)² = 5.3. The tolerance is five standard errors. An error for
// independent draws is far too small, with a mean z² of 30. So is one from the autocorrelation in
// time, with a mean z² of 20: its sum (Sokal 1997, section 3) ends long before the draws forget
// their group, and it ignores other temperatures.
func TestBennettErrorOfDependentDraws(t *testing.T) {
	const (
		groups, each          = 10, 100
		temperatures, sd, rho = 6, 4.0, 0.04
		quantile              = 2.262 // of Student's t with 9 degrees of freedom, for 95 %
	)
	repeats := 200.0
	if testing.Short() {
		repeats = 40
	}
	beta, d := make([]float64, temperatures), make([][]float64, temperatures)
	for k := range beta {
		beta[k], d[k] = float64(k)/(temperatures-1), make([]float64, groups*each)
	}
	square, independent, inside := 0.0, 0.0, 0
	for i := range uint64(repeats) {
		r := rbm.NewKey(i).Rand()
		for g := range groups {
			own := math.Sqrt(rho) * r.NormFloat64()
			for k := range beta {
				for n := range each {
					x := own + math.Sqrt(1-rho)*r.NormFloat64()
					d[k][g*each+n] = sd*x - beta[k]*sd*sd
				}
			}
		}
		got, err := Bennett(beta, d, groups, 0)
		if err != nil {
			t.Fatal(err)
		}
		off := got.LogZ[temperatures-1] - sd*sd/2
		square += math.Pow(off/got.StdErr[temperatures-1], 2) / repeats
		independent += math.Pow(off/got.IndependentErr[temperatures-1], 2) / repeats
		if math.Abs(off) <= quantile*got.StdErr[temperatures-1] {
			inside++
		}
	}
	t.Logf("mean z² %.2f, of draws taken as independent %.2f; %d of %v inside", square, independent, inside, repeats)
	if math.Abs(square-9.0/7) > 5*math.Sqrt(5.3/repeats) {
		t.Errorf("mean z² %.2f, want 9/7", square)
	}
	if off := math.Abs(float64(inside) - 0.95*repeats); off > 5*math.Sqrt(0.95*0.05*repeats) {
		t.Errorf("%d of %v intervals of 95 %% hold the truth: got %v, want at most %v", inside, repeats, off, 5*math.Sqrt(0.95*0.05*repeats))
	}
	if independent < 10 {
		t.Errorf("draws taken as independent have a mean z² of %.2f: the test sees nothing, want at least 10", independent)
	}
}
