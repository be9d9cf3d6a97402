package negphase

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// A tuner places the temperatures of a ladder so that all neighbours reject swaps equally often (Syed et
// al. 2022, section 5). It interpolates the barrier Λ(β), the sum of the measured rejections from β = 1
// down to β, and divides it into equal parts. Tunings are due after fixed numbers of calls, whatever was
// measured, so that runs are reproducible.
//
// A ladder with reach has a given number of temperatures. The highest is placed so that neighbours reject
// the fraction reachRejection of their swaps.
type tuner struct {
	auto   bool
	reach  bool
	number int     // number of temperatures; 0: as many as the barrier requires
	most   int     // largest number of temperatures if number is 0
	lowest float64 // smallest inverse temperature of a ladder with reach

	calls  int64 // number of calls of Estimate
	next   int64 // calls after which the next tuning is due
	tuned  int64 // tunings so far
	frozen bool  // only Retune tunes
	capped bool  // the barrier required more temperatures than most at the last tuning
}

const (
	// FirstTuning is the number of calls of Estimate before the first tuning.
	FirstTuning = 50
	// tuningShare sets the interval between tunings: a fifth of the calls so far, so that each tuning
	// is based on more measurements, but at least FirstTuning calls. With ten groups
	// these are 500 samples per pair, from which a rejection has an error of some 0.03.
	tuningShare = 5
	never       = math.MaxInt64

	// startTemperatures is the number of temperatures before the first tuning, when a model is nearly
	// flat. leastTemperatures is the least number of temperatures of a tuned ladder: tuning compares at
	// least two pairs.
	startTemperatures = 5
	leastTemperatures = 3
	// autoTemperatures is the largest number of temperatures that tuning may choose for pt and pins,
	// because each temperature adds chains to run.
	autoTemperatures = 64

	// reachRejection is the fraction of swaps that neighbours reject on a ladder with
	// reach. At a smaller fraction particles are exchanged more often; at a larger one the ladder
	// reaches a higher temperature. On MNIST (ins, 500 hidden units, five temperatures, 24000 steps
	// of 20 rows, three seeds) 0.25, 0.4 and 0.55 gave a final pseudo-log-likelihood
	// of −51.5, −52.2 and −53.0 nats, and test errors of 3.27, 3.33 and 3.34 %.
	// Four small models of 16 pixels that need hot particles were as good at 0.4 as
	// with temperatures 1 to 5.
	reachRejection = 0.4
	// reachStart is the highest temperature before the first tuning, and reachGrowth the largest factor
	// by which a tuning extends the range of β, because measurements on a short ladder say little about
	// the path far beyond its end.
	reachStart  = 1.1
	reachGrowth = 2
)

func newTuner(s *LadderSettings) tuner {
	t := tuner{auto: s.Temperatures.Auto, reach: s.Temperatures.Reach, number: s.Temperatures.Number,
		most: min(s.longest, autoTemperatures), lowest: s.lowestBeta(), next: never}
	if t.auto && (t.number != 2 || t.reach) { // two temperatures without reach are the fixed ends
		t.next = FirstTuning
	}
	return t
}

// Freeze stops tuning permanently, except for Retune: from now on the chain is Markov.
func (t *tuner) Freeze() { t.next, t.frozen = never, true }

// Retune tunes a frozen ladder once, before the next call, by what was measured since the last tuning. From
// that call on the chain is Markov again.
func (t *tuner) Retune() {
	if t.auto && (t.number != 2 || t.reach) {
		t.next = t.calls
	}
}

// due counts a call and reports whether the ladder is to be tuned before it.
func (t *tuner) due() bool {
	t.calls++
	if t.calls <= t.next {
		return false
	}
	if t.next = t.calls - 1 + max(FirstTuning, (t.calls-1)/tuningShare); t.frozen {
		t.next = never
	}
	return true
}

// wanted returns the number of temperatures for the measured barrier Λ when there are now temperatures:
// ⌈2Λ⌉ + 1, at which neighbours reject half of their swaps (Syed et al. 2022, section 5). The number at
// most doubles, because a barrier that was measured with hardly any exchange is inaccurate. It decreases
// only if at least a quarter of the temperatures can be left out, so that noise does not change it back
// and forth.
func (t *tuner) wanted(now int, barrier float64) int {
	if t.number > 0 {
		return t.number
	}
	most := min(t.most, 2*now)
	n := int(min(math.Ceil(2*barrier)+1, 2*maxTemperatures))
	t.capped = n > t.most
	switch n = min(max(n, leastTemperatures), most); {
	case n > now || 4*n <= 3*now:
		return n
	}
	return now
}

// retune places the temperatures by the measurements. Each particle of the new ladder starts from a copy
// of the state at the nearest old temperature; nothing is drawn.
func (l *ladder) retune(m *rbm.RBM) {
	rejection, rise := make([]float64, len(l.beta)-1), make([]float64, len(l.beta)-1)
	for k := range rejection {
		rejection[k], _ = l.record.rejection(k)
		rise[k] = l.record.rise(k)
	}
	length := Barriers(l.beta, rejection, rise)
	barrier := 0.0 // summed in order, because a library's sum may differ between processors
	for _, x := range length {
		barrier += x
	}
	old := l.beta
	n, crossed := l.wanted(len(old), barrier), barrier
	if l.reach {
		old, crossed = l.stretched(barrier)
	}
	beta, from := placed(old, length, n, crossed)
	if beta == nil {
		return
	}
	l.tuned++
	states, at, k := l.states, l.at, len(l.beta)
	l.setBeta(beta)
	l.states = rbm.NewStates(m, l.rows)
	l.states.Base = states.Base
	for r := range l.rows {
		g, j := r/len(beta), r%len(beta)
		row := int(at[g*k+from[j]])
		l.states.H.CopyRow(r, states.H, row)
		l.states.V.CopyRow(r, states.V, row)
	}
}

// stretched returns the inverse temperatures by which a ladder with reach is placed, and the barrier
// from the first of them that the new ladder is to span. If the measured barrier is large enough, these
// are the inverse temperatures of l. Otherwise stretched multiplies their range by the wanted barrier
// divided by the measured barrier, but at most by reachGrowth. The barrier to span is then the measured
// one.
func (l *ladder) stretched(barrier float64) (beta []float64, crossed float64) {
	crossed = reachRejection * float64(len(l.beta)-1)
	if barrier >= crossed {
		return l.beta, crossed
	}
	last := len(l.beta) - 1
	factor := min(reachGrowth, crossed/barrier, (1-l.lowest)/(1-l.beta[last]))
	beta = make([]float64, len(l.beta))
	for k, b := range l.beta {
		beta[k] = float64(float32(1 - float64(factor*(1-b))))
	}
	beta[last] = max(beta[last], l.lowest)
	return beta, barrier
}

const (
	// A rejection rate up to trusted is used as the barrier between its pair;
	// from saturated on it only shows that there is a barrier.
	trusted   = 0.6
	saturated = 0.95
	// leastBarrier times the fraction of the range of β between two neighbours is added to their
	// barrier. It keeps temperatures apart where nothing was ever rejected.
	leastBarrier = 1e-3
)

// Barriers estimates the communication barrier between each pair of neighbours among the falling
// inverse temperatures beta. It uses the mean rejection of a pair and its difference ΔE of mean energy,
// an element of rise. A rejection rate cannot exceed 1, however far apart its pair is, so near 1 it is
// replaced by the thermodynamic length √(Δβ·ΔE/π). This is the barrier if energies are normally
// distributed and their variance hardly changes from one neighbour to the other: rejections are then
// erf(√(Δβ·ΔE)/2), for close pairs √(Δβ·ΔE/π). Such lengths distinguish a wide gap from a narrow one
// even when neither pair ever swaps.
func Barriers(beta, rejection, rise []float64) []float64 {
	length := make([]float64, len(rejection))
	for k, r := range rejection {
		gap := beta[k] - beta[k+1]
		thermal := math.Sqrt(max(0, gap*rise[k]) / math.Pi)
		share := min(max(0, (r-trusted)/(saturated-trusted)), 1)
		length[k] = r + float64(share*max(0, thermal-r)) + float64(leastBarrier*gap/(beta[0]-beta[len(rejection)]))
	}
	return length
}

// EqualBarriers returns n falling inverse temperatures with equal barriers between neighbours, and with
// the same ends as beta. barriers are the results of Barriers for beta. It returns nil if float32
// cannot tell the inverse temperatures apart.
func EqualBarriers(beta, barriers []float64, n int) []float64 {
	all := 0.0
	for _, x := range barriers {
		all += x
	}
	next, _ := placed(beta, barriers, n, all)
	return next
}

// placed returns n falling inverse temperatures that start at the first of beta, with equal barriers
// between neighbours. The sum of these barriers is crossed. length has the barriers between the
// neighbours of beta. crossed is at most their sum; if it equals the sum, both ends of beta are kept.
// from[j] is the index in beta of the inverse temperature that is nearest to next[j], measured by
// barrier. placed returns nil if float32 cannot tell the inverse temperatures apart.
func placed(beta, length []float64, n int, crossed float64) (next []float64, from []int) {
	barrier := make([]float64, len(beta))
	for k, x := range length {
		barrier[k+1] = barrier[k] + x
		if !(barrier[k+1] > barrier[k]) || math.IsInf(barrier[k+1], 0) {
			return nil, nil
		}
	}
	curve := newMonotone(barrier, beta)
	last := len(beta) - 1
	next, from = make([]float64, n), make([]int, n)
	for j := range next {
		x := crossed * float64(j) / float64(n-1)
		next[j] = float64(float32(curve.at(x))) // Gibbs steps compute with float32
		from[j] = floats.NearestIdx(barrier, x)
	}
	next[0] = beta[0]
	if crossed == barrier[last] {
		next[n-1] = beta[last]
	}
	for j := range n - 1 {
		if !(next[j] > next[j+1]) {
			return nil, nil
		}
	}
	return next, from
}

// Tuned replaces tau=auto in s by fixed temperatures, or k=auto by fixed lengths of walks. It tunes them
// by the given number of calls of a temporary estimator on m. The chains of an estimator with the
// returned settings are Markov from the first call on. pos is for chains that start at the data. Other
// settings are returned unchanged. If g is not nil, its ranks make the calls together, with identical
// results. The errors come from New, Share and Estimate.
func Tuned(g *ranks.Group, s Settings, m *rbm.RBM, pos rbm.Batch, calls int, key rbm.Key) (Settings, error) {
	set := s.sampler()
	lengths := set != nil && mcmc.FindsLength(set.mover)
	if !lengths && !s.Ladder().Temperatures.Auto {
		return s, nil
	}
	e, err := New(s)
	if err == nil {
		err = Share(e, s, g)
	}
	if err != nil {
		return s, err
	}
	for n := range calls {
		if _, _, err := e.Estimate(m, pos, key.Child(uint64(n))); err != nil {
			return s, err
		}
	}
	s.specific = copyOf(s.specific)
	if lengths {
		low, high := e.(*walk).lengths()
		s.sampler().mover = withLengths(set.mover, low, high)
		return s, nil
	}
	var list []float64
	for _, beta := range e.(Tempered).Ladder().Beta {
		list = append(list, 1/beta) // +Inf for β = 0
	}
	s.ladder().Temperatures, s.ladder().Hottest = Temperatures{List: list}, 0
	return s, nil
}
