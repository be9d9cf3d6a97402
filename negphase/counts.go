package negphase

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"gorbm/negphase/diag"
	"gorbm/rbm/finitejson"
)

// Info counts what an estimator did. The counts of several calls may be added, exactly up to 2⁵³.
type Info struct {
	Updates int64 // block Gibbs steps and moves, summed over all chains and replicas

	// SwapTries and Swaps count attempted and successful exchanges for each pair of neighbours on a
	// ladder, starting at the coldest pair. For pt they are proposed and accepted swaps. For ins and
	// pins they are the permutations drawn, and the permutations that moved a particle across the pair.
	// For ptt, whose ladder is the live model and the rungs (its frozen models), they are swaps of
	// neighbours, starting at the live model.
	SwapTries, Swaps []int64
	// Tuned is the number of times that the ladder had been tuned. For ptt it is the number of rungs
	// that were added to the first one. SwapTries and Swaps count exchanges of the ladder since its
	// last change.
	Tuned int64

	Counts []Count // all other counts
}

// A Count is a number of events, or the sum of a quantity over events.
type Count struct {
	Name  string // must not be the name of a field of Info
	Value float64
}

// Get returns the count of this name; 0 if there is none.
func (i Info) Get(name string) float64 {
	for _, c := range i.Counts {
		if c.Name == name {
			return c.Value
		}
	}
	return 0
}

// Count adds x to the count of this name. It allocates if there is none yet.
func (i *Info) Count(name string, x float64) {
	for k := range i.Counts {
		if i.Counts[k].Name == name {
			i.Counts[k].Value += x
			return
		}
	}
	i.Counts = append(i.Counts, Count{name, x})
}

// Add adds the counts of o to i. If o and i differ in Tuned, i has SwapTries and Swaps of the ladder
// that was tuned more often. Add panics if Tuned is equal and the numbers of pairs differ, unless one
// number is zero.
func (i *Info) Add(o Info) {
	i.Updates += o.Updates
	for _, c := range o.Counts {
		i.Count(c.Name, c.Value)
	}
	if len(o.Swaps) == 0 || o.Tuned < i.Tuned {
		return
	}
	if len(i.Swaps) == 0 || o.Tuned > i.Tuned {
		i.Tuned = o.Tuned
		i.SwapTries = append(i.SwapTries[:0], o.SwapTries...)
		i.Swaps = append(i.Swaps[:0], o.Swaps...)
		return
	}
	if len(i.Swaps) != len(o.Swaps) {
		panic("negphase: counts of different ladders")
	}
	for k := range o.Swaps {
		i.SwapTries[k] += o.SwapTries[k]
		i.Swaps[k] += o.Swaps[k]
	}
}

// Reset sets all counts to zero and keeps their memory.
func (i *Info) Reset() {
	clear(i.SwapTries)
	clear(i.Swaps)
	for k := range i.Counts {
		i.Counts[k].Value = 0
	}
	i.Updates = 0
}

// maxCount is the largest count of a run: float64 adds integers exactly up to it.
const maxCount = 1 << 53

// Check returns an error if i, which was read from a file, cannot be the counts of a ladder that has the
// given number of pairs of neighbours and was tuned the given number of times.
func (i Info) Check(pairs int, tuned int64) error {
	for _, n := range slices.Concat([]int64{i.Updates, i.Tuned}, i.Swaps, i.SwapTries) {
		if n < 0 || n > maxCount {
			return fmt.Errorf("a count of %d", n)
		}
	}
	for _, c := range i.Counts {
		if !(c.Value >= 0 && c.Value <= maxCount) {
			return fmt.Errorf("%s is %v", c.Name, c.Value)
		}
	}
	switch n := len(i.Swaps); {
	case n != len(i.SwapTries):
		return fmt.Errorf("accepted swaps of %d pairs, but attempted swaps of %d", n, len(i.SwapTries))
	case i.Tuned > tuned || n > 0 && i.Tuned == tuned && n != pairs:
		return fmt.Errorf("swaps of %d pairs of a ladder tuned %d times; it has %d pairs and was tuned %d times", n, i.Tuned, pairs, tuned)
	}
	return nil
}

// infoFields are the fields of Info besides Counts.
type infoFields struct {
	Updates          int64
	SwapTries, Swaps []int64
	Tuned            int64
}

// MarshalJSON writes an object with a key for each field and for each count.
func (i Info) MarshalJSON() ([]byte, error) {
	object := map[string]any{"Updates": i.Updates, "SwapTries": i.SwapTries, "Swaps": i.Swaps, "Tuned": i.Tuned}
	for _, c := range i.Counts {
		object[c.Name] = c.Value
	}
	return finitejson.Marshal(object)
}

// UnmarshalJSON reads what MarshalJSON writes. Counts of 0 are left out.
func (i *Info) UnmarshalJSON(text []byte) error {
	var f infoFields
	var rest map[string]any
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &rest); err != nil {
		return err
	}
	for _, name := range []string{"Updates", "SwapTries", "Swaps", "Tuned"} {
		delete(rest, name)
	}
	read := Info{Updates: f.Updates, SwapTries: f.SwapTries, Swaps: f.Swaps, Tuned: f.Tuned}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		x, ok := rest[name].(float64)
		if !ok {
			return fmt.Errorf("the count %.60q is no number", name)
		}
		if x != 0 {
			read.Count(name, x)
		}
	}
	*i = read
	return nil
}

// SwapRates returns Swaps divided by SwapTries for each pair of neighbouring
// temperatures, from the coldest; 0 for a pair without attempts. It is nil if
// there are no pairs, or no attempts at any.
func (i Info) SwapRates() []float64 {
	if !slices.ContainsFunc(i.SwapTries, func(n int64) bool { return n > 0 }) {
		return nil
	}
	rates := make([]float64, len(i.Swaps))
	for k, n := range i.Swaps {
		rates[k] = float64(n) / float64(max(1, i.SwapTries[k]))
	}
	return rates
}

// A Figure is a statistic that is computed from the counts of an estimator.
type Figure struct {
	Key    string  // key in JSON, and name of the column in metrics.csv
	Value  float64 // NaN if unknown or not worth reporting; JSON then omits the key
	Column bool    // metrics.csv has a column for it, computed over the updates since the last evaluation
	// Text is a line of the summary of a run. If Ladder is set, it is appended to the line about
	// the ladder instead.
	Text   string
	Ladder bool
}

// A Reporter is implemented by the settings of a kind that counts more than Updates and exchanges.
type Reporter interface {
	// Figures computes statistics from the counts of the given number of updates. The keys do
	// not depend on the counts.
	Figures(i Info, updates int) []Figure
}

// A Warner is implemented by the settings of a kind whose counts may show that its estimates cannot
// be trusted.
type Warner interface {
	// Warnings returns the reasons not to trust the estimates. total has the counts of the given
	// number of updates, recent the counts since the last evaluation.
	Warnings(total, recent Info, updates int) []diag.Warning
}

// Figures computes statistics from the counts of an estimator with these settings; see Reporter.
func (s Settings) Figures(i Info, updates int) []Figure {
	if r, ok := s.specific.(Reporter); ok {
		return r.Figures(i, updates)
	}
	return nil
}

// Warnings returns the reasons not to trust estimates with these settings: see Exchange and Warner.
func (s Settings) Warnings(total, recent Info, updates int) (all []diag.Warning) {
	if w := s.Exchange(total); w != nil {
		all = append(all, *w)
	}
	if w, ok := s.specific.(Warner); ok {
		all = append(all, w.Warnings(total, recent, updates)...)
	}
	return all
}

// Traits say how estimators of a kind differ from chains that persist.
type Traits struct {
	AtData  bool // chains start at the positive phase in each call
	Moments bool // the estimator returns moments instead of particles
	// NoSamples says why the particles are not samples of a model, and which kinds to use instead; ""
	// if they are samples.
	NoSamples string
	// BitsOnly says why the model cannot have real units, and which kinds to use instead; "" if it can
	// have them.
	BitsOnly string
}

// A Peculiar is implemented by the settings of a kind that has traits.
type Peculiar interface{ Traits() Traits }

// Traits returns the traits of the kind.
func (s Settings) Traits() Traits {
	if p, ok := s.specific.(Peculiar); ok {
		return p.Traits()
	}
	return Traits{}
}

// ratio returns a/b, or NaN if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// unlessZero returns n, or NaN if it is 0, so that JSON omits it.
func unlessZero(n float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return n
}

// percent formats a fraction in per cent with three digits.
func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

// plural formats a number with a noun: "1 time", "2 times".
func plural(n float64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%.0f %s", n, what)
}
