package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/data"
	"gorbm/data/grammar"
	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// A Value is a named number that a metric measures.
type Value struct {
	Name  string
	Value float64
}

// A Metric measures a model. Measuring never disturbs training.
type Metric struct {
	Name    string
	Columns []Column
	Values  []string // names of what Measure returns, in order
	// Measure returns a value for each name in Values. If whole is set it uses all rows of the data,
	// otherwise a sample.
	Measure func(ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error)

	// Once is true if Measure uses the same rows whether or not whole is set.
	Once bool

	// Scores, if it is not nil, points to log p(y|x) of the last part of the data, from the last Measure with whole.
	Scores *ClassScores

	// Rows and Terms are the work of measuring a sample in addition to one pass over it. Rows is the number
	// of further rows whose free energies are computed, to sum missing cells out. Terms is the number of
	// terms of an enumeration.
	Rows  int
	Terms float64

	// Watch, if it is not nil, must be called before the first Measure, with the trainer whose chains the
	// metric measures. Measure must then be given the trainer's Model.
	Watch func(t *Trainer)
	// Warning, if it is not nil, returns a warning that follows from the last measurements, or nil. Before
	// the end of training it returns each warning once.
	Warning func(end bool) *diag.Warning
	// Memory, if it is not nil, points to state that later measurements and warnings depend on. It is saved
	// with the run as JSON, so it must be small.
	Memory any
}

// A Column describes one value of a metric, or one value for each part of the data: training, held-out and
// test rows.
type Column struct {
	// Name is the name in metrics.csv. If there is a value for each part of the data, "_train", "_holdout"
	// or "_test" is appended.
	Name   string
	Single bool // one value, not one for each part
	// The report of a run shows Label, then the value times Scale in the fmt verb Format, then Unit. Scale
	// 0 means 1. A column without a Label is not in the report.
	Label, Format, Unit string
	Scale               float64
	// First puts the line at the top of the report, where the main results are; there must be a value for
	// each part. Smaller means that lower is better. Goal means that training should improve the value.
	First, Smaller, Goal bool
	// Estimate marks values whose error may be large; they never select the best model.
	Estimate bool
	// Axis labels the column's panel in curves.png, with the unit; "" means no panel. Panels are sorted by
	// Rank. The best model is chosen by the columns in the same order.
	Axis string
	Rank int
	Good string // a sentence on which values are good, for the report
}

// Text returns a value of the column as the report shows it, without its unit.
func (c Column) Text(v float64) string { return fmt.Sprintf(c.Format, cmp.Or(c.Scale, 1)*v) }

// Report returns the metric's lines for the report of a run: those of columns with First, or those of the
// other columns.
func (m Metric) Report(e Evaluation, first bool) []string {
	var lines []string
	for _, c := range m.Columns {
		if c.First != first {
			continue
		}
		var values []string
		for _, part := range []string{"", "train", "holdout", "test"} {
			name := strings.TrimSuffix(c.Name+"_"+part, "_")
			if v, ok := e.Value(name); ok && !math.IsNaN(v) && c.Label != "" {
				values = append(values, strings.TrimSpace(part+" "+c.Text(v)))
			}
		}
		if values != nil {
			lines = append(lines, fmt.Sprintf("%s: %s%s", c.Label, strings.Join(values, ", "), c.Unit))
		}
	}
	return lines
}

// ColumnOf returns the Column to which a column of metrics.csv belongs, and whether there is one. Its texts
// do not describe a particular run.
func ColumnOf(name string) (Column, bool) {
	for _, k := range metricKinds {
		for _, c := range k.columns {
			part, ok := strings.CutPrefix(name, c.Name)
			if ok && (c.Single && part == "" || !c.Single && slices.Contains([]string{"_train", "_holdout", "_test"}, part)) {
				return c, true
			}
		}
	}
	return Column{}, false
}

// A metricKind is a row of the table of metrics.
type metricKind struct {
	name    string
	columns []Column
	// applies returns an error if the metric cannot be computed, and otherwise whether
	// "auto" includes it.
	applies func(s *subject) (auto bool, err error)
	// without reports whether s has no value of column c; nil: it has all columns.
	without func(s *subject, c Column) bool
	// describe completes the columns for the report; nil: they are complete.
	describe func(s *subject, c []Column)
	measure  func(s *subject, ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error)
	work     func(s *subject) (rows int, terms float64) // Rows and Terms of the Metric; nil: both are 0
	// live, if it is not nil, may complete a metric of the chains of a run. It then replaces describe and
	// measure.
	live func(s *subject, m *Metric)
	once func(s *subject) bool // Metric.Once; nil: false
}

// A subject is what metrics measure: models of m's shape on parts of the data, and perhaps the chains of a
// run.
type subject struct {
	m   *rbm.RBM
	run Settings // settings of the run whose chains are measured; Negative.Kind is "" if there is no run
	key rbm.Key

	trainer  *Trainer           // trainer of the run
	copy     negphase.Estimator // copy of its estimator, whose chains are continued
	followed *continuation      // last continuation of the copy
	scores   ClassScores        // Scores of the metric of classes

	parts   []measuredSet // parts of the data; the first is trained on
	named   []string      // metrics requested by name
	enum    *exact.Enumeration
	enumErr error // why the model cannot be enumerated
}

// exactly reports whether the log-likelihood is computed by enumeration. A model that takes more than
// likelihoodWork is enumerated only if log_likelihood is requested by name.
func (s *subject) exactly() bool {
	return s.enumErr == nil && (s.enum.Work() <= likelihoodWork || slices.Contains(s.named, "log_likelihood"))
}

// scoresAll reports whether the end of a run measures the log-likelihood of all rows, by enumeration or by
// an estimate. An estimate from the run's ladder costs a few hundredths of the run's time. An estimate from
// a separate ladder costs more and must be requested by name.
func (s *subject) scoresAll() bool {
	return s.exactly() || s.run.Negative.Kind != "" && s.m.Constraint == nil && (ownLadder(s.run) || slices.Contains(s.named, "log_likelihood"))
}

// gapSample returns the size of the larger of the two samples that the free-energy gap is measured on at
// the end of a run, or 0 if both have all rows of their parts.
func (s *subject) gapSample() int {
	work := s.sampleWork(rowWork)
	if s.scoresAll() {
		work = 0
	}
	most, all := 0, true
	for _, p := range s.parts[:2] {
		n := p.freeEnergyRows(s.m, work)
		most, all = max(most, len(n)), all && len(n) == len(p.order)
	}
	if all {
		return 0
	}
	return most
}

// stateTerms is the number of terms of an enumeration that take as long as one enumerated state of a model
// with real visible units.
const stateTerms = 200

// scoreWork returns Metric.Rows and Metric.Terms of the log-likelihood of a sample.
func (s *subject) scoreWork() (rows int, terms float64) {
	for _, p := range s.parts {
		if n := len(p.freeEnergyRows(s.m, rowWork)); p.sums != nil && n > 0 {
			rows += p.sums[n-1]
		}
	}
	if !s.exactly() {
		return rows, 0
	}
	if terms = s.enum.Work(); s.m.Real() {
		terms += float64(stateTerms * s.enum.States())
	}
	return rows, terms
}

// train returns the training data.
func (s *subject) train() *data.Set { return s.parts[0].set }

// each returns value(p) for each part p of the data.
func (s *subject) each(value func(p measuredSet) float64) []float64 {
	var values []float64
	for _, p := range s.parts {
		values = append(values, value(p))
	}
	return values
}

func (s *subject) isGrey() bool { return s.train().Grey.Rows > 0 && !s.m.Real() }

// unequalClasses reports whether the classes of the training or the test rows are unequal. Held-out rows do
// not count, because they are a random sample of the training data.
func (s *subject) unequalClasses() bool {
	return slices.ContainsFunc(s.parts, func(p measuredSet) bool { return p.name != "holdout" && unequalClasses(p.set) })
}

// balancedColumn is the name of the column of the balanced error.
const balancedColumn = "balanced_error"

// metricKinds is the table of all metrics.
var metricKinds = []metricKind{
	{
		// error is the fraction of rows whose likeliest class is wrong. accuracy_sum is Σ log p(y|x) over
		// the sample of the last part, the prediction accuracy A of the infinite-swapping paper (section
		// 4.1), and accuracy_mean is its mean per row. At the end of a run both use all rows of the last
		// part, unless that is the training set. balanced_error is the mean of the error rates of the
		// classes. It is measured only if classes of the training or the test set have unequal sizes.
		name: "classification",
		columns: []Column{
			{Name: "error", Label: "classification error", Format: "%.3g %%", Scale: 100, First: true, Smaller: true, Axis: "classification error / %", Rank: 3,
				Good: "Lower is better. The model overfits where the error of training rows still falls and that of other rows does not."},
			{Name: balancedColumn, Label: "balanced error", Format: "%.3g %%", Scale: 100, Unit: " (mean over the classes, whatever their sizes)", First: true, Smaller: true, Axis: "balanced error / %", Rank: 3,
				Good: "Lower is better. It counts small classes as much as large ones: a model that always answers the same of n classes has 1 − 1/n."},
			{Name: "accuracy_sum", Single: true},
			{Name: "accuracy_mean", Single: true, Label: "mean log p(y|x)", Format: "%.4g", Unit: " nats", Axis: "mean log p(y|x) / nats", Rank: 4,
				Good: "Higher is better; 0 would be certainty of the right class."},
		},
		applies: func(s *subject) (bool, error) {
			if s.m.Classes() == 0 {
				return false, errors.New("classification needs a model with labels")
			}
			return true, nil
		},
		without: func(s *subject, c Column) bool { return c.Name == balancedColumn && !s.unequalClasses() },
		describe: func(s *subject, c []Column) {
			for _, p := range s.parts {
				if p.set.Missing.Rows > 0 {
					c[0].Unit = " (" + FewGaps + ")"
				}
			}
		},
		measure: classification,
	},
	{
		// The mean log-likelihood, by enumeration. For grey rows it is the score −F − log Z, which is not a
		// likelihood. For models that are too large to enumerate it is estimated during a run: see
		// liveLikelihood.
		name: "log_likelihood",
		columns: []Column{{Name: "log_likelihood", Label: "exact log-likelihood", Format: "%.5g", First: true, Goal: true, Axis: "log-likelihood / nats", Rank: 1,
			Good: "Higher is better. A fall that lasts means that the chains lag behind the model or that the rate is too high."}},
		applies: func(s *subject) (bool, error) {
			switch {
			case s.exactly():
				return true, nil
			case s.run.Negative.Kind == "" || s.m.Constraint != nil:
				if s.enumErr != nil {
					return false, fmt.Errorf("log_likelihood: %w", s.enumErr)
				}
				return false, nil
			}
			return s.scoresAll(), nil
		},
		live: func(s *subject, m *Metric) {
			if !s.exactly() {
				liveMetric(s, m)
			}
		},
		describe: func(s *subject, c []Column) {
			note := s.train().Values()
			if truth, ok := TrueLikelihood(s.train(), s.m.Classes() > 0); ok {
				note += fmt.Sprintf("; the distribution of the data scores %.5g on the training rows", truth)
			}
			if s.isGrey() {
				c[0].Label, c[0].Axis, note = "score −F − log Z", "score −F − log Z / nats", "grey values kept: no likelihood"
			}
			c[0].Unit = " nats (" + note + ")"
		},
		measure: logLikelihood,
		work:    (*subject).scoreWork,
	},
	{
		// The mean log pseudo-likelihood. A real unit contributes the log density of its value in the units
		// of the data.
		name: "pseudo_likelihood",
		columns: []Column{{Name: "pseudo_likelihood", Label: "pseudo-log-likelihood", Format: "%.5g", First: true, Goal: true, Axis: "pseudo-log-likelihood / nats", Rank: 2,
			Good: "Higher is better, though it does not see whether modes far apart have the right weights."}},
		applies: func(s *subject) (bool, error) {
			if s.isGrey() {
				return false, fmt.Errorf("pseudo_likelihood needs binary inputs; those of %s are grey", s.train().Name)
			}
			if err := s.gappy("pseudo_likelihood"); err != nil {
				return false, err
			}
			if err := s.m.CheckSites(); err != nil {
				return false, fmt.Errorf("pseudo_likelihood: %w", err)
			}
			if s.m.Real() && s.train().Schema == nil { // slow: densities of many units, such as pixels
				return false, nil
			}
			return s.m.Constraint == nil && !s.m.RealHidden() || leastRows*s.m.Visible()*s.m.Hidden()*flipWork(s.m) <= pseudoWork, nil
		},
		describe: func(s *subject, c []Column) {
			note := s.train().Values()
			work := s.sampleWork(wholeWork)
			if s.m.RealHidden() {
				work /= realWork
			}
			if n := sampleRowsOf(s.m, s.train(), work); n < s.train().Len() {
				note += fmt.Sprintf("; samples of %d rows", n)
			}
			if whole := s.wholeNote(); whole != "" {
				note += "; " + whole
			}
			c[0].Unit = " nats (" + note + ")"
		},
		measure: pseudoLikelihood,
	},
	{
		// The mean over rows and inputs of (v − p(v=1|h))², where h is drawn from p(h|v) with the same
		// random numbers each time. It shows how much of a row the hidden units retain (Hinton, A practical
		// guide to training RBMs, 2010, section 5.1). "auto" includes it for grey rows and for real units,
		// visible or hidden.
		name: "reconstruction",
		columns: []Column{
			{Name: "reconstruction_error", Label: "mean squared reconstruction error", Format: "%.4g", First: true, Smaller: true, Goal: true, Axis: "reconstruction error / mean square", Rank: 6,
				Good: "Lower is better, though it says nothing of the negative phase."},
		},
		applies: func(s *subject) (bool, error) {
			if c := s.m.Constraint; c.OnAll() {
				return false, fmt.Errorf("reconstruction needs hidden units that may change while inputs stay; the constraint %v fixes their number", c)
			}
			return s.isGrey() || s.m.Real() || s.m.RealHidden(), s.gappy("reconstruction")
		},
		describe: describeWhole,
		measure:  reconstruction,
	},
	{
		// The mean free energy F of held-out rows, or of test rows if none are held out, minus that of the
		// training rows. It grows as a model overfits (Hinton, A practical guide to training RBMs, 2010,
		// section 6). If the end of a run measures the log-likelihood of all rows, the gap uses all rows
		// too.
		name: "free_energy_gap",
		columns: []Column{
			{Name: "free_energy_gap", Single: true, Label: "free-energy gap", Format: "%.4g", Unit: " nats", Axis: "free-energy gap / nats", Rank: 5,
				Good: "A gap that levels off is good; one that keeps growing shows overfitting."},
		},
		applies: func(s *subject) (bool, error) {
			if len(s.parts) < 2 {
				return false, fmt.Errorf("free_energy_gap needs rows held out or for testing; %s has neither", s.train().Name)
			}
			return true, nil
		},
		describe: func(s *subject, c []Column) {
			if rows := s.gapSample(); rows > 0 {
				c[0].Unit = fmt.Sprintf(" nats (samples of at most %d rows)", rows)
			}
		},
		once: func(s *subject) bool { return !s.scoresAll() },
		measure: func(s *subject, ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
			work := s.sampleWork(rowWork)
			if whole && s.scoresAll() {
				work = 0
			}
			f, err := s.freeEnergies(ctx, m, work)
			if err != nil {
				return nil, err
			}
			return []float64{f[1] - f[0]}, nil
		},
	},
	{
		// How well the chains of the negative phase mix: see the type mixing.
		name: "mixing",
		columns: []Column{
			{Name: "mixing_drift", Single: true, Label: "drift of the chains while the model is fixed", Format: "%.2g", Unit: " standard deviations of their free energy", Axis: "drift of the chains / standard deviations", Rank: 7,
				Good: "Within ±1 at the end is good. While the rate is high, chains lag: −2 to −11 is usual in the middle of a default run, and passes as the rate falls."},
			{Name: "mixing_r_hat", Single: true, Axis: "split R-hat of the chains / 1: mixed", Rank: 8,
				Good: "1 is good. A few chains over a few dozen updates have larger values even if they mix, so that no verdict uses them."},
			{Name: "mixing_tau", Single: true, Axis: "autocorrelation time τ of the free energy / updates", Rank: 9,
				Good: "Small is good: chains forget where they were in a few times as many updates."},
			{Name: "mixing_left", Single: true, Axis: "places left since the last look / 1: all forgotten", Rank: 10,
				Good: "Near 1 is good; at 0.5 or less chains hardly leave their modes."},
		},
		applies: func(s *subject) (bool, error) {
			switch {
			case s.run.Objective == Discriminative:
				return false, fmt.Errorf("mixing tests chains, and the objective %s has none", Discriminative)
			case !s.run.Negative.Persists():
				return false, fmt.Errorf("mixing needs chains that persist from update to update; those of %q do not", s.run.Negative.Kind)
			}
			return true, nil
		},
		live: func(s *subject, m *Metric) {
			x := newMixing(s, s.key.Child(mixingKey))
			m.Watch, m.Measure, m.Warning, m.Memory = s.watch, x.measure, x.warn, &x.mixingState
		},
	},
	{
		// The mean number of hidden units that are on given a row.
		name:     "active_hidden",
		columns:  []Column{{Name: "active_hidden", Label: "mean number of hidden units on", Format: "%.2f"}},
		applies:  func(s *subject) (bool, error) { return s.m.Constraint != nil, s.gappy("active_hidden") },
		describe: describeWhole,
		measure:  activeHidden,
	},
}

// MetricNames returns the names that NewMetrics knows.
func MetricNames() []string {
	names := make([]string, len(metricKinds))
	for i, k := range metricKinds {
		names[i] = k.name
	}
	return names
}

// NewMetrics returns the metrics with the given names for models of m's shape. "auto" stands for all that
// apply and are affordable, "none" for none. The table metricKinds describes each. Metrics of the chains of
// a run are left out: see NewRunMetrics.
//
// The infinite-swapping paper draws new rows for each value of its accuracy A. Here the rows are one random
// sample in a run, so that successive values are comparable.
func NewMetrics(names []string, m *rbm.RBM, sets Sets, seed uint64) ([]Metric, error) {
	return NewRunMetrics(names, m, sets, Settings{Seed: seed})
}

// Purposes of the keys of a run's metrics. The keys of the parts of the data have smaller numbers.
const (
	mixingKey = 1<<32 + iota
	followKey
	likelihoodKey
	healthKey
)

// NewRunMetrics is NewMetrics, and includes metrics of the chains of a run with the settings run. Call
// Metric.Watch before they measure.
func NewRunMetrics(names []string, m *rbm.RBM, sets Sets, run Settings) ([]Metric, error) {
	if len(names) == 1 && strings.TrimSpace(names[0]) == "none" {
		return nil, nil
	}
	key := rbm.NewKey(run.Seed).Child(metricKey)
	s := &subject{m: m, run: run, key: key, parts: sets.parts(m, key.Child)}
	if run.Horizon > 0 {
		for i := range s.parts {
			s.parts[i].shorten(run)
		}
	}
	s.enum, s.enumErr = exact.New(m, exact.EvaluationLimit)
	for _, name := range names {
		s.named = append(s.named, strings.TrimSpace(name))
	}
	var metrics []Metric
	add := func(k metricKind) {
		if !slices.ContainsFunc(metrics, func(m Metric) bool { return m.Name == k.name }) {
			metrics = append(metrics, k.metric(s))
		}
	}
	for _, name := range s.named {
		if name == "auto" {
			for _, k := range metricKinds {
				if auto, err := k.applies(s); auto && err == nil {
					add(k)
				}
			}
			continue
		}
		at := slices.Index(MetricNames(), name)
		if at < 0 {
			return nil, fmt.Errorf("unknown metric %q%s", name, grammar.DidYouMeanOr(name, MetricNames(), "there are "+strings.Join(MetricNames(), ", ")+", auto and none"))
		}
		if _, err := metricKinds[at].applies(s); err != nil {
			return nil, err
		}
		add(metricKinds[at])
	}
	return metrics, nil
}

// metric returns the metric of s.
func (k metricKind) metric(s *subject) Metric {
	m := Metric{Name: k.name, Columns: slices.Clone(k.columns)}
	if k.without != nil {
		m.Columns = slices.DeleteFunc(m.Columns, func(c Column) bool { return k.without(s, c) })
	}
	if k.live != nil {
		k.live(s, &m)
	}
	if k.work != nil {
		m.Rows, m.Terms = k.work(s)
	}
	m.Once = k.once != nil && k.once(s)
	if k.name == "classification" {
		m.Scores = &s.scores
	}
	if k.describe != nil && m.Watch == nil {
		k.describe(s, m.Columns)
	}
	for _, c := range m.Columns {
		if c.Single {
			m.Values = append(m.Values, c.Name)
			continue
		}
		for _, p := range s.parts {
			m.Values = append(m.Values, c.Name+"_"+p.name)
		}
	}
	if m.Measure == nil {
		m.Measure = func(ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
			return k.measure(s, ctx, m, whole)
		}
	}
	return m
}
