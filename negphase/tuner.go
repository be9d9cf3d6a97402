package negphase

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
)

// A tuner places the temperatures of a ladder by what was measured of it, so
// that all neighbours reject equally often (Syed et al. 2022, section 5): the
// barrier Λ(β), the sum of rejections from β = 1 down to β, is interpolated
// and cut into equal parts. Tunings are due after so many calls, whatever was measured,
// so runs repeat and go on after a checkpoint.
type tuner struct {
	auto   bool
	number int // of temperatures; 0: as many as the barrier asks for
	most   int // largest number of temperatures, where the barrier asks

	calls  int64 // of Estimate
	next   int64 // calls after which the next tuning is due
	tuned  int64 // tunings so far
	capped bool  // the last tuning wanted more than most
}

const (
	// FirstTuning is the number of calls of Estimate before the first tuning.
	FirstTuning = 50
	// A tuning follows after a fifth more calls, so that a ladder of a model
	// that has settled is measured ever better, but at least FirstTuning: of ten
	// groups 500 rounds a pair, which tell a rejection to some 0.03.
	tuningShare = 5
	never       = math.MaxInt64

	// startTemperatures is the number of temperatures before the first tuning,
	// when a model is nearly flat. leastTemperatures is the least number of a
	// tuned ladder, which still has two pairs to compare.
	startTemperatures = 5
	leastTemperatures = 3
	// autoTemperatures is the largest number of temperatures of pt and pins that
	// the barrier may ask for, as each of them is a chain to run.
	autoTemperatures = 64
)

func newTuner(s *LadderSettings) tuner {
	t := tuner{auto: s.Temperatures.Auto, number: s.Temperatures.Number, most: min(s.longest, autoTemperatures), next: never}
	if t.auto && t.number != 2 { // two are the ends, which stay
		t.next = FirstTuning
	}
	return t
}

// Freeze stops tuning for good: from now on the chain is Markov.
func (t *tuner) Freeze() { t.next = never }

// due counts a call and reports whether a tuning comes before it.
func (t *tuner) due() bool {
	t.calls++
	if t.calls <= t.next {
		return false
	}
	t.next = t.calls - 1 + max(FirstTuning, (t.calls-1)/tuningShare)
	return true
}

// wanted returns the number of temperatures for a barrier, for a ladder of so
// many now: ⌈2Λ⌉ + 1, at which neighbours reject half of their swaps (Syed et al. 2022,
// section 5). It grows at most to the double, as a barrier that was measured
// with hardly any exchange is a guess, and shrinks only when a quarter are too many,
// so that noise does not change it back and forth.
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

// retune places the temperatures anew. The particles of the new ladder start
// from the states of the nearest old temperatures; nothing is drawn.
func (l *ladder) retune(m *rbm.RBM) {
	rejection, rise := make([]float64, len(l.beta)-1), make([]float64, len(l.beta)-1)
	for k := range rejection {
		rejection[k], _ = l.record.rejection(k)
		rise[k] = l.record.rise(k)
	}
	length := lengths(l.beta, rejection, rise)
	barrier := 0.0 // in order: a library's sum has other bits on other processors
	for _, x := range length {
		barrier += x
	}
	beta, from := placed(l.beta, length, l.wanted(len(l.beta), barrier))
	if beta == nil {
		return
	}
	l.tuned++
	old, at, k := l.states, l.at, len(l.beta)
	l.setBeta(beta)
	l.states = rbm.NewStates(m, l.rows)
	l.states.Base = old.Base
	for r := range l.rows {
		g, j := r/len(beta), r%len(beta)
		row := int(at[g*k+from[j]])
		copy(l.states.H.Row(r), old.H.Row(row))
		copy(l.states.V.Row(r), old.V.Row(row))
	}
}

const (
	// Up to trusted a rejection rate is taken for the barrier between its
	// pair; from saturated on it says only that there is one.
	trusted   = 0.6
	saturated = 0.95
	// leastPart is the least barrier of a part of the range of β, as a part
	// of 1: it keeps temperatures apart where nothing was ever rejected.
	leastPart = 1e-3
)

// lengths estimates the barrier between the neighbours of beta from their mean
// rejections and differences of mean energy ΔE. A rejection rate cannot exceed
// 1, however far apart its pair is, so near 1 the thermodynamic length takes
// over: √(Δβ·ΔE/π), which the barrier is when energies are normal and their
// variance hardly changes from one neighbour to the other (rejections are then
// erf(√(Δβ·ΔE)/2), for close pairs √(Δβ·ΔE/π)). Such lengths tell a wide gap
// from a narrow one even when neither ever swaps.
func lengths(beta, rejection, rise []float64) []float64 {
	length := make([]float64, len(rejection))
	for k, r := range rejection {
		gap := beta[k] - beta[k+1]
		thermal := math.Sqrt(max(0, gap*rise[k]) / math.Pi)
		share := min(max(0, (r-trusted)/(saturated-trusted)), 1)
		length[k] = r + float64(share*max(0, thermal-r)) + float64(leastPart*gap/(beta[0]-beta[len(rejection)]))
	}
	return length
}

// placed returns n inverse temperatures at equal parts of the barrier, whose
// parts between the neighbours of beta are length, and for each the nearest
// of beta by barrier. The ends stay. It returns nil where float32 cannot tell
// them apart.
func placed(beta, length []float64, n int) (next []float64, from []int) {
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
		x := barrier[last] * float64(j) / float64(n-1)
		next[j] = float64(float32(curve.at(x))) // which the Gibbs steps take
		from[j] = floats.NearestIdx(barrier, x)
	}
	next[0], next[n-1] = beta[0], beta[last]
	for j := range n - 1 {
		if !(next[j] > next[j+1]) {
			return nil, nil
		}
	}
	return next, from
}

// Tuned returns s with fixed temperatures in place of a ladder that tunes
// itself: those that an estimator of s comes to in so many calls on m, whose
// chains are then dropped. An estimator of what it returns is Markov from the
// first call on. pos is for chains that start at the data. Other settings come
// back as they are. The errors are those of New and Estimate.
func Tuned(s Settings, m *rbm.RBM, pos rbm.Batch, calls int, key rbm.Key) (Settings, error) {
	if !s.Ladder().Temperatures.Auto {
		return s, nil
	}
	e, err := New(s)
	if err != nil {
		return s, err
	}
	for n := range calls {
		if _, _, err := e.Estimate(m, pos, key.Child(uint64(n))); err != nil {
			return s, err
		}
	}
	var list []float64
	for _, beta := range e.(Tempered).Ladder().Beta {
		list = append(list, 1/beta) // of β = 0 it is +Inf
	}
	s.own = copyOf(s.own)
	s.ladder().Temperatures, s.ladder().Hottest = Temperatures{List: list}, 0
	return s, nil
}
