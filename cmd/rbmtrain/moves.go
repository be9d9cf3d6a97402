package main

import (
	"fmt"
	"io"
	"math"

	"gorbm/negphase"
	"gorbm/train"
)

// moves reports whether chains move by a sampler of binary systems.
func (p *plan) moves() bool { return p.settings.Negative.Sampler() != "" }

// moveColumns are the columns of metrics.csv that belong to such a sampler.
func (p *plan) moveColumns() []string {
	if !p.moves() {
		return nil
	}
	return []string{"acceptance", "flips_per_update"}
}

// moveValues are the values of these columns, since the evaluation before.
func (r *runner) moveValues(e train.Evaluation) []float64 {
	if !r.moves() {
		return nil
	}
	acceptance, ok := e.Info.Moves.Acceptance()
	if !ok {
		acceptance = math.NaN()
	}
	flips := 0.0
	if steps := e.Step - r.state.Measured; steps > 0 {
		flips = float64(e.Info.Moves.Flips) / float64(steps)
	}
	return []float64{acceptance, flips}
}

// describeMoves prints what the moves did.
func (r *runner) describeMoves(w io.Writer, total negphase.Info) {
	if !r.moves() {
		return
	}
	s := r.settings.Negative
	flips := float64(total.Moves.Flips) / float64(r.trainer.Steps())
	if a, ok := total.Moves.Acceptance(); ok {
		fmt.Fprintf(w, "%s: %s of proposals accepted, %.4g flips an update\n", s.Sampler(), percent(a), flips)
	} else {
		fmt.Fprintf(w, "%s: %.4g flips an update\n", s.Sampler(), flips)
	}
}
