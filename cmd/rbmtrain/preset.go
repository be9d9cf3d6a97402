package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
)

// A preset is a list of flags with their values. Flags on the command line come
// before it. A run keeps its list in config.json, so that it is resumed with
// the same values when the presets have changed.
type preset struct {
	name, help, expect string
	flags              []setting
}

// A setting is the value of a flag. A row for single chains comes later, and is
// for estimators that have no ladder of temperatures.
type setting struct {
	flag, value string
	single      bool
}

// presets is the table of presets, the default first. The values of the first three
// were found by trials with ins on MNIST, font digits and four toys: rates,
// schedules, batches, groups and starts at equal time. experiments/defaults
// measures what they reach.
var presets = []preset{
	{"classifier", "for data with labels (the default there)",
		"MNIST, 500 hidden units: 2.85 % test error after 23 s of one core, 2.46 % with -steps 160000 (74 s)", recipe},
	{"generative", "for data without labels (the default there)",
		"MNIST, 500 hidden units: test log-likelihood -70.1 nats with ins, -70.7 with pcd, after 23 s of one core", generative},
	{"small", fmt.Sprintf("for rows of fewer than %d inputs, with labels or without (the default there)", manyInputs),
		"bars:4, 16 hidden units: exact log-likelihood -3.42 nats after 1 s, where the law of the data has -3.38", recipe},
	insPaper,
}

// insPaper is also what the flags were before there were presets, but for its
// labels.
var insPaper = preset{"ins-paper", "the settings of the infinite-swapping paper (Hult, Nyquist & Ringqvist 2020, sections 4.2 and 4.5)",
	"built-in digits, 500 hidden units: 8.5 % test error after some 10 s, as the temperatures do not exchange", []setting{
		{flag: "rate", value: "0.1"}, {flag: "schedule", value: "constant"}, {flag: "init", value: "random"},
		{flag: "batch", value: "10"}, {flag: "steps", value: "10000"}, {flag: "chains", value: "10"},
		{flag: "temperatures", value: "1,2,3,4,5"}, {flag: "labels", value: "bernoulli"},
	}}

// manyInputs is the number of inputs from which rows are no longer small.
const manyInputs = 100

// recipe is that of classifiers and small rows. Single chains are as many as ladders of
// five have particles.
var recipe = []setting{
	{flag: "rate", value: "0.1"}, {flag: "schedule", value: "linear"}, {flag: "init", value: "log-odds"},
	{flag: "batch", value: "20"}, {flag: "steps", value: "48000"},
	{flag: "chains", value: "10"}, {flag: "chains", value: "50", single: true},
	{flag: "temperatures", value: "reach:5"},
}

// generative has fewer steps of more rows and chains, and centres the gradient. At equal
// time that is worth five nats with pcd and twelve with ins on MNIST, against the recipe at
// rate 0.05, and makes models whose ladders exchange, so that log Z can be estimated.
var generative = []setting{
	{flag: "rate", value: "0.2"}, {flag: "schedule", value: "cosine"}, {flag: "init", value: "log-odds"},
	{flag: "center", value: "0.01"}, {flag: "batch", value: "50"}, {flag: "steps", value: "10000"},
	{flag: "chains", value: "40"}, {flag: "chains", value: "200", single: true},
	{flag: "temperatures", value: "reach:5"},
}

// presetFor returns the name of the preset of -preset auto.
func presetFor(set *data.Set, labels string) string {
	switch {
	case set.X.Cols < manyInputs:
		return "small"
	case set.Y == nil || labels == "none":
		return "generative"
	}
	return "classifier"
}

func presetNames() []string {
	names := []string{"auto"}
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// presetHelp returns what -preset help prints.
func presetHelp() string {
	var b strings.Builder
	fmt.Fprint(&b, "A preset is a list of flags. Flags on the command line come before it.\n")
	for _, p := range presets {
		fmt.Fprintf(&b, "\n%s: %s\n ", p.name, p.help)
		for _, s := range p.flags {
			note := ""
			if s.single {
				note = " (without a ladder)"
			}
			fmt.Fprintf(&b, " -%s %s%s", s.flag, s.value, note)
		}
		fmt.Fprintln(&b)
		fmt.Fprintf(&b, "  Expect: %s\n", p.expect)
	}
	return b.String()
}

// negphaseHelp returns what -negphase help prints.
func negphaseHelp() string {
	return "Estimators of the negative phase. The cost is that of an update, where one of pcd with as many\nchains, at all temperatures together, costs 1; measured at 784 × 500 units, 50 chains, batch 20.\n\n" +
		negphase.CostsHelp() + "\nSettings may follow the name, as in -negphase pt:k=1:tau=1/2/3; rbmtrain -h all lists them.\n"
}

// A presetChoice is the preset of a run, as it stands in config.json.
type presetChoice struct {
	Name  string            `json:"name"`
	Flags map[string]string `json:"flags"` // that were not on the command line
}

// beforePresets is that of runs that are older than presets.
func beforePresets() *presetChoice {
	c := &presetChoice{Flags: map[string]string{}}
	for _, s := range insPaper.flags {
		c.Flags[s.flag] = s.value
	}
	c.Flags["chains"] = "0" // as many as rows in a batch
	delete(c.Flags, "labels")
	return c
}

// apply sets the flags of the preset of this name that are not on the command
// line.
func (o *options) apply(name string) error {
	at := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	if at < 0 { // help, in a line of an array
		return cli.Choice("preset", name, presetNames()...)
	}
	kind, _, _ := strings.Cut(o.negphase, ":")
	c := presetChoice{Name: name, Flags: map[string]string{}}
	for _, s := range presets[at].flags {
		if !(s.single && negphase.Has(kind, "tau")) && !o.flags.Given(s.flag) {
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

// choosePreset applies the preset before the data are known: of -preset auto the
// first, so that flags can be checked, or the one that a run has which goes on.
func (o *options) choosePreset() error {
	switch {
	case o.flags.Given("resume"):
		return o.applyChoice(o.chosen)
	case o.preset == "auto":
		return o.apply(presets[0].name)
	}
	return o.apply(o.preset)
}

// fitPreset takes the preset of the data for -preset auto. Labels that a preset
// chose are left out where the data have none.
func (o *options) fitPreset(set *data.Set) error {
	if o.preset == "auto" && !o.flags.Given("resume") {
		if err := o.apply(presetFor(set, o.labels)); err != nil {
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
