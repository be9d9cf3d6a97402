package main

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/train"
)

// checkObjective sets the objective from its flags. The discriminative one has no
// negative phase: what says how to estimate it is checked and left unused.
func (o *options) checkObjective() error {
	s := &o.settings
	s.Alpha = 0
	switch s.Objective {
	case train.Hybrid:
		s.Alpha = o.alpha
	case train.Discriminative:
		s.Negative = negphase.Settings{}
	}
	if s.Objective != train.Hybrid && o.flags.Given("alpha") {
		return cli.Usagef("-alpha is the weight of the generative part of -objective hybrid; leave it out with %s", s.Objective)
	}
	if o.byClass() && o.labels == "none" {
		return cli.Usagef("-objective %s needs labels; leave -labels none out", s.Objective)
	}
	if o.byClass() && o.flags.Given("constraint") {
		return cli.Usagef("-objective %s does not go with -constraint; leave one of them out", s.Objective)
	}
	return nil
}

// byClass reports whether the objective has a discriminative part.
func (o *options) byClass() bool {
	return o.settings.Objective == train.Hybrid || o.discriminative()
}

func (o *options) discriminative() bool { return o.settings.Objective == train.Discriminative }

// fitObjective checks the objective against the data, and gives it the name that
// saved runs have.
func (p *plan) fitObjective() error {
	set := p.sets.Train
	if p.byClass() && set.Y == nil {
		return cli.Usagef("-objective %s needs labels, and %s has none; see -label-column", p.settings.Objective, set.Name)
	}
	if p.settings.Objective == train.Joint {
		p.settings.Objective = ""
	}
	return nil
}

// ofClasses ends a count of the rows that are trained on.
func (p *plan) ofClasses() string {
	if p.discriminative() && p.sets.Train.Unlabelled() > 0 {
		return " with a label"
	}
	return ""
}

// describeUnlabelled says how many training rows have no label, and what becomes of
// them.
func (p *plan) describeUnlabelled() string {
	n := p.sets.Train.Unlabelled()
	switch {
	case n == 0 || p.model.Classes() == 0:
		return ""
	case p.discriminative():
		return fmt.Sprintf("; %d rows have no label and are left out", n)
	}
	return fmt.Sprintf("; %d rows have no label: it is summed out", n)
}

// unusedNegative is a line about flags of the negative phase that were given to the
// discriminative objective; "" if there are none.
func (o *options) unusedNegative() string {
	if !o.discriminative() {
		return ""
	}
	names := []string{"negphase"}
	for _, key := range flagKeys {
		names = append(names, key.flag)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !o.flags.Given(name) })
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("-objective discriminative has no negative phase; not used: -%s", strings.Join(names, " -"))
}

// method returns what the gradient is, for the description of the run.
func (p *plan) method() string {
	negative := p.settings.Negative.Fitted(p.model).String()
	switch p.settings.Objective {
	case train.Discriminative:
		return "log p(y|x)"
	case train.Hybrid:
		return fmt.Sprintf("log p(y|x) + %v log p(x,y), %s", p.settings.Alpha, negative)
	}
	return negative
}

// stem returns the part of the folder's name that tells how the model was trained.
func (p *plan) stem() string {
	switch kind := p.settings.Negative.Kind; p.settings.Objective {
	case train.Discriminative:
		return train.Discriminative
	case train.Hybrid:
		return train.Hybrid + "-" + kind
	default:
		return kind
	}
}

// metricNames returns the names of -metrics. Without p(x) there is nothing but the
// classification that "auto" could measure.
func (p *plan) metricNames() string {
	if p.discriminative() && p.options.metrics == "auto" {
		return "classification"
	}
	return p.options.metrics
}
