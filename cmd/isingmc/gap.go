package main

import (
	"fmt"
	"io"
	"math"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A gapResult is what -gap prints of a sampler.
type gapResult struct {
	Sampler     string  `json:"sampler"`
	SpectralGap float64 `json:"spectral_gap"`
	Period      int     `json:"period"` // 0 if some states cannot be reached; see diag.Period
}

// gaps computes the spectral gap of each sampler from its whole transition
// matrix.
func (p *plan) gaps() ([]gapResult, error) {
	var results []gapResult
	var law []float64
	for _, m := range p.movers {
		matrix, err := mcmc.SweepMatrix(p.graph, m.Mover, p.beta)
		if err != nil {
			return nil, cli.Usagef("-gap: %w", err)
		}
		if law == nil {
			law = boltzmann(p.graph, p.beta)
		}
		gap, err := diag.SpectralGap(matrix, law)
		if err != nil {
			return nil, fmt.Errorf("-gap: %s: %w", m.name, err)
		}
		results = append(results, gapResult{m.name, gap, diag.Period(matrix)})
	}
	return results, nil
}

// boltzmann returns the probabilities of all states. Bit i of the index of a
// state is spin i.
func boltzmann(g *mcmc.Graph, beta float64) []float64 {
	s := mcmc.NewIsing(g, nil)
	law := make([]float64, 1<<g.Len())
	state := make([]uint8, g.Len())
	for x := range law {
		for i := range state {
			state[i] = uint8(x >> i & 1)
		}
		s.SetState(state)
		law[x] = float64(-beta * s.Energy())
	}
	logZ := rbm.LogSumExp(law)
	for x, w := range law {
		law[x] = rbm.Exp(w - logZ)
	}
	return law
}

// leastGap is the size of rounding errors: no digit of a smaller gap is right. See
// diag.SpectralGap.
const leastGap = 1e-12

// words returns the gap as text, and the number of sweeps in which the distance to
// the law, in its slowest part, falls to 1/e.
func (r gapResult) words() (gap, forget string) {
	switch {
	case r.Period == 0:
		return "0", "never: states are out of reach, or at odds below 1e-16"
	case r.Period > 1:
		return "0", fmt.Sprintf("never: it has period %d", r.Period)
	case r.SpectralGap < leastGap:
		return fmt.Sprintf("below %v", leastGap), fmt.Sprintf("above %v", 1/leastGap)
	}
	return fmt.Sprintf("%.6g", r.SpectralGap), fmt.Sprintf("%.4g", -1/math.Log1p(-r.SpectralGap))
}

// printGaps prints the spectral gaps.
func (p *plan) printGaps() error {
	results, err := p.gaps()
	if err != nil {
		return err
	}
	object := struct {
		System   string      `json:"system"`
		Spins    int         `json:"spins"`
		Beta     float64     `json:"beta"`
		Samplers []gapResult `json:"samplers"`
		*gapResult
	}{System: p.model, Spins: p.units, Beta: p.beta, Samplers: results}
	if len(results) == 1 {
		object.gapResult = &results[0]
	}
	return p.flags.Print(object, func(w io.Writer) error {
		if p.flags.Quiet {
			return nil
		}
		fmt.Fprintln(w, p.describeSystem())
		t := cli.NewTable(w)
		fmt.Fprintln(t, "sampler\tspectral gap of a sweep\tsweeps to forget by 1/e\t")
		for _, r := range results {
			gap, forget := r.words()
			fmt.Fprintf(t, "%s\t%s\t%s\t\n", r.Sampler, gap, forget)
		}
		return t.Flush()
	})
}
