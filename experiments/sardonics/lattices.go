package main

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/train/plots"
)

// Panels of the lattices.
const (
	bondPanel      = "bonds" // drawn: X and Y are their sites, the curve the sign
	upPanel        = "up"    // X is a site whose spin is up in the state shown
	countPanel     = "sites"
	plaquettePanel = "plaquettes"            // squares of four bonds
	frustratedPart = "frustrated plaquettes" // share of them

	above, below = "above 0", "below 0" // couplings
)

// Greys of sites, and of spins that are down.
var (
	unlit = color.Gray{0x55}
	pale  = color.Gray{0xDD}
)

// drawn are the lattices of the paper's drawings.
var drawn = []system{ferro(2.27), frustrated, cube, chimera}

// corner is how many sites of a side of a square lattice have their bonds drawn.
const corner = 12

// shownMoves is the number of moves before the state that is shown.
const shownMoves = 2000

func lattices(p *programs) claims.Figure {
	return claims.Figure{
		Name: "lattices", Title: "the lattices, with a state of each",
		Says: "the drawings at the top left of figures 2, 6, 9 and 12: the ferromagnet, the frustrated square lattice, the cube, without the bonds across its boundary, and the chimera lattice.",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			for _, s := range drawn {
				jobs = append(jobs, claims.Job{Name: string(s.Label), Run: func(ctx context.Context) ([]claims.Point, error) { return s.state(ctx, p, o.Quick) }})
			}
			return jobs
		},
		Claims: latticeClaims,
		Draw: func(w io.Writer, t *claims.Table) error {
			rows := [][]*plots.Plot{nil, nil}
			for _, s := range drawn {
				if n := s.At(t, countPanel, sardonics); len(n) > 0 {
					sites, _ := n.Average()
					rows[0] = append(rows[0], s.drawBonds(t, int(sites)))
					rows[1] = append(rows[1], s.drawState(t, int(sites)))
				}
			}
			return plots.Grid(rows, 7.5*vg.Centimeter, 7.5*vg.Centimeter).Write(w, plots.PNG)
		},
		Notes: func(*claims.Table) string {
			return fmt.Sprintf("Above: couplings, blue above 0 and orange below, of the square lattices a corner of %d×%d sites; bonds across the boundary are not drawn. "+
				"Below: the state of all sites after %d moves of SARDONICS with the settings of Table II, dark where a spin is up; of the cube, its nine layers.", corner, corner, shownMoves)
		},
	}
}

// side returns the number of sites of a side of a lattice, of the chimera that of its cells.
func (s system) side(sites int) int {
	switch s.lattice {
	case cube.lattice:
		return int(math.Round(math.Cbrt(float64(sites))))
	case chimera.lattice:
		return int(math.Round(math.Sqrt(float64(sites / (2 * shore)))))
	}
	return int(math.Round(math.Sqrt(float64(sites))))
}

// shore is the number of spins of half a cell of the chimera lattice.
const shore = 4

// coordinates returns those of a site (mcmc.Grid, mcmc.Chimera): x, y and z, or the column and
// row of a cell, the half and the spin in it.
func (s system) coordinates(site, side int) (c [4]int) {
	if s.lattice == chimera.lattice {
		cell := site / (2 * shore)
		return [4]int{cell % side, cell / side, site / shore % 2, site % shore}
	}
	return [4]int{site % side, site / side % side, site / (side * side)}
}

// place returns where a site is drawn with its bonds.
func (s system) place(site, side int) plotter.XY {
	c := s.coordinates(site, side)
	x, y := float64(c[0]), float64(c[1])
	switch s.lattice {
	case cube.lattice: // seen from the side
		return plotter.XY{X: x + 0.41*float64(c[2]), Y: y + 0.29*float64(c[2])}
	case chimera.lattice: // cells are crosses, whose halves lead up and down, and left and right
		arm := float64(c[3]) - float64(shore-1)/2
		if c[2] == 0 {
			return plotter.XY{X: 5*x + arm, Y: -5 * y}
		}
		return plotter.XY{X: 5 * x, Y: -5*y + arm}
	}
	return plotter.XY{X: x, Y: y}
}

// inside reports whether a bond is drawn: it does not go across the boundary, and on a square
// lattice both sites are in the corner.
func (s system) inside(i, j, side int) bool {
	a, b := s.coordinates(i, side), s.coordinates(j, side)
	for d := range 3 {
		if s.lattice == chimera.lattice && d == 2 {
			break
		}
		if diff := a[d] - b[d]; diff < -1 || diff > 1 {
			return false
		}
	}
	return s.lattice != frustrated.lattice || max(a[0], a[1], b[0], b[1]) < corner
}

// state returns the bonds of the lattice and a state of it.
func (s system) state(ctx context.Context, p *programs, quick bool) (points []claims.Point, err error) {
	c, err := s.make(ctx, p, quick)
	if err != nil {
		return nil, err
	}
	start, err := s.start(c, 1)
	if err != nil {
		return nil, err
	}
	add := func(panel, curve string, x, y float64) {
		points = append(points, claims.Point{Panel: s.Panel(panel), Curve: curve, Repeat: 1, X: x, Y: y})
	}
	n := len(start)
	side := s.side(n)
	add(countPanel, sardonics, 0, float64(n))
	for i := range n {
		neighbors, couplings := c.graph.Neighbors(i)
		for k, j := range neighbors {
			if int(j) > i && s.inside(i, int(j), side) {
				add(bondPanel, map[bool]string{true: above, false: below}[couplings[k] > 0], float64(i), float64(j))
			}
		}
	}
	if s.lattice == frustrated.lattice {
		count, share := plaquettes(c.graph, side)
		add(plaquettePanel, sardonics, 0, float64(count))
		add(frustratedPart, sardonics, 0, share)
	}
	mover := s.version(full)
	if quick {
		mover = shortened(mover, n)
	}
	x := chains.Onto(c.build, start)
	chain, err := mover.Bind(x, s.beta, nil)
	if err != nil {
		return nil, err
	}
	r := rbm.NewKey(1).Child(9).Rand()
	for range shownMoves {
		chain.Move(r)
	}
	for i, up := range x.State() {
		if up == 1 {
			add(upPanel, sardonics, float64(i), 1)
		}
	}
	return points, nil
}

// plaquettes returns the number of squares of neighbours of a periodic square lattice, and the
// share of those whose four bonds no state satisfies: their couplings have a product below 0.
func plaquettes(g *mcmc.Graph, side int) (count int, share float64) {
	sign := func(i, j int) float64 {
		neighbors, couplings := g.Neighbors(i)
		return couplings[slices.Index(neighbors, int32(j))]
	}
	for y := range side {
		for x := range side {
			at := func(dx, dy int) int { return (x+dx)%side + (y+dy)%side*side }
			count++
			if sign(at(0, 0), at(1, 0))*sign(at(1, 0), at(1, 1))*sign(at(1, 1), at(0, 1))*sign(at(0, 1), at(0, 0)) < 0 {
				share++
			}
		}
	}
	return count, share / float64(count)
}

func latticeClaims(t *claims.Table) (all []claims.Claim) {
	sizes := map[string]float64{"60x60": 3600, "9x9x9": 729, "chimera:4": 128}
	for _, s := range drawn {
		if n := s.At(t, countPanel, sardonics); len(n) > 0 {
			sites, _ := n.Average()
			all = append(all, claims.Holds(fmt.Sprintf("%s: as many spins as in the paper, %.0f", s.Label, sizes[s.lattice]), sites == sizes[s.lattice], sites, "%.0f", sites))
		}
		n := s.At(t, plaquettePanel, sardonics)
		if len(n) == 0 {
			continue
		}
		count, _ := n.Average()
		share, _ := s.At(t, frustratedPart, sardonics).Average()
		if s.fields {
			// The signs of plaquettes are independent but for their product, which is 1.
			stdErr := 0.5 / math.Sqrt(count)
			all = append(all, claims.Holds(s.Panel("half of the plaquettes cannot be satisfied, as with couplings by fair coins"), math.Abs(share-0.5) < claims.Errors*stdErr, share, "%.4f of %.0f; by fair coins 0.5 ± %.4f", share, count, stdErr))
		} else {
			all = append(all, claims.Holds(s.Panel("no plaquette is frustrated"), share == 0, share, "%.0f of %.0f", share*count, count))
		}
	}
	return all
}

// drawBonds draws couplings.
func (s system) drawBonds(t *claims.Table, sites int) *plots.Plot {
	p := plots.New("", "")
	p.Title.Text = string(s.Label)
	p.HideAxes()
	side := s.side(sites)
	for k, curve := range []string{above, below} {
		for _, bond := range t.Curve(s.Panel(bondPanel), curve) {
			ends := plotter.XYs{s.place(int(bond.X), side), s.place(int(bond.Y), side)}
			p.Line(ends, plots.Colors[k], vg.Points(0.8))
		}
	}
	var dots plotter.XYs
	for i := range sites {
		if c := s.coordinates(i, side); s.lattice != frustrated.lattice || max(c[0], c[1]) < corner {
			dots = append(dots, s.place(i, side))
		}
	}
	p.Dots(dots, unlit, vg.Points(1.6))
	return p
}

// drawState draws the spins that are up, and those that are down in grey.
func (s system) drawState(t *claims.Table, sites int) *plots.Plot {
	p := plots.New("", "")
	p.HideAxes()
	side := s.side(sites)
	at := func(i int) plotter.XY {
		if s.lattice != cube.lattice {
			return s.place(i, side)
		}
		c := s.coordinates(i, side)
		across := int(math.Ceil(math.Sqrt(float64(side))))
		return plotter.XY{X: float64(c[2]%across*(side+1) + c[0]), Y: float64(-c[2]/across*(side+1) + c[1])}
	}
	up := map[int]bool{}
	for _, point := range t.Curve(s.Panel(upPanel), sardonics) {
		up[int(point.X)] = true
	}
	var lit, dark plotter.XYs
	for i := range sites {
		if up[i] {
			lit = append(lit, at(i))
		} else {
			dark = append(dark, at(i))
		}
	}
	size := map[string]vg.Length{frustrated.lattice: 1.6, cube.lattice: 3.2, chimera.lattice: 3.5}[s.lattice]
	p.Dots(dark, pale, size).Shape = draw.BoxGlyph{}
	if len(lit) > 0 {
		p.Dots(lit, plots.Colors[0], size).Shape = draw.BoxGlyph{}
	}
	return p
}
