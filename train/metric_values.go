package train

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
)

// Sets are the parts of the data: rows to train on, held-out rows to choose the best model by, and test
// rows. Holdout and Test may be nil.
type Sets struct {
	Train, Holdout, Test *data.Set
}

// During training, metrics use a sample of the rows. These constants bound the rows of the sample times the
// weights of the model, so that a measurement takes some tenths of a second of one core. rowWork is for
// metrics that add rows of weights, productWork for slower metrics.
const (
	rowWork     = 1 << 30
	productWork = 1 << 25
	// wholeWork bounds the sample at the end of a run, for metrics that are too slow for all rows.
	wholeWork = 1 << 28
	// Samples have these sizes in runs whose work, the rows of all batches times the weights, is at least
	// longWork, some two seconds of one core. Samples of shorter runs are smaller in proportion, down to
	// 1/mostShrunk of these sizes.
	longWork, mostShrunk = 36 << 30, 4
	// classWork is the cost of a class in p(y|x), in visible units: a softplus of each hidden unit takes as
	// long as adding some 16 weights. It matters if there are many classes and few inputs.
	classWork = 16
	// leastRows is the least number of rows of a sample.
	leastRows = 100
	// likelihoodWork bounds the terms of an enumeration that is repeated during training: 40 ms of one core
	// with AVX-512, 0.7 s in plain Go.
	likelihoodWork = 1 << 28
	// densityWork is the cost of the density of a real unit, a sum over some fifty values, divided by the
	// cost of the odds of a bit.
	densityWork = 100
	// pseudoWork bounds the smallest sample for which "auto" includes the pseudo-likelihood under a
	// constraint, where each unit of each row needs a recursion. It takes about a second of one core.
	pseudoWork = 1 << 28
	// realWork is the cost of a real hidden unit, divided by that of a bit, for the flip of a visible unit:
	// the log Z of the hidden unit is computed again.
	realWork = 1000
)

// A measuredSet is a part of the data, with its rows in a random order that is fixed for the run.
type measuredSet struct {
	name  string
	set   *data.Set
	order []int32 // row numbers in that order; for a model with labels, only of rows with a class
	key   rbm.Key // key of the random draws of measurements
	whole []int32 // the elements of order without missing cells
	sums  []int   // if cells are missing: sums[i] is the cost of summing them out of order[:i+1], in rows
	// limits are gapSums and wholeGapSums, or less in a short run.
	limits [2]int
}

func newMeasuredSet(name string, set *data.Set, m *rbm.RBM, key rbm.Key) measuredSet {
	order := data.RowNumbers(0, set.Len())
	if m.Classes() > 0 {
		order = set.Labelled()
	}
	key.Rand().Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	p := measuredSet{name: name, set: set, order: order, key: key.Child(0), whole: order, limits: [2]int{gapSums, wholeGapSums}}
	if set.Missing.Rows > 0 {
		p.whole = slices.DeleteFunc(slices.Clone(order), func(row int32) bool { return set.MissesCells(row) })
		rows, sum := order[:min(len(order), wholeGapRows)], 0
		g := sample.NewGaps(m, len(rows))
		g.Set(set, rows, m.Classes())
		for r := range rows {
			sum += g.SumRows(m, r)
			p.sums = append(p.sums, sum)
		}
	}
	return p
}

// parts returns the parts of the data, training rows first, for models of m's shape. key returns the key
// for a purpose.
func (s Sets) parts(m *rbm.RBM, key func(uint64) rbm.Key) []measuredSet {
	all := []measuredSet{newMeasuredSet("train", s.Train, m, key(0))}
	if s.Holdout != nil {
		all = append(all, newMeasuredSet("holdout", s.Holdout, m, key(2)))
	}
	if s.Test != nil {
		all = append(all, newMeasuredSet("test", s.Test, m, key(1)))
	}
	return all
}

// rows returns a sample of rows, the same each time. Its size times the number of weights of m is at most
// work; 0 means all rows.
func (p measuredSet) rows(m *rbm.RBM, work int) []int32 {
	if work == 0 {
		return p.order
	}
	return p.order[:min(len(p.order), sampleRowsOf(m, p.set, work))]
}

// wholeRows is rows, but samples only rows without missing cells.
func (p measuredSet) wholeRows(m *rbm.RBM, work int) []int32 {
	p.order = p.whole
	return p.rows(m, work)
}

// sampleRowsOf returns the size of a sample of set: rows × weights are at most work, but there are at least
// leastRows rows.
func sampleRowsOf(m *rbm.RBM, set *data.Set, work int) int {
	return min(set.Len(), max(leastRows, work/(m.Visible()*m.Hidden()*constraintWork(m))))
}

// constraintWork returns the cost of a row divided by the cost without m's constraint. In place of one
// product, each hidden unit needs a recursion with a term for each active unit, or for each inactive one if
// those are fewer. Some four terms are computed at a time.
func constraintWork(m *rbm.RBM) int {
	c := m.Constraint
	switch {
	case c == nil:
		return 1
	case c.On == rbm.AllUnits:
		return 1 + min(c.Active, m.Hidden())/4
	}
	return 1 + min(c.Active, m.Hidden()-c.Active)/4
}

// flipWork returns the cost of a row in a pseudo-likelihood, divided by that of bits without a constraint.
func flipWork(m *rbm.RBM) int {
	if m.RealHidden() {
		return realWork
	}
	return constraintWork(m)
}

const (
	// gapRows and wholeGapRows bound the sample of a part with missing cells, during training and at the
	// end of a run, because the cells are summed out row by row.
	gapRows, wholeGapRows = 500, 5000
	// gapSums and wholeGapSums bound the number of free energies that sum the cells out. At least leastGapRows
	// rows are measured in any case.
	gapSums, wholeGapSums = 1 << 18, 1 << 21
	leastGapRows          = 32
	// In a run the bounds are at most the rows of all batches divided by gapShare and wholeGapShare, but not below
	// leastGapSums. A row of a batch takes as long as two to seven free energies.
	gapShare, wholeGapShare = 64, 16
	leastGapSums            = 1 << 12
)

// shorten reduces the bounds on the free energies of p for a run with the settings s.
func (p *measuredSet) shorten(s Settings) {
	rows := s.Horizon * s.Batch
	for i, share := range [...]int{gapShare, wholeGapShare} {
		p.limits[i] = min(p.limits[i], max(leastGapSums, rows/share))
	}
}

// freeEnergyRows returns the sample of rows that freeEnergy uses.
func (p measuredSet) freeEnergyRows(m *rbm.RBM, work int) []int32 {
	rows := p.rows(m, work)
	if p.set.Missing.Rows == 0 {
		return rows
	}
	most, sums := gapRows, p.limits[0]
	if work == 0 {
		most, sums = wholeGapRows, p.limits[1]
	}
	n, _ := slices.BinarySearch(p.sums, sums+1)
	return rows[:min(len(rows), most, max(n, leastGapRows))]
}

// freeEnergy returns the mean free energy of a sample of the part, in nats. Missing cells are summed out.
// If they have too many states to enumerate, the sum is estimated with the same random draws each time.
func (p measuredSet) freeEnergy(ctx context.Context, m *rbm.RBM, work int) (float64, error) {
	rows := p.freeEnergyRows(m, work)
	if p.set.Missing.Rows == 0 {
		f := make([]float64, len(rows))
		m.FreeEnergy(f, p.set.Rows(rows, m.Classes()))
		return p.set.Mean(rows, f), nil
	}
	g := sample.NewGaps(m, len(rows))
	g.Set(p.set, rows, m.Classes())
	f := make([]float64, len(rows))
	if err := g.FreeEnergy(ctx, m, f, make([]float64, len(rows)), p.key); err != nil {
		return 0, err
	}
	return p.set.Mean(rows, f), nil
}

// logScale returns the mean of Set.LogScale over rows of the part.
func (p measuredSet) logScale(rows []int32) float64 {
	if p.set.Deviations == nil {
		return 0
	}
	if p.set.Missing.Rows == 0 { // LogScale is the same for all rows
		return p.set.LogScale(0)
	}
	x := make([]float64, len(rows))
	for i, r := range rows {
		x[i] = p.set.LogScale(r)
	}
	return p.set.Mean(rows, x)
}

// freeEnergies returns the mean free energy of a sample of each part.
func (s *subject) freeEnergies(ctx context.Context, m *rbm.RBM, work int) ([]float64, error) {
	var f []float64
	for _, p := range s.parts {
		x, err := p.freeEnergy(ctx, m, work)
		if err != nil {
			return nil, err
		}
		f = append(f, x)
	}
	return f, nil
}

// logLikelihoods returns the mean log-likelihood of a sample of each part.
func (s *subject) logLikelihoods(ctx context.Context, m *rbm.RBM, work int, logZ float64) ([]float64, error) {
	f, err := s.freeEnergies(ctx, m, work)
	for i := range f {
		f[i] = -f[i] - logZ - s.parts[i].logScale(s.parts[i].freeEnergyRows(m, work))
	}
	return f, err
}

// gappy returns an error if a part has missing cells and fewer than leastRows rows without any, for a
// metric that needs such rows.
func (s *subject) gappy(metric string) error {
	for _, p := range s.parts {
		if len(p.whole) < len(p.order) && len(p.whole) < leastRows {
			return fmt.Errorf("%s needs %d rows without missing cells; %s has %d", metric, leastRows, p.set.Name, len(p.whole))
		}
	}
	return nil
}

// wholeNote says how many rows of each part have no missing cells, or "" if no cell is missing.
func (s *subject) wholeNote() string {
	var counts []string
	for _, p := range s.parts {
		if len(p.whole) < len(p.order) {
			counts = append(counts, fmt.Sprintf("%d of %d %s rows", len(p.whole), len(p.order), p.name))
		}
	}
	if counts == nil {
		return ""
	}
	return "those without missing cells: " + strings.Join(counts, ", ")
}

// describeWhole is metricKind.describe for metrics that use only rows without missing cells and whose
// columns have no unit.
func describeWhole(s *subject, c []Column) {
	if note := s.wholeNote(); note != "" {
		c[0].Unit = " (" + note + ")"
	}
}

func classification(s *subject, _ context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
	var values, balanced []float64
	var last Score // of the last part
	for _, p := range s.parts {
		work := s.sampleWork(rowWork) / max(1, classWork*m.Classes()/m.Visible())
		if p.name == "holdout" { // it chooses the best model: an error of 1 % on 3000 rows has a standard error of 0.2 %
			work = 0
		}
		measured := func(work, most int) (Score, float64) {
			rows := p.rows(m, work)
			if p.set.Missing.Rows > 0 {
				rows = rows[:min(len(rows), most)]
			}
			if !whole {
				return classify(m, p.set, rows, nil)
			}
			s.scores = ClassScores{Set: p.set}
			return classify(m, p.set, rows, &s.scores)
		}
		var mean float64
		if whole && p.name != "train" {
			last, mean = measured(0, wholeGapRows)
		} else {
			last, mean = measured(work, gapRows)
		}
		values, balanced = append(values, last.Error), append(balanced, mean)
	}
	if s.unequalClasses() {
		values = append(values, balanced...)
	}
	return append(values, last.MeanLogP*float64(last.N), last.MeanLogP), nil
}

// A Score says how well a model predicts labels.
type Score struct {
	Error    float64 `json:"error"`      // fraction of rows whose likeliest class is wrong
	MeanLogP float64 `json:"mean_log_p"` // mean log p(y|x), nats
	N        int     `json:"n"`          // number of rows

	effective float64 // sum of the rows' weights
}

// Classify scores the predictions of m, which must have classes, on rows of set, which must have labels. It
// leaves out the rows that ClassLogProbs leaves out. Without rows, Error and MeanLogP are NaN.
func Classify(m *rbm.RBM, set *data.Set, rows []int32) Score {
	s, _ := classify(m, set, rows, nil)
	return s
}

// ClassScores are log p(y|x) of rows of a set, rows × classes.
type ClassScores struct {
	Set  *data.Set
	Rows []int32
	LogP []float64
}

// classify is Classify and returns the balanced error too. It adds the scores of the rows to keep, which may be nil.
func classify(m *rbm.RBM, set *data.Set, rows []int32, keep *ClassScores) (Score, float64) {
	var s Score
	total, wrong := make([]float64, m.Classes()), make([]float64, m.Classes())
	for chunk := range slices.Chunk(rows, max(1, scoreBlock/m.Classes())) {
		logp, kept := ClassLogProbs(m, set, chunk)
		if keep != nil {
			keep.Rows, keep.LogP = append(keep.Rows, kept...), append(keep.LogP, logp...)
		}
		y, weights := set.ClassesOf(kept), set.WeightsOf(kept)
		s.add(logp, y, weights)
		for i, k := range y {
			total[k] += weightAt(weights, i)
			if Likeliest(logp[i*m.Classes():][:m.Classes()]) != int(k) {
				wrong[k] += weightAt(weights, i)
			}
		}
	}
	return s.mean(), balancedError(total, wrong)
}

// ClassLogProbs returns log p(y|x) of rows of set, rows × classes, and the numbers of these rows. It sums
// missing cells out. It leaves out a row whose missing cells have too many states to list, because the sum
// would be a slow estimate.
func ClassLogProbs(m *rbm.RBM, set *data.Set, rows []int32) ([]float64, []int32) {
	if set.Missing.Rows == 0 {
		logp := make([]float64, len(rows)*m.Classes())
		m.ClassLogProb(logp, set.Rows(rows, m.Classes()))
		return logp, rows
	}
	var logp []float64
	var kept []int32
	g := sample.NewGaps(m, 1)
	rowLogp := make([]float64, m.Classes())
	for _, row := range rows {
		if g.Set(set, []int32{row}, m.Classes()); !g.Listed(m, 0) {
			continue
		}
		if err := g.ClassLogProb(context.Background(), m, rowLogp, make([]float64, 1), rbm.NewKey(0)); err != nil {
			panic("train: " + err.Error()) // an enumeration cannot fail
		}
		logp, kept = append(logp, rowLogp...), append(kept, row)
	}
	return logp, kept
}

// FewGaps describes the rows that ClassLogProbs keeps if cells are missing.
const FewGaps = "of rows whose missing cells have few states"

// scoreBlock is the number of log p(y|x) that Classify computes at a time: 32 MiB.
const scoreBlock = 1 << 22

// ScoreRows scores log p(y|x) on rows with the labels y. logp has shape rows × classes. weights are the
// rows' weights, or nil if they are equal. Without rows, Error and MeanLogP are NaN.
func ScoreRows(logp []float64, y []int32, weights []float64) Score {
	var s Score
	s.add(logp, y, weights)
	return s.mean()
}

// add adds rows to the sums in s, which mean turns into a Score.
func (s *Score) add(logp []float64, y []int32, weights []float64) {
	s.N += len(y)
	classes := len(logp) / max(len(y), 1)
	for i, label := range y {
		p, w := logp[i*classes:(i+1)*classes], weightAt(weights, i)
		s.effective += w
		if Likeliest(p) != int(label) {
			s.Error += w
		}
		s.MeanLogP += float64(w * p[label])
	}
}

func (s Score) mean() Score {
	s.Error /= s.effective
	s.MeanLogP /= s.effective
	s.effective = 0
	return s
}

// Likeliest returns the index of the largest element, or of the first if several are equal.
func Likeliest(x []float64) int {
	best := 0
	for i := range x {
		if x[i] > x[best] {
			best = i
		}
	}
	return best
}

func logLikelihood(s *subject, ctx context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
	s.enum.Set(m)
	logz, err := s.enum.LogZ(ctx, nil)
	if err != nil {
		return nil, err
	}
	work := rowWork
	if whole {
		work = 0
	}
	return s.logLikelihoods(ctx, m, work, logz)
}

// sampleWork returns work, the bound on a sample, or less if the run is short.
func (s *subject) sampleWork(work int) int {
	if s.run.Horizon == 0 { // there is no run
		return work
	}
	updates := float64(s.run.Horizon) * float64(s.run.Batch) * float64(s.m.Visible()*s.m.Hidden())
	return int(float64(work) * min(1, max(1./mostShrunk, updates/longWork)))
}

func pseudoLikelihood(s *subject, _ context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
	work := productWork
	if whole {
		work = s.sampleWork(wholeWork)
	}
	if m.RealHidden() {
		work /= realWork
	}
	if m.Real() {
		work /= densityWork
	}
	return s.each(func(p measuredSet) float64 {
		rows := p.wholeRows(m, work)
		dst, v := make([]float64, len(rows)), m.NewVisible(len(rows))
		p.set.Visible(v, rows, m.Classes())
		m.PseudoLogLikelihood(dst, v)
		return p.set.Mean(rows, dst) - p.logScale(rows)
	}), nil
}

func reconstruction(s *subject, _ context.Context, m *rbm.RBM, whole bool) ([]float64, error) {
	return s.each(func(p measuredSet) float64 {
		work := wholeWork // grey rows have no zeros to skip
		if whole && p.name != "train" {
			work = 0
		}
		rows := p.wholeRows(m, work)
		b := rbm.Batch{V: p.set.Rows(rows, m.Classes()), H: rbm.NewMatrix(len(rows), m.Hidden())}
		m.HiddenMean(b.H, b.V)
		h, mean := m.NewHidden(len(rows)), rbm.NewMatrix(len(rows), m.Visible())
		m.HiddenSample(h, b, p.key)
		m.VisibleMean(mean, h)
		sum, total, v := 0.0, 0.0, make([]float32, m.Visible())
		for r, row := range rows {
			w := p.set.Weight(row)
			total += w
			clear(v)
			b.V.Nonzero(r, func(i int, x float32) { v[i] = x })
			for i, x := range mean.Row(r)[:m.Inputs()] {
				d := float64(v[i]) - float64(x)
				sum += float64(w * float64(d*d))
			}
		}
		return sum / (total * float64(m.Inputs()))
	}), nil
}

func activeHidden(s *subject, _ context.Context, m *rbm.RBM, _ bool) ([]float64, error) {
	return s.each(func(p measuredSet) float64 {
		rows := p.wholeRows(m, rowWork)
		h := rbm.NewMatrix(len(rows), m.Hidden())
		m.HiddenMean(h, p.set.Rows(rows, m.Classes()))
		sum, total := 0.0, 0.0
		for r, row := range rows {
			w := p.set.Weight(row)
			total += w
			for _, x := range h.Row(r) {
				sum += float64(w * float64(x))
			}
		}
		return sum / total
	}), nil
}

// Mean returns the mean of x. It adds in index order, so that the result is identical with SIMD and
// without, unlike gonum's.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// TrueLikelihood returns the mean log-likelihood of the rows of set under the distribution that generated
// them, in nats, and whether that distribution is known. labelled includes the labels. No model should
// exceed it by more than the noise of the sample.
func TrueLikelihood(set *data.Set, labelled bool) (float64, bool) {
	if set.LogProb == nil {
		return 0, false
	}
	p := make([]float64, set.Len())
	for r := range p {
		y := -1
		if labelled {
			y = int(set.Y[r])
		}
		p[r] = set.LogProb(set.X.Row(r), y)
	}
	return set.Mean(data.RowNumbers(0, set.Len()), p), true
}
