package main

import (
	"cmp"
	"fmt"
	"strings"

	"gorbm/train"
)

// Unless flags request more, measurements, samples, pictures and the report should take at most 15 % of
// the time of training, or half a second of one core if that is more. With 784 × 500 units the final
// metrics, two measurements and the charts alone take some 0.8 s. Work is counted in multiply-adds of
// training, not in seconds, so that equal runs measure and draw the same on any machine. Each item may
// take a fixed amount of work plus a fraction of the work of training:
//
//	item                                  fixed        fraction
//	measurements                          freeWork/8   4 %   -eval-every and -metrics override it
//	samples.png                           freeWork/8   4 %   rbmsample draws more
//	singular values in the report         freeWork/32  0.5 %
//	samples of snapshots in the report    freeWork/32  0.5 %
//	other pictures, final metrics         the rest
const (
	// freeWork is the number of multiply-adds in half a second of training with 784 × 500 units on one core with AVX-512.
	freeWork = 6 << 34

	measureFree, measureShare = freeWork / 8, 0.04
	samplesFree, samplesShare = freeWork / 8, 0.04
	historyFree, historyShare = freeWork / 32, 0.005 // for singular values, and again for samples of snapshots

	// stepRow and otherRow are the work of a row besides that of its weights, in a training step and in other
	// passes. In models of a few units they are most of the work.
	stepRow, otherRow = 1 << 17, 1 << 14
	// termWork is the work of a term of an enumeration: 2²⁸ terms take 40 ms of one core with AVX-512.
	termWork = 32
)

// work returns the multiply-adds of training steps with the given number of weights. In each step the rows of
// the batch go up and the particles down and up, and the gradient sums over both.
func work(s train.Settings, steps, weights int) float64 {
	particles := cmp.Or(s.Negative.Count("chains"), s.Batch) * s.Negative.Ladder().MaxTemperatures()
	return float64(steps) * float64(2*s.Batch+3*particles) * float64(weights+stepRow)
}

// passes returns the multiply-adds of rows that pass through the given number of weights outside of training.
func passes(rows, weights int) float64 { return float64(rows) * float64(weights+otherRow) }

// leftOut returns a line about results that this run omitted to save time, with the commands that make them,
// or "" if it omitted none.
func (r *runner) leftOut() string {
	var all []string
	if r.samples.any {
		all = append(all, fmt.Sprintf("samples of each class (%s)", sampleCommand(r.folder.Dir, r.plan.sets.Train)))
	}
	p := r.plan
	few, most := p.measureEvery(), max(1, p.steps/mostMeasured)
	if p.measures() && p.evalEvery == few && few > most { // otherwise -eval-every set the number
		all = append(all, fmt.Sprintf("more than %d measurements (-eval-every %d)", p.steps/few+1, most))
	}
	if all == nil {
		return ""
	}
	return "left out, as they would take more than 15 % of the time of training: " + strings.Join(all, ", ")
}
