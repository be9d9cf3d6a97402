package negphase

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"gorbm/rbm/finitejson"
)

// Info counts what an estimator did. Counts add over calls, exactly up to 2⁵³; rates are
// derived from them.
type Info struct {
	Updates int64 // block Gibbs steps and moves, summed over all chains and replicas

	// For each pair of neighbours on a ladder, from the coldest: how often an exchange
	// was tried, and how often particles were exchanged. For pt these are proposed and
	// accepted swaps; for ins and pins, the permutations drawn and those that took a
	// particle across; for ptt, swaps of neighbouring rungs, from the live model.
	SwapTries, Swaps []int64
	// Tuned is the number of times that the ladder was changed before: tunings, or for ptt
	// the rungs above the oldest. The counts of pairs are those of that ladder alone.
	Tuned int64

	Counts []Count // all others
}

// A Count is a number of events, or a sum over them.
type Count struct {
	Name  string // that of no field of Info
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

// Count adds x to the count of this name. It allocates if there was none.
func (i *Info) Count(name string, x float64) {
	for k := range i.Counts {
		if i.Counts[k].Name == name {
			i.Counts[k].Value += x
			return
		}
	}
	i.Counts = append(i.Counts, Count{name, x})
}

// Add adds o to i. If one ladder was tuned more often than the other, only its
// counts of pairs are kept. Add panics if the ladders were tuned equally often
// and have different numbers of pairs, neither of which is zero.
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

// maxCount is the largest count of a run, up to which float64 adds exactly.
const maxCount = 1 << 53

// Check returns an error if i, which was read from a file, cannot be counts of a ladder
// with this number of pairs of temperatures that was tuned this often.
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
		return fmt.Errorf("swaps of %d pairs and attempts of %d", n, len(i.SwapTries))
	case i.Tuned > tuned || n > 0 && i.Tuned == tuned && n != pairs:
		return fmt.Errorf("swaps of %d pairs of a ladder that was tuned %d times, where there are %d and it was tuned %d times", n, i.Tuned, pairs, tuned)
	}
	return nil
}

// infoFields are the fields of Info besides Counts.
type infoFields struct {
	Updates          int64
	SwapTries, Swaps []int64
	Tuned            int64
}

// MarshalJSON writes an object in which the counts stand by their names next to the fields.
func (i Info) MarshalJSON() ([]byte, error) {
	object := map[string]any{"Updates": i.Updates, "SwapTries": i.SwapTries, "Swaps": i.Swaps, "Tuned": i.Tuned}
	for _, c := range i.Counts {
		object[c.Name] = c.Value
	}
	return finitejson.Marshal(object)
}

// UnmarshalJSON reads what MarshalJSON writes. Objects within, as checkpoints had them for
// the moves of samplers, are counts with a dot in their names.
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
	if err := read.counts("", rest); err != nil {
		return err
	}
	*i = read
	return nil
}

// counts adds the counts of a JSON object. Zeros are left out.
func (i *Info) counts(prefix string, object map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch x := object[name].(type) {
		case float64:
			if x != 0 {
				i.Count(prefix+name, x)
			}
		case map[string]any:
			if err := i.counts(prefix+name+".", x); err != nil {
				return err
			}
		default:
			return fmt.Errorf("the count %.60q is no number", prefix+name)
		}
	}
	return nil
}

// SwapRates returns the rate of exchange of each pair of neighbouring
// temperatures, from the coldest; 0 for a pair that was not tried. It is nil if
// there are no pairs or none was tried.
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

// A Figure is a number that the counts of an estimator give.
type Figure struct {
	Key    string  // in JSON, and of a column of metrics.csv
	Value  float64 // NaN if it is unknown, or not worth a mention: JSON leaves it out
	Column bool    // metrics.csv has it for the updates between two evaluations
	// Text is a closing line of a run. That of a figure about the exchange along a ladder
	// continues the line about the ladder.
	Text   string
	Ladder bool
}

// A Reporter is the settings of a kind that counts more than Updates and exchanges.
type Reporter interface {
	// Figures returns what the counts of this number of updates give: the same keys for
	// any counts.
	Figures(i Info, updates int) []Figure
}

// A Warner is the settings of a kind whose counts may show that its estimates are not to
// be trusted.
type Warner interface {
	// Warnings returns the reasons, by the counts of this number of updates and by those
	// since the last evaluation.
	Warnings(total, recent Info, updates int) []string
}

// Figures returns what the counts of an estimator of these settings give: the same keys
// for any counts.
func (s Settings) Figures(i Info, updates int) []Figure {
	if r, ok := s.specific.(Reporter); ok {
		return r.Figures(i, updates)
	}
	return nil
}

// Warnings returns the reasons not to trust estimates of these settings; see Warner.
func (s Settings) Warnings(total, recent Info, updates int) []string {
	if w, ok := s.specific.(Warner); ok {
		return w.Warnings(total, recent, updates)
	}
	return nil
}

// Traits say how estimators of a kind differ from chains that persist.
type Traits struct {
	AtData  bool // chains start at the positive phase in each call
	Moments bool // it yields moments instead of particles
	// NoSamples says why its particles are no samples of a model, and what to take
	// instead; "" if they are.
	NoSamples string
	// BitsOnly says why it cannot have real units, and what to take instead; "" if it
	// can.
	BitsOnly string
}

// A Peculiar is the settings of a kind that has traits.
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

// unlessZero returns n, or NaN if it is 0, so that JSON leaves it out.
func unlessZero(n float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return n
}

// percent returns a share in per cent to three digits.
func percent(x float64) string { return fmt.Sprintf("%.3g %%", 100*x) }

// plural returns a number of things: "1 time", "2 times".
func plural(n float64, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%.0f %s", n, what)
}
