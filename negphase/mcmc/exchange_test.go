package mcmc

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm"
)

// exchangeKernel returns the transition matrix of one attempt of c on s, over the states
// that can be reached from x: the same number of the chain's sites on, and
// the same bits elsewhere. chanceOf, if not nil, replaces the acceptance probability of a pair.
func exchangeKernel(s *Ising, c *exchange, x []uint8, chanceOf func(i, j int32) chance) (codes []int, k *mat.Dense) {
	n := s.Len()
	free := 0
	for _, i := range c.slots {
		free |= 1 << i
	}
	on := func(state []uint8) (n int) {
		for _, i := range c.slots {
			n += int(state[i])
		}
		return n
	}
	for y := range 1 << n {
		if (y^codeOf(x))&^free == 0 && on(stateOf(y, n)) == on(x) {
			codes = append(codes, y)
		}
	}
	k = mat.NewDense(len(codes), len(codes), nil)
	for row, y := range codes {
		s.SetState(stateOf(y, n))
		c.Reset()
		up, down := c.slots[:c.on], c.slots[c.on:]
		stay := 1.0
		for _, i := range up {
			for _, j := range down {
				p := float64(chanceOf(i, j)) * 0x1p-53 / float64(len(up)*len(down))
				k.Set(row, slices.Index(codes, y^1<<i^1<<j), p)
				stay -= p
			}
		}
		k.Set(row, row, stay)
	}
	return codes, k
}

func TestExchangesAreInDetailedBalance(t *testing.T) {
	const beta = 0.6
	for name, g := range graphs(t) {
		n := g.Len()
		energy := energies(g)
		for _, sites := range [][]int32{everySite(n), {0, 3, 1}} {
			for active := 1; active < len(sites); active++ {
				x := stateOf(0b100100, n)
				for k, i := range sites {
					x[i] = 0
					if k < active {
						x[i] = 1
					}
				}
				s := NewIsing(g, x)
				chain := must(Exchange{}.Bind(s, beta, sites))(t).(*exchange)
				codes, k := exchangeKernel(s, chain, x, chain.chance)
				var shell []float64
				for _, y := range codes {
					shell = append(shell, energy[y])
				}
				pi := boltzmann(shell, beta)
				if d := max(imbalance(pi, k), drift(pi, k)); d > exact {
					t.Errorf("%s, %d of %d: out of balance by %g, want at most %g", name, active, len(sites), d, exact)
				}
			}
		}
	}
}

// Without the coupling of the pair, a classic mistake, detailed balance is violated.
func TestExchangeWithoutTheCouplingIsFound(t *testing.T) {
	const beta = 0.6
	g := integerGraph(t, 5, 1)
	x := stateOf(0b00011, 5)
	s := NewIsing(g, x)
	c := must(Exchange{}.Bind(s, beta, nil))(t).(*exchange)
	codes, k := exchangeKernel(s, c, x, func(i, j int32) chance {
		return c.table[s.halfCost(int(i))+s.halfCost(int(j))+c.reach]
	})
	var shell []float64
	for _, y := range codes {
		shell = append(shell, energies(g)[y])
	}
	if d := imbalance(boltzmann(shell, beta), k); d < broken {
		t.Errorf("out of balance by %g only", d)
	}
}

// Two sites of equal energy swap at each attempt. With two attempts per move the state never changes.
func TestExchangeWarnsOfTwoSites(t *testing.T) {
	for _, c := range []struct {
		field []float64
		warns bool
	}{{[]float64{1, 1}, true}, {[]float64{1, 2}, false}, {[]float64{0, 0, 0}, false}} {
		x := make([]uint8, len(c.field))
		x[0] = 1
		s := NewIsing(must(NewGraph(c.field, nil))(t), x)
		chain := must(Exchange{}.Bind(s, 1, nil))(t)
		if w := chain.(Warner).Warning(); (w != "") != c.warns {
			t.Errorf("fields %v: warning %q", c.field, w)
		}
		moved, r := false, rbm.NewKey(1).Rand()
		for range 100 {
			chain.Move(r)
			moved = moved || s.State()[0] == 0
		}
		if moved == c.warns {
			t.Errorf("fields %v: the state changes: %v", c.field, moved)
		}
	}
}

// A chain that was reset to a state without a pair to exchange does not move.
func TestExchangeOffItsShell(t *testing.T) {
	s := NewIsing(lattice(t, "3x3", Uniform(1), 0), stateOf(0b1111, 9))
	chain := must(Exchange{}.Bind(s, 1, nil))(t)
	s.SetState(make([]uint8, 9))
	chain.Reset()
	if info := chain.Move(rbm.NewKey(1).Rand()); info.Flips != 0 || sum(s.State()) != 0 {
		t.Errorf("%+v", info)
	}
}

// chance returns the probability that the exchange of sites i and j is accepted.
func (c *exchange) chance(i, j int32) chance {
	if c.table != nil {
		return c.table[c.halfCost(i, j)+c.reach]
	}
	return chanceOf(c.accept.p(c.beta * c.pairCost(i, j)))
}
