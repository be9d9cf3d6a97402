package main

import (
	"fmt"
	"io"
	"math"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
)

// gaps computes the spectral gap of each sampler from its transition matrix.
func (p *plan) gaps() (all []cli.Record, err error) {
	const most = 12 // spins
	if p.units > most {
		return nil, cli.Usagef("-gap: %d spins: a lattice too large for its transition matrix; at most %d", p.units, most)
	}
	for _, m := range p.movers {
		sweep, err := mcmc.NewSweepOperator(mcmc.NewIsing(p.graph, nil), m.Mover, p.beta, nil)
		if err != nil {
			return nil, cli.Usagef("-gap: %w", err)
		}
		gap, err := diag.SpectralGap(sweep, sweep.Stationary())
		if err != nil {
			return nil, fmt.Errorf("-gap: %s: %w", m.name, err)
		}
		var rec cli.Record
		period := diag.Period(sweep)
		text, forget := words(gap, period)
		rec.Show("sampler", "sampler", m.name, m.name)
		rec.Show("spectral_gap", "spectral gap of a sweep", gap, text)
		rec.Show("period", "sweeps to forget by 1/e", period, forget) // 0: some states cannot be reached
		all = append(all, rec)
	}
	return all, nil
}

// leastGap is the size of rounding errors, below which no digit of a gap is correct. See
// diag.SpectralGap.
const leastGap = 1e-12

// words returns a gap as text, and the number of sweeps after which the slowest component
// of the distance to the stationary distribution has fallen to 1/e.
func words(spectral float64, period int) (gap, forget string) {
	switch {
	case period == 0:
		return "0", "never: states are out of reach, or at odds below 1e-16"
	case period > 1:
		return "0", fmt.Sprintf("never: it has period %d", period)
	case spectral < leastGap:
		return fmt.Sprintf("below %v", leastGap), fmt.Sprintf("above %v", 1/leastGap)
	}
	return fmt.Sprintf("%.6g", spectral), fmt.Sprintf("%.4g", -1/math.Log1p(-spectral))
}

// printGaps prints the spectral gaps. If there is one sampler, its fields are also at the top
// level of the JSON object.
func (p *plan) printGaps() error {
	all, err := p.gaps()
	if err != nil {
		return err
	}
	var out cli.Record
	out.Add("system", p.model)
	out.Add("spins", p.units)
	out.Add("beta", p.beta)
	out.Add("samplers", all)
	if len(all) == 1 {
		out = append(out, all[0]...)
	}
	return p.flags.Print(out, func(w io.Writer) error {
		if p.flags.Quiet {
			return nil
		}
		fmt.Fprintln(w, p.describeSystem())
		return cli.PrintTable(w, cli.Table(all), false)
	})
}
