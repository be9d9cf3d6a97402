package binary

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm"
)

// exact is the limit of residuals of whole matrices: 1e-12, of probabilities
// that are rounded to 2⁻⁵³ and summed over at most 2⁶ states.
const exact = 1e-12

// broken is what residuals of wrong movers must exceed: far beyond exact, and
// below what every mistake here was seen to make (4e-4 and more).
const broken = 1e-4

var singleSites = []Mover{
	Gibbs{}, Gibbs{Random}, Metropolis{}, Metropolis{Random}, ModifiedMetropolis{}, ModifiedMetropolis{Random},
}

// imbalance returns the largest |π_x K_xy − π_y K_yx|.
func imbalance(pi []float64, k mat.Matrix) (worst float64) {
	for x := range pi {
		for y := range x {
			worst = max(worst, math.Abs(pi[x]*k.At(x, y)-pi[y]*k.At(y, x)))
		}
	}
	return worst
}

// drift returns the largest |(πK)_y − π_y|, and how far a row's sum is from 1.
func drift(pi []float64, k mat.Matrix) (worst float64) {
	n := len(pi)
	var next, ones mat.VecDense
	next.MulVec(k.T(), mat.NewVecDense(n, pi))
	ones.MulVec(k, mat.NewVecDense(n, slices.Repeat([]float64{1}, n)))
	for x := range pi {
		worst = max(worst, math.Abs(next.AtVec(x)-pi[x]), math.Abs(ones.AtVec(x)-1))
	}
	return worst
}

func TestSweepsLeaveTheLaw(t *testing.T) {
	const beta = 0.7
	for name, g := range graphs(t) {
		pi := boltzmann(energies(g), beta)
		movers := singleSites
		if g.Parity() != nil {
			movers = append(slices.Clone(movers), Gibbs{Chessboard}, Metropolis{Chessboard}, ModifiedMetropolis{Chessboard})
		}
		for _, m := range movers {
			k := must(SweepMatrix(g, m, beta))(t)
			if d := drift(pi, k); d > exact {
				t.Errorf("%s, %T %+v: the law moves by %g", name, m, m, d)
			}
		}
		// A β that is off by a tenth does not leave it, unless all is uniform.
		if d := drift(pi, must(SweepMatrix(g, Gibbs{}, 1.1*beta))(t)); d < broken && g.maxField > 0 {
			t.Errorf("%s: a wrong temperature moves the law by %g only", name, d)
		}
	}
}

// The matrix is the product of the sites' matrices of the papers' formulas.
func TestSweepMatrixIsTheProduct(t *testing.T) {
	const beta = 0.9
	laws := map[string]func(d float64) float64{
		"gibbs":      func(d float64) float64 { return 1 / (1 + math.Exp(beta*d)) },
		"metropolis": func(d float64) float64 { return math.Min(1, math.Exp(-beta*d)) },
		"modified": func(d float64) float64 {
			if math.Abs(d) < 1e-9 {
				return 0.5
			}
			return math.Min(1, math.Exp(-beta*d))
		},
	}
	for name, g := range map[string]*Graph{"real": realGraph(t, 4), "torus": lattice(t, "2x2", Uniform(0.5), 0)} {
		n, energy := g.Len(), energies(g)
		size := 1 << n
		for kind, m := range map[string]func(Order) Mover{
			"gibbs":      func(o Order) Mover { return Gibbs{o} },
			"metropolis": func(o Order) Mover { return Metropolis{o} },
			"modified":   func(o Order) Mover { return ModifiedMetropolis{o} },
		} {
			product, sum := identity(size), mat.NewDense(size, size, nil)
			for i := range n {
				site := mat.NewDense(size, size, nil)
				for x := range size {
					p := laws[kind](energy[x^1<<i] - energy[x])
					site.Set(x, x^1<<i, p)
					site.Set(x, x, 1-p)
				}
				product.Mul(mat.DenseCopyOf(product), site)
				sum.Add(sum, site)
			}
			sum.Scale(1/float64(n), sum)
			var random mat.Dense
			random.Pow(sum, n)
			for order, want := range map[Order]*mat.Dense{Linear: product, Random: &random} {
				if got := must(SweepMatrix(g, m(order), beta))(t); !mat.EqualApprox(got, want, exact) {
					t.Errorf("%s, %s in %v order: not the product", name, kind, order)
				}
			}
		}
	}
}

func identity(n int) *mat.Dense {
	d := mat.NewDense(n, n, nil)
	for i := range n {
		d.Set(i, i, 1)
	}
	return d
}

func TestSweepMatrixErrors(t *testing.T) {
	g := lattice(t, "13", Uniform(1), 0)
	if _, err := SweepMatrix(g, Gibbs{}, 1); err == nil {
		t.Error("a matrix of 13 spins")
	}
	if _, err := SweepMatrix(lattice(t, "3", Uniform(1), 0), SwendsenWang{}, 1); err == nil {
		t.Error("a matrix of sweeps of clusters")
	}
	if _, err := SweepMatrix(lattice(t, "3", Uniform(1), 0), Gibbs{}, math.NaN()); err == nil {
		t.Error("a matrix at a temperature that is no number")
	}
}

// A restricted sweep leaves the law too: its sites' updates do.
func TestSitesLeaveTheLaw(t *testing.T) {
	g := integerGraph(t, 5, 1)
	const beta = 0.4
	pi := boltzmann(energies(g), beta)
	for _, m := range []singleSite{Gibbs{}, Metropolis{}, ModifiedMetropolis{}} {
		s := NewIsing(g, nil)
		c := must(newSweep(s, beta, []int32{3, 1}, m))(t)
		p := flipChances(s, c)
		k := identity(len(pi))
		for x := range pi {
			for _, i := range c.sites {
				update(k.RawRowView(x), p[i], 1<<i)
			}
			for y := range pi {
				if (x^y)&^0b01010 != 0 && k.At(x, y) != 0 {
					t.Fatalf("%T moves other sites: %b to %b", m, x, y)
				}
			}
		}
		if d := drift(pi, k); d > exact {
			t.Errorf("%T: the law moves by %g", m, d)
		}
	}
}

// exchangeKernel returns the matrix of one attempt of c on s, on the states
// that x can reach: the same distance from the reference on the chain's sites,
// the same bits elsewhere. cost, if any, replaces the chance of a pair.
func exchangeKernel(s *Ising, c *exchange, x []uint8, chanceOf func(i, j int32) chance) (codes []int, k *mat.Dense) {
	n := s.Len()
	free := 0
	for _, i := range c.slots {
		free |= 1 << i
	}
	distance := func(state []uint8) (d int) {
		for _, i := range c.slots {
			bit := state[i]
			if c.reference != nil {
				bit ^= c.reference[i]
			}
			d += int(bit)
		}
		return d
	}
	for y := range 1 << n {
		if (y^codeOf(x))&^free == 0 && distance(stateOf(y, n)) == distance(x) {
			codes = append(codes, y)
		}
	}
	k = mat.NewDense(len(codes), len(codes), nil)
	for row, y := range codes {
		s.SetState(stateOf(y, n))
		c.Reset()
		differ, agree := c.slots[:c.differ], c.slots[c.differ:]
		stay := 1.0
		for _, i := range differ {
			for _, j := range agree {
				p := float64(chanceOf(i, j)) * 0x1p-53 / float64(len(differ)*len(agree))
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
	reference := []uint8{0, 1, 1, 0, 1, 0}
	for name, g := range graphs(t) {
		n := g.Len()
		energy := energies(g)
		for _, c := range []struct {
			reference []uint8
			sites     []int32
		}{{nil, nil}, {reference[:n], nil}, {reference[:n], []int32{0, 3, 1}}} {
			sites := n
			if c.sites != nil {
				sites = len(c.sites)
			}
			for active := 1; active < sites; active++ {
				x := stateOf(0b100100, n)
				for k := range sites { // put the sites at the distance
					i := k
					if c.sites != nil {
						i = int(c.sites[k])
					}
					x[i] = 0
					if c.reference != nil {
						x[i] = c.reference[i]
					}
					if k < active {
						x[i] ^= 1
					}
				}
				s := NewIsing(g, x)
				chain := must(Exchange{Reference: c.reference}.Bind(s, beta, c.sites))(t).(*exchange)
				codes, k := exchangeKernel(s, chain, x, chain.chance)
				var shell []float64
				for _, y := range codes {
					shell = append(shell, energy[y])
				}
				pi := boltzmann(shell, beta)
				if d := max(imbalance(pi, k), drift(pi, k)); d > exact {
					t.Errorf("%s, reference %v, %d of %d: out of balance by %g", name, c.reference, active, sites, d)
				}
			}
		}
	}
}

// The classic mistake: without the coupling of the pair the balance is lost.
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

// clusterKernel returns the whole matrix of a Swendsen–Wang chain by listing
// every choice of its bonds and coins.
func clusterKernel(s *Ising, c *swendsenWang) *mat.Dense {
	n := s.Len()
	k := mat.NewDense(1<<n, 1<<n, nil)
	for x := range 1 << n {
		s.SetState(stateOf(x, n))
		c.begin()
		var open []clusterBond
		for _, b := range c.bonds {
			if c.satisfied(&b) {
				open = append(open, b)
			}
		}
		for choice := range 1 << len(open) {
			p := 1.0
			copy(c.cluster, c.alone)
			for i, b := range open {
				if q := float64(b.joins) * 0x1p-53; choice>>i&1 == 1 {
					p *= q
					c.cluster.join(b.i, b.j)
				} else {
					p *= 1 - q
				}
			}
			var flips []int // the sites of each cluster but the ghost's, as masks
			var roots []int32
			for _, i := range c.sites {
				root := c.cluster.root(i)
				if root == c.cluster.root(int32(n)) {
					continue
				}
				at := slices.Index(roots, root)
				if at < 0 {
					at, roots, flips = len(roots), append(roots, root), append(flips, 0)
				}
				flips[at] |= 1 << i
			}
			for coins := range 1 << len(flips) {
				y := x
				for at, mask := range flips {
					if coins>>at&1 == 1 {
						y ^= mask
					}
				}
				k.Set(x, y, k.At(x, y)+p/float64(int(1)<<len(flips)))
			}
		}
	}
	return k
}

func TestClustersAreInDetailedBalance(t *testing.T) {
	const beta = 0.6
	for name, g := range map[string]*Graph{
		"real":     realGraph(t, 4),
		"integer":  integerGraph(t, 4, 1),
		"signs":    lattice(t, "3x2", PlusMinus(1, rbm.NewKey(5)), 0),
		"field":    lattice(t, "2x2", Uniform(-0.5), 0.25),
		"no field": lattice(t, "4", Uniform(1), 0),
	} {
		pi := boltzmann(energies(g), beta)
		for _, sites := range [][]int32{nil, {2, 0}} {
			s := NewIsing(g, nil)
			c := must(SwendsenWang{}.Bind(s, beta, sites))(t).(*swendsenWang)
			if d := max(imbalance(pi, clusterKernel(s, c)), drift(pi, clusterKernel(s, c))); d > exact {
				t.Errorf("%s, sites %v: out of balance by %g", name, sites, d)
			}
		}
	}
}

// Three mistakes: no ghost, bonds of the wrong sign, half of the bonds' β.
func TestBrokenClustersAreFound(t *testing.T) {
	const beta = 0.6
	g := integerGraph(t, 4, 1)
	pi := boltzmann(energies(g), beta)
	for name, breaks := range map[string]func(c *swendsenWang){
		"no ghost": func(c *swendsenWang) {
			c.bonds = slices.DeleteFunc(c.bonds, func(b clusterBond) bool { return int(b.j) == g.Len() })
		},
		"no sign": func(c *swendsenWang) {
			for k := range c.bonds {
				c.bonds[k].unlike = 0
			}
		},
		"half": func(c *swendsenWang) {
			for k, b := range c.bonds {
				c.bonds[k].joins = chanceOf(1 - math.Sqrt(1-float64(b.joins)*0x1p-53))
			}
		},
	} {
		s := NewIsing(g, nil)
		c := must(SwendsenWang{}.Bind(s, beta, nil))(t).(*swendsenWang)
		breaks(c)
		if d := drift(pi, clusterKernel(s, c)); d < broken {
			t.Errorf("%s: the law moves by %g only", name, d)
		}
	}
}

func ExampleSweepMatrix() {
	// Two uncoupled spins: Metropolis in a fixed order flips both, always
	// (the minimal example of Brügge, Fischer & Igel 2020, A.1).
	l, _ := Grid([]int{2}, false)
	g, _ := l.Graph(Uniform(0), 0)
	for _, m := range []Mover{Metropolis{}, ModifiedMetropolis{}} {
		k, _ := SweepMatrix(g, m, 1)
		fmt.Printf("%T from 00: %v\n", m, k.RawRowView(0))
	}
	// Output:
	// binary.Metropolis from 00: [0 0 0 1]
	// binary.ModifiedMetropolis from 00: [0.25 0.25 0.25 0.25]
}
