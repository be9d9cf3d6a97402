package main

import (
	"cmp"
	"fmt"
	"strings"

	"gorbm/train"
)

// Measurements, samples, pictures and the report should take at most 15 % of the time of training, or
// half a second of one core if that is more, unless they are asked for. With 784 × 500 units the scores at the end,
// two measurements and the charts alone take some 0.8 s. Work is counted in multiply-adds of
// training, not in seconds, so that equal runs measure and draw the same on any machine. A part may
// take its free work and its share of the work of training:
//
//	measurements            freeWork/8   4 %   -eval-every, -metrics
//	samples.png             freeWork/8   4 %   rbmsample
//	the run in the report   freeWork/32  1 %   singular values, and samples of snapshots
//	other pictures, scores at the end      the rest
const (
	// freeWork is the work of half a second of training with 784 × 500 units on one core with AVX-512.
	freeWork = 6 << 34

	measureFree, measureShare = freeWork / 8, 0.04
	samplesFree, samplesShare = freeWork / 8, 0.04
	historyFree, historyShare = freeWork / 32, 0.005 // of either of its two parts

	// A row takes the work of its weights, and this in addition: in a step of training, and in other passes.
	// In models of a few units little else counts.
	stepRow, otherRow = 1 << 17, 1 << 14
	// termWork is the work of a term of an enumeration: 2²⁸ take 40 ms of one core with AVX-512.
	termWork = 32
)

// work returns the work of that many steps of training with these weights: of a step, the batch up,
// the particles down and up, and the ascent along both.
func work(s train.Settings, steps, weights int) float64 {
	particles := cmp.Or(s.Negative.Count("chains"), s.Batch) * s.Negative.Ladder().MaxTemperatures()
	return float64(steps) * float64(2*s.Batch+3*particles) * float64(weights+stepRow)
}

// passes returns the work of rows that pass through these weights outside of training.
func passes(rows, weights int) float64 { return float64(rows) * float64(weights+otherRow) }

// leftOut names what this run left out, as it would have taken too long next to so short a training, and the
// commands that do it. It is "" if nothing was left out.
func (r *runner) leftOut() string {
	var all []string
	if r.samples.any {
		all = append(all, fmt.Sprintf("samples of each class (%s)", sampleCommand(r.folder.Dir, r.plan.sets.Train)))
	}
	p := r.plan
	few, most := p.measureEvery(), max(1, p.steps/mostMeasured)
	if p.measures() && p.evalEvery == few && few > most { // else -eval-every asks for it
		all = append(all, fmt.Sprintf("more than %d measurements (-eval-every %d)", p.steps/few+1, most))
	}
	if all == nil {
		return ""
	}
	return "left out, as they would take more than 15 % of the time of training: " + strings.Join(all, ", ")
}
