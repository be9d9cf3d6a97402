package mcmc

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

var long = flag.Bool("long", false, "test every case, or from more starts, a minute")

// exactStarts is the number of chains that start from the exact distribution. The broken
// movers here then have z of at least 90, and with a tenth of
// the chains at least 16. The limit is 6.
const exactStarts = 100000

// z draws states from the distribution pi over codes, moves each once, and tests the
// new states against the distribution.
func z(t *testing.T, s *Ising, c Chain, starts int, codes []int, pi []float64) float64 {
	t.Helper()
	r := rbm.NewKey(77).Rand()
	index := map[int]int{}
	for k, x := range codes {
		index[x] = k
	}
	counts, sums := make([]int, len(codes)), cumulated(pi)
	for range starts {
		s.SetState(stateOf(codes[pick(sums, r)], s.Len()))
		c.Reset()
		c.Move(r)
		k, ok := index[codeOf(s.State())]
		if !ok {
			t.Fatalf("%b left its states", codeOf(s.State()))
		}
		counts[k]++
	}
	return diag.StationarityZ(counts, pi)
}

// every returns the codes of all states of n bits.
func every(n int) []int {
	all := make([]int, 1<<n)
	for x := range all {
		all[x] = x
	}
	return all
}

func TestMovesLeaveTheLaw(t *testing.T) {
	const beta = 0.5
	starts := exactStarts
	if !*long {
		starts /= 10
	}
	for name, g := range map[string]*Graph{
		"signs":    lattice(t, "3x3", PlusMinus(1, rbm.NewKey(3)), 0),
		"gaussian": lattice(t, "3x3", Gaussian(1, rbm.NewKey(4)), 0.3),
		"field":    lattice(t, "3x3", Uniform(0.5), -0.5),
	} {
		all, pi := every(9), boltzmann(energies(g), beta)
		for _, m := range []Mover{Gibbs{}, Gibbs{Random}, Gibbs{Chessboard}, Metropolis{}, Metropolis{Random}, ModifiedMetropolis{}, SwendsenWang{}, Wolff{1}, Wolff{4}} {
			s := NewIsing(g, nil)
			if z := z(t, s, must(m.Bind(s, beta, nil))(t), starts, all, pi); math.Abs(z) > 6 {
				t.Errorf("%s, %T %+v: z = %.1f, want ±6 at most", name, m, m, z)
			}
			s = NewIsing(g, nil)
			if z := z(t, s, must(m.Bind(s, beta, []int32{7, 1, 2, 4}))(t), starts, all, pi); math.Abs(z) > 6 {
				t.Errorf("%s, %T %+v on some sites: z = %.1f, want ±6 at most", name, m, m, z)
			}
		}
		for _, active := range []int{1, 4, 8} {
			codes, pi := shellDistribution(g, active, beta)
			s := NewIsing(g, stateOf(codes[0], 9))
			chain := must(Exchange{}.Bind(s, beta, nil))(t)
			if z := z(t, s, chain, starts, codes, pi); math.Abs(z) > 6 {
				t.Errorf("%s, exchange of %d: z = %.1f, want ±6 at most", name, active, z)
			}
		}
	}
}

// shellDistribution returns the states with the given number of active bits, and their distribution.
func shellDistribution(g *Graph, active int, beta float64) (codes []int, pi []float64) {
	var energy []float64
	for x := range 1 << g.Len() {
		state := stateOf(x, g.Len())
		d := 0
		for _, b := range state {
			d += int(b)
		}
		if d == active {
			codes, energy = append(codes, x), append(energy, energyOf(g, state))
		}
	}
	return codes, boltzmann(energy, beta)
}

// Broken movers must be detected by the same test, with fewer starts.
func TestBrokenMovesAreFound(t *testing.T) {
	const beta, starts = 0.5, exactStarts / 10
	g := lattice(t, "3x3", Uniform(0.5), -0.5)
	all, pi := every(9), boltzmann(energies(g), beta)
	s := NewIsing(g, nil)

	hot := must(Gibbs{}.Bind(s, 0.9*beta, nil))(t)
	if z := z(t, s, hot, starts, all, pi); z < 6 {
		t.Errorf("Gibbs at a wrong temperature: z = %.1f, want at least 6", z)
	}
	ghostless := must(SwendsenWang{}.Bind(s, beta, nil))(t).(*swendsenWang)
	ghostless.bonds = slices.DeleteFunc(ghostless.bonds, func(b clusterBond) bool { return b.j == 9 })
	if z := z(t, s, ghostless, starts, all, pi); z < 6 {
		t.Errorf("Swendsen–Wang without the ghost: z = %.1f, want at least 6", z)
	}
	unheld := must(Wolff{1}.Bind(s, beta, nil))(t).(*wolff)
	clear(unheld.ghost)
	if z := z(t, s, unheld, starts, all, pi); z < 6 {
		t.Errorf("Wolff without the ghost: z = %.1f, want at least 6", z)
	}
	codes, distribution := shellDistribution(g, 4, beta)
	s = NewIsing(g, stateOf(codes[0], 9))
	e := must(Exchange{}.Bind(s, beta, nil))(t).(*exchange)
	if z := z(t, s, uncoupled{e}, starts, codes, distribution); z < 6 {
		t.Errorf("exchange without the coupling of the pair: z = %.1f, want at least 6", z)
	}
}

// uncoupled is an exchange whose cost lacks the term −4 J_ij s_i s_j.
type uncoupled struct{ *exchange }

func (c uncoupled) Move(r *rand.Rand) (info Info) {
	s := c.ising
	for range c.slots {
		a, b := c.pair(r.Uint64())
		i, j := c.slots[a], c.slots[b]
		if c.table[s.halfCost(int(i))+s.halfCost(int(j))+c.reach].happens(r.Uint64()) {
			s.Flip(int(i))
			s.Flip(int(j))
			c.slots[a], c.slots[b] = j, i
		}
	}
	return info
}

// On the 4×4 torus, the mean energies by Gibbs and Swendsen–Wang are exact within
// three standard errors from 100 batches.
func TestMeanEnergy(t *testing.T) {
	for _, c := range []struct {
		j, field float64
	}{{1, 0}, {1, 0.2}, {-0.5, 0.5}} {
		g := lattice(t, "4x4", Uniform(c.j), c.field)
		want := meanEnergy(g, critical)
		for _, m := range []Mover{Gibbs{}, SwendsenWang{}, Wolff{8}} {
			s := NewIsing(g, nil)
			chain := must(m.Bind(s, critical, nil))(t)
			r := rbm.NewKey(8).Rand()
			var sum, squares float64
			const batches, length = 100, 400
			for range 100 {
				chain.Move(r)
			}
			for range batches {
				var batch float64
				for range length {
					chain.Move(r)
					batch += s.Energy() / length
				}
				sum += batch / batches
				squares += batch * batch / batches
			}
			deviation := math.Sqrt((squares - sum*sum) / (batches - 1))
			if math.Abs(sum-want) > 3*deviation {
				t.Errorf("J = %g, h = %g, %T: mean energy %.4f ± %.4f, want %.4f", c.j, c.field, m, sum, deviation, want)
			}
			// A large standard error must not hide a failure.
			if deviation > 0.3 {
				t.Errorf("J = %g, h = %g, %T: standard error %g, want at most 0.3", c.j, c.field, m, deviation)
			}
		}
	}
}

// meanEnergy enumerates all states, in an order in which successive states differ by one flip.
func meanEnergy(g *Graph, beta float64) float64 {
	s := NewIsing(g, nil)
	least := -float64(g.Edges()+g.Len()) * g.maxField // a lower bound of all energies
	var z, sum float64
	for x := range 1 << g.Len() {
		if x > 0 {
			bit := 0
			for x>>bit&1 == 0 {
				bit++
			}
			s.Flip(bit)
		}
		w := math.Exp(-beta * (s.Energy() - least))
		z += w
		sum += w * s.Energy()
	}
	return sum / z
}

func ExampleSwendsenWang() {
	l, _ := ParseLattice("60x60", true)
	g, _ := l.Graph(Uniform(1), 0)
	s := NewIsing(g, nil)
	chain, _ := SwendsenWang{}.Bind(s, 0.55, nil)
	r := rbm.NewKey(1).Rand()
	var mean float64
	for range 500 {
		chain.Move(r)
		mean += s.Energy() / 500 / float64(s.Len())
	}
	fmt.Printf("energy per spin %.2f\n", mean) // of the infinite lattice: −1.8511 (Onsager 1944)
	// Output:
	// energy per spin -1.85
}
