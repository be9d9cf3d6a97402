package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// presets are the presets of package train. Here they are values for flags that are not given. A run stores
// the values in config.json, so that it resumes with the same values after presets have changed.
var presets = train.Presets()

// presetFlags returns the flags of a preset, in the order of -preset help. kind is the kind of the
// estimator, or "" for that of the preset.
func presetFlags(p train.Preset, kind string) (flags []setting) {
	s := p.Settings(cmp.Or(kind, p.Negative, "ins"))
	add := func(flag string, value any) { flags = append(flags, setting{flag, fmt.Sprint(value)}) }
	for _, x := range []setting{{"objective", s.Objective}, {"negphase", p.Negative}, {"binarize", p.Binarize}} {
		if x.value != "" {
			flags = append(flags, x)
		}
	}
	if p.Hidden > 0 { // 0 before Fit: two per input
		add("hidden", p.Hidden)
	}
	add("rate", s.Rate)
	add("schedule", s.Schedule)
	add("init", p.Init)
	for _, x := range []struct {
		flag  string
		value float64
	}{{"center", s.Center}, {"average", s.Average}, {"alpha", s.Alpha}, {"sparse", s.Sparse}} {
		if x.value > 0 {
			add(x.flag, x.value)
		}
	}
	add("batch", s.Batch)
	add("steps", s.Horizon)
	chains := p.Chains
	if tempered(s.Negative) {
		chains = p.Groups
	}
	add("chains", chains)
	add("temperatures", p.Temperatures)
	if p.Labels != rbm.Softmax {
		add("labels", p.Labels)
	}
	return flags
}

// A setting is the value of a flag.
type setting struct{ flag, value string }

func presetNames() []string {
	names := []string{"auto"}
	for _, p := range presets {
		names = append(names, p.Name)
	}
	return names
}

// presetHelp returns the text of -preset help.
func presetHelp() string {
	var b strings.Builder
	fmt.Fprint(&b, "A preset is a list of values for flags. Flags on the command line override it.\n")
	for _, p := range presets {
		fmt.Fprintf(&b, "\n%s: for %s\n ", p.Name, p.For)
		chains := p.Negative == "" && p.Common.Objective == "" // the others have no ladder
		for _, s := range presetFlags(p, "") {
			if chains || s.flag != "chains" && s.flag != "temperatures" {
				fmt.Fprintf(&b, " -%s %s", s.flag, s.value)
			}
		}
		if p.Hidden == 0 {
			fmt.Fprint(&b, " (-hidden: two per input)")
		}
		if chains && p.Chains != p.Groups {
			fmt.Fprintf(&b, " (-chains %d without a ladder)", p.Chains)
		}
		fmt.Fprintf(&b, "\n  Expect: %s\n", p.Expect)
	}
	fmt.Fprint(&b, "\nWith -hidden-units relu, drelu or gaussian the rate is a tenth of the preset's.\n")
	return b.String()
}

// negphaseHelp returns the text of -negphase help.
func negphaseHelp() string {
	return "Estimators of the negative phase. The cost is the time of an update, divided by that of pcd with the same\ntotal number of chains. It was measured with 784 × 500 units, 50 chains, batch 20.\n\n" +
		negphase.CostsHelp() + "\nSettings may follow the name, as in -negphase pt:k=1:tau=1/2/3; rbmtrain -h all lists them.\n"
}

// hiddenUnitsHelp is the text of -hidden-units help.
const hiddenUnitsHelp = `Kinds of hidden units. The energy of a unit h is U(h) − h·z, where z is Σ weight·v, plus the unit's bias
except for drelu, whose θ include it.

  bernoulli  0 or 1, the default
  relu       h ≥ 0, U = h²/2
  drelu      real, U = γ⁺h²/2 − θ⁺h for h ≥ 0, and γ⁻h²/2 − θ⁻h below; each unit learns its γ and θ
  gaussian   real, U = h²/2

The last three need -negphase cd, pcd, pt, ins, pins or exact, and cannot have labels or -constraint.
An update takes several times as long as with bernoulli units, and the rate is a tenth of the preset's.
`

// A presetChoice is the preset of a run, as in config.json.
type presetChoice struct {
	Name  string            `json:"name"`
	Flags map[string]string `json:"flags"` // values of flags that were not on the command line
}

// apply sets the flags of a preset that are not on the command line.
func (o *options) apply(p train.Preset) error {
	if o.realHidden() {
		p = p.RealHidden()
	}
	kind := ""
	if o.flags.Given("negphase") {
		kind, _, _ = strings.Cut(o.negphase, ":")
	}
	c := presetChoice{Name: p.Name, Flags: map[string]string{}}
	for _, s := range presetFlags(p, kind) {
		if !o.flags.Given(s.flag) {
			c.Flags[s.flag] = s.value
		}
	}
	return o.applyChoice(c)
}

// applyChoice sets flags without marking them as given.
func (o *options) applyChoice(c presetChoice) error {
	for _, name := range slices.Sorted(maps.Keys(c.Flags)) {
		if err := o.flags.SetDefault(name, c.Flags[name]); err != nil {
			return fmt.Errorf("preset %s: %w", c.Name, err)
		}
	}
	o.chosen = c
	return nil
}

// choosePreset applies the preset before the data are loaded. For -preset auto it applies the
// first preset, so that flags can be checked; fitPreset replaces it. A resumed run has its
// old preset.
func (o *options) choosePreset() error {
	if o.flags.Given("resume") {
		return o.applyChoice(o.chosen)
	}
	at := slices.IndexFunc(presets, func(p train.Preset) bool { return p.Name == o.preset })
	switch {
	case o.preset == "auto":
		at = 0
	case at < 0: // "help" in a line of an array
		return cli.Choice("preset", o.preset, presetNames()...)
	}
	return o.apply(presets[at])
}

// fitPreset adapts the preset to the data, and chooses it for -preset auto. It leaves labels out
// if only the preset requested them and the data have none.
func (o *options) fitPreset(set *data.Set) error {
	if !o.flags.Given("resume") {
		p := train.PresetFor(set, o.labels != "none" && !o.realHidden())
		if at := slices.IndexFunc(presets, func(p train.Preset) bool { return p.Name == o.preset }); at >= 0 {
			p = presets[at].Fit(set)
		}
		if err := o.apply(p); err != nil {
			return err
		}
		if err := o.checkSettings(); err != nil {
			return err
		}
	}
	if _, chosen := o.chosen.Flags["labels"]; chosen && set.Y == nil {
		o.labels = "auto"
		delete(o.chosen.Flags, "labels")
	}
	return nil
}
