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

// logZFlags holds the values of the flags about log Z.
type logZFlags struct {
	exact, ais, reverse, bennett bool

	chains, temperatures, rounds int
	fixed                        bool    // the rounds are not doubled
	longest                      int     // largest number of rounds after doubling; 0: the default of logz
	work                         float64 // logz.Settings.Work
	base, ladder                 string
	seed                         uint64
}

const (
	// The first 1/burnInShare of the rounds of a ladder is burn-in. The ladder is
	// tuned in the first half of the burn-in.
	burnInShare = 3
	// By default a snapshot of a run gets 1/historyShare of the work of a single
	// model, because a run has some twenty snapshots.
	historyShare = 2
	// historyLonger is the factor by which the rounds for a snapshot may grow.
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
	f.BoolVar(&z.reverse, "reverse-ais", false, "log Z by reverse annealed importance sampling, from the samples of a ladder: too high on average").Main("  by reverse AIS: too high on average")
	f.BoolVar(&z.bennett, "bennett", false, "log Z by the multistate Bennett ratio along the tempered chains").Main("  by Bennett's ratio: neither too low nor too high")
	f.IntVar(&z.chains, "ais-chains", s.Annealing.Chains, "number of chains of AIS and of reverse AIS").Between(1, maxChains)
	f.IntVar(&z.temperatures, "ais-temperatures", s.Annealing.Temperatures, "number of temperatures of AIS and of reverse AIS; the default for a snapshot of -run is half of this").Between(2, maxTemperatures)
	f.IntVar(&z.rounds, "ladder-rounds", s.BurnIn+s.Rounds, "number of rounds of the tempered chains; the first third is burn-in. By default the ladder begins with fewer and doubles them until there are enough independent draws, while its round trips show that this can succeed, for at most the work of training, or some two minutes of a core if the run is unknown. A snapshot of -run starts with half as many rounds, and has at most four times that").Between(minRounds, maxRounds)
	f.StringVar(&z.base, "base", "data", "distribution at β = 0: data, independent units with the means of the training rows in both layers, or uniform").Choice("data", "uniform")
	f.StringVar(&z.ladder, "ladder", "", "write a picture (.png, .svg or .pdf) of the ladder of tempered chains, before and after its tuning to the model").New(cli.Pictures...).Not("run")
	return z
}

// asked reports whether log Z is computed.
func (z *logZFlags) asked() bool { return z.exact || z.estimated() }

// estimated reports whether log Z is estimated.
func (z *logZFlags) estimated() bool { return z.ais || z.reverse || z.bennett }

// idle returns an error for a flag that was given but has no effect on what is computed.
func (z *logZFlags) idle(f *cli.Flags) error {
	for _, c := range []struct {
		flag  string
		used  bool
		users string
	}{
		{"ais-chains", z.ais || z.reverse, "-ais and -reverse-ais"},
		{"ais-temperatures", z.ais || z.reverse, "-ais and -reverse-ais"},
		{"ladder-rounds", z.reverse || z.bennett, "-reverse-ais and -bennett"},
		{"ladder", z.reverse || z.bennett, "-reverse-ais and -bennett"},
		{"base", z.estimated(), "-ais, -reverse-ais and -bennett"},
		{"seed", z.estimated(), "-ais, -reverse-ais and -bennett"},
	} {
		if !c.used && f.Given(c.flag) {
			return cli.Usagef("-%s is for %s, none of which is computed; give one of them", c.flag, c.users)
		}
	}
	z.fixed = f.Given("ladder-rounds")
	s := z.settings(nil)
	if least := (z.chains + s.Groups - 1) / s.Groups; z.reverse && s.Rounds < least {
		return cli.Usagef("-ais-chains %d of reverse AIS start from %d ladders, which needs -ladder-rounds of %d or more", z.chains, s.Groups, burnInShare*least/(burnInShare-1)+1)
	}
	return nil
}

// checkLogZ returns an error if log Z of m cannot be computed by the methods of the flags.
func (z *logZFlags) checkLogZ(m *rbm.RBM) error {
	if z.exact {
		if _, err := exact.New(m, exact.EvaluationLimit); err != nil {
			return fmt.Errorf("-exact: %w", err)
		}
	}
	if z.estimated() {
		if err := memory.Check(fmt.Sprintf("-ais-chains %d", z.chains), float64(z.chains)*(float64(m.Visible())/8+16)); err != nil {
			return fmt.Errorf("%w; use fewer", err)
		}
	}
	if z.estimated() && m.Constraint.OnAll() {
		return cli.Usagef("-ais, -reverse-ais and -bennett make block Gibbs steps, which never change the number of active visible units under the constraint %v; -exact enumerates small models", m.Constraint)
	}
	return nil
}

// autoWork is the largest number of terms of an enumeration that no flag requests. For that many terms one
// core needs 0.6 s with AVX-512 and 11 s in plain Go.
const autoWork = 1 << 32

// chooseLogZ chooses the methods for log Z of the given number of models like m, if no
// flag does: enumeration if it takes at most some seconds, otherwise all estimates. A
// constraint on all units excludes estimates.
func (z *logZFlags) chooseLogZ(m *rbm.RBM, models int) {
	enum, err := exact.New(m, exact.EvaluationLimit)
	z.exact = err == nil && enum.Work()*float64(models) <= autoWork
	if !z.exact && !m.Constraint.OnAll() {
		z.ais, z.reverse, z.bennett = true, true, true
	}
}

const (
	// Unless flags say otherwise, AIS and its reverse take 1/firstShare of the work of training, and so does
	// the ladder at first, within the bounds of leastTemperatures, leastRounds and the defaults of the flags. The
	// ladder then continues while this pays, until all estimates together took as long as training.
	firstShare                     = 20
	leastTemperatures, leastRounds = 500, 1500
	// usualReplicas is a usual number of replicas of the ladder: ten ladders of 30 temperatures.
	usualReplicas = 300
)

// budget limits the work of the estimates for the model m of path by the work of its training, if the run's
// config.json is next to the model and no flag sets the work of an estimate.
func (z *logZFlags) budget(f *cli.Flags, path string, m *rbm.RBM) {
	c := readTrainedOn(path)
	if c.Steps == 0 || f.FirstGiven("ais-chains", "ais-temperatures", "ladder-rounds") != "" {
		return
	}
	all := c.Training.Work(c.Steps, m.Visible(), m.Hidden())
	passes := all / (2 * train.RowWork(m.Visible(), m.Hidden())) // of a replica, down and up
	z.temperatures = min(max(int(passes/firstShare/float64(2*z.chains)), leastTemperatures), z.temperatures)
	z.rounds = min(max(int(passes/firstShare/usualReplicas), leastRounds), z.rounds)
	z.work = all/2 - float64(2*z.chains*z.temperatures)*train.RowWork(m.Visible(), m.Hidden())
}

// settings returns the settings of the estimates. A nil base is the uniform
// distribution.
func (z *logZFlags) settings(base *rbm.Base) logz.Settings {
	s := logz.DefaultSettings()
	s.AIS, s.Reverse, s.Bennett = z.ais, z.reverse, z.bennett
	s.Annealing.Chains, s.Annealing.Temperatures, s.Annealing.Base = z.chains, z.temperatures, base
	s.BurnIn = z.rounds / burnInShare
	s.Rounds = z.rounds - s.BurnIn
	s.Work = max(1, z.work)
	if z.work == 0 {
		s.Work = 0
	}
	switch {
	case z.fixed:
		s.Longest = 0
	case z.longest > 0:
		s.Longest = z.longest
	}
	return s
}

// baseOf returns the distribution at β = 0 for m and the training rows set. It returns nil for the uniform
// distribution, and also if nothing is estimated.
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
