package negphase

// Persists reports whether an estimator of these settings has chains that continue
// from call to call. The chains of other estimators restart in each call, or
// there are none.
func (s Settings) Persists() bool {
	if s.specific == nil {
		return false
	}
	_, ok := s.specific.estimator(s).(interface{ persists() })
	return ok
}

func (c *chains) persists() {}

// A Freezer is an Estimator that adapts to the model: its temperatures, the rungs of ptt, or the
// length of walks with k=auto.
type Freezer interface {
	Estimator
	// Freeze stops this for good: from now on the chains are Markov.
	Freeze()
}

// A Copier is an Estimator that copies the chains of another, faster than by
// their binary forms.
type Copier interface {
	Estimator
	// CopyFrom makes the chains those of other, so that the next call of Estimate gives
	// the results that other's would. It returns false, and changes nothing, if other is
	// not of the same settings or has no chains yet.
	CopyFrom(other Estimator) bool
}
