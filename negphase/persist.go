package negphase

// Persists reports whether an estimator with these settings has chains that continue
// from call to call.
func (s Settings) Persists() bool {
	if s.specific == nil {
		return false
	}
	_, ok := s.specific.estimator(s).(interface{ persists() })
	return ok
}

func (c *chains) persists() {}

// A Freezer is an Estimator that adapts its temperatures, its rungs (ptt), or the
// length of its walks (k=auto) to the model.
type Freezer interface {
	Estimator
	// Freeze stops the adaptation permanently: from now on the chains are Markov.
	Freeze()
}

// A Copier is an Estimator that can copy the chains of another Estimator, faster than by
// their binary forms.
type Copier interface {
	Estimator
	// CopyFrom copies the chains of other, so that the next call of Estimate returns the same results
	// as the next call of other.Estimate. It returns false, and changes nothing, if the settings of
	// other differ or its chains have not started.
	CopyFrom(other Estimator) bool
}
