package main

import (
	"errors"
	"fmt"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/memory"
	"gorbm/train"
	"gorbm/train/plots"
)

// logZFlags are the flags that say how log Z is computed.
type logZFlags struct {
	exact, ais, reverse, bennett bool

	chains, temperatures, rounds int
	fixed                        bool // the rounds are not doubled
	longest                      int  // the most rounds after doubling; 0: as many as logz takes
	base, ladder                 string
	seed                         uint64
}

const (
	// One in burnInShare of the rounds of a ladder is burn-in. The ladder is
	// tuned in the first half of the burn-in.
	burnInShare = 3
	// A snapshot of a run gets one part in historyShare of the work that a single
	// model gets by default, as there are some twenty of them.
	historyShare = 2
	// historyLonger is how many times as many rounds the ladder of a snapshot may take.
	historyLonger = 4

	maxChains       = 1 << 20
	maxTemperatures = 1 << 24
	minRounds       = 60 // a burn-in of 20, and enough draws for a variance
	maxRounds       = 1 << 26
)

func addLogZFlags(f *cli.Flags) *logZFlags {
	s := logz.DefaultSettings()
	z := new(logZFlags)
	f.BoolVar(&z.exact, "exact", false, "exact log Z and log-likelihood, however long it takes (at most 2^28 states)").Main("  by enumeration, however long it takes")
	f.BoolVar(&z.ais, "ais", false, "log Z by annealed importance sampling: too low on average").Main("  by annealed importance sampling: too low on average")
	f.BoolVar(&z.reverse, "reverse-ais", false, "log Z by reverse annealed importance sampling, from tempered chains at the model: too high on average").Main("  by reverse AIS: too high on average")
	f.BoolVar(&z.bennett, "bennett", false, "log Z by the multistate Bennett ratio along the tempered chains").Main("  by Bennett's ratio: neither too low nor too high")
	f.IntVar(&z.chains, "ais-chains", s.Annealing.Chains, "chains of AIS and of its reverse").Between(1, maxChains)
	f.IntVar(&z.temperatures, "ais-temperatures", s.Annealing.Temperatures, "temperatures of AIS and of its reverse; a snapshot of -run gets half of the default").Between(2, maxTemperatures)
	f.IntVar(&z.rounds, "ladder-rounds", s.BurnIn+s.Rounds, "rounds of the tempered chains, the first third of which are the burn-in. By default they are doubled until the draws suffice, for up to some two minutes of a core; a snapshot of -run starts with half as many, and has at most four times that").Between(minRounds, maxRounds)
	f.StringVar(&z.base, "base", "data", "where tempering begins: data, independent units with the means of the training rows in both layers, or uniform").Choice("data", "uniform")
	f.StringVar(&z.ladder, "ladder", "", "write a picture (.png, .svg or .pdf) of the ladder of tempered chains before and after it is tuned to the model").New(cli.Pictures...).Not("run")
	return z
}

// asked reports whether log Z is to be computed.
func (z *logZFlags) asked() bool { return z.exact || z.estimated() }

// estimated reports whether log Z is to be estimated.
func (z *logZFlags) estimated() bool { return z.ais || z.reverse || z.bennett }

// idle returns an error for a flag that was given but has no effect, because
// nothing that is computed takes it.
func (z *logZFlags) idle(f *cli.Flags) error {
	for _, c := range []struct {
		flag string
		used bool
		of   string
	}{
		{"ais-chains", z.ais || z.reverse, "-ais and -reverse-ais"},
		{"ais-temperatures", z.ais || z.reverse, "-ais and -reverse-ais"},
		{"ladder-rounds", z.reverse || z.bennett, "-reverse-ais and -bennett"},
		{"ladder", z.reverse || z.bennett, "-reverse-ais and -bennett"},
		{"base", z.estimated(), "-ais, -reverse-ais and -bennett"},
		{"seed", z.estimated(), "-ais, -reverse-ais and -bennett"},
	} {
		if !c.used && f.Given(c.flag) {
			return cli.Usagef("-%s is for %s, none of which is done; give one of them", c.flag, c.of)
		}
	}
	z.fixed = f.Given("ladder-rounds")
	s := z.settings(nil)
	if least := (z.chains + s.Groups - 1) / s.Groups; z.reverse && s.Rounds < least {
		return cli.Usagef("-ais-chains %d of reverse AIS start from %d ladders, which takes -ladder-rounds of %d or more", z.chains, s.Groups, burnInShare*least/(burnInShare-1)+1)
	}
	return nil
}

// checkLogZ returns an error if log Z of m cannot be computed as the flags ask.
func (z *logZFlags) checkLogZ(m *rbm.RBM) error {
	if z.exact {
		if _, err := exact.New(m, exact.EvaluationLimit); err != nil {
			return fmt.Errorf("-exact: %w", err)
		}
	}
	if z.estimated() {
		if err := memory.Check(fmt.Sprintf("-ais-chains %d", z.chains), float64(z.chains)*(float64(m.Visible())/8+16)); err != nil {
			return fmt.Errorf("%w; take fewer", err)
		}
	}
	if z.estimated() && m.Constraint.OnAll() {
		return cli.Usagef("-ais, -reverse-ais and -bennett take block Gibbs steps, which never change the number of visible units that are active under the constraint %v; -exact enumerates small models", m.Constraint)
	}
	return nil
}

// autoWork bounds the terms of an enumeration that no flag asks for: it takes
// one core 0.6 s with AVX-512 and 11 s in plain Go.
const autoWork = 1 << 32

// chooseLogZ decides how to compute log Z of this number of models like m, where no
// flag says: by enumeration if that takes some seconds at most, else by all
// estimates, which do not apply under a constraint on all units.
func (z *logZFlags) chooseLogZ(m *rbm.RBM, models int) {
	enum, err := exact.New(m, exact.EvaluationLimit)
	z.exact = err == nil && enum.Work()*float64(models) <= autoWork
	if !z.exact && !m.Constraint.OnAll() {
		z.ais, z.reverse, z.bennett = true, true, true
	}
}

// settings returns the settings of the estimates. A nil base is the uniform
// distribution.
func (z *logZFlags) settings(base *rbm.Base) logz.Settings {
	s := logz.DefaultSettings()
	s.AIS, s.Reverse, s.Bennett = z.ais, z.reverse, z.bennett
	s.Annealing.Chains, s.Annealing.Temperatures, s.Annealing.Base = z.chains, z.temperatures, base
	s.BurnIn = z.rounds / burnInShare
	s.Rounds = z.rounds - s.BurnIn
	switch {
	case z.fixed:
		s.Longest = 0
	case z.longest > 0:
		s.Longest = z.longest
	}
	return s
}

// baseOf returns the base of paths to m, by the rows of set; nil, the uniform distribution,
// also where no estimate takes one.
func (z *logZFlags) baseOf(m *rbm.RBM, set *data.Set) *rbm.Base {
	if z.base == "uniform" || !z.estimated() {
		return nil
	}
	return train.ModelBase(m, set)
}

// drawLadder writes the picture of -ladder.
func (z *logZFlags) drawLadder(b logz.Bracket) error {
	if z.ladder == "" {
		return nil
	}
	return cli.WritePicture(z.ladder, plots.Ladders(plots.NamedLadder{Name: "before tuning", Ladder: b.Start}, plots.NamedLadder{Name: "tuned", Ladder: b.Ladder}))
}

var errNotFinite = errors.New("a result is not finite: the model's parameters are too large")
