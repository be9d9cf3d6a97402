package main

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

	// In passes outside of training a row costs otherRow, besides the work of the weights. In models of few
	// units this is most of the work.
	otherRow = 1 << 14
	// termWork is the work of a term of an enumeration: 2²⁸ terms take 40 ms of one core with AVX-512.
	// momentsWork is the work of a term that is also added to moments: 2³⁰ terms take 2.5 s.
	termWork, momentsWork = 32, 480
	// freeEnergyWork is the work of a free energy in float64, divided by that of a pass.
	freeEnergyWork = 8
)

// trialTerms returns the largest number of terms of enumerations that the trials of a run may sum.
func trialTerms(p *plan) float64 {
	return (trialFree + float64(trialShare*p.settings.Work(p.steps, p.model.Visible(), p.model.Hidden()))) / momentsWork
}

// passes returns the multiply-adds of rows that pass through the given number of weights outside of training.
func passes(rows, weights int) float64 { return float64(rows) * float64(weights+otherRow) }
