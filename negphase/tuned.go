package negphase

import (
	"math"

	"gorbm/rbm"
)

// Tuned returns s with fixed temperatures in place of a ladder that tunes
// itself: those that an estimator of s comes to in so many calls on m, whose
// chains are then dropped. An estimator of what it returns is Markov from the
// first call on. pos is for chains that start at the data. Other settings come
// back as they are. The errors are those of New and Estimate.
func Tuned(s Settings, m *rbm.RBM, pos rbm.Batch, calls int, key rbm.Key) (Settings, error) {
	if !Has(s.Kind, "tau") || !s.Auto {
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
	s.Auto, s.Rungs, s.Hottest, s.Temperatures = false, 0, 0, nil
	for _, beta := range e.(Tempered).Ladder().Beta {
		t := math.Inf(1)
		if beta > 0 {
			t = 1 / beta
		}
		s.Temperatures = append(s.Temperatures, t)
	}
	return s, nil
}
