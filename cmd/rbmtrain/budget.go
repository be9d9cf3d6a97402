package main

import (
	"cmp"

	"gorbm/train"
)

// Unless flags request more, measurements, samples, pictures and the report should take at most 15 % of
// the time of training, or half a second of one core if that is more. Work is counted in multiply-adds of
// training, not in seconds, so that equal runs measure and draw the same on any machine. Each item may
// take a fixed amount of work plus a fraction of the work of training:
//
//	item                                  fixed        fraction
//	measurements                          freeWork/8   4 %   -eval-every and -metrics override it
//	trials after a loss of likelihood     freeWork/3   3 %   only in few runs
//	samples.png                           freeWork/8   4 %   rbmsample draws more
//	other pictures, final metrics         the rest
const (
	// freeWork is the number of multiply-adds in half a second of training with 784 × 500 units on one core with AVX-512.
	freeWork = 6 << 34

	measureFree, measureShare = freeWork / 8, 0.04
	trialFree, trialShare     = freeWork / 3, 0.03
	samplesFree, samplesShare = freeWork / 8, 0.04

	// In a training step with ins, a row costs stepRow and each of its units stepUnit, besides the work of
	// the weights. In other passes a row costs otherRow. In models of few units these costs are most of the
	// work.
	stepRow, stepUnit, otherRow = 24 << 10, 83, 1 << 14
	// termWork is the work of a term of an enumeration: 2²⁸ terms take 40 ms of one core with AVX-512.
	// momentsWork is the work of a term that is also added to moments: 2³⁰ terms take 2.5 s.
	termWork, momentsWork = 32, 480
	// freeEnergyWork is the work of a free energy in float64, divided by that of a pass.
	freeEnergyWork = 8
)

// work returns the multiply-adds of training steps of a model of the given size. In each step the rows of
// the batch go up and the particles down and up, and the gradient sums over both.
func work(s train.Settings, steps, visible, hidden int) float64 {
	particles := cmp.Or(s.Negative.Count("chains"), s.Batch) * s.Negative.Ladder().MaxTemperatures()
	return float64(steps) * float64(2*s.Batch+3*particles) * float64(visible*hidden+stepRow+stepUnit*(visible+hidden))
}

// trialTerms returns the largest number of terms of enumerations that the trials of a run may sum.
func trialTerms(p *plan) float64 {
	return (trialFree + float64(trialShare*work(p.settings, p.steps, p.model.Visible(), p.model.Hidden()))) / momentsWork
}

// passes returns the multiply-adds of rows that pass through the given number of weights outside of training.
func passes(rows, weights int) float64 { return float64(rows) * float64(weights+otherRow) }
