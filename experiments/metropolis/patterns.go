package main

import (
	"context"
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gorbm/experiments/internal/figures"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/train/plots"
)

// figureA3 is the counter-example of stripes, and figureA4 that of triangles.
var (
	figureA3 = patternFigure("A.3", "horizontal stripes", stripes, mcmc.Chessboard, []string{"4x4", "4x6", "6x6", "8x8"})
	figureA4 = patternFigure("A.4", "triangle", triangle, mcmc.Linear, []string{"4x4", "3x3", "5x5", "8x8"})
)

// patternFigure returns the figure of a pattern on lattices of the given sizes. The picture shows the first size.
func patternFigure(name, pattern string, up func(x, y int) bool, order mcmc.Order, sizes []string) figures.Figure {
	return figures.Figure{
		Name:   name,
		Jobs:   func(o figures.Options) []figures.Job { return patternJobs(o, order, up, sizes) },
		Claims: func(t *figures.Table) []figures.Claim { return patternClaims(t, pattern, order == mcmc.Chessboard) },
		Draw:   drawPatterns,
	}
}

// stripes is up in every second row.
func stripes(_, y int) bool { return y%2 == 0 }

// triangle is up on the diagonal and to its right.
func triangle(x, y int) bool { return x >= y }

// Panels of a pattern: the states of a run, and the number of sweeps that end in the pattern or its complement.
const (
	statePanel  = "state"
	sweepsPanel = "sweeps"
)

// drawnSide is the side of the lattices that are drawn.
const drawnSide = 4

// patternJobs returns jobs that run Metropolis and the modified operator from a pattern.
func patternJobs(o figures.Options, order mcmc.Order, up func(x, y int) bool, sizes []string) (jobs []figures.Job) {
	sweeps := figures.Size(o, 20, 1000)
	for i, size := range sizes {
		for seed := 1; seed <= figures.Size(o, 3, 20); seed++ {
			for _, m := range samplers[1:] {
				jobs = append(jobs, figures.Job{Name: fmt.Sprintf("%s %s, seed %d, %d sweeps", m.name, size, seed, sweeps), Repeat: seed, Run: func(_ context.Context, add figures.Add) error {
					return runPattern(size, m, order, up, sweeps, seed, i == 0 && m.name == metropolis && seed == 1, add)
				}})
			}
		}
	}
	return jobs
}

// runPattern counts the sweeps after which the state is as expected: the pattern after an even number
// of sweeps, and its complement after an odd number. With keep it also adds the states.
func runPattern(size string, m sampler, order mcmc.Order, up func(x, y int) bool, sweeps, seed int, keep bool, add figures.Add) error {
	const j = 0.5 // has no effect on Metropolis here, because no flip changes the energy
	g, err := mcmc.ParseGraph(size, true, mcmc.Uniform(j), 0)
	if err != nil {
		return err
	}
	var side, height int
	fmt.Sscanf(size, "%dx%d", &side, &height)
	pattern := make([]uint8, g.Len())
	for i := range pattern {
		if up(i%side, i/side) {
			pattern[i] = 1
		}
	}
	s := mcmc.NewIsing(g, pattern)
	halves, err := bindHalves(s, m.mover(mcmc.Linear), order, side)
	if err != nil {
		return err
	}
	r := rbm.NewKey(uint64(seed)).Rand()
	record := func(half int) {
		for i, x := range s.State() {
			add(statePanel, fmt.Sprint(half), float64(i), float64(x))
		}
	}
	stays := 0
	for sweep := range sweeps {
		if keep && sweep == 0 {
			record(0)
		}
		for h, c := range halves {
			c.Move(r)
			if keep && sweep < 2 {
				record(2*sweep + h + 1)
			}
		}
		same := slices.Equal(s.State(), pattern)
		opposite := true
		for i, x := range s.State() {
			opposite = opposite && x != pattern[i]
		}
		if sweep%2 == 0 && opposite || sweep%2 == 1 && same {
			stays++
		}
	}
	add(sweepsPanel, m.name+" "+size, float64(sweeps), float64(stays))
	return nil
}

// bindHalves returns the chains of the two halves of a sweep: the two
// colours of a chessboard, or the upper and the lower rows.
func bindHalves(s *mcmc.Ising, m mcmc.Mover, order mcmc.Order, side int) (chains [2]mcmc.Chain, err error) {
	var sites [2][]int32
	n := s.Len()
	for i := range n {
		half := 0
		if order == mcmc.Chessboard && (i%side+i/side)%2 == 1 || order == mcmc.Linear && i >= n/2 {
			half = 1
		}
		sites[half] = append(sites[half], int32(i))
	}
	for h := range chains {
		if chains[h], err = m.Bind(s, 1, sites[h]); err != nil {
			return chains, err
		}
	}
	return chains, nil
}

// tally counts the sweeps and runs of a sampler. kept is the number of sweeps that ended as expected, and left the number
// of runs that left the pattern.
func tally(t *figures.Table, sampler string) (kept, sweeps float64, runs, left int) {
	for _, name := range t.Curves(sweepsPanel) {
		if !strings.HasPrefix(name, sampler+" ") {
			continue
		}
		for _, p := range t.Curve(sweepsPanel, name) {
			kept += p.Y
			sweeps += p.X
			runs++
			if p.Y < p.X {
				left++
			}
		}
	}
	return kept, sweeps, runs, left
}

func patternClaims(t *figures.Table, what string, halves bool) (all []figures.Claim) {
	if halves {
		state := t.Curve(statePanel, "1")
		vertical := true
		for i, p := range state[:len(state)-drawnSide] {
			vertical = vertical && p.Y == state[i+drawnSide].Y && (i%drawnSide == 0 || p.Y != state[i-1].Y)
		}
		all = append(all, figures.Holds("after half a sweep the stripes are vertical", vertical, 1, "4×4, as in the picture: %v", vertical))
	}
	for _, m := range samplers[1:] {
		kept, sweeps, runs, left := tally(t, m.name)
		if m.name == metropolis {
			all = append(all, figures.Holds("Metropolis alternates between the "+what+" and the complement for ever", kept == sweeps, kept/sweeps,
				"in %.0f of %.0f sweeps, in %d runs on four lattices", kept, sweeps, runs))
		} else {
			all = append(all, figures.Holds("the modified operator leaves the pattern", left == runs, float64(left), "in %d of %d runs", left, runs))
		}
	}
	return all
}

// drawPatterns draws the states of the first run side by side.
func drawPatterns(w io.Writer, t *figures.Table) error {
	var row []*plots.Plot
	for k, title := range []string{"start", "after ½ sweep", "after 1 sweep", "after 1½ sweeps", "after 2 sweeps"} {
		points := t.Curve(statePanel, fmt.Sprint(k))
		row = append(row, squares(title, len(points)/drawnSide, drawnSide, func(x, y int) color.Color {
			if points[y*drawnSide+x].Y == 1 {
				return plots.Colors[0]
			}
			return color.White
		}))
	}
	return plots.Grid([][]*plots.Plot{row}, 5*vg.Centimeter, 5.6*vg.Centimeter).Write(w, plots.PNG)
}

// squares draws a table of squares, the first row on top.
func squares(title string, rows, cols int, ink func(x, y int) color.Color) *plots.Plot {
	p := plots.New("", "")
	p.Title.Text = title
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.1, float64(cols)+0.1, -0.1, float64(rows)+0.1
	for y := range rows {
		for x := range cols {
			left, low := float64(x), float64(rows-1-y)
			corners := plotter.XYs{{X: left, Y: low}, {X: left + 1, Y: low}, {X: left + 1, Y: low + 1}, {X: left, Y: low + 1}}
			square, _ := plotter.NewPolygon(corners) // the error is only for points that are not finite
			square.Color = ink(x, y)
			square.LineStyle = draw.LineStyle{Color: color.Gray{Y: 0x80}, Width: vg.Points(0.7)}
			p.Add(square)
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(nil), plot.ConstantTicks(nil)
	return p
}
