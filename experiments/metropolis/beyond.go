package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// named are the graphs of figure graphs.
type named struct {
	list []string
	mine bool // named on the command line
}

// defaultGraphs are a ring, tori and free lattices, a cell of a Chimera graph and
// two cells.
var defaultGraphs = []string{"12", "2x6", "3x4", "3x4:free", "chimera:1x1x6:free", "chimera:1x2x3:free"}

func (n *named) set(text string) error {
	n.list, n.mine = strings.Split(text, ","), true
	for _, name := range n.list {
		if _, err := readGraph(name, 1); err != nil {
			return err
		}
	}
	return nil
}

// readGraph returns a graph with all couplings times j: of a lattice, whose
// couplings are 1, or of a file.
func readGraph(name string, j float64) (*mcmc.Graph, error) {
	text, free := strings.CutSuffix(name, ":free")
	g, err := lattice(text, !free, j)
	if errors.Is(err, mcmc.ErrSpec) {
		g, err = mcmc.ReadGraphFile(name)
		if err != nil {
			return nil, err
		}
		g, err = scaled(g, j)
	}
	if err != nil {
		return nil, err
	}
	if g.Len() > mcmc.MaxMatrixSpins {
		return nil, fmt.Errorf("graph %s has %d spins; at most %d here", name, g.Len(), mcmc.MaxMatrixSpins)
	}
	return g, nil
}

// scaled returns g with all fields and couplings times j.
func scaled(g *mcmc.Graph, j float64) (*mcmc.Graph, error) {
	field := make([]float64, g.Len())
	var edges []mcmc.Edge
	for i := range field {
		field[i] = j * g.Field(i)
		to, c := g.Neighbors(i)
		for k, other := range to {
			if int(other) > i {
				edges = append(edges, mcmc.Edge{I: int32(i), J: other, Coupling: j * c[k]})
			}
		}
	}
	return mcmc.NewGraph(field, edges)
}

// figure is the figure of the graphs.
func (n *named) figure() claims.Figure {
	return claims.Figure{
		Name:  "graphs",
		Title: "spectral gaps of graphs of up to 12 spins, linear order",
		Says:  "Does Metropolis in a fixed order converge on other graphs, and is the modified operator then as fast? `-graph 2x5,file.txt -out DIR` names others.",
		Ours:  true,
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			list := n.list
			if o.Quick && !n.mine {
				list = []string{"6", "2x3", "chimera:1x1x3:free"}
			}
			for _, name := range list {
				for _, j := range couplings(o) {
					if !o.Quick && math.Mod(math.Round(1000*j), 50) != 0 {
						continue // every second coupling of Figure 2
					}
					jobs = append(jobs, claims.Job{Name: fmt.Sprintf("%s J=%g", name, j), Run: func(context.Context) ([]claims.Point, error) {
						g, err := readGraph(name, j)
						if err != nil {
							return nil, err
						}
						return gaps(name, mcmc.NewIsing(g, nil), mcmc.Linear, nil, j, 0)
					}})
				}
			}
			return jobs
		},
		Claims: graphClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			var panels []claims.Panel
			for _, name := range panelsOf(t) {
				panels = append(panels, claims.Panel{Name: name, Title: title(name)})
			}
			return drawGaps(w, t, panels)
		},
		Notes: func(*claims.Table) string {
			return "Which transitions are possible decides exactly whether a sweep converges, however small the gap is. A gap below 1e-12, the size of rounding errors, is given as 1e-12 if it converges; which sampler is faster is not known there."
		},
	}
}

func title(name string) string {
	text, free := strings.CutSuffix(name, ":free")
	if _, err := mcmc.ParseLattice(text, !free); errors.Is(err, mcmc.ErrSpec) {
		return name
	}
	if free {
		return text + ", free"
	}
	return text + ", periodic"
}

// panelsOf returns the panels of a table, in order of appearance.
func panelsOf(t *claims.Table) (names []string) {
	for p := range t.All {
		if !slices.Contains(names, p.Panel) {
			names = append(names, p.Panel)
		}
	}
	return names
}

func graphClaims(t *claims.Table) (all []claims.Claim) {
	for _, name := range panelsOf(t) {
		low, _ := curve(t, name, modified).extremes()
		_, high := curve(t, name, metropolis).extremes()
		g, m := curve(t, name, gibbs), curve(t, name, modified)
		better := where(func(j float64) bool { return m[j] > g[j]*(1+1e-9) }, g)
		state := "Metropolis converges"
		if high == 0 {
			state = "Metropolis never converges"
		}
		all = append(all, claims.Holds(title(name)+": the modified operator converges at every J", low > 0, low,
			"smallest gap %.3g; %s; the modified operator is faster than Gibbs %s", low, state, span(better)))
	}
	return all
}

// sizes are gaps of lattices up to 2²⁰ states.
var sizes = claims.Figure{
	Name:  "sizes",
	Title: "spectral gaps against the number of spins, up to 2²⁰ states",
	Says:  "Does what Figure 2 shows of 9 spins hold up to 20? Periodic lattices in linear order, by Arnoldi's iteration.",
	Ours:  true,
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		for _, size := range claims.Size(o, []string{"2x3", "3x3"}, []string{"2x3", "2x4", "3x3", "2x5", "3x4", "2x7", "3x5", "4x4", "3x6", "4x5"}) {
			for _, j := range []float64{0.2, 0.4, 0.6} {
				jobs = append(jobs, sizeJob(size, j))
			}
		}
		return jobs
	},
	Claims: sizeClaims,
	Draw: func(w io.Writer, t *claims.Table) error {
		var panels []claims.Panel
		for _, name := range panelsOf(t) {
			panels = append(panels, claims.Panel{Name: name, Title: name, X: "spins", Y: "spectral gap", LogY: true, Dots: true})
		}
		return claims.Curves(w, t, 3, panels, samplerNames())
	},
	Notes: func(t *claims.Table) string {
		return "Where Metropolis is reducible its gap is 0 and it has no dot. Lattices in order of their spins: 2×3, 2×4, 3×3, 2×5, 3×4, 2×7, 3×5, 4×4, 3×6, 4×5. On a periodic side of two the bonds are double."
	},
}

func sizeJob(size string, j float64) claims.Job {
	return claims.Job{Name: fmt.Sprintf("%s J=%g", size, j), Run: func(context.Context) ([]claims.Point, error) {
		g, err := lattice(size, true, j)
		if err != nil {
			return nil, err
		}
		return gaps(fmt.Sprintf("J = %g", j), mcmc.NewIsing(g, nil), mcmc.Linear, nil, float64(g.Len()), 0)
	}}
}

func sizeClaims(t *claims.Table) (all []claims.Claim) {
	for _, panel := range panelsOf(t) {
		m, g := curve(t, panel, modified), curve(t, panel, gibbs)
		low, _ := m.extremes()
		faster := where(func(n float64) bool { return m[n] > g[n] }, m)
		all = append(all, claims.Holds("the modified operator converges on all lattices at "+panel, low > 0, low,
			"smallest gap %.3g; it is faster than Gibbs on %d of %d lattices", low, len(faster), len(m)))
	}
	return all
}

// layers are gaps of RBMs that are updated layer by layer.
var layers = claims.Figure{
	Name:  "layers",
	Title: "spectral gaps of an RBM whose layers are updated in turn",
	Says:  "Is the order of an RBM's block Gibbs sampling, all hidden units and then all visible ones, a fixed order that Metropolis fails in, and is the modified operator (flip-the-state) faster than Gibbs?",
	Ours:  true,
	Jobs: func(o claims.Options) (jobs []claims.Job) {
		for _, w := range claims.Size(o, []float64{0, 1, 3}, []float64{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4}) {
			jobs = append(jobs, layerJob(uniformWeights, 4, 4, w, 0))
		}
		for seed := 1; seed <= cmp.Or(o.Repeats, claims.Size(o, 3, 20)); seed++ {
			for _, w := range claims.Size(o, []float64{1, 3}, []float64{0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4}) {
				jobs = append(jobs, layerJob(randomWeights, claims.Size(o, 3, 5), claims.Size(o, 3, 5), w, seed))
			}
		}
		return jobs
	},
	Claims: layerClaims,
	Draw: func(w io.Writer, t *claims.Table) error {
		return claims.Curves(w, t, 2, []claims.Panel{
			{Name: uniformWeights, Title: "all weights equal, fields balanced", X: "weight w", Y: "spectral gap", Low: 0, High: 1, Dots: true},
			{Name: randomWeights, Title: "normal weights and biases", X: "standard deviation of the weights", Y: "spectral gap", Low: 0, High: 1, Dots: true},
		}, samplerNames())
	},
	Notes: func(*claims.Table) string {
		return "With random weights the curve of Metropolis lies under that of the modified operator. Both are updated layer by layer; the modified operator then is flip-the-state (Brügge, Fischer & Igel 2013)."
	},
}

const (
	uniformWeights = "uniform"
	randomWeights  = "random"
)

// layerJob computes the gaps of an RBM. Uniform weights w have the biases −w/2
// times the units of the other layer, so that with spins there is no field, and
// flips that cost nothing occur in layers of even size. Random ones have biases of
// the same deviation.
func layerJob(kind string, visible, hidden int, w float64, seed int) claims.Job {
	return claims.Job{Name: fmt.Sprintf("%s %d+%d w=%g, seed %d", kind, visible, hidden, w, seed), Run: func(context.Context) ([]claims.Point, error) {
		m := rbm.New(visible, hidden, 0, rbm.Softmax)
		if kind == randomWeights {
			m.Randomize(w, rbm.NewKey(uint64(seed)))
		} else {
			weights := rbm.NewMatrix(visible, hidden)
			for k := range weights.Data {
				weights.Data[k] = float32(w)
			}
			m.SetWeights(weights)
			for i := range m.VisibleBias {
				m.VisibleBias[i] = float32(-w * float64(hidden) / 2)
			}
			for j := range m.HiddenBias {
				m.HiddenBias[j] = float32(-w * float64(visible) / 2)
			}
		}
		var sites []int32
		for j := range hidden {
			sites = append(sites, int32(visible+j))
		}
		for i := range visible {
			sites = append(sites, int32(i))
		}
		return gaps(kind, mcmc.NewRBM(mcmc.NewParameters(m)), mcmc.Linear, sites, w, seed)
	}}
}

func layerClaims(t *claims.Table) (all []claims.Claim) {
	_, high := curve(t, uniformWeights, metropolis).extremes()
	low, _ := curve(t, uniformWeights, modified).extremes()
	all = append(all,
		claims.Holds("equal weights, layers of four units: Metropolis layer by layer never converges", high == 0, high, "largest gap %g", high),
		claims.Holds("equal weights: flip-the-state converges at every w", low > 0, low, "smallest gap %.3g", low))
	worst := 0.0
	for _, w := range t.Xs(randomWeights, metropolis) {
		m, f := t.At(randomWeights, metropolis, w), t.At(randomWeights, modified, w)
		for r := range m {
			worst = max(worst, math.Abs(m[r]-f[r]))
		}
	}
	all = append(all, claims.Holds("random weights: no flip costs exactly nothing, so Metropolis and flip-the-state are one (Corollary 1)", worst < 1e-9, worst, "largest difference of two gaps %.2g", worst))
	for _, w := range t.Xs(randomWeights, gibbs) {
		if w != math.Trunc(w) {
			continue
		}
		all = append(all, claims.Larger(fmt.Sprintf("random weights of deviation %g: flip-the-state is faster than block Gibbs", w), t.At(randomWeights, modified, w), t.At(randomWeights, gibbs, w)))
	}
	return all
}
