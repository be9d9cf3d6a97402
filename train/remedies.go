package train

import (
	"slices"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// Remedies of warnings about a run.
const (
	SmallerRate                  = negphase.SmallerRate
	AnotherRate      diag.Remedy = "another_rate"
	LargerRate       diag.Remedy = "larger_rate"
	MoreSteps        diag.Remedy = "more_steps"
	ExactPhase       diag.Remedy = "exact_phase"    // the exact negative phase
	LargerWeights    diag.Remedy = "larger_weights" // of the rows of rare classes
	EqualClasses     diag.Remedy = "equal_classes"  // as many rows of each class
	ByClasses        diag.Remedy = "by_classes"     // a discriminative objective
	LinearSchedule   diag.Remedy = "linear_schedule"
	LargerBatch      diag.Remedy = "larger_batch"
	AnotherStart     diag.Remedy = "another_start" // other initial parameters
	WeightDecay      diag.Remedy = "weight_decay"
	MoreHidden       diag.Remedy = "more_hidden"
	FewerHidden      diag.Remedy = "fewer_hidden"
	MoreRows         diag.Remedy = "more_rows"
	HoldOut          diag.Remedy = "hold_out" // rows that end the run at its best
	StopAfter        diag.Remedy = "stop_after"
	UseBest          diag.Remedy = "use_best" // the best model on the rows held out
	MoreSwaps                    = negphase.MoreSwaps
	MoreGibbs        diag.Remedy = "more_gibbs" // Gibbs steps in each update
	MoreChains                   = negphase.MoreChains
	PersistentChains diag.Remedy = "persistent_chains" // a negative phase whose chains persist
	TunedLadder      diag.Remedy = "tuned_ladder"      // a ladder of temperatures
)

// smallerRate returns a smaller rate, and a linear schedule unless the rates of the run's schedule already
// depend on the length of the run.
func smallerRate(s Settings) []diag.Remedy {
	if Ends(s.Schedule) {
		return []diag.Remedy{SmallerRate}
	}
	return []diag.Remedy{SmallerRate, LinearSchedule}
}

// advice lists what helps if the chains do not follow the model: a smaller rate and the Remedies. If a
// ladder is the first of the remedies, it comes before the rate.
func advice(s Settings, m *rbm.RBM) []diag.Remedy {
	help, remedies := smallerRate(s), Remedies(s, m)
	if len(remedies) > 0 && remedies[0] == TunedLadder {
		help, remedies = slices.Insert(help, 0, TunedLadder), remedies[1:]
	}
	return append(help, remedies...)
}

// Remedies returns what helps if chains with these settings do not follow their model
// m: more steps, more chains, chains that persist, and a ladder of temperatures. The ladder is left out if
// there is a tuned one or m cannot have one. It comes first if m has real inputs, whose clusters are too
// far apart for longer chains. The exact negative phase has no remedies.
func Remedies(s Settings, m *rbm.RBM) (all []diag.Remedy) {
	n := s.Negative
	if n.Kind == "" || n.Traits().Moments {
		return nil
	}
	if negphase.Has(n.Kind, "swaps") {
		all = append(all, MoreSwaps)
	} else if negphase.Has(n.Kind, "k") {
		all = append(all, MoreGibbs)
	}
	if negphase.Has(n.Kind, "chains") {
		all = append(all, MoreChains)
	}
	t := n.Ladder().Temperatures
	switch {
	case !n.Persists():
		all = append(all, PersistentChains)
	case m.Constraint.OnAll(), negphase.Has(n.Kind, "tau") && t.Auto && !t.Reach:
	case m.Real():
		all = slices.Insert(all, 0, TunedLadder)
	default:
		all = append(all, TunedLadder)
	}
	return all
}
