package main

import (
	"math"
	"testing"

	"gorbm/cmd/cli/clitest"
)

// kaufman returns log Z of the periodic n×m ferromagnet, J = 1, by Kaufman's
// sum of four products (1949, equation 90 and after).
func kaufman(beta float64, n, m int) float64 {
	gamma := func(r int) float64 {
		if r == 0 {
			return 2*beta + math.Log(math.Tanh(beta)) // negative above the critical temperature
		}
		c, s := math.Cosh(2*beta), math.Sinh(2*beta)
		return math.Acosh(c*c/s - math.Cos(math.Pi*float64(r)/float64(n)))
	}
	var logs [4]float64 // Π 2cosh and Π 2sinh over odd r, then even r
	sign := 1.0
	for r := range 2 * n {
		x := float64(m) * gamma(r) / 2
		at := 2 * (1 - r%2)
		logs[at] += math.Abs(x) + math.Log1p(math.Exp(-2*math.Abs(x)))
		logs[at+1] += math.Abs(x) + math.Log1p(-math.Exp(-2*math.Abs(x)))
		if x < 0 {
			sign = -sign
		}
	}
	top := max(logs[0], logs[1], logs[2], logs[3])
	sum := math.Exp(logs[0]-top) + math.Exp(logs[1]-top) + math.Exp(logs[2]-top) + sign*math.Exp(logs[3]-top)
	return -math.Ln2 + float64(n*m)/2*math.Log(2*math.Sinh(2*beta)) + top + math.Log(sum)
}

// kaufmanEnergy returns the exact mean energy −d log Z/dβ, by differences of fourth
// order, with a relative error of some 10⁻¹⁰.
func kaufmanEnergy(beta float64, n, m int) float64 {
	const h = 1e-4
	z := func(k float64) float64 { return kaufman(beta+k*h, n, m) }
	return -(z(-2) - 8*z(-1) + 8*z(1) - z(2)) / (12 * h)
}

// TestKaufman compares the samplers with the exact mean energy of systems that are too
// large for enumeration.
func TestKaufman(t *testing.T) {
	clitest.Isolate(t)
	if got, want := kaufmanEnergy(critical, 4, 3), exactEnergy(t, "-lattice 4x3 -sampler gibbs", 0); math.Abs(got/want-1) > 1e-9 {
		t.Fatalf("Kaufman's mean energy of 4×3 is %v, by all states %v", got, want)
	}
	for _, args := range []string{
		"-lattice 16x20 -sampler sw,gibbs,sardonics:k=29-30:gamma=1.02 -moves 6000",
		"-lattice 16x20 -sampler gibbs:order=chessboard,modified-metropolis -moves 6000 -temperature 3",
	} {
		r := result(t, args)
		want := kaufmanEnergy(r.Beta, 16, 20)
		for _, s := range r.Samplers {
			if z := (*s.EnergyMean - want) / *s.EnergyStdErr; math.Abs(z) > 4 || *s.EnergyStdErr > 0.02*math.Abs(want) {
				t.Errorf("%s: mean energy %v ± %v, exact %v", s.Sampler, *s.EnergyMean, *s.EnergyStdErr, want)
			}
		}
	}
}
