package negphase

import "gorbm/negphase/diag"

// Kinds of warnings about a ladder of temperatures, in addition to diag.FewSwaps.
const (
	NoOffWeight diag.Kind = "no_off_weight" // the estimate hardly uses the hotter particles
	NoTrips     diag.Kind = "no_trips"      // no round trip in the last diag.TripRounds rounds
)

// Remedies for a ladder.
const (
	CloserTemperatures diag.Remedy = "closer_temperatures"
	TunedTemperatures  diag.Remedy = "tuned_temperatures"
	MoreTemperatures   diag.Remedy = "more_temperatures"
	MoreSwaps          diag.Remedy = "more_swaps"   // rounds in each update
	SmallerRate        diag.Remedy = "smaller_rate" // a ladder can follow a model that changes more slowly
	UsePins            diag.Remedy = "use_pins"     // which may have more temperatures
	UsePCD             diag.Remedy = "use_pcd"
	MoreChains         diag.Remedy = "more_chains"
	HigherFreeze       diag.Remedy = "higher_freeze" // of ptt
	MoreRungs          diag.Remedy = "more_rungs"    // of ptt
	ShorterWalks       diag.Remedy = "shorter_walks" // of a sampler of walks, or a weaker preference
)

// Exchange returns the warning that the particles of a ladder with these settings exchange too rarely, or
// nil. i has the counts. The criterion is diag.WorstExchange or, for ins and pins, the weight on hotter
// particles.
func (s Settings) Exchange(i Info) *diag.Warning {
	if s.ladder() == nil {
		return nil
	}
	w := diag.Warning{Kind: diag.FewSwaps}
	pair, rate := diag.WorstExchange(i.SwapTries, i.Swaps)
	if off, groups := i.OffWeight(); groups > 0 {
		w.Kind, rate = NoOffWeight, off
		if groups < diag.LeastAttempts {
			return nil
		}
	}
	if !(rate < diag.LeastExchange) {
		return nil
	}
	w.Numbers = diag.Numbers{"rate": rate, "colder": float64(pair + 1), "hotter": float64(pair + 2), "temperatures": float64(len(i.Swaps) + 1)}
	l := s.Ladder()
	switch t := l.Temperatures; {
	case t.Reach:
		w.Help = []diag.Remedy{SmallerRate, UsePCD}
	case t.Auto && l.Longest() < DefaultSettings("pins").Ladder().Longest():
		w.Help = []diag.Remedy{UsePins, UsePCD}
	case t.Auto:
		w.Help = []diag.Remedy{MoreTemperatures, UsePCD}
	default:
		w.Help = []diag.Remedy{CloserTemperatures, TunedTemperatures, UsePCD}
	}
	return &w
}
