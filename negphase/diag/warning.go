package diag

import (
	"math"
	"slices"
)

// A Warning is a reason to distrust a result. It has no words: package cli has a sentence for each kind, in
// which the numbers stand.
type Warning struct {
	Kind Kind `json:"kind"`
	// Of names what the warning is about: estimates, samplers, quantities or classes.
	Of []string `json:"of,omitempty"`
	// Numbers has what was measured, and the limits, by the names that the sentence uses.
	Numbers Numbers `json:"numbers,omitempty"`
	// Cause is why it happened, if a test has shown that.
	Cause *Warning `json:"cause,omitempty"`
	// Help lists what would help, the most promising first.
	Help []Remedy `json:"help,omitempty"`
}

// Numbers are the numbers of a warning. In JSON they are finite: Finite leaves out others.
type Numbers map[string]float64

// A Kind names the criterion of a warning, such as FewTrips.
type Kind string

// A Remedy names something that a user can change. Package cli has words for each.
type Remedy string

// Has reports whether one of the warnings has the kind.
func Has(all []Warning, kind Kind) bool {
	return slices.ContainsFunc(all, func(w Warning) bool { return w.Kind == kind })
}

// Finite returns w without numbers that JSON cannot express.
func (w Warning) Finite() Warning {
	kept := Numbers{}
	for name, x := range w.Numbers {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			kept[name] = x
		}
	}
	w.Numbers = kept
	return w
}

// Error is the kind of a warning that there is no result because of an error, whose text is in Of.
const Error Kind = "error"

// Failed returns the warning that there is no result because of err.
func Failed(err error) Warning { return Warning{Kind: Error, Of: []string{err.Error()}} }
