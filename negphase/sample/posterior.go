package sample

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/partition"
)

// A Posterior is the joint distribution of the visible units of a model, cell by cell. The model is that of the
// missing cells of a row given its known cells: see rbm.RBM.Given.
//
// If one layer has few states, they are listed, with the other layer summed out, and the probabilities are exact.
// Otherwise Gibbs chains sample the model. A probability is then the mean of p(level|h) over the hidden states h of
// the chains (Rao–Blackwell). If the chains do not mix, they start anew at draws of annealed importance sampling,
// resampled by their weights (Neal, Annealed importance sampling, Statistics and Computing 11, 2001), and the
// probabilities are right although each chain stays in its mode.
type Posterior struct {
	Cells []Cell // the variables of the model

	// LogP[cell][level] is the log-probability of each level. For the nodes of a real cell, it is the logarithm of the
	// density times the distance between nodes.
	LogP [][]float64
	// StdErr[cell][level] is the standard error of exp(LogP); nil: LogP is exact.
	StdErr [][]float64

	Draw rbm.Values // one row: a joint draw of all cells
}

const (
	// listedStates is the largest number of states that are listed. The visible layer is listed if in addition its
	// states times the hidden units are at most listedTerms, which takes as long as the chains.
	listedStates = 1 << 14
	listedTerms  = 1 << 21

	// Chains that start at random hidden states take rounds of chainSteps Gibbs steps. As many rounds as in a try are
	// discarded before.
	chains     = 32
	chainSteps = 2
	// The chains have mixed if for each level the variance of the chains' means is at most unmixed times the variance of
	// all states: 1/rounds if states are independent, 1 if chains stay in their modes. Levels whose variance is below
	// steady do not count.
	unmixed, steady = 0.35, 0.02 * 0.02
	// doubtfulP is the largest standard error of a probability after which there is no further try.
	doubtfulP = 0.05

	// An annealing of sumChains for log Z has sumSteps steps if the chains have mixed. Otherwise it has modeSteps from a
	// uniform distribution, with modeChains for probabilities. If the standard error of log Z is above doubtfulSum, in
	// nats, or that of a probability above doubtfulP, a further try takes annealMore times as many chains and steps.
	sumChains, sumSteps   = 64, 16
	modeChains, modeSteps = 128, 128
	annealMore            = 4
	doubtfulSum           = 0.1

	// rareLevel is the smallest probability of a level whose error in log p counts.
	rareLevel = 1.0 / 64
)

// chainRounds are the rounds of each chain in successive tries.
var chainRounds = []int{8, 64}

// NewPosterior computes the distribution of all visible units of m, which must have no constraint. The error is
// that of ctx, or wraps rbm.ErrDiverged. The result depends only on m and key.
func NewPosterior(ctx context.Context, m *rbm.RBM, key rbm.Key) (*Posterior, error) {
	p := &Posterior{Cells: Cells(m)}
	l, err := list(m)
	switch {
	case err != nil:
		return nil, err
	case l.logw == nil:
		err = p.sample(ctx, m, key)
	default:
		p.enumerate(m, l, key)
	}
	return p, err
}

// LogSum returns log Z of m, which must have no constraint, and its standard error in nats, which is 0 if the states
// of a layer are listed. The error is that of ctx, or wraps rbm.ErrDiverged.
func LogSum(ctx context.Context, m *rbm.RBM, key rbm.Key) (sum, stdErr float64, err error) {
	if !m.RealHidden() && 1<<min(m.Hidden(), 30) <= listedStates { // no list is needed, which would be slower
		if e, err := exact.New(m, listedStates); err == nil {
			sum, err = e.LogZ(ctx, nil)
			return sum, 0, err
		}
	}
	l, err := list(m)
	if err != nil || l.logw != nil {
		return l.logZ, 0, err
	}
	return annealedSum(ctx, m, key)
}

// annealedSum is LogSum by annealed importance sampling.
func annealedSum(ctx context.Context, m *rbm.RBM, key rbm.Key) (sum, stdErr float64, err error) {
	p := Posterior{Cells: Cells(m)}
	mixed, _, err := p.chains(ctx, m, key.Child(0))
	if err != nil {
		return 0, 0, err
	}
	steps := modeSteps
	if mixed {
		steps = sumSteps
	}
	a, err := p.anneal(ctx, m, sumChains, steps, mixed, key.Child(1))
	if err == nil && a.StdErr > doubtfulSum {
		a, err = p.anneal(ctx, m, sumChains*annealMore, modeSteps*annealMore, mixed, key.Child(2))
	}
	return a.LogZ, a.StdErr, err
}

// A listing has all states of a layer of a model.
type listing struct {
	states rbm.Values
	hidden bool      // they are hidden states
	logw   []float64 // log Σ exp(−E) of each state over the other layer; nil: the model has too many states
	logZ   float64
}

// list lists the states of the layer of m that has fewer of them.
func list(m *rbm.RBM) (l listing, err error) {
	if err := m.CheckFinite(); err != nil {
		return l, err
	}
	cells := Cells(m)
	states, step := 1, 0.0
	for i := range cells {
		states = min(states*cells[i].Levels(), listedStates+1)
		step += cells[i].logStep()
	}
	if label, ok := m.Label(); ok && !label.Joint() { // its units are no cell
		states = listedStates + 1
	}
	if states, l.hidden = listed(m, states); states == 0 {
		return l, nil
	}
	l.logw = make([]float64, states)
	if l.hidden {
		l.states, step = m.NewHidden(states), 0
		for s := range states {
			l.states.Row(s)[0] = uint64(s)
		}
		m.HiddenFreeEnergy(l.logw, l.states)
	} else {
		l.states = m.NewVisible(states)
		for s := range states {
			for i, rest := 0, s; i < len(cells); i++ {
				cells[i].put(l.states, s, rest%cells[i].Levels())
				rest /= cells[i].Levels()
			}
		}
		m.FreeEnergy(l.logw, l.states)
	}
	for s, f := range l.logw {
		l.logw[s] = step - f
	}
	if l.logZ = rbm.LogSumExp(l.logw); l.logZ-l.logZ != 0 {
		err = fmt.Errorf("%w: log Z of the missing cells is %v", rbm.ErrDiverged, l.logZ)
	}
	return l, err
}

// listed returns the number of states that list lists for a model with m's hidden layer and the given number of
// visible states, and whether they are hidden states. The number is 0 if there are too many.
func listed(m *rbm.RBM, visible int) (states int, hidden bool) {
	switch n := 1 << min(m.Hidden(), 30); {
	case !m.RealHidden() && n <= min(visible, listedStates):
		return n, true
	case visible <= listedStates && visible*m.Hidden() <= listedTerms:
		return visible, false
	}
	return 0, false
}

// enumerate sets p from the states of l.
func (p *Posterior) enumerate(m *rbm.RBM, l listing, key rbm.Key) {
	at := pickLog(l.logw, l.logZ, key.Uniform(0)) // the state that is drawn
	s := rbm.NewStates(m, 1)
	p.Draw = s.V
	if l.hidden {
		s.H.CopyRow(0, l.states, at)
		m.Step(s, nil, 1, key.Child(0))
		t := newTally(m, p.Cells, 1)
		for lo := 0; lo < len(l.logw); lo += tallyRows {
			t.add(l.states.Slice(lo, min(lo+tallyRows, len(l.logw))), func(r int) (int, float64) { return 0, rbm.Exp(l.logw[lo+r] - l.logZ) })
		}
		p.LogP, _ = t.logP(nil, 0)
		return
	}
	s.V.CopyRow(0, l.states, at)
	if m.Real() { // A Gibbs step gives real units any value. It keeps the draw exact, as p(h) is a sum over the nodes.
		m.StepVisible(s, key.Child(0))
	}
	p.LogP = make([][]float64, len(p.Cells))
	stride, byLevel := 1, make([]float64, 0, len(l.logw))
	for i := range p.Cells {
		n := p.Cells[i].Levels()
		p.LogP[i] = make([]float64, n)
		for k := range n {
			byLevel = byLevel[:0]
			for s := k * stride; s < len(l.logw); s += n * stride {
				byLevel = append(byLevel, l.logw[s:s+stride]...)
			}
			p.LogP[i][k] = rbm.LogSumExp(byLevel) - l.logZ
		}
		stride *= n
	}
}

// sample sets p by chains.
func (p *Posterior) sample(ctx context.Context, m *rbm.RBM, key rbm.Key) error {
	mixed, s, err := p.chains(ctx, m, key.Child(0))
	for try, n, steps := 0, modeChains, modeSteps; err == nil && !mixed && try < 2; try, n, steps = try+1, n*annealMore, steps*annealMore {
		key := key.Child(uint64(1 + try))
		var a partition.Annealed
		if a, err = p.anneal(ctx, m, n, steps, false, key.Child(0)); err != nil {
			break
		}
		var ancestor []int
		s, ancestor = resampled(m, a, key.Child(1))
		t := newTally(m, p.Cells, n)
		t.run(s, chainRounds[0], key.Child(2))
		p.LogP, p.StdErr = t.logP(ancestor, 1)
		mixed = p.Worst() <= doubtfulP
	}
	if err == nil {
		p.Draw = m.NewVisible(1)
		p.Draw.CopyRow(0, s.V, int(key.Uniform(0)*float64(s.V.Rows)))
	}
	return err
}

// chains sets p by chains that start at random hidden states, and reports whether they have mixed. It returns their
// last states.
func (p *Posterior) chains(ctx context.Context, m *rbm.RBM, key rbm.Key) (mixed bool, s *rbm.States, err error) {
	s = rbm.NewStates(m, chains)
	s.Energy = nil
	m.RandomizeHidden(s.H, key.Child(0))
	ancestor := make([]int, chains)
	for r := range ancestor {
		ancestor[r] = r
	}
	for try, rounds := range chainRounds {
		t := newTally(m, p.Cells, chains)
		m.Step(s, nil, rounds, key.Child(uint64(1+2*try)))
		t.run(s, rounds, key.Child(uint64(2+2*try)))
		p.LogP, p.StdErr = t.logP(ancestor, rounds)
		if err := ctx.Err(); err != nil {
			return false, nil, err
		}
		if t.mixed() && p.Worst() <= doubtfulP {
			return true, s, nil
		}
	}
	return false, s, nil
}

// anneal draws from m by annealed importance sampling. The distribution at β = 0 has the means and variances of p, or if
// fitted is false it is uniform, with the means and variances of p for real units.
func (p *Posterior) anneal(ctx context.Context, m *rbm.RBM, chains, steps int, fitted bool, key rbm.Key) (partition.Annealed, error) {
	base := rbm.UniformBase(m)
	if fitted {
		base = rbm.NewBase(m, p.Means(m), float64(chains))
	}
	for i := range p.Cells {
		c := &p.Cells[i]
		if !c.real() {
			continue
		}
		variance, mean := 0.0, p.Mean(i)
		for k, logp := range p.LogP[i] {
			d := c.node(k) - mean
			variance += float64(rbm.Exp(logp) * float64(d*d))
		}
		base.VisibleParams[0][c.First], base.VisibleBias[c.First] = float32(1/variance), float32(mean/variance)
	}
	return partition.AIS(ctx, m, partition.Annealing{Chains: chains, Temperatures: steps + 1, Base: base}, key, nil)
}

// resampled returns chains of equal weights that start at draws of a, and for each the number of its draw. The
// resampling is systematic: a draw of weight w has n·w copies of n, rounded up or down.
func resampled(m *rbm.RBM, a partition.Annealed, key rbm.Key) (s *rbm.States, ancestor []int) {
	n := len(a.LogWeights)
	s, ancestor = rbm.NewStates(m, n), make([]int, n)
	s.Energy = nil
	all, below, u := rbm.LogSumExp(a.LogWeights), 0.0, key.Uniform(0)
	r := 0
	for draw, logw := range a.LogWeights {
		below += rbm.Exp(logw - all)
		for ; r < n && ((float64(r)+u)/float64(n) < below || draw == n-1); r++ {
			s.V.CopyRow(r, a.V, draw)
			ancestor[r] = draw
		}
	}
	m.HiddenMean(s.Mean, s.V)
	m.HiddenSample(s.H, rbm.Batch{V: s.V, H: s.Mean}, key)
	return s, ancestor
}

// tallyRows is a suitable number of hidden states for tally.add.
const tallyRows = 1024

// A tally has means, over hidden states, of the probabilities of the levels of cells given these states, chain by chain.
type tally struct {
	m       *rbm.RBM
	cells   []Cell
	visible rbm.Matrix  // means of the visible units given each hidden state
	row     []float64   // probabilities of the levels given a hidden state
	means   [][]float64 // chains × levels
	squares []float64   // mean squares of the probabilities, summed over the chains
}

func newTally(m *rbm.RBM, cells []Cell, chains int) *tally {
	t, levels := &tally{m: m, cells: cells}, 0
	for i := range cells {
		levels += cells[i].Levels()
	}
	t.row, t.squares = make([]float64, levels), make([]float64, levels)
	for range chains {
		t.means = append(t.means, make([]float64, levels))
	}
	return t
}

// run moves the chains s by the given number of rounds, and averages over the states from the first on.
func (t *tally) run(s *rbm.States, rounds int, key rbm.Key) {
	for round := range rounds {
		t.add(s.H, func(r int) (int, float64) { return r, 1 / float64(rounds) })
		t.m.Step(s, nil, chainSteps, key.Child(uint64(round)))
	}
}

// add adds the hidden states h to the means. to returns the chain of a row of h, and its weight in the mean of the chain.
func (t *tally) add(h rbm.Values, to func(r int) (chain int, weight float64)) {
	if t.visible.Rows < h.Rows {
		t.visible = rbm.NewMatrix(h.Rows, t.m.Visible())
	}
	t.m.VisibleMean(t.visible.Slice(0, h.Rows), h)
	for r := range h.Rows {
		row, visible := t.row, t.visible.Row(r)
		for i := range t.cells {
			c := &t.cells[i]
			switch x := float64(visible[c.First]); {
			case c.real():
				t.density(row[:c.nodes.N], c, x)
			case c.Units == 1:
				row[0], row[1] = 1-x, x
			default:
				for k, x := range visible[c.First : c.First+c.Units] {
					row[k] = float64(x)
				}
			}
			row = row[c.Levels():]
		}
		chain, weight := to(r)
		mean, squares := t.means[chain], t.squares
		for k, x := range t.row {
			x = float64(x * weight)
			mean[k] += x
			squares[k] += float64(x * t.row[k])
		}
	}
}

// density overwrites dst with the density of a real cell at its nodes, given its mean, times the distance of the nodes.
// Nodes far from the mean have no density.
func (t *tally) density(dst []float64, c *Cell, mean float64) {
	const far = 8.5 // standard deviations
	clear(dst)
	deviation := 1 / math.Sqrt(float64(t.m.VisibleParams()[0][c.First]))
	scale := c.nodes.Step / (deviation * math.Sqrt(2*math.Pi))
	first := (mean - float64(far*deviation) - c.nodes.Low) / c.nodes.Step
	last := (mean + float64(far*deviation) - c.nodes.Low) / c.nodes.Step
	for k := int(max(0, math.Ceil(first))); k < c.nodes.N && float64(k) <= last; k++ {
		d := (c.node(k) - mean) / deviation
		dst[k] = float64(scale * rbm.Exp(-d*d/2))
	}
}

// mixed reports whether the chains have mixed: see unmixed.
func (t *tally) mixed() bool {
	n := float64(len(t.means))
	for k, squares := range t.squares {
		mean, between := 0.0, 0.0
		for _, means := range t.means {
			mean += means[k] / n
		}
		for _, means := range t.means {
			d := means[k] - mean
			between += float64(d * d / (n - 1))
		}
		if all := squares/n - float64(mean*mean); all > steady && between > unmixed*all {
			return false
		}
	}
	return true
}

// logP returns the logarithms of the mean probabilities of all levels. It also returns their standard errors, unless
// ancestor is nil. ancestor has the number of the draw at which each chain started, in ascending order. Chains of
// one ancestor are not independent. The error of a mean p of n chains is √(Σ (S_a − n_a p)²)/n, where S_a is the sum
// over the n_a chains of ancestor a. A factor g/(g − 1) corrects for few ancestors, where g = n²/Σ n_a² is their
// effective number. The error is at least √(p(1 − p)) divided by g·rounds, the number of states that may be independent:
// chains may all have missed a state of this probability.
func (t *tally) logP(ancestor []int, rounds int) (logp, stdErr [][]float64) {
	n, levels := float64(len(t.means)), len(t.row)
	p := make([]float64, levels)
	for _, means := range t.means {
		floats.AddScaled(p, 1/n, means)
	}
	logp = t.split(p)
	if ancestor != nil {
		errs, d, squares := make([]float64, levels), make([]float64, levels), 0.0
		for r := 0; r < len(t.means); {
			clear(d)
			first := r
			for ; r < len(t.means) && ancestor[r] == ancestor[first]; r++ {
				for k, x := range t.means[r] {
					d[k] += x - p[k]
				}
			}
			squares += float64((r - first) * (r - first))
			for k, x := range d {
				errs[k] += float64(x * x)
			}
		}
		g := n * n / squares
		for k, x := range errs {
			if errs[k] = 1; g > 1 {
				missed := p[k] * (1 - p[k]) / (g * g * float64(rounds*rounds))
				errs[k] = min(1, math.Sqrt(x*g/(g-1)/(n*n)+missed))
			}
		}
		stdErr = t.split(errs)
	}
	const tiny = 1e-300 // no result is −Inf
	for k := range p {
		p[k] = rbm.Log(max(p[k], tiny))
	}
	return logp, stdErr
}

// split divides x, which has an element for each level of all cells, among the cells.
func (t *tally) split(x []float64) (byCell [][]float64) {
	for i := range t.cells {
		n := t.cells[i].Levels()
		byCell = append(byCell, x[:n:n])
		x = x[n:]
	}
	return byCell
}

// Worst returns the largest standard error of a probability, or 0 if all are exact.
func (p *Posterior) Worst() (worst float64) {
	for _, cell := range p.StdErr {
		for _, x := range cell {
			worst = max(worst, x)
		}
	}
	return worst
}

// logErr returns the largest standard error of log p of the levels of a cell of probability rareLevel or more; 0 if
// they are exact.
func (p *Posterior) logErr(cell int) (worst float64) {
	if p.StdErr == nil {
		return 0
	}
	for k, x := range p.StdErr[cell] {
		if p.LogP[cell][k] >= rbm.Log(rareLevel) {
			worst = max(worst, x/rbm.Exp(p.LogP[cell][k]))
		}
	}
	return worst
}

// Means returns the means of the visible units of m, whose cells are those of p. For units of no cell, those of a
// Bernoulli label, it is 0.
func (p *Posterior) Means(m *rbm.RBM) []float32 {
	means := make([]float32, m.Visible())
	for i := range p.Cells {
		switch c := &p.Cells[i]; {
		case c.real():
			means[c.First] = float32(p.Mean(i))
		case c.Units == 1:
			means[c.First] = float32(rbm.Exp(p.LogP[i][1]))
		default:
			for k, logp := range p.LogP[i] {
				means[c.First+k] = float32(rbm.Exp(logp))
			}
		}
	}
	return means
}

// Mean returns the mean of a real cell.
func (p *Posterior) Mean(cell int) (mean float64) {
	for k, logp := range p.LogP[cell] {
		mean += float64(rbm.Exp(logp) * p.Cells[cell].node(k))
	}
	return mean
}

// quantileSteps is the number of intervals between two nodes for the integration in Quantiles.
const quantileSteps = 16

// Quantiles returns the quantiles of a real cell at the given probabilities, in ascending order. It interpolates the
// density between nodes by the series of Whittaker and Shannon. The density is a mixture of Gaussians. If nodes are
// half a standard deviation of a component apart, the error of the interpolation is some 10⁻⁹ of the largest
// density. Quantiles integrates the density by the trapezoidal rule, with an error of the integral below 10⁻⁴.
func (p *Posterior) Quantiles(cell int, probabilities []float64) (quantiles []float64) {
	c := &p.Cells[cell]
	var nodes []float64 // probabilities of the nodes from first on, without those at both ends that have none
	first := 0
	for k, x := range p.LogP[cell] {
		if x > quantileFloor {
			if nodes == nil {
				first = k
			}
			nodes = append(nodes, make([]float64, k-first-len(nodes))...)
			nodes = append(nodes, rbm.Exp(x))
		}
	}
	density := func(i int) float64 { // at i/quantileSteps nodes after the first
		if i%quantileSteps == 0 {
			return nodes[i/quantileSteps]
		}
		t, sum := float64(float64(i)/quantileSteps), 0.0
		sin := math.Sin(math.Pi*t) / math.Pi
		for k, x := range nodes {
			sum += float64(x * sin / (t - float64(k)))
			sin = -sin
		}
		return max(sum, 0)
	}
	below, before := 0.0, float64(density(0)/quantileSteps)
	for i := 1; i <= (len(nodes)-1)*quantileSteps; i++ {
		next := float64(density(i) / quantileSteps)
		step := float64((before + next) / 2)
		for len(quantiles) < len(probabilities) && below+step >= probabilities[len(quantiles)] {
			at := (float64(i-1) + (probabilities[len(quantiles)]-below)/step) / quantileSteps
			quantiles = append(quantiles, c.node(first)+float64(at*c.nodes.Step))
		}
		below, before = below+step, next
	}
	for len(quantiles) < len(probabilities) {
		quantiles = append(quantiles, c.node(first+len(nodes)-1))
	}
	return quantiles
}

// quantileFloor is the largest log p of the nodes that Quantiles ignores at both ends of the grid.
const quantileFloor = -27
