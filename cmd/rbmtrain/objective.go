package main

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// checkObjective checks the flags of the objective and sets it. The discriminative objective
// has no negative phase, so checkObjective then clears the settings of the estimator.
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
	if byClass(*s) && o.labels == "none" {
		return cli.Usagef("-objective %s needs labels; leave -labels none out", s.Objective)
	}
	if byClass(*s) && o.realHidden() {
		return cli.Usagef("-objective %s needs labels, which -hidden-units %s does not take; leave one of them out", s.Objective, o.hiddenUnits)
	}
	if byClass(*s) && o.flags.Given("constraint") {
		return cli.Usagef("-objective %s cannot go with -constraint; leave one of them out", s.Objective)
	}
	return nil
}

// byClass reports whether the objective has a discriminative part.
func byClass(s train.Settings) bool { return s.Objective == train.Hybrid || discriminative(s) }

func discriminative(s train.Settings) bool { return s.Objective == train.Discriminative }

// withLabel returns the end of a message about the number of training rows of set.
func withLabel(s train.Settings, set *data.Set) string {
	if discriminative(s) && set.Unlabelled() > 0 {
		return " with a label"
	}
	return ""
}

// describeUnlabelled describes how many training rows have no label, and how they are
// used.
func describeUnlabelled(s train.Settings, m *rbm.RBM, set *data.Set) string {
	n := set.Unlabelled()
	switch {
	case n == 0 || m.Classes() == 0:
		return ""
	case discriminative(s):
		return fmt.Sprintf("; %d rows have no label and are left out", n)
	}
	return fmt.Sprintf("; %d rows have no label: it is summed out", n)
}

// unusedNegative returns a line about flags of the negative phase that were given together
// with the discriminative objective, or "".
func (o *options) unusedNegative() string {
	if !discriminative(o.settings) {
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

// method returns the objective and the estimator in words.
func method(s train.Settings, m *rbm.RBM) string {
	negative := s.Negative.Fitted(m).String()
	switch s.Objective {
	case train.Discriminative:
		return "log p(y|x)"
	case train.Hybrid:
		return fmt.Sprintf("log p(y|x) + %v log p(x,y), %s", s.Alpha, negative)
	}
	return negative
}

// stem returns the end of the default name of the run's folder.
func stem(s train.Settings) string {
	switch s.Objective {
	case train.Discriminative:
		return train.Discriminative
	case train.Hybrid:
		return train.Hybrid + "-" + s.Negative.Kind
	}
	return s.Negative.Kind
}

// metricNames returns the value of -metrics. auto measures only classification if p(x) is
// not trained.
func (o *options) metricNames() string {
	if discriminative(o.settings) && o.metrics == "auto" {
		return "classification"
	}
	return o.metrics
}
