package negphase

import (
	"fmt"
	"math"
)

func (s Settings) checkLadder() error {
	t := s.Temperatures
	bad := func(format string, args ...any) error {
		list := join(t)
		if list == "" {
			list = "(none)"
		}
		return fmt.Errorf("%s: temperatures %s: %s", s.Kind, list, fmt.Sprintf(format, args...))
	}
	switch {
	case len(t) < 2:
		return bad("there must be at least two; for one temperature take pcd")
	case s.Kind == "ins" && len(t) > maxINS:
		return bad("ins takes at most %d, as its work grows like 2^K; take pt or pins", maxINS)
	case len(t) > maxRungs:
		return bad("at most %d are allowed", maxRungs)
	case s.Chains > maxReplicas/len(t):
		return bad("%d chains of them make more than %d replicas", s.Chains, maxReplicas)
	case t[0] != 1:
		return bad("the first must be 1, the temperature of the model")
	}
	for k, x := range t {
		if math.IsNaN(x) {
			return bad("they must be numbers")
		}
		if k > 0 && x <= t[k-1] {
			return bad("they must rise, but %v follows %v", x, t[k-1])
		}
	}
	return nil
}

// checkCut bounds the cut of ucd and the particles of a call, of which there
// are two for each pair and step.
func (s Settings) checkCut() error {
	switch {
	case s.Max < s.K || s.Max > maxSteps:
		return fmt.Errorf("%s: max is %d; it must lie in k … %d, and k is %d", s.Kind, s.Max, maxSteps, s.K)
	case s.Max > maxReplicas/2/max(s.Chains, 1):
		return fmt.Errorf("%s: %d chains of up to max = %d steps make more than %d particles", s.Kind, s.Chains, s.Max, maxReplicas)
	}
	return nil
}

// leastHottest is the lowest top of a tuned ladder: below, float32 has no room
// for many inverse temperatures between it and 1.
const leastHottest = 1.01

func (s Settings) checkAuto() error {
	most := s.longest()
	switch {
	case len(s.Temperatures) > 0:
		return fmt.Errorf("%s: temperatures %s are given and to be tuned; leave one out", s.Kind, join(s.Temperatures))
	case s.Rungs != 0 && (s.Rungs < 2 || s.Rungs > most):
		return fmt.Errorf("%s: tau is auto/%d; the number must lie in 2 … %d", s.Kind, s.Rungs, most)
	case s.Chains > maxReplicas/s.MaxTemperatures():
		return fmt.Errorf("%s: %d chains at up to %d temperatures make more than %d replicas", s.Kind, s.Chains, s.MaxTemperatures(), maxReplicas)
	}
	return nil
}

func (s Settings) checkHottest() error {
	switch {
	case s.Hottest == 0:
		return nil
	case !s.Auto:
		return fmt.Errorf("%s: hottest is for tau=auto; end the temperatures with it instead", s.Kind)
	case !(s.Hottest >= leastHottest):
		return fmt.Errorf("%s: hottest is %v; it must be at least %v, or inf", s.Kind, s.Hottest, leastHottest)
	}
	return nil
}

// longest returns the most temperatures that the kind allows.
func (s Settings) longest() int {
	if s.Kind == "ins" {
		return maxINS
	}
	return maxRungs
}

// MaxTemperatures returns the largest number of temperatures that the ladder
// may come to have, or 1 if the kind has none: what memory is to be reckoned
// with.
func (s Settings) MaxTemperatures() int {
	switch {
	case !Has(s.Kind, "tau"):
		return 1
	case !s.Auto:
		return len(s.Temperatures)
	case s.Rungs > 0:
		return s.Rungs
	}
	return min(s.longest(), autoRungs)
}
