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
	// again while training, some half a second of one core.
	likelihoodWork = 1 << 26
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
	return p.order[:min(len(p.order), max(leastRows, work/(m.Visible()*m.Hidden())))]
}

// visible returns rows of the part as visible states of m.
func (p part) visible(m *rbm.RBM, rows []int32) rbm.Bits {
	v := rbm.NewBits(len(rows), m.Visible())
	p.set.Visible(v, rows, m.Classes)
	return v
}

// MetricNames are the names that NewMetrics knows.
var MetricNames = []string{"classification", "log_likelihood", "pseudo_likelihood"}

// NewMetrics returns the metrics of these names for models of m's shape: "auto"
// stands for all that apply and are affordable, "none" for none. test may be
// nil. The values' names end in _train or _test:
//
//	classification     error_train, error_test (fractions), and on the test
//	                   rows, if there are any, accuracy_sum = Σ log p(y|x), the
//	                   prediction accuracy A of the infinite-swapping paper
//	                   (section 4.1), and accuracy_mean
//	log_likelihood     mean exact log-likelihood in nats, by enumeration
//	pseudo_likelihood  mean exact log pseudo-likelihood in nats
//
// The paper draws the rows that A sums over anew each time; here they are one
// random sample a run, so that successive values compare.
func NewMetrics(names []string, m *rbm.RBM, train, test *data.Set, seed uint64) ([]Metric, error) {
	key := rbm.NewKey(seed).Child(metricKey)
	parts := []part{newPart("train", train, key.Child(0))}
	if test != nil {
		parts = append(parts, newPart("test", test, key.Child(1)))
	}
	enum, enumErr := rbm.NewEnumeration(m, rbm.EvaluationLimit)
	auto := slices.Equal(names, []string{"auto"})
	if auto {
		names = nil
		if m.Classes > 0 {
			names = append(names, "classification")
		}
		if enumErr == nil && enum.Work() <= likelihoodWork {
			names = append(names, "log_likelihood")
		}
		names = append(names, "pseudo_likelihood")
	}
	if slices.Equal(names, []string{"none"}) {
		return nil, nil
	}
	var metrics []Metric
	for _, name := range names {
		switch name {
		case "classification":
			if m.Classes == 0 {
				return nil, fmt.Errorf("metric classification needs a model with labels")
			}
			metrics = append(metrics, classification(parts))
		case "log_likelihood":
			if enumErr != nil {
				return nil, fmt.Errorf("metric log_likelihood: %w", enumErr)
			}
			metrics = append(metrics, logLikelihood(parts, enum))
		case "pseudo_likelihood":
			metrics = append(metrics, pseudoLikelihood(parts))
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
		var sum, mean float64
		for _, p := range parts {
			work := rowWork
			if whole && p.name == "test" {
				work = 0
			}
			s := Classify(m, p.set, p.rows(m, work))
			values = append(values, s.Error)
			mean = s.MeanLogP // of the last part: test, if there is one
			sum = mean * float64(s.N)
		}
		return append(values, sum, mean), nil
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
	v := rbm.NewBits(len(rows), m.Visible())
	set.Visible(v, rows, m.Classes)
	logp := make([]float64, len(rows)*m.Classes)
	m.ClassLogProb(logp, v)
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
		return eachMean(parts, m, work, func(dst []float64, v rbm.Bits) {
			m.FreeEnergy(dst, v)
			for i, f := range dst {
				dst[i] = -f - logz
			}
		}), nil
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
		return eachMean(parts, m, work, m.PseudoLogLikelihood), nil
	}
	return c
}

// eachMean returns the mean over a sample of each part of what f writes.
func eachMean(parts []part, m *rbm.RBM, work int, f func(dst []float64, v rbm.Bits)) []float64 {
	var means []float64
	for _, p := range parts {
		rows := p.rows(m, work)
		dst := make([]float64, len(rows))
		f(dst, p.visible(m, rows))
		sum := 0.0
		for _, x := range dst {
			sum += x
		}
		means = append(means, sum/float64(len(rows)))
	}
	return means
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
