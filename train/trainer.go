// Package train fits RBMs to data by stochastic gradient ascent on the
// likelihood, with any estimator of the negative phase.
//
// A Trainer takes steps, and calls observers after each of them. An Evaluator computes metrics of the model
// at regular steps. The random numbers of a run depend on its seed, their purpose and the step alone. So
// observers cannot disturb training, and a run that is saved and loaded continues identically.
//
// # Where to begin
//
// Read Preset, Settings and Trainer; Metric and Evaluator measure. The examples are in
// example_test.go and, for parts of your own, in example_own_test.go:
//
//   - Example trains with parallel tempering and prints the log-likelihood
//   - ExampleTrainer_Run stops a run by an observer
//   - Example_ownData trains on rows made in memory
//   - ExampleMetric measures something new
//   - ExampleNewWith trains with an estimator of your own
//   - ExampleSettings_rule trains with an optimiser of your own
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gorbm/data"
	"gorbm/data/grammar"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
	"gorbm/rbm/units"
)

// Purposes of the keys that are derived from the seed of a run.
const (
	initKey = iota
	batchKey
	negativeKey
	metricKey
	classKey
	redrawKey
	logZKey
	gapsKey
)

// Settings, the data and the initial model determine the parameters after n steps.
type Settings struct {
	Rate     float64           `json:"rate"`     // learning rate at the start
	Schedule string            `json:"schedule"` // constant, inverse[:steps], linear or cosine
	Horizon  int               `json:"horizon"`  // steps of the whole run, for schedules that end
	Momentum float64           `json:"momentum"` // fraction of the last change that is repeated; 0: none
	L1       float64           `json:"l1"`       // penalty L1·Σ|W|, in nats a row
	L2       float64           `json:"l2"`       // penalty L2·½ΣW², in nats a row
	Center   float64           `json:"center"`   // weight of a minibatch in the moving averages of the centring offsets; 0: not centred
	Average  float64           `json:"average"`  // weight of the old value in the moving average of the parameters; 0: not averaged
	Batch    int               `json:"batch"`    // rows of a minibatch
	Seed     uint64            `json:"seed"`
	Negative negphase.Settings `json:"negphase"` // not used by the discriminative objective

	// Objective is what training maximises: Joint, Discriminative or Hybrid; "" means Joint. Alpha is the
	// weight of the generative part of Hybrid.
	Objective string  `json:"objective,omitempty"`
	Alpha     float64 `json:"alpha,omitempty"`

	// Sparse is subtracted from every hidden bias after each step, so that fewer hidden units are on
	// (Larochelle et al., JMLR 13, 2012, who use 10⁻⁴ or so at a constant rate). If a schedule lowers the
	// rate below Rate, less is subtracted, in proportion. Without momentum this is a penalty of
	// Sparse/Rate, in nats a row, on the sum of the hidden biases. Momentum does not multiply it.
	Sparse float64 `json:"sparse,omitempty"`

	// LearnPrecision trains the precisions of Gaussian units, except in constant columns of the data.
	// Otherwise precisions are fixed, at 1 in a new model.
	LearnPrecision bool `json:"learn_precision,omitempty"`

	// Rule, if not nil, is an optimizer of the caller. It replaces Momentum, which must be 0, and belongs
	// to the trainer. Schedules, penalties, averaging, ranks and saved runs work with it. Estimators that
	// may reject updates, such as ptt, do not, because a step by a Rule cannot be halved.
	Rule rbm.Rule `json:"-"`
}

// maxRate is the largest learning rate. A gradient of size 1 moves a parameter by the rate in one update.
// At 100, the first update saturates every unit.
const maxRate = 100

// Check returns an error that names a setting that is out of range. It checks neither Batch, which depends
// on the data, nor Negative.
func (s Settings) Check() error {
	if math.IsNaN(s.Rate) || s.Rate <= 0 || s.Rate > maxRate {
		return fmt.Errorf("rate is %v; it must be above 0 and at most %d", s.Rate, maxRate)
	}
	if err := CheckSchedule(s.Schedule); err != nil {
		return err
	}
	if err := s.checkObjective(); err != nil {
		return err
	}
	if s.Rule != nil && (s.Momentum != 0 || s.Rule.Slots() < 0 || s.Rule.Slots() > rbm.MaxSlots) {
		return fmt.Errorf("the rule %T has %d slots and momentum is %v; it may have up to %d slots, without momentum", s.Rule, s.Rule.Slots(), s.Momentum, rbm.MaxSlots)
	}
	for _, c := range []struct {
		name  string
		value float64
		below float64
	}{
		{"momentum", s.Momentum, 0.9999}, // rounding changes a velocity by 2⁻²⁴/(1−momentum) of its size
		{"l1", s.L1, math.Inf(1)},
		{"l2", s.L2, (1 - s.Momentum) / s.Rate}, // a larger one would flip the signs of weights in one step
		{"center", s.Center, 1},
		{"average", s.Average, 1},
		{"sparse", s.Sparse, 1},
	} {
		if !(c.value >= 0 && c.value < c.below) {
			return fmt.Errorf("%s is %v; it must be at least 0 and below %.4g", c.name, c.value, c.below)
		}
	}
	return nil
}

// check is Check, and checks Batch too.
func (s Settings) check(set *data.Set) error {
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case set.Len() == 0:
		return fmt.Errorf("%s has no rows to train on", set.Name)
	case s.Batch < 1 || s.Batch > set.Len():
		return fmt.Errorf("batch is %d; it must lie in 1 … %d, the rows of %s", s.Batch, set.Len(), set.Name)
	}
	return nil
}

// InitialSD is the standard deviation of the initial parameters, as in the infinite-swapping paper (section
// 4.2.2, after Hinton's practical guide).
const InitialSD = 0.01

// NewModel returns an RBM for set with the given number of hidden units. Its inputs are grouped as in set.
// If labelled is true, the RBM has a label unit of the given kind for each class. Parameters are drawn from
// N(0, InitialSD²) by seed. It panics if labelled is true and set has no labels.
func NewModel(set *data.Set, hidden int, labelled bool, labels rbm.Kind, seed uint64) *rbm.RBM {
	return NewModelOf(set, rbm.Group{Kind: rbm.Bernoulli, Units: hidden}, labelled, labels, seed)
}

// NewModelOf is NewModel with hidden units of any kind. It panics if they are real and labelled is true.
func NewModelOf(set *data.Set, hidden rbm.Group, labelled bool, labels rbm.Kind, seed uint64) *rbm.RBM {
	groups := set.InputGroups()
	if labelled {
		if set.Y == nil {
			panic("train: the data have no labels")
		}
		if n := len(set.Classes); n > 0 {
			groups = append(slices.Clip(groups), rbm.Group{Kind: labels, Units: n, Label: true})
		}
	}
	m := rbm.NewLayers(hidden, groups...)
	m.Randomize(InitialSD, rbm.NewKey(seed).Child(initKey))
	return m
}

// VisibleMean returns the mean of each visible unit over the weighted rows of set, in the order of
// Set.Visible: the inputs, then label units for the given number of classes. Means of label units are over
// the rows that have a class.
func VisibleMean(set *data.Set, classes int) []float32 {
	sums := make([]float64, set.X.Cols+classes)
	row, example := make([]int32, 1), set.NewRows(1, classes)
	rows, labelled := 0.0, 0.0
	for r := range set.Len() {
		row[0] = int32(r)
		set.Visible(example, row, classes)
		w := set.Weight(row[0])
		example.Nonzero(0, func(i int, x float32) { sums[i] += float64(w * float64(x)) })
		if rows += w; set.Y != nil && set.Y[r] != data.NoClass {
			labelled += w
		}
	}
	mean := make([]float32, len(sums))
	for i, n := range sums {
		total := rows
		if i >= set.X.Cols {
			total = labelled
		}
		mean[i] = float32(n / total)
	}
	return mean
}

// SetLogOdds sets the visible biases of m to the log-odds of the units in set: see RBM.LogOdds. With them a
// model without weights has the means of the data.
func SetLogOdds(m *rbm.RBM, set *data.Set) {
	m.LogOdds(m.VisibleBias, VisibleMean(set, m.Classes()), set.TotalWeight())
}

// Starts are the values of Preset.Init and of the argument of SetBiases.
var Starts = []string{"random", "log-odds", "sparse"}

// sparseBias is what the start "sparse" adds to the hidden biases. After training on MNIST from this start,
// a quarter of 500 hidden units are on. After training from biases near 0, half of them are. With "sparse",
// updates take a sixth less time because they sum over units that are on. experiments/speed
// compares the likelihoods.
const sparseBias = -1

// SetBiases sets the biases of m to those of a start. "random", or "", leaves them as NewModel drew them, and
// "log-odds" calls SetLogOdds. "sparse" does so too, and lowers the biases of hidden bits by 1, so that
// fewer of them are on. It panics if start is none of Starts.
func SetBiases(m *rbm.RBM, set *data.Set, start string) {
	switch {
	case start == "" || start == "random":
		return
	case !slices.Contains(Starts, start):
		panic(fmt.Sprintf("train: the start is %q; it must be %s", start, grammar.List(Starts, "or")))
	}
	SetLogOdds(m, set)
	if start == "sparse" && !m.RealHidden() {
		for j := range m.HiddenBias {
			m.HiddenBias[j] += sparseBias
		}
	}
}

// Base returns the base-rate model of set for models of m's shape: a model without weights whose visible
// units have the means of the data. As the hot end of a tempered path it is nearer to m than the uniform
// distribution.
func Base(m *rbm.RBM, set *data.Set) *rbm.Base {
	return rbm.NewBase(m, VisibleMean(set, m.Classes()), set.TotalWeight())
}

// baseRows bounds the number of rows whose hidden means ModelBase averages. The log-odds of a mean over
// 10000 rows are known to some hundredths, and more rows would take seconds.
const baseRows = 10_000

// ModelBase returns a base-rate model for m as it is now: a model without weights that has the means of set
// in the visible layer, and the mean p(h=1|v) of up to 10000 of its rows in the hidden layer. On a tempered
// path from it to m both layers stay near their means, even if the means of hidden units are far from ½. In
// a model of 784 × 500 units, trained without centring, replicas made 54 times as many round trips as with
// Base. Labels that rows do not have are summed out.
func ModelBase(m *rbm.RBM, set *data.Set) *rbm.Base {
	var b *rbm.Base
	if m.Classes() == 0 || set.Y != nil {
		b = Base(m, set)
	} else {
		mean := VisibleMean(set, 0)
		for range m.Classes() {
			mean = append(mean, 0.5) // any constant: for softmax labels only the ratios count
		}
		b = rbm.NewBase(m, mean, set.TotalWeight())
	}
	sums, used := make([]float64, m.Hidden()), 0.0
	for chunk := range slices.Chunk(data.EvenRows(baseRows, set.Len()), 500) {
		v, mean := set.NewRows(len(chunk), m.Classes()), rbm.NewMatrix(len(chunk), m.Hidden())
		set.Inputs(v, chunk)
		m.HiddenMeanGivenInputs(mean, v)
		for r := range chunk {
			if row := mean.Row(r); row[0] == row[0] { // NaN if the constraint allows no state of the row
				w := set.Weight(chunk[r])
				used += w
				for j, p := range row {
					sums[j] += float64(w * float64(p))
				}
			}
		}
	}
	if kind, ok := m.HiddenKind().(units.RealKind); ok {
		for j, sum := range sums {
			b.HiddenBias[j] = float32(kind.FieldOf(sum/used, float64(b.HiddenParams[0][j])))
		}
		return b
	}
	for j, on := range sums {
		b.HiddenBias[j] = float32(rbm.Log(on+0.5) - rbm.Log(used-on+0.5))
	}
	return b
}

// A Trainer trains a model on a data set by gradient ascent, one minibatch at a time. It is not for
// concurrent use.
type Trainer struct {
	model    *rbm.RBM
	set      *data.Set
	hash     string // hash of set
	settings Settings
	negative negphase.Estimator // nil: the objective has no negative phase

	optimizer *optimizer
	objective *objective // nil: the plain log-likelihood, with a class for each row

	vetoer negphase.Vetoer // the estimator, if it may reject updates
	group  *ranks.Group    // ranks that take the steps together

	step    int
	elapsed time.Duration
	key     rbm.Key // key of the negative phase
	drawKey rbm.Key // key of rows that are redrawn
	logZKey rbm.Key // key of LogZ
	batches *data.Batches
	rows    []int32
	batch   rbm.Batch
	gaps    *gaps // nil: no cell of the set is missing
}

// New returns a trainer of m on set, at step 0. Training changes m in place. The error names a setting that
// is out of range, or says why the model does not fit the data. If the estimator cannot keep a constraint
// of m, the first step fails; Settings.Negative.CheckModel tests that before.
func New(s Settings, set *data.Set, m *rbm.RBM) (*Trainer, error) {
	if err := check(s, set, m); err != nil { // before Base uses them
		return nil, err
	}
	if s.Objective == Discriminative {
		return assemble(nil, s, set, m)
	}
	if s.Negative.NeedsBase() {
		s.Negative.SetBase(Base(m, set))
	}
	negative, err := negphase.New(s.Negative)
	if err != nil {
		return nil, err
	}
	return assemble(negative, s, set, m)
}

// check returns an error if a trainer of m on set cannot have these settings.
func check(s Settings, set *data.Set, m *rbm.RBM) error {
	if err := s.check(set); err != nil {
		return err
	}
	if err := Fits(m, set); err != nil {
		return err
	}
	if err := m.CheckNormalisable(); err != nil {
		return err
	}
	if s.LearnPrecision && !m.Real() {
		return errors.New("the model has no Gaussian units, whose precision could be learned; leave LearnPrecision out")
	}
	if err := s.checkClasses(set, m); err != nil {
		return err
	}
	if err := s.checkMissing(set, m); err != nil {
		return err
	}
	return Allows(m, set)
}

// NewWith is New with the caller's estimator of the negative phase, which then belongs to the trainer.
// s.Negative only names it: Save writes s.Negative, and Load requires the same. However, two metrics make
// an estimator from s.Negative and copy the chains into it: mixing, and log_likelihood if it uses the run's
// ladder. Give s.Negative a Kind that package negphase does not have, unless that kind can read the chains
// of negative. The discriminative objective has no negative phase and does not use negative, which may then
// be nil.
func NewWith(negative negphase.Estimator, s Settings, set *data.Set, m *rbm.RBM) (*Trainer, error) {
	if err := check(s, set, m); err != nil {
		return nil, err
	}
	if s.Objective == Discriminative {
		negative = nil
	}
	return assemble(negative, s, set, m)
}

// assemble returns a trainer from arguments that check has passed, or an error if the rule and the
// estimator do not go together.
func assemble(negative negphase.Estimator, s Settings, set *data.Set, m *rbm.RBM) (*Trainer, error) {
	if s.Objective == Joint {
		s.Objective = "" // saved runs have this spelling
	}
	key := rbm.NewKey(s.Seed)
	t := &Trainer{
		model: m, hash: set.Hash(), settings: s, negative: negative,
		optimizer: newOptimizer(s, m, set),
		key:       key.Child(negativeKey),
		drawKey:   key.Child(redrawKey),
		logZKey:   key.Child(logZKey),
	}
	t.deal(s, set)
	if set.Missing.Rows > 0 {
		t.gaps = newGaps(s, m, set, key)
	}
	if v, ok := negative.(negphase.Vetoer); ok {
		if s.Rule != nil {
			return nil, fmt.Errorf("%s may reject updates, which the rule %T cannot take back; give another estimator or no rule", s.Negative.Kind, s.Rule)
		}
		t.vetoer = v
	}
	return t, nil
}

// deal makes t train on set, in minibatches of s.Batch rows.
func (t *Trainer) deal(s Settings, set *data.Set) {
	key := rbm.NewKey(s.Seed)
	t.set = set
	t.objective = newObjective(s, t.model, set, key)
	t.batches = data.NewBatches(s.Rows(set), s.Batch, key.Child(batchKey)).Weigh(set.WeightsOf(s.rows(set)))
	t.rows = make([]int32, s.Batch)
	t.batch = rbm.Batch{V: set.NewRows(s.Batch, t.model.Classes()), H: rbm.NewMatrix(s.Batch, t.model.Hidden())}
}

// ErrNoLabels is the error of [Fits] if the model has labels, the set has none, and the set fits otherwise.
var ErrNoLabels = errors.New("no labels")

// Fits returns an error that says why m cannot be trained or evaluated on set, or nil. It wraps
// [ErrNoLabels] if only labels are missing.
func Fits(m *rbm.RBM, set *data.Set) error {
	switch {
	case set.Y != nil && len(set.Y) != set.Len():
		return fmt.Errorf("%s has %d labels for %d rows; give one each", set.Name, len(set.Y), set.Len())
	case set.Grey.Rows > 0 && (set.Grey.Rows != set.X.Rows || set.Grey.Cols != set.X.Cols):
		return fmt.Errorf("%s has %d × %d bits but %d × %d grey values; give both the same shape", set.Name, set.X.Rows, set.X.Cols, set.Grey.Rows, set.Grey.Cols)
	case set.Missing.Rows > 0 && m.CheckSites() != nil:
		return fmt.Errorf("%s has missing cells: %w", set.Name, m.CheckSites())
	case m.Inputs() != set.X.Cols:
		return fmt.Errorf("the model has %d inputs, but rows of %s have %d", m.Inputs(), set.Name, set.X.Cols)
	case m.Classes() > 0 && set.Y != nil && len(set.Classes) != m.Classes():
		return fmt.Errorf("the model has %d classes, but %s has %d", m.Classes(), set.Name, len(set.Classes))
	}
	if err := fitsGroups(m, set); err != nil {
		return err
	}
	if m.Classes() > 0 && set.Y == nil {
		return fmt.Errorf("the model has %d label units, but %s has %w", m.Classes(), set.Name, ErrNoLabels)
	}
	return nil
}

// fitsGroups returns an error if the inputs of set are not states of the visible groups of m. A set that
// names no groups may fit any.
func fitsGroups(m *rbm.RBM, set *data.Set) error {
	inputs := m.Groups()
	if _, ok := m.Label(); ok {
		inputs = inputs[:len(inputs)-1]
	}
	if m.Real() && (set.Groups == nil || set.Grey.Rows == 0) {
		return fmt.Errorf("the model has real inputs, and %s is not standardised; read it as the data of the model were (binarize standard)", set.Name)
	}
	if has, want := rbm.GroupsText(inputs), rbm.GroupsText(set.Groups); set.Groups != nil && has != want {
		return fmt.Errorf("the inputs of the model are %.60s, but those of %s are %.60s", has, set.Name, want)
	}
	if err := m.CheckSoftmax(set.X); err != nil {
		return fmt.Errorf("%s: %w", set.Name, err)
	}
	return nil
}

// Hash returns the hash of the training set, which New computes in about a second for a large set. It is ""
// after Take.
func (t *Trainer) Hash() string { return t.hash }

// Model returns the current model. If parameters are averaged, it is the model with the average parameters.
func (t *Trainer) Model() *rbm.RBM {
	if t.optimizer.average != nil {
		return t.optimizer.average
	}
	return t.model
}

// Ladder returns the temperatures of the negative phase and how they exchange, and whether the negative
// phase has temperatures.
func (t *Trainer) Ladder() (negphase.Ladder, bool) {
	if n, ok := t.negative.(negphase.Tempered); ok {
		return n.Ladder(), true
	}
	return negphase.Ladder{}, false
}

// LogZ returns an estimate of log Z of Model, in nats, with its standard error, and whether there is one:
// see negphase.LogZer. The estimate comes from a copy of the chains of the negative phase, and costs as
// much as some dozens of updates.
func (t *Trainer) LogZ() (logZ, stdErr float64, ok bool, err error) {
	if _, is := t.negative.(negphase.LogZer); !is {
		return 0, 0, false, nil
	}
	c, err := t.copyNegative(nil)
	if err != nil {
		return 0, 0, false, err
	}
	return c.(negphase.LogZer).LogZ(t.Model(), t.logZKey.Child(uint64(t.step)))
}

// copyNegative returns a copy of the estimator that continues from its present chains and adapts no more.
// If into is not nil, it is the result of an earlier call; copyNegative overwrites it and returns it.
func (t *Trainer) copyNegative(into negphase.Estimator) (negphase.Estimator, error) {
	if into == nil {
		var err error
		if into, err = negphase.New(t.settings.Negative); err != nil {
			return nil, err
		}
	}
	if c, ok := into.(negphase.Copier); !ok || !c.CopyFrom(t.negative) {
		b, err := t.negative.MarshalBinary()
		if err != nil {
			return nil, err
		}
		if err := into.UnmarshalBinary(b); err != nil {
			return nil, fmt.Errorf("the chains cannot be copied into %s of the settings: %w", t.settings.Negative.Kind, err)
		}
	}
	if f, ok := into.(negphase.Freezer); ok {
		f.Freeze()
	}
	return into, nil
}

// Steps returns the number of steps taken.
func (t *Trainer) Steps() int { return t.step }

// Take replaces the data of training, for rows that arrive during a run. In each of the following steps all
// rows of set are the minibatch, whatever Settings.Batch is. Save then records no data, and its file loads
// into a trainer on any rows. If set does not fit the model or the objective, Take returns an error and
// changes nothing.
func (t *Trainer) Take(set *data.Set) error {
	s := t.settings
	s.Batch = max(1, s.Rows(set)) // check refuses a set without rows
	if err := check(s, set, t.model); err != nil {
		return err
	}
	if set.Missing.Rows > 0 || t.gaps != nil {
		return errors.New("rows with missing values cannot be replaced during training; train on all of them at once")
	}
	t.deal(s, set)
	t.hash = ""
	return nil
}

// Elapsed returns the time spent in steps, without observers, since New or Load.
func (t *Trainer) Elapsed() time.Duration { return t.elapsed }

// Step takes one step: the positive phase of the next minibatch, the negative phase, and the update of the
// parameters. The counts that it returns are valid until the next step. The error wraps rbm.ErrDiverged if
// an energy is not finite; the parameters are then those before the step.
func (t *Trainer) Step() (negphase.Info, error) {
	start := time.Now()
	defer func() { t.elapsed += time.Since(start) }()
	t.batches.Rows(t.rows, t.step)
	positive, share := t.batch, 1.0
	if o := t.objective; o != nil {
		positive, share = o.positive(t)
	} else {
		t.set.Visible(t.batch.V, t.rows, t.model.Classes())
		t.set.Redraw(t.batch.V, t.rows, t.redraws())
		if t.gaps != nil {
			t.gaps.fill(t)
		}
		if err := t.positiveMeans(); err != nil {
			return negphase.Info{}, fmt.Errorf("step %d: %w", t.step+1, err)
		}
	}
	negative, info, err := t.estimate()
	if err != nil {
		if errors.Is(err, rbm.ErrDiverged) {
			if named := cmp.Or(t.model.CheckFinite(), t.model.CheckNormalisable()); named != nil {
				err = named // it names the parameter, not only the energy
			}
		}
		return info, fmt.Errorf("step %d: %w", t.step+1, err)
	}
	if err := t.checkSpread(negative); err != nil {
		return info, fmt.Errorf("step %d: %w", t.step+1, err)
	}
	err = t.optimizer.ascend(t.model, t.step, t.batch, positive, float32(share), negative, t.vetoer != nil)
	if err == nil && t.vetoer != nil {
		err = t.backtrack(positive, float32(share), negative)
		t.optimizer.follow(t.model)
	}
	if err != nil {
		return info, fmt.Errorf("step %d: %w", t.step+1, err)
	}
	t.step++
	return info, nil
}

const (
	// spreadEvery is the number of steps between checks of the spread of real units. The first checkEvery
	// steps are all checked.
	spreadEvery = 10
	// mostSpread bounds the mean square of the chains divided by that of the data. The ratio is near 1 in a
	// model of standardised data, and grows without bound in a model that diverges.
	mostSpread = 10
)

// checkSpread returns a RateError if the real units of the negative phase spread much wider than those of
// the minibatch. Such a model is lost long before a parameter is infinite.
func (t *Trainer) checkSpread(negative rbm.Phase) error {
	if !t.model.Real() || t.step%spreadEvery != 0 && t.step >= checkEvery {
		return nil
	}
	chains, rows := t.meanSquare(negative), t.meanSquare(rbm.Phase{Batch: t.batch})
	if chains > mostSpread*max(rows, 1) {
		fixed := ""
		if t.settings.LearnPrecision {
			fixed = ", or with a fixed precision"
		}
		return &rbm.RateError{Cause: fmt.Sprintf("the mean square of real units is %.3g in the negative phase and %.3g in the data", chains, rows),
			Remedy: fmt.Sprintf(", such as %.2g%s", t.settings.Rate/10, fixed)}
	}
	return nil
}

// meanSquare returns the mean square of the real units of b, from its weighted rows or its moments.
func (t *Trainer) meanSquare(b rbm.Phase) float64 {
	sum, units := 0.0, 0
	for _, g := range t.model.Groups() {
		if !g.Real() {
			continue
		}
		units += g.Units
		if b.Moments != nil {
			for _, x := range b.Moments.Squares[g.First:][:g.Units] {
				sum += float64(x)
			}
			continue
		}
		for r := range b.Rows() {
			w := b.WeightOf(r)
			for _, x := range b.V.Matrix().Row(r)[g.First:][:g.Units] {
				sum += float64(w * float64(float64(x)*float64(x)))
			}
		}
	}
	return sum / float64(units)
}

// redraws returns the key of this step for data.Set.Redraw.
func (t *Trainer) redraws() rbm.Key { return t.drawKey.Child(uint64(t.step)) }

// estimate returns the negative phase, which has no particles if the objective has no negative phase.
func (t *Trainer) estimate() (rbm.Phase, negphase.Info, error) {
	if t.negative == nil {
		return t.objective.nothing, negphase.Info{}, nil
	}
	return t.negative.Estimate(t.model, t.batch, t.key.Child(uint64(t.step)))
}

// maxHalvings is the number of times that a step is halved before it is undone.
const maxHalvings = 5

// backtrack halves the step of an update until the estimator accepts it, and undoes it after maxHalvings.
func (t *Trainer) backtrack(positive rbm.Batch, share float32, negative rbm.Phase) error {
	left := 1.0 // fraction of the step that is not undone
	for n := 0; n <= maxHalvings && t.vetoer.Veto(t.model); n++ {
		back := left / 2
		if n == maxHalvings {
			back = left
		}
		if err := t.optimizer.retract(t.model, t.step, positive, share, negative, back, left); err != nil {
			return err
		}
		left -= back
	}
	if left == 0 {
		t.vetoer.Veto(t.model)
	}
	return nil
}

// An Event describes a step that was taken.
type Event struct {
	Step  int // number of the step, from 1
	Last  bool
	Info  negphase.Info // valid until the observer returns
	Model *rbm.RBM      // Trainer.Model, which observers must not change
}

// An Observer is called after every step.
type Observer func(ctx context.Context, e Event) error

// ErrStop is returned by an observer to end training without an error.
var ErrStop = errors.New("stop")

// MaxSteps is the largest number of steps. With it the number of rows in all
// minibatches of a run fits in 63 bits.
const MaxSteps = 1<<31 - 1

// checkEvery is the number of steps between checks that all parameters are finite. A check takes a fraction
// of the time of a step.
const checkEvery = 100

// Run takes steps until the trainer has taken the given number in all, ctx is done, or an observer returns
// an error. It returns the error of ctx or of the observer, but nil for ErrStop. The error wraps
// rbm.ErrDiverged if a parameter is no longer finite.
func (t *Trainer) Run(ctx context.Context, steps int, observers ...Observer) error {
	for t.step < steps {
		if err := t.together(ctx); err != nil {
			return err
		}
		info, err := t.Step()
		if err != nil {
			return err
		}
		last := t.step == steps
		if last || t.step%checkEvery == 0 {
			if err := cmp.Or(t.model.CheckFinite(), t.model.CheckNormalisable()); err != nil {
				return fmt.Errorf("step %d: %w", t.step, err)
			}
		}
		e := Event{Step: t.step, Last: last, Info: info, Model: t.Model()}
		for _, observe := range observers {
			if err := observe(ctx, e); err != nil {
				t.Leave(steps)
				if errors.Is(err, ErrStop) {
					return nil
				}
				return err
			}
		}
	}
	return nil
}
