package main

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot/vg"

	"gorbm/experiments/internal/claims"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/train/plots"
)

// minimal is the minimal example, section A.1.
var minimal = claims.Figure{
	Name:  "minimal",
	Title: "two free spins, section A.1",
	Says:  "With a uniform law on two binary variables, Metropolis in a fixed order goes from (0,0) to (1,1) and back and never reaches (1,0) and (0,1); the modified operator reaches each state.",
	Jobs: func(claims.Options) (jobs []claims.Job) {
		for _, m := range samplers {
			jobs = append(jobs, claims.Job{Name: m.name, Run: func(ctx) ([]claims.Point, error) { return minimalPoints(m) }})
		}
		return jobs
	},
	Claims: func(t *claims.Table) (all []claims.Claim) {
		for _, c := range []struct {
			name, text string
			period     float64
		}{
			{metropolis, "Metropolis is reducible", 0},
			{modified, "the modified operator is irreducible and aperiodic", 1},
		} {
			period, gap := t.At("period", c.name, 0)[0], t.At("gap", c.name, 0)[0]
			all = append(all, claims.Holds(c.text, period == c.period, gap, "period %.0f (0: reducible, 1: aperiodic), spectral gap %g", period, gap))
		}
		to := func(x, y float64) float64 { return t.At(fmt.Sprintf("from %.0f", x), metropolis, y)[0] }
		return append(all, claims.Holds("Metropolis goes from (0,0) to (1,1) and back with certainty", to(0, 3) == 1 && to(3, 0) == 1, to(0, 3),
			"probabilities %g and %g", to(0, 3), to(3, 0)))
	},
	Draw: drawMinimal,
}

// minimalPoints are the elements of the transition matrix, its gap and its period.
func minimalPoints(m sampler) (points []claims.Point, err error) {
	g, err := mcmc.NewGraph(make([]float64, 2), nil)
	if err != nil {
		return nil, err
	}
	o, err := mcmc.NewSweepOperator(mcmc.NewIsing(g, nil), m.of(mcmc.Linear), 1, nil)
	if err != nil {
		return nil, err
	}
	gap, err := diag.OperatorGap(o, o.Law())
	if err != nil {
		return nil, err
	}
	matrix := o.Matrix()
	for x := range o.States() {
		for y := range o.States() {
			points = append(points, claims.Point{Panel: fmt.Sprintf("from %d", x), Curve: m.name, X: float64(y), Y: matrix.At(x, y)})
		}
	}
	return append(points, claims.Point{Panel: "gap", Curve: m.name, Y: gap}, claims.Point{Panel: "period", Curve: m.name, Y: float64(diag.OperatorPeriod(o))}), nil
}

// stateNames are the states in the order of their numbers, the first variable first.
var stateNames = []string{"00", "10", "01", "11"}

// drawMinimal draws the matrices with their elements.
func drawMinimal(w io.Writer, t *claims.Table) error {
	var row []*plots.Plot
	for _, m := range samplers {
		at := func(x, y int) float64 { return t.At(fmt.Sprintf("from %d", y), m.name, float64(x))[0] }
		row = append(row, squares(m.name, 4, 4, func(x, y int) color.Color {
			shade := uint8(0xFF - 0x80*at(x, y))
			return color.RGBA{shade, uint8(0xFF - 0x40*at(x, y)), 0xFF, 0xFF}
		}, func(x, y int) string {
			return fmt.Sprintf("%s to %s: %g", stateNames[y], stateNames[x], at(x, y))
		}))
	}
	return plots.Grid([][]*plots.Plot{row}, 11*vg.Centimeter, 7*vg.Centimeter).Write(w, plots.PNG)
}
