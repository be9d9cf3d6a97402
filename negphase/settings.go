package negphase

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/data"
)

// Start says where the chains of an estimator begin.
type Start string

const (
	Uniform Start = "uniform" // hidden states uniformly at random
	Data    Start = "data"    // hidden states drawn given rows of the first batch
)

// Settings choose an estimator. Fields that a kind does not have are ignored
// by New and refused by Parse.
type Settings struct {
	Kind         string    `json:"kind"`
	K            int       `json:"k"`            // κ: Gibbs steps between swaps; all kinds but exact
	Swaps        int       `json:"swaps"`        // rounds of κ steps and a swap in each update: pt, ins
	Chains       int       `json:"chains"`       // chains, or groups of replicas: pcd, pt, ins
	Start        Start     `json:"start"`        // where chains begin: pcd, pt, ins
	Temperatures []float64 `json:"temperatures"` // rising from 1: pt, ins
	Max          int       `json:"max"`          // Gibbs steps after which a pair of chains is cut: ucd
}

// MarshalJSON writes the settings that the kind has.
func (s Settings) MarshalJSON() ([]byte, error) {
	out := map[string]any{"kind": s.Kind}
	for key, value := range map[string]any{"k": s.K, "swaps": s.Swaps, "chains": s.Chains, "start": s.Start, "max": s.Max} {
		if Has(s.Kind, key) {
			out[key] = value
		}
	}
	if Has(s.Kind, "tau") {
		out["temperatures"] = s.Temperatures
	}
	return json.Marshal(out)
}

// DefaultSettings returns the settings of the infinite-swapping paper for an
// estimator of the given kind: one Gibbs step and one swap an update, ten
// chains with a uniform start, temperatures 1 to 5 (sections 4.2.4–4.2.6); and
// for ucd, which it lacks, a cut after 1000 steps.
func DefaultSettings(kind string) Settings {
	return Settings{Kind: kind, K: 1, Swaps: 1, Chains: 10, Start: Uniform, Temperatures: []float64{1, 2, 3, 4, 5}, Max: 1000}
}

// A kind of estimator: the settings it has, and how it is made.
type kind struct {
	name string
	keys []string
	make func(s Settings) Estimator
}

// kinds is the table of all estimators; tests go through it.
var kinds = []kind{
	{"cd", []string{"k"}, func(s Settings) Estimator { return &cd{steps: s.K} }},
	{"pcd", []string{"k", "chains", "start"}, func(s Settings) Estimator { return newPCD(s) }},
	{"pt", []string{"k", "swaps", "chains", "start", "tau"}, func(s Settings) Estimator { return newPT(s) }},
	{"ins", []string{"k", "swaps", "chains", "start", "tau"}, func(s Settings) Estimator { return newINS(s) }},
	{"ucd", []string{"k", "max", "chains", "start"}, func(s Settings) Estimator { return newUCD(s) }},
	{"exact", nil, func(s Settings) Estimator { return &exact{} }},
}

// Kinds returns the names of all estimators.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Has reports whether estimators of this kind have the setting named by the
// grammar's key: k, swaps, chains, start, tau or max.
func Has(name, key string) bool {
	k, err := find(name)
	return err == nil && slices.Contains(k.keys, key)
}

func find(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("unknown negative phase %q%s; there are %s",
		name, didYouMean(name, Kinds()), strings.Join(Kinds(), ", "))
}

// didYouMean returns "; did you mean …?" if a known name is like name.
func didYouMean(name string, known []string) string {
	if near := data.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// New returns a new estimator. The error is that of Check.
func New(s Settings) (Estimator, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	k, err := find(s.Kind)
	if err != nil {
		return nil, err
	}
	return k.make(s), nil
}

// Check returns an error that names the setting that is out of range, of those
// that the kind has, or the kind if it is unknown.
func (s Settings) Check() error {
	k, err := find(s.Kind)
	if err != nil {
		return err
	}
	for _, key := range k.keys {
		if err := s.check(key); err != nil {
			return err
		}
	}
	return nil
}

const (
	maxSteps = 1_000_000 // Gibbs steps an update: more is surely a slip
	maxRungs = 256       // temperatures of pt
	// maxINS is the largest number of temperatures of ins: its table of
	// subsets has 2^K entries.
	maxINS = 16
	// maxReplicas is the largest number of replicas in all chains.
	maxReplicas = 1 << 24
	// MaxChains is the largest number of chains.
	MaxChains = 1_000_000
)

// check checks the setting of one key.
func (s Settings) check(key string) error {
	count := func(n, top int) error {
		if n < 1 || n > top {
			return fmt.Errorf("%s: %s is %d; it must lie in 1 … %d", s.Kind, key, n, top)
		}
		return nil
	}
	switch key {
	case "k":
		return count(s.K, maxSteps)
	case "swaps":
		return count(s.Swaps, maxSteps)
	case "chains":
		return count(s.Chains, MaxChains)
	case "start":
		if s.Start != Uniform && s.Start != Data {
			return fmt.Errorf("%s: start is %q; it is uniform or data", s.Kind, s.Start)
		}
	case "tau":
		return checkLadder(s)
	case "max":
		return checkCut(s)
	}
	return nil
}

func checkLadder(s Settings) error {
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
		return bad("ins takes at most %d, as its work grows like 2^K; take pt", maxINS)
	case len(t) > maxRungs:
		return bad("at most %d are allowed", maxRungs)
	case s.Chains > maxReplicas/len(t):
		return bad("%d chains of them make more than %d replicas", s.Chains, maxReplicas)
	case t[0] != 1:
		return bad("the first must be 1, the temperature of the model")
	}
	for k, x := range t {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return bad("they must be finite numbers")
		}
		if k > 0 && x <= t[k-1] {
			return bad("they must rise, but %v follows %v", x, t[k-1])
		}
	}
	return nil
}

// checkCut bounds the cut of ucd and the particles of a call, of which there
// are two for each pair and step.
func checkCut(s Settings) error {
	switch {
	case s.Max < s.K || s.Max > maxSteps:
		return fmt.Errorf("%s: max is %d; it must lie in k … %d, and k is %d", s.Kind, s.Max, maxSteps, s.K)
	case s.Max > maxReplicas/2/max(s.Chains, 1):
		return fmt.Errorf("%s: %d chains of up to max = %d steps make more than %d particles", s.Kind, s.Chains, s.Max, maxReplicas)
	}
	return nil
}

func join(t []float64) string {
	s := make([]string, len(t))
	for i, x := range t {
		s[i] = strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strings.Join(s, "/")
}

// String returns s in the grammar that Parse reads.
func (s Settings) String() string {
	k, err := find(s.Kind)
	if err != nil {
		return s.Kind
	}
	out := s.Kind
	for _, key := range k.keys {
		switch key {
		case "k":
			out += fmt.Sprintf(":k=%d", s.K)
		case "swaps":
			out += fmt.Sprintf(":swaps=%d", s.Swaps)
		case "chains":
			out += fmt.Sprintf(":chains=%d", s.Chains)
		case "start":
			out += ":start=" + string(s.Start)
		case "tau":
			out += ":tau=" + join(s.Temperatures)
		case "max":
			out += fmt.Sprintf(":max=%d", s.Max)
		}
	}
	return out
}

// Parse reads settings in the grammar name[:key=value]…, such as
// "pt:k=1:tau=1/2/3/4/5"; keys are k, swaps, chains, start, tau and max, and
// lists are separated by '/'. What the text does not mention is taken from
// defaults. The settings are checked by Check.
func Parse(text string, defaults Settings) (Settings, error) {
	parts := strings.Split(text, ":")
	s := defaults
	s.Kind = parts[0]
	k, err := find(s.Kind)
	if err != nil {
		return s, err
	}
	var seen []string
	for _, p := range parts[1:] {
		key, value, ok := strings.Cut(p, "=")
		if !ok {
			return s, fmt.Errorf("%s: %q is not of the form key=value", s.Kind, p)
		}
		if !slices.Contains(k.keys, key) {
			if len(k.keys) == 0 {
				return s, fmt.Errorf("%s has no settings, so no %q", s.Kind, key)
			}
			return s, fmt.Errorf("%s has no setting %q%s; it has %s",
				s.Kind, key, didYouMean(key, k.keys), strings.Join(k.keys, ", "))
		}
		if slices.Contains(seen, key) {
			return s, fmt.Errorf("%s: %s is given twice", s.Kind, key)
		}
		seen = append(seen, key)
		if err := s.set(key, value); err != nil {
			return s, err
		}
	}
	return s, s.Check()
}

func (s *Settings) set(key, value string) (err error) {
	switch key {
	case "k":
		s.K, err = strconv.Atoi(value)
	case "swaps":
		s.Swaps, err = strconv.Atoi(value)
	case "chains":
		s.Chains, err = strconv.Atoi(value)
	case "start":
		s.Start = Start(value)
	case "tau":
		s.Temperatures, err = ParseTemperatures(value)
		return err
	case "max":
		s.Max, err = strconv.Atoi(value)
	}
	if err != nil {
		return fmt.Errorf("%s: %s is %q; it must be a whole number", s.Kind, key, value)
	}
	return nil
}

// ParseTemperatures reads a list of numbers separated by '/' or ','.
func ParseTemperatures(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	fields := strings.Split(strings.ReplaceAll(text, ",", "/"), "/")
	t := make([]float64, len(fields))
	for i, f := range fields {
		x, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil {
			return nil, fmt.Errorf("temperature %q is not a number", f)
		}
		t[i] = x
	}
	return t, nil
}
