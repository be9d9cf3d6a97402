package main

import (
	"context"
	"fmt"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/training"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A system is an Ising system or the RBM.
type system struct {
	chains.Label
	lattice string // "": an RBM
	coupled func(key rbm.Key) mcmc.Couplings
	fields  bool // random fields of ±1
	free    bool // free boundary
	beta    float64
	// Settings of SARDONICS by the paper's Table II, with k and N rounded.
	k, gamma, walks, mix string
}

func ferro(temperature float64) system {
	return system{Label: chains.Label(fmt.Sprintf("T = %g", temperature)), lattice: "60x60", beta: 1 / temperature,
		coupled: func(rbm.Key) mcmc.Couplings { return mcmc.Uniform(1) },
		k:       "56-91", gamma: "1.002/1.029", walks: "2", mix: ".385/.371/.243"}
}

func plusMinus(key rbm.Key) mcmc.Couplings { return mcmc.PlusMinus(1, key) }

// between returns couplings that are uniform between −1 and 1.
func between(key rbm.Key) mcmc.Couplings {
	return func(n int) []float64 {
		r := key.Rand()
		c := make([]float64, n)
		for k := range c {
			c[k] = 2*r.Float64() - 1
		}
		return c
	}
}

// The systems of section 5. The paper does not give the distribution of the couplings of the chimera lattice. In the
// authors' files they are uniform between −1 and 1, and the boundary is free.
var (
	frustrated = system{Label: "frustrated 2D", lattice: "60x60", coupled: plusMinus, fields: true, beta: 1,
		k: "63-91", gamma: "1.04/1.082", walks: "3", mix: ".208/.674/.119"}
	cube = system{Label: "cube", lattice: "9x9x9", coupled: plusMinus, beta: 1,
		k: "4-30", gamma: "1.039/1.134", walks: "3", mix: ".616/.231/.153"}
	chimera = system{Label: "chimera", lattice: "chimera:4", free: true, coupled: between, beta: 1,
		k: "4-20", gamma: "1.043/1.139", walks: "4", mix: ".397/.324/.279"}
	machine = system{Label: "RBM", beta: 1, k: "18-50", gamma: "1.029", walks: "1", mix: "1/0/0"}
)

// A copies makes copies of a system.
type copies struct {
	build func() mcmc.Settable
	// ising makes copies of the system as an Ising system, whose energies differ by a
	// constant. For a lattice it equals build.
	ising  func() mcmc.Settable
	graph  *mcmc.Graph // graph of a lattice
	hidden int         // index of the first hidden unit; 0 for a lattice
}

// make returns functions that make copies of the system.
func (s system) make(ctx context.Context, p *programs, quick bool) (copies, error) {
	if s.lattice == "" {
		m, err := p.rbm(ctx, quick)
		if err != nil {
			return copies{}, err
		}
		parameters := mcmc.NewParameters(m)
		return copies{
			build: func() mcmc.Settable { return mcmc.NewRBM(parameters) },
			ising: func() mcmc.Settable {
				g, err := spins(m)
				if err != nil {
					panic(err) // parameters are finite
				}
				return mcmc.NewIsing(g, nil)
			},
			hidden: m.Visible(),
		}, nil
	}
	text := s.lattice
	if quick {
		text = small[text]
	}
	key := rbm.NewKey(1)
	g, err := mcmc.ParseGraph(text, !s.free, s.coupled(key), 0)
	if err != nil {
		return copies{}, err
	}
	if s.fields {
		if g, err = withFields(g, key.Child(1)); err != nil {
			return copies{}, err
		}
	}
	build := func() mcmc.Settable { return mcmc.NewIsing(g, nil) }
	return copies{build: build, ising: build, graph: g}, nil
}

// withFields returns g with fields of ±1, by fair coins.
func withFields(g *mcmc.Graph, key rbm.Key) (*mcmc.Graph, error) {
	r := key.Rand()
	field := make([]float64, g.Len())
	var edges []mcmc.Edge
	for i := range field {
		field[i] = float64(2*r.IntN(2) - 1)
		neighbors, couplings := g.Neighbors(i)
		for k, j := range neighbors {
			if int(j) > i {
				edges = append(edges, mcmc.Edge{I: int32(i), J: j, Coupling: couplings[k]})
			}
		}
	}
	return mcmc.NewGraph(field, edges)
}

// spins returns an RBM as an Ising system, visible units first. With v = (1+s)/2 a weight w
// couples two spins by w/4 and adds w/4 to the fields of both, and a bias b adds b/2 to a field.
func spins(m *rbm.RBM) (*mcmc.Graph, error) {
	n := m.Visible()
	field := make([]float64, n+m.Hidden())
	for i, b := range m.VisibleBias {
		field[i] = float64(b) / 2
	}
	for j, b := range m.HiddenBias {
		field[n+j] = float64(b) / 2
	}
	edges := make([]mcmc.Edge, 0, n*m.Hidden())
	for i := range n {
		for j := range m.Hidden() {
			w := float64(m.Weight(i, j)) / 4
			field[i] += w
			field[n+j] += w
			edges = append(edges, mcmc.Edge{I: int32(i), J: int32(n + j), Coupling: w})
		}
	}
	return mcmc.NewGraph(field, edges)
}

// rbm returns the model of -model, or a model trained on the built-in digits by persistent
// chains, with fewer units for quick.
func (p *programs) rbm(ctx context.Context, quick bool) (*rbm.RBM, error) {
	p.load.Do(func() {
		if p.model != "" && !quick {
			p.machine, _, p.loadErr = cli.ReadModel(&p.model)
			return
		}
		rows, hidden, steps := 5000, 500, 3000
		if quick {
			rows, hidden, steps = 200, 10, 20
		}
		set, err := training.Load(ctx, fmt.Sprintf("fontdigits:%d", rows), "")
		if err != nil {
			p.loadErr = err
			return
		}
		t, err := training.Recipe{Negative: "pcd:chains=50", Hidden: hidden, LogOdds: true, Rate: 0.05, Batch: 50}.Trainer(set, 1)
		if err != nil {
			p.loadErr = err
			return
		}
		p.machine, p.loadErr = t.Model(), t.Run(ctx, steps)
	})
	return p.machine, p.loadErr
}

// tableII returns SARDONICS as text, with the settings of the paper's Table II. Without walks it has one walk
// in each half of a move, and without mix one bias; with neither it is "pure".
func (s system) tableII(walks, mix bool) string {
	if !walks {
		s.walks = "1"
	}
	if !mix {
		s.mix = "1/0/0"
	}
	return "sardonics:k=" + s.k + ":gamma=" + s.gamma + ":walks=" + s.walks + ":mix=" + s.mix
}

// settings returns the sampler that tableII describes.
func (s system) settings(walks, mix bool) mcmc.Mover {
	m, err := mcmc.ParseMover(s.tableII(walks, mix), mcmc.Linear)
	if err != nil {
		panic(err) // a constant of this file
	}
	return m
}

// shortened returns m with walks short enough for n units, for -quick.
func shortened(m mcmc.Mover, n int) mcmc.Mover {
	if s, ok := m.(mcmc.Sardonics); ok {
		s.MinLength, s.MaxLength = min(s.MinLength, n/8), min(s.MaxLength, n/4)
		return s
	}
	return m
}

// random returns the state from which samplers of a contest start. As in the program of the paper's authors, half of the spins
// are up, or a third of the units on.
func (s system) random(c copies, seed int) ([]uint8, error) {
	x := c.build()
	active := x.Len() / 2
	if c.hidden > 0 {
		active = x.Len() / 3
	}
	return chains.Relaxed(x, mcmc.Gibbs{}, s.beta, active, 0, rbm.NewKey(uint64(seed)).Child(0))
}

// begin returns copies of the system, and a state after 100 sweeps of Gibbs, from which samplers with given settings start.
// The long walks of Table II are hardly ever accepted in a random state.
func (s system) begin(ctx context.Context, p *programs, seed int, quick bool) (c copies, start []uint8, err error) {
	const sweeps = 100
	if c, err = s.make(ctx, p, quick); err == nil {
		start, err = chains.Relaxed(c.build(), mcmc.Gibbs{}, s.beta, 0, sweeps, rbm.NewKey(uint64(seed)).Child(0))
	}
	return c, start, err
}
