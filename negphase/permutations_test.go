package negphase

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// permutations lists all orders of 0 … n−1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{{}}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// explicit lists all permutations with their probabilities, and returns log Σ exp(−Σ_j β_j E_at[j]). A permutation
// at has particle at[j] at temperature j.
func explicit(beta, energy []float64) (perms [][]int, rho []float64, logsum float64) {
	perms = permutations(len(beta))
	rho = make([]float64, len(perms))
	top := math.Inf(-1)
	for i, at := range perms {
		for j, k := range at {
			rho[i] -= beta[j] * energy[k]
		}
		top = math.Max(top, rho[i])
	}
	sum := 0.0
	for i := range rho {
		rho[i] = math.Exp(rho[i] - top)
		sum += rho[i]
	}
	for i := range rho {
		rho[i] /= sum
	}
	return perms, rho, top + math.Log(sum)
}

// weightsByList returns the probability of each particle to be at the first temperature: the sum over
// permutations.
func weightsByList(perms [][]int, rho []float64) []float64 {
	w := make([]float64, len(perms[0]))
	for i, at := range perms {
		w[at[0]] += rho[i]
	}
	return w
}

// path returns the probability with which draw returns the permutation at, and uniform variates in the
// middle of the intervals that lead to it.
func (p *permanent) path(at []int) (prob float64, middle []float64) {
	n := len(p.beta)
	prob = 1
	left := uint(len(p.table) - 1)
	for j, particle := range at {
		before, x := 0.0, 0.0
		for k, member := range p.member {
			if left&member == 0 {
				continue
			}
			x = p.a[j*n+k] * p.table[left&^member]
			if p.order[k] == particle {
				if x == 0 {
					return 0, nil // draw never returns it
				}
				left0 := left
				left &^= member
				middle = append(middle, (before+x/2)/p.table[left0])
				prob *= x / p.table[left0]
				break
			}
			before += x
		}
	}
	return prob, middle
}

// ladderOf returns the inverse temperatures 1, 1/2, … 1/k of the paper's ladder.
func ladderOf(k int) []float64 {
	beta := make([]float64, k)
	for j := range beta {
		beta[j] = 1 / float64(j+1)
	}
	return beta
}

// rounding bounds the relative error of a product of K factors exp(x), after K² additions. Each x
// is a sum of some eight terms of at most top, and each exponential has an
// error of 4·10⁻¹⁶ = 2·2⁻⁵².
func rounding(k int, top float64) float64 {
	return float64(k) * (8*top + 10 + float64(k)) * 0x1p-52
}

// A permanentCase is a ladder with energies, and the tolerance for comparing both ways to compute
// the weights of permutations.
type permanentCase struct {
	name         string
	beta, energy []float64
	tol          float64
}

func permanentCases() []permanentCase {
	var cases []permanentCase
	r := rbm.NewKey(1).Rand()
	for k := 1; k <= 6; k++ {
		for _, scale := range []float64{0, 1, 10, 100, 1000} {
			c := permanentCase{fmt.Sprintf("K=%d/scale=%v", k, scale), ladderOf(k), make([]float64, k), 0}
			top := 0.0
			for i := range c.energy {
				c.energy[i] = scale * r.NormFloat64()
				top = math.Max(top, math.Abs(c.energy[i]))
			}
			c.tol = rounding(k, top)
			cases = append(cases, c)
		}
		// Inverse temperatures are 2^−j and energies multiples of ¼. Every exponent is
		// exact, so only the exponentials and sums have rounding errors.
		c := permanentCase{fmt.Sprintf("K=%d/exact exponents", k), make([]float64, k), make([]float64, k), rounding(k, 0)}
		for i := range c.energy {
			c.beta[i] = math.Ldexp(1, -i)
			c.energy[i] = float64(r.IntN(8001)-4000) / 4
		}
		if k > 2 {
			c.energy[2] = c.energy[0] // a tie
		}
		cases = append(cases, c)
	}
	return cases
}

func TestPermanentAgainstTheList(t *testing.T) {
	for _, c := range permanentCases() {
		t.Run(c.name, func(t *testing.T) {
			perms, rho, logsum := explicit(c.beta, c.energy)
			p := newPermanent(c.beta)
			p.set(c.energy)
			for k, a := range p.a {
				if !(a >= 0 && a <= 1) {
					t.Errorf("factor %d is %v, outside 0 … 1", k, a)
				}
			}
			total := p.table[len(p.table)-1]
			if !(total >= 1-c.tol) {
				t.Errorf("the permanent is %v, below 1, want at least %v", total, 1-c.tol)
			}
			got := math.Log(total)
			for j, beta := range c.beta { // energies relative to the least
				got += p.u[j] + p.v[j] - beta*slices.Min(c.energy)
			}
			near(t, "log permanent", got, logsum, c.tol+math.Abs(logsum)*0x1p-50)

			w := make([]float64, len(c.beta))
			p.weights(w)
			for k, want := range weightsByList(perms, rho) {
				near(t, "weight", w[k], want, 2*c.tol*want+math.SmallestNonzeroFloat64)
			}
			at := make([]int, len(c.beta))
			for i, perm := range perms {
				prob, middle := p.path(perm)
				near(t, fmt.Sprint("ρ of ", perm), prob, rho[i], 2*c.tol*rho[i]+math.SmallestNonzeroFloat64)
				if prob < 1e-9 {
					continue // its interval may be narrower than the resolution of uniform variates
				}
				p.draw(at, func(j int) float64 { return middle[j] })
				if !slices.Equal(at, perm) {
					t.Errorf("uniforms %v lead to %v, want %v", middle, at, perm)
				}
			}
		})
	}
}

// Draws from the table have the listed distribution. They do not have that of energies
// with the opposite sign.
func TestPermanentDraws(t *testing.T) {
	const draws = 20000
	r := rbm.NewKey(2).Rand()
	for k := 2; k <= 5; k++ {
		beta, energy, minus := ladderOf(k), make([]float64, k), make([]float64, k)
		for i := range energy {
			energy[i] = 2 * r.NormFloat64()
			minus[i] = -energy[i]
		}
		p := newPermanent(beta)
		p.set(energy)
		perms, rho, _ := explicit(beta, energy)
		counts := make([]int, len(perms))
		at := make([]int, k)
		key := rbm.NewKey(uint64(k))
		for i := range draws {
			p.draw(at, func(j int) float64 { return key.Uniform(uint64(i*k + j)) })
			counts[slices.IndexFunc(perms, func(q []int) bool { return slices.Equal(q, at) })]++
		}
		z := diag.StationarityZ(counts, rho)
		_, wrong, _ := explicit(beta, minus)
		broken := diag.StationarityZ(counts, wrong)
		t.Logf("K = %d: z = %.1f; energies of the other sign %.1f", k, z, broken)
		if z > 6 {
			t.Errorf("K = %d: z = %.1f, want at most 6", k, z)
		}
		if broken < 6 {
			t.Errorf("K = %d: a wrong distribution is not seen: z = %.1f, want at least 6", k, broken)
		}
	}
}

func TestPermanentOfManyParticles(t *testing.T) {
	r := rbm.NewKey(3).Rand()
	for _, k := range []int{14, maxBlock} {
		p := newPermanent(ladderOf(k))
		w, energy, at := make([]float64, k), make([]float64, k), make([]int, k)
		check := func(name string) {
			t.Helper()
			p.set(energy)
			p.weights(w)
			sum := 0.0
			for i, x := range w {
				if !(x >= 0 && x <= 1+1e-12) {
					t.Errorf("K = %d, %s: weight %d is %v, want 0 to %v", k, name, i, x, 1+1e-12)
				}
				sum += x
			}
			near(t, name+": sum of weights", sum, 1, 1e-12) // K² rounding errors of 2⁻⁵³
			// The ends and the middle of the range of a uniform variate.
			for _, u := range []float64{0x1p-53, 0.5, 1 - 0x1p-53} {
				p.draw(at, func(int) float64 { return u })
				seen := slices.Sorted(slices.Values(at))
				for i, x := range seen {
					if i != x {
						t.Fatalf("K = %d, %s: %v is not a permutation, got %v, want %v", k, name, at, i, x)
					}
				}
			}
		}
		check("equal energies")
		for _, x := range w {
			near(t, "weight of equal energies", x, 1/float64(k), 1e-14) // K rounding errors of 2⁻⁵³ in each of K! terms
		}
		for _, scale := range []float64{1, 1000, 1e6} {
			for i := range energy {
				energy[i] = scale * r.NormFloat64()
			}
			check(fmt.Sprint("scale ", scale))
		}
		for i := range energy {
			energy[i] = 1e6 * float64(1-2*(i%2))
		}
		check("gaps of 2·10⁶")
		// All weight is on the odd particles, equally, because they have the least energy.
		for i, x := range w {
			want := float64(i%2) / float64(k/2)
			near(t, "weight beside a gap", x, want, 1e-9) // exponents of 10⁶ have rounding errors of 10⁻¹⁰
		}
	}
}

// A constant added to all energies changes the results by rounding errors only.
func TestPermanentOfShiftedEnergies(t *testing.T) {
	r := rbm.NewKey(4).Rand()
	const k = 7
	p := newPermanent(ladderOf(k))
	energy, want, got := make([]float64, k), make([]float64, k), make([]float64, k)
	for i := range energy {
		energy[i] = 3 * r.NormFloat64()
	}
	p.set(energy)
	p.weights(want)
	for _, shift := range []float64{1, -40, 1000, -1e5} {
		moved := slices.Clone(energy)
		for i := range moved {
			moved[i] += shift
		}
		p.set(moved)
		p.weights(got)
		for i := range got {
			near(t, fmt.Sprint("weight after a shift of ", shift), got[i], want[i], 2*rounding(k, math.Abs(shift)+10)*want[i])
		}
	}
}
