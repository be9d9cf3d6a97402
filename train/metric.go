package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorbm/data"
	"gorbm/rbm"
)

// A Value is one named number that a metric yields.
type Value struct {
	Name  string
	Value float64
}

// A Metric measures a model. Measuring never disturbs training.
type Metric struct {
	Name   string
	Values []string // names of what Measure yields, in order
	// Measure returns the values; whole asks for all rows where it otherwise
	// takes a sample of them.
	Measure func(ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error)
}

// Sets are the parts of the data: to train on, to choose by, to judge by. The
// last two may be nil.
type Sets struct {
	Train, Holdout, Test *data.Set
}

// Metrics that are taken again and again look at a sample of the rows. These
// bound its size by rows × weights, to some tenths of a second of one core:
// as row sums, and as products.
const (
	rowWork     = 1 << 28
	productWork = 1 << 25
	// wholeWork bounds the last look, for those metrics that cannot take all
	// rows then.
	wholeWork = 1 << 28
	// leastRows is the least number of rows of a sample.
	leastRows = 100
	// likelihoodWork bounds the terms of an enumeration that is done again and
	// again while training: 40 ms of one core with AVX-512, 0.7 s in plain Go.
	likelihoodWork = 1 << 28
	// pseudoWork bounds the least sample of a pseudo-likelihood that is taken
	// again and again unasked under a constraint, where each unit of each row
	// takes a recursion: about a second of one core.
	pseudoWork = 1 << 28
)

// A part is a set that metrics measure, with its rows in a random order that
// is fixed for the run.
type part struct {
	name  string
	set   *data.Set
	order []int32
}

func newPart(name string, set *data.Set, key rbm.Key) part {
	order := make([]int32, set.Len())
	for i := range order {
		order[i] = int32(i)
	}
	key.Rand().Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return part{name: name, set: set, order: order}
}

// rows returns a sample of rows, the same each time, of at most work divided
// by m's weights; work 0 means all.
func (p part) rows(m *rbm.RBM, work int) []int32 {
	if work == 0 {
		return p.order
	}
	return p.order[:sampleRowsOf(m, p.set, work)]
}

// sampleRowsOf returns the number of rows of a sample of set of at most work.
func sampleRowsOf(m *rbm.RBM, set *data.Set, work int) int {
	return min(set.Len(), max(leastRows, work/(m.Visible()*m.Hidden()*countWork(m))))
}

// countWork returns how much more a row takes under m's constraint than without:
// a recursion of as many terms a hidden unit as are active, or not, in place of
// one product, some of them at a time.
func countWork(m *rbm.RBM) int {
	c := m.Constraint
	switch {
	case c == nil:
		return 1
	case c.On == rbm.AllUnits:
		return 1 + min(c.Active, m.Hidden())/4
	}
	return 1 + min(c.Active, m.Hidden()-c.Active)/4
}

// SampleRows returns the number of rows of set that the last look of the
// pseudo-likelihood takes.
func SampleRows(m *rbm.RBM, set *data.Set) int {
	return sampleRowsOf(m, set, wholeWork)
}

// freeEnergies returns F of a sample of the part.
func (p part) freeEnergies(m *rbm.RBM, work int) []float64 {
	rows := p.rows(m, work)
	f := make([]float64, len(rows))
	m.FreeEnergy(f, p.set.Rows(rows, m.Classes()))
	return f
}

// MetricNames are the names that NewMetrics knows.
var MetricNames = []string{"classification", "log_likelihood", "pseudo_likelihood", "free_energy_gap", "active_hidden"}

// NewMetrics returns the metrics of these names for models of m's shape: "auto"
// stands for all that apply and are affordable, "none" for none. The values'
// names end in _train, _holdout or _test:
//
//	classification     error_train, … (fractions); accuracy_sum = Σ log p(y|x)
//	                   over the sample of the last part, the prediction
//	                   accuracy A of the infinite-swapping paper (section 4.1);
//	                   accuracy_mean, the mean log p(y|x) of the last part
//	log_likelihood     mean exact log-likelihood in nats, by enumeration; of
//	                   grey rows the score −F − log Z, no likelihood
//	pseudo_likelihood  mean exact log pseudo-likelihood in nats; not of grey rows
//	free_energy_gap    mean F of the rows that are not trained on, held out if
//	                   there are any, less that of the training rows: it grows
//	                   as a model overfits
//	active_hidden      mean number of hidden units that are on given a row; auto
//	                   takes it under a constraint
//
// The paper draws the rows that A sums over anew each time; here they are one
// random sample a run, so that successive values compare.
func NewMetrics(names []string, m *rbm.RBM, sets Sets, seed uint64) ([]Metric, error) {
	if len(names) == 1 && strings.TrimSpace(names[0]) == "none" {
		return nil, nil
	}
	key := rbm.NewKey(seed).Child(metricKey)
	parts := []part{newPart("train", sets.Train, key.Child(0))}
	if sets.Holdout != nil {
		parts = append(parts, newPart("holdout", sets.Holdout, key.Child(2)))
	}
	if sets.Test != nil {
		parts = append(parts, newPart("test", sets.Test, key.Child(1)))
	}
	grey := sets.Train.Grey.Rows > 0
	enum, enumErr := rbm.NewEnumeration(m, rbm.EvaluationLimit)
	var all []string
	for _, name := range names {
		name = strings.TrimSpace(name)
		if name != "auto" {
			all = append(all, name)
			continue
		}
		if m.Classes() > 0 {
			all = append(all, "classification")
		}
		if enumErr == nil && enum.Work() <= likelihoodWork {
			all = append(all, "log_likelihood")
		}
		if !grey && (m.Constraint == nil || leastRows*m.Visible()*m.Hidden()*countWork(m) <= pseudoWork) {
			all = append(all, "pseudo_likelihood")
		}
		if len(parts) > 1 {
			all = append(all, "free_energy_gap")
		}
		if m.Constraint != nil {
			all = append(all, "active_hidden")
		}
	}
	var metrics []Metric
	for i, name := range all {
		if slices.Contains(all[:i], name) {
			continue
		}
		switch name {
		case "classification":
			if m.Classes() == 0 {
				return nil, fmt.Errorf("classification needs a model with labels")
			}
			metrics = append(metrics, classification(parts))
		case "log_likelihood":
			if enumErr != nil {
				return nil, fmt.Errorf("log_likelihood: %w", enumErr)
			}
			metrics = append(metrics, logLikelihood(parts, enum))
		case "pseudo_likelihood":
			if grey {
				return nil, fmt.Errorf("pseudo_likelihood needs binary inputs; those of %s are grey", sets.Train.Name)
			}
			metrics = append(metrics, pseudoLikelihood(parts))
		case "free_energy_gap":
			if len(parts) < 2 {
				return nil, fmt.Errorf("free_energy_gap needs rows held out or for testing; %s has neither", sets.Train.Name)
			}
			metrics = append(metrics, freeEnergyGap(parts))
		case "active_hidden":
			metrics = append(metrics, activeHidden(parts))
		default:
			hint := ""
			if near := data.Nearest(name, MetricNames); near != "" {
				hint = "; did you mean " + near + "?"
			}
			return nil, fmt.Errorf("unknown metric %q%s; there are %s, auto and none", name, hint, strings.Join(MetricNames, ", "))
		}
	}
	return metrics, nil
}

// valueNames returns stem_train, stem_test, as there are parts.
func valueNames(stem string, parts []part) []string {
	var names []string
	for _, p := range parts {
		names = append(names, stem+"_"+p.name)
	}
	return names
}

func classification(parts []part) Metric {
	c := Metric{Name: "classification", Values: append(valueNames("error", parts), "accuracy_sum", "accuracy_mean")}
	c.Measure = func(_ context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
		var values []float64
		var sample, last Score // of the last part
		for _, p := range parts {
			sample = Classify(m, p.set, p.rows(m, rowWork))
			last = sample
			if whole && p.name != "train" {
				last = Classify(m, p.set, p.rows(m, 0))
			}
			values = append(values, last.Error)
		}
		return append(values, sample.MeanLogP*float64(sample.N), last.MeanLogP), nil
	}
	return c
}

// Score is how well a model predicts labels.
type Score struct {
	Error    float64 `json:"error"`      // fraction of rows whose likeliest class is wrong
	MeanLogP float64 `json:"mean_log_p"` // mean log p(y|x), nats
	N        int     `json:"n"`          // rows
}

// Classify scores m, which must have classes, on rows of set.
func Classify(m *rbm.RBM, set *data.Set, rows []int32) Score {
	logp := make([]float64, len(rows)*m.Classes())
	m.ClassLogProb(logp, set.Rows(rows, m.Classes()))
	y := make([]int32, len(rows))
	for i, r := range rows {
		y[i] = set.Y[r]
	}
	return ScoreRows(logp, y)
}

// ScoreRows scores log p(y|x), rows × classes, against the labels y.
func ScoreRows(logp []float64, y []int32) Score {
	s := Score{N: len(y)}
	classes := len(logp) / len(y)
	for i, label := range y {
		p := logp[i*classes : (i+1)*classes]
		if Likeliest(p) != int(label) {
			s.Error++
		}
		s.MeanLogP += p[label]
	}
	s.Error /= float64(len(y))
	s.MeanLogP /= float64(len(y))
	return s
}

// Likeliest returns the index of the largest element, the first of equals.
func Likeliest(x []float64) int {
	best := 0
	for i := range x {
		if x[i] > x[best] {
			best = i
		}
	}
	return best
}

func logLikelihood(parts []part, enum *rbm.Enumeration) Metric {
	c := Metric{Name: "log_likelihood", Values: valueNames("log_likelihood", parts)}
	c.Measure = func(ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
		enum.Set(m)
		logz, err := enum.LogZ(ctx, nil)
		if err != nil {
			return nil, err
		}
		work := rowWork
		if whole {
			work = 0
		}
		var values []float64
		for _, p := range parts {
			values = append(values, -mean(p.freeEnergies(m, work))-logz)
		}
		return values, nil
	}
	return c
}

func pseudoLikelihood(parts []part) Metric {
	c := Metric{Name: "pseudo_likelihood", Values: valueNames("pseudo_likelihood", parts)}
	c.Measure = func(_ context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
		work := productWork
		if whole {
			work = wholeWork
		}
		var values []float64
		for _, p := range parts {
			rows := p.rows(m, work)
			dst, v := make([]float64, len(rows)), rbm.NewBits(len(rows), m.Visible())
			p.set.Visible(v.Input(), rows, m.Classes())
			m.PseudoLogLikelihood(dst, v)
			values = append(values, mean(dst))
		}
		return values, nil
	}
	return c
}

// freeEnergyGap compares the first part, which is trained on, with the second
// (Hinton, A practical guide to training RBMs, 2010, section 6).
func freeEnergyGap(parts []part) Metric {
	c := Metric{Name: "free_energy_gap", Values: []string{"free_energy_gap"}}
	c.Measure = func(_ context.Context, m *rbm.RBM, _ bool) ([]float64, error) {
		return []float64{mean(parts[1].freeEnergies(m, rowWork)) - mean(parts[0].freeEnergies(m, rowWork))}, nil
	}
	return c
}

func activeHidden(parts []part) Metric {
	c := Metric{Name: "active_hidden", Values: valueNames("active_hidden", parts)}
	c.Measure = func(_ context.Context, m *rbm.RBM, _ bool) ([]float64, error) {
		var values []float64
		for _, p := range parts {
			rows := p.rows(m, rowWork)
			h := rbm.NewMatrix(len(rows), m.Hidden())
			m.HiddenMean(h, p.set.Rows(rows, m.Classes()))
			sum := 0.0
			for _, x := range h.Data {
				sum += float64(x)
			}
			values = append(values, sum/float64(len(rows)))
		}
		return values, nil
	}
	return c
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// LawLikelihood returns the mean log-likelihood that the law which set was
// drawn from gives to its own rows, with or without their labels, and whether
// that law is known: what no model should surpass by more than the noise of
// the sample.
func LawLikelihood(set *data.Set, labelled bool) (float64, bool) {
	if set.LogProb == nil {
		return 0, false
	}
	sum := 0.0
	for r := range set.Len() {
		y := -1
		if labelled {
			y = int(set.Y[r])
		}
		sum += set.LogProb(set.X.Row(r), y)
	}
	return sum / float64(set.Len()), true
}
