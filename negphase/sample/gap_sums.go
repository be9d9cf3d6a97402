package sample

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/units"
)

// There are three methods to compute a sum over the missing cells of a row. The first that is
// affordable is used:
//
//   - list the joint states of the cells, if there are at most listedStates, or enumeratedStates for draws and
//     for the probabilities of single levels;
//   - enumerate the smaller layer of the model conditioned on the known cells, if it has at most
//     enumeratedStates states;
//   - estimate the sum by annealed importance sampling of that conditional model (Neal, Annealed importance
//     sampling, Statistics and Computing 11, 2001).
//
// An estimate with a standard error above longerAbove is repeated with longerPath times the work. For
// probabilities of levels it then has more chains, because a chain samples about one level. It has more
// temperatures instead for a sum, and whenever the standard error of the sum is above doubtful.
const (
	listedStates     = 1 << 12
	enumeratedStates = 1 << 14
	annealedChains   = 64
	annealedSteps    = 200 // number of temperatures
	longerPath       = 8
	longerAbove      = 0.1 // nats
	doubtful         = 0.5 // nats; above it a few chains have nearly all the weight, and the standard error is unreliable

	// rareLevel is the probability of a level that on average one of the annealed chains has. Standard
	// errors of rarer levels are not reported, except for the level of a known cell.
	rareLevel = 1.0 / annealedChains
)

// missing returns the missing cells of row r, and the number of their joint states or
// enumeratedStates+1 if there are more.
func (g *Gaps) missing(r int) (cells []int, states int) {
	states = 1
	for i, c := range g.cells {
		if g.Missing.Get(r, c.First) {
			cells = append(cells, i)
			states = min(states*c.Levels(), enumeratedStates+1)
		}
	}
	return cells, states
}

// FewStates reports whether FreeEnergy lists all states of the missing cells of row r.
func (g *Gaps) FewStates(r int) bool {
	_, states := g.missing(r)
	return states <= listedStates
}

// SumRows returns the number of rows whose free energies take as long to compute as the sum over the missing
// cells of row r. It is exact if FreeEnergy lists the states, and a rough estimate if FreeEnergy enumerates a
// layer or anneals.
func (g *Gaps) SumRows(r int) int {
	switch cells, states := g.missing(r); {
	case len(cells) == 0:
		return 0
	case states <= listedStates:
		return states
	}
	return annealedChains * annealedSteps
}

// mark marks a cell of row r as missing or as known.
func (g *Gaps) mark(r, cell int, missing bool) {
	c := g.cells[cell]
	for k := range c.Units {
		g.Missing.Set(r, c.First+k, missing)
	}
}

// A listing collects the states of the missing cells of several rows, and computes their free energies
// in one batch.
type listing struct {
	m    *rbm.RBM
	v    rbm.Values
	rows int // rows of v in use
	free []float64
	jobs []listed
}

// listed is the block of rows of a listing that belongs to one call of add. It starts at the end of the block
// before.
type listed struct {
	end int
	do  func(f []float64) // called with −F of each row of the block
}

// add lists all states of the given cells of row r, with the values of V in the other cells. The first cell
// varies fastest. flush calls do with −F of each state, where F is its free energy.
func (l *listing) add(g *Gaps, r int, cells []int, states int, do func(f []float64)) {
	if l.rows > 0 && l.rows+states > listedStates {
		l.flush()
	}
	if l.v.Rows < states {
		n := max(states, listedStates)
		l.v, l.free = l.m.NewVisible(n), make([]float64, n)
	}
	l.v.CopyRow(l.rows, g.V, r)
	for _, i := range cells {
		g.cells[i].put(l.v, l.rows, 0, g.cells[i].value(g.V, r))
	}
	stride := 1
	for _, i := range cells {
		c := &g.cells[i]
		value := c.value(g.V, r)
		for level := 1; level < c.Levels(); level++ {
			off, on := c.First, c.First+level
			if c.Units == 1 {
				on = off
			}
			for s := range stride {
				to := l.rows + level*stride + s
				if l.v.IsReal() {
					l.v.CopyRow(to, l.v, l.rows+s)
					c.put(l.v, to, level, value)
					continue
				}
				row := l.v.Row(to)
				copy(row, l.v.Row(l.rows+s))
				row[off/64] &^= 1 << (off % 64)
				row[on/64] |= 1 << (on % 64)
			}
		}
		stride *= c.Levels()
	}
	l.rows += states
	l.jobs = append(l.jobs, listed{l.rows, do})
}

// flush computes the free energies of the listed rows, passes them to the functions given to add, and
// empties the listing.
func (l *listing) flush() {
	if l.rows == 0 {
		return
	}
	f := l.free[:l.rows]
	l.m.FreeEnergy(f, l.v.Slice(0, l.rows))
	for s := range f {
		f[s] = -f[s]
	}
	lo := 0
	for _, job := range l.jobs {
		job.do(f[lo:job.end])
		lo = job.end
	}
	l.rows, l.jobs = 0, l.jobs[:0]
}

// given returns the conditional model of the missing cells of row r given its known cells. bias is the sum of
// −U over the known units, where U is the energy of a unit without hidden units. log Σ exp(−F) over the states
// of the missing cells is log Z of the conditional model plus bias.
func (g *Gaps) given(m *rbm.RBM, r int) (*rbm.RBM, float64, error) {
	inputs, bias, class := make([]float32, m.Inputs()), 0.0, rbm.Free
	for i := range m.Visible() {
		x := g.V.At(r, i)
		switch {
		case i >= m.Inputs():
			if g.Missing.Get(r, i) {
				x = 0
			} else if x != 0 {
				class = i - m.Inputs()
			}
		case g.Missing.Get(r, i):
			inputs[i], x = rbm.FreeInput, 0
		default:
			inputs[i] = x
		}
		bias += float64(float64(x) * float64(m.VisibleBias[i]))
	}
	for _, group := range m.Groups() {
		kind, ok := group.Kind.(units.RealKind)
		for i := group.First; ok && i < group.First+group.Units; i++ {
			if !g.Missing.Get(r, i) {
				bias -= kind.Rest([]float32{g.V.At(r, i)}, &units.Distribution{Params: m.VisibleParams()}, i)
			}
		}
	}
	c, err := m.Given(inputs, class)
	return c, bias, err
}

// enumeration prepares a sum over the states of the missing cells of row r: log Σ exp(−F) is log Z
// of e plus bias. The error wraps exact.ErrTooLarge if both layers are too large.
func (g *Gaps) enumeration(m *rbm.RBM, r int) (e *exact.Enumeration, bias float64, err error) {
	c, bias, err := g.given(m, r)
	if err != nil {
		return nil, 0, err
	}
	if e, err = exact.New(c, enumeratedStates); err == nil {
		e.Set(c)
	}
	return e, bias, err
}

// enumerate returns log Σ exp(−F) over the states of the missing cells of row r, by enumerating a layer
// of the conditional model.
func (g *Gaps) enumerate(ctx context.Context, m *rbm.RBM, r int) (float64, error) {
	e, bias, err := g.enumeration(m, r)
	if err != nil {
		return 0, err
	}
	logZ, err := e.LogZ(ctx, nil)
	return logZ + bias, err
}

// weighted has weighted draws of the missing cells of a row. Known cells have their values in each
// draw.
type weighted struct {
	v      rbm.Values // chains × visible units
	logw   []float64  // logarithms of the weights, whose sum is 1
	logSum float64    // log Σ exp(−F) over the states of the missing cells
	stdErr float64    // standard error of logSum
}

// anneal draws the missing cells of row r by annealed importance sampling. If the standard error is too
// large, it tries a second time with more work. It returns the draws of the last try. A caller that
// estimates another quantity than logSum passes further. anneal calls further with the draws of each
// try. The result of further is the standard error of the caller's estimate.
func (g *Gaps) anneal(ctx context.Context, m *rbm.RBM, r int, key rbm.Key, further func(w weighted) float64) (weighted, error) {
	c, bias, err := g.given(m, r)
	if err != nil {
		return weighted{}, err
	}
	var w weighted
	chains, steps := annealedChains, annealedSteps
	for try := range 2 {
		key := key.Child(uint64(try))
		path := make([]float64, steps+1)
		for k := range path {
			path[k] = float64(float32(k) / float32(steps))
		}
		small, h := c.NewVisible(chains), c.NewHidden(chains)
		var base *rbm.Base
		base.Draw(c, small, h, key.Child(0))
		logw := make([]float64, chains)
		err := rbm.Anneal(ctx, c, base, path, small, key.Child(1), func(_ int, gains []float64) {
			for i, x := range gains {
				logw[i] += x
			}
		}, nil)
		if err != nil {
			return weighted{}, err
		}
		sum, squares := rbm.LogSumExp(logw), 0.0
		for i := range logw {
			logw[i] -= sum
			squares += rbm.Exp(2 * logw[i])
		}
		w = weighted{v: m.NewVisible(chains), logw: logw}
		w.logSum = base.LogZ(c) + bias + sum - rbm.Log(float64(chains))
		w.stdErr = math.Sqrt(max(0, squares-1/float64(chains)) * float64(chains) / float64(chains-1))
		for i := range logw {
			w.v.CopyRow(i, g.V, r)
			at := 0
			g.Missing.Each(r, func(u int) {
				w.v.Put(i, u, small.At(i, at))
				at++
			})
		}
		doubted := w.stdErr > longerAbove
		if further != nil {
			doubted = further(w) > longerAbove || w.stdErr > doubtful
		}
		switch {
		case !doubted:
			return w, nil
		case further == nil || w.stdErr > doubtful:
			steps *= longerPath
		default:
			chains *= longerPath
		}
	}
	return w, nil
}

// FreeEnergy overwrites dst with the free energy of each row given its known cells: −log Σ exp(−F),
// summed over the states of the missing cells. For real units the sum is an integral. It overwrites
// stdErr with the standard errors, in nats, which are 0 if the sum is exact. Bernoulli labels keep
// their values in V. The draws for a row depend only on key and the row. The error is the context's, or
// wraps rbm.ErrDiverged.
func (g *Gaps) FreeEnergy(ctx context.Context, m *rbm.RBM, dst, stdErr []float64, key rbm.Key) error {
	m.FreeEnergy(dst, g.V)
	clear(stdErr)
	l := listing{m: m}
	defer l.flush()
	for r := range dst {
		cells, states := g.missing(r)
		if len(cells) == 0 {
			continue
		}
		if states <= listedStates {
			steps := 0.0
			for _, i := range cells {
				steps += g.cells[i].logStep()
			}
			l.add(g, r, cells, states, func(f []float64) { dst[r] = -(rbm.LogSumExp(f) + steps) })
			continue
		}
		sum, err := g.enumerate(ctx, m, r)
		if errors.Is(err, exact.ErrTooLarge) {
			var w weighted
			w, err = g.anneal(ctx, m, r, key.Child(uint64(r)), nil)
			sum, stdErr[r] = w.logSum, w.stdErr
		}
		if err != nil {
			return err
		}
		dst[r] = -sum
	}
	return nil
}

// ClassLogProb overwrites logp, rows × classes, with log p(y | known inputs) of each class y, in nats. It
// overwrites stdErr with the largest standard error among a row's classes; 0 if the sums are exact. V and
// Missing are unchanged.
//
// The sums w_y of the classes are estimated independently, with errors δ_y of log w_y. To first order the
// error of log p_y = log w_y − log Σ w is (1 − p_y) δ_y − Σ_{k≠y} p_k δ_k.
func (g *Gaps) ClassLogProb(ctx context.Context, m *rbm.RBM, logp, stdErr []float64, key rbm.Key) error {
	v, missing := g.V, g.Missing
	defer func() { g.V, g.Missing = v, missing }()
	g.V, g.Missing = m.NewVisible(v.Rows), rbm.NewBits(v.Rows, v.Cols)
	g.Missing.CopyFrom(missing)
	for r := range v.Rows {
		if g.label >= 0 {
			g.mark(r, g.label, false)
		}
	}
	classes, free := m.Classes(), make([]float64, v.Rows)
	se := make([][]float64, classes)
	for y := range classes {
		g.V.CopyFrom(v)
		for r := range v.Rows {
			for k := range classes {
				g.V.Set(r, m.Inputs()+k, k == y)
			}
		}
		se[y] = make([]float64, v.Rows)
		if err := g.FreeEnergy(ctx, m, free, se[y], key.Child(uint64(y))); err != nil {
			return err
		}
		for r, f := range free {
			logp[r*classes+y] = -f
		}
	}
	for r := range free {
		p := logp[r*classes : (r+1)*classes]
		z := rbm.LogSumExp(p)
		all := 0.0 // the variance of Σ p_k δ_k
		for y := range p {
			p[y] -= z
			x := rbm.Exp(p[y]) * se[y][r]
			all += float64(x * x)
		}
		stdErr[r] = 0
		for y := range p {
			share := rbm.Exp(p[y])
			variance := all + float64((1-2*share)*float64(se[y][r]*se[y][r]))
			stdErr[r] = max(stdErr[r], math.Sqrt(max(0, variance)))
		}
	}
	return nil
}

// Scores overwrites logp, rows × levels of all cells, with log p of each level of each cell given the
// other known cells of its row. The levels of a real unit are its nodes. If all is false, Scores writes
// only the missing cells. It writes the classes of a label only if the label is missing. It overwrites
// stdErr with the largest standard error of a row's log p; 0 if all are exact. This maximum leaves out
// levels less probable than rareLevel, except the level that a known cell has.
func (g *Gaps) Scores(ctx context.Context, m *rbm.RBM, logp [][]float64, stdErr []float64, all bool, key rbm.Key) error {
	var whole []cellAt // cells of rows in which no other cell is missing
	offset := make([]int, len(g.cells))
	levels := 0
	for i, c := range g.cells {
		offset[i] = levels
		levels += c.Levels()
	}
	clear(stdErr)
	l := listing{m: m}
	defer l.flush()
	for r := range g.V.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		gaps, _ := g.gaps(r)
		var missing []int
		for i, c := range g.cells {
			gap := g.Missing.Get(r, c.First)
			switch {
			case !gap && (!all || i == g.label):
			case gaps == 0 || gaps == 1 && gap:
				whole = append(whole, cellAt{r, i})
			case gap:
				missing = append(missing, i)
			default:
				g.mark(r, i, true)
				se, err := g.marginals(ctx, m, &l, r, []int{i}, true, func(_ int, p []float64) { copy(logp[r][offset[i]:], p) }, key.Child(uint64(r)).Child(uint64(i)))
				g.mark(r, i, false)
				if err != nil {
					return err
				}
				stdErr[r] = max(stdErr[r], se)
			}
		}
		if missing != nil {
			se, err := g.marginals(ctx, m, &l, r, missing, false, func(i int, p []float64) { copy(logp[r][offset[i]:], p) }, key.Child(uint64(r)))
			if err != nil {
				return err
			}
			stdErr[r] = max(stdErr[r], se)
		}
	}
	g.logProbs(m, whole, func(i int, p []float64) { copy(logp[whole[i].Row][offset[whole[i].Cell]:], p) })
	return ctx.Err()
}

// marginals calls do for each of the missing cells scored, with log p of its levels given the known
// cells of row r. The calls come before marginals returns, or when l is flushed. It returns the largest
// standard error of log p among the levels of probability rareLevel or more. If observed is true, the
// level of the cell in V counts too. If a few chains have nearly all the weight, the result is at least
// the standard error of the log of the sum.
func (g *Gaps) marginals(ctx context.Context, m *rbm.RBM, l *listing, r int, scored []int, observed bool, do func(cell int, logp []float64), key rbm.Key) (float64, error) {
	cells, states := g.missing(r)
	if states <= enumeratedStates { // one list is enough for all levels; an enumeration would be repeated for each level
		l.add(g, r, cells, states, func(f []float64) {
			stride := 1
			for _, i := range cells {
				n := g.cells[i].Levels()
				if slices.Contains(scored, i) {
					byLevel := make([][]float64, n)
					for s, x := range f {
						k := s / stride % n
						byLevel[k] = append(byLevel[k], x)
					}
					do(i, normalized(byLevel))
				}
				stride *= n
			}
		})
		return 0, nil
	}
	if _, _, err := g.enumeration(m, r); err == nil {
		state := m.NewVisible(1)
		state.CopyRow(0, g.V, r)
		for _, i := range scored {
			byLevel := make([][]float64, g.cells[i].Levels())
			g.mark(r, i, false)
			for k := range byLevel {
				g.cells[i].put(g.V, r, k, g.cells[i].value(state, 0))
				sum, err := g.enumerate(ctx, m, r)
				if err != nil {
					return 0, err
				}
				byLevel[k] = []float64{sum}
			}
			g.mark(r, i, true)
			g.V.CopyRow(r, state, 0)
			do(i, normalized(byLevel))
		}
		return 0, nil
	} else if !errors.Is(err, exact.ErrTooLarge) {
		return 0, err
	}
	var logp [][]float64 // [index in scored][level]
	stdErr := 0.0
	w, err := g.anneal(ctx, m, r, key, func(w weighted) float64 {
		logp, stdErr = logp[:0], 0
		for _, i := range scored {
			p, se := g.weigh(m, w, r, i)
			logp = append(logp, p)
			for k := range p {
				if p[k] >= rbm.Log(rareLevel) || observed && k == g.cells[i].Level(g.V, r) {
					stdErr = max(stdErr, se[k])
				}
			}
		}
		return stdErr
	})
	if err != nil {
		return 0, err
	}
	for at, i := range scored {
		do(i, logp[at])
	}
	if w.stdErr > doubtful {
		stdErr = max(stdErr, w.stdErr)
	}
	return stdErr, nil
}

// weigh returns log p of the levels of a cell, estimated from the weighted draws w of row r, and their
// standard errors. The estimate is p = Σ w_c p_c over n chains c. The weights w_c sum to 1, and p_c is the
// probability of the level given the other cells of draw c. The
// variance is n/(n−1) Σ w_c² (p_c − p)², by the delta method for a ratio of means.
func (g *Gaps) weigh(m *rbm.RBM, w weighted, r, cell int) (logp, stdErr []float64) {
	v := g.V
	defer func() { g.V = v }()
	g.V = w.v
	n := w.v.Rows
	if c := &g.cells[cell]; c.real() { // all chains must have the same nodes: the nodes for the value in V
		drawn := make([]float32, n)
		for chain := range drawn {
			drawn[chain] = c.value(w.v, chain)
			w.v.Put(chain, c.First, c.value(v, r))
		}
		defer func() {
			for chain, x := range drawn {
				w.v.Put(chain, c.First, x)
			}
		}()
	}
	at := make([]cellAt, n)
	for chain := range at {
		at[chain] = cellAt{chain, cell}
	}
	levels := g.cells[cell].Levels()
	terms, byLevel := make([]float64, levels*n), make([][]float64, levels)
	g.logProbs(m, at, func(chain int, p []float64) {
		for k, x := range p {
			terms[k*n+chain] = w.logw[chain] + x
		}
	})
	for k := range byLevel {
		byLevel[k] = terms[k*n : (k+1)*n]
	}
	logp, stdErr = normalized(byLevel), make([]float64, levels)
	for k, terms := range byLevel {
		for chain, x := range terms { // sum the squares of w_c p_c/p − w_c
			d := rbm.Exp(x-logp[k]) - rbm.Exp(w.logw[chain])
			stdErr[k] += float64(d * d)
		}
		stdErr[k] = math.Sqrt(stdErr[k] * float64(n) / float64(n-1))
	}
	return logp, stdErr
}

// normalized returns log p of each level k, whose unnormalised probability is the sum of exp(x) over x in
// byLevel[k].
func normalized(byLevel [][]float64) []float64 {
	logp := make([]float64, len(byLevel))
	for k, terms := range byLevel {
		logp[k] = rbm.LogSumExp(terms)
	}
	z := rbm.LogSumExp(logp)
	for k := range logp {
		logp[k] -= z
	}
	return logp
}

// Draw draws the missing cells of row r given its known cells, and marks them as known. The draw is exact
// if their states can be enumerated; otherwise Draw picks one of the weighted draws of anneal.
//
// If a real unit is missing and the hidden units have few states, Draw draws the hidden units exactly, and
// then the cells given them. Otherwise it draws real units from their nodes, and then all missing cells by a
// Gibbs step, after which real units may have any value. The step keeps the draw exact: p(h) is a sum over the
// nodes, which equals the integral up to rounding (see rbm.Nodes).
func (g *Gaps) Draw(ctx context.Context, m *rbm.RBM, r int, key rbm.Key) error {
	cells, _ := g.missing(r)
	if !slices.ContainsFunc(cells, func(i int) bool { return g.cells[i].real() }) {
		return g.drawLevels(ctx, m, r, cells, key)
	}
	missing := rbm.NewBits(1, m.Visible())
	missing.CopyRow(0, g.Missing, r)
	if 1<<min(m.Hidden(), 62) <= enumeratedStates {
		c, _, err := g.given(m, r)
		if err != nil {
			return err
		}
		v, at := c.NewVisible(1), 0
		err = exact.Draw(ctx, c, v, rbm.NewBits(1, c.Hidden()), key)
		missing.Each(0, func(i int) {
			g.V.Put(r, i, v.At(0, at))
			at++
		})
		clear(g.Missing.Row(r))
		return err
	}
	err := g.drawLevels(ctx, m, r, cells, key)
	gibbs(m, rbm.NewStates(m, 1), g.V.Slice(r, r+1), missing, key.Child(uint64(len(cells))))
	return err
}

// drawLevels draws the given missing cells of row r and marks them as known. It draws real units
// from their nodes, if it can enumerate the states.
func (g *Gaps) drawLevels(ctx context.Context, m *rbm.RBM, r int, cells []int, key rbm.Key) error {
	for n, i := range cells {
		draw := key.Child(uint64(n))
		if rest, states := g.missing(r); states <= enumeratedStates { // draw the remaining cells jointly
			l := listing{m: m}
			l.add(g, r, rest, states, func(f []float64) {
				sum := rbm.LogSumExp(f)
				for s := range f {
					f[s] -= sum
				}
				g.V.CopyRow(r, l.v, pickLevel(f, draw))
			})
			l.flush()
			for _, i := range rest {
				g.mark(r, i, false)
			}
			return ctx.Err()
		}
		if _, _, err := g.enumeration(m, r); errors.Is(err, exact.ErrTooLarge) {
			w, err := g.anneal(ctx, m, r, draw.Child(0), nil)
			if err != nil {
				return err
			}
			g.V.CopyRow(r, w.v, pickLevel(w.logw, draw.Child(1)))
			for _, i := range cells[n:] {
				g.mark(r, i, false)
			}
			return nil
		} else if err != nil {
			return err
		}
		level := 0
		var l listing
		if _, err := g.marginals(ctx, m, &l, r, []int{i}, false, func(_ int, p []float64) { level = pickLevel(p, draw) }, draw); err != nil {
			return err
		}
		g.cells[i].put(g.V, r, level, g.cells[i].value(g.V, r))
		g.mark(r, i, false)
	}
	return nil
}

// pickLevel draws an index k with probability exp(logp[k]).
func pickLevel(logp []float64, key rbm.Key) int {
	u, k := key.Uniform(0), 0
	for ; k+1 < len(logp); k++ {
		if u -= rbm.Exp(logp[k]); u < 0 {
			break
		}
	}
	return k
}

// GapDoubt returns a warning that the sums over the missing cells of some rows are estimates. worst is the
// largest of their standard errors, in nats.
func GapDoubt(estimated, rows int, worst float64) string {
	text := fmt.Sprintf("%d of %d rows have too many missing cells to enumerate: annealed importance sampling gives their log-probabilities, with standard errors of up to %.2g nats", estimated, rows, worst)
	if worst > doubtful {
		text += ", so do not trust the worst of them"
	}
	return text
}

// scoredRows is the number of rows whose cells are scored at a time.
const scoredRows = 128

// A ScoredRow is a row of a data set with the scores of its cells. It is valid only during the call of the
// function to which EachScored passes it.
type ScoredRow struct {
	Number int // number of the row in the set

	// Levels has the level of each cell; a softmax label, if there is one, is the last cell. Values has the value of
	// each cell that is a real unit, and 0 for other cells. If only missing cells are scored, missing cells have
	// drawn levels and values.
	Levels []int
	Values []float32

	// LogP[cell][level] is log p of the level. StdErr is the row's standard error by Gaps.Scores.
	LogP   [][]float64
	StdErr float64

	cells []Cell
	at    []float32 // values of the real units when they were scored, which determine their nodes
}

// LogDensity returns log p of the value of a known cell; for a real unit, the logarithm of the density.
func (s *ScoredRow) LogDensity(cell int) float64 {
	c := &s.cells[cell]
	if c.real() {
		return s.LogP[cell][c.number(s.at[cell])] - c.logStep()
	}
	return s.LogP[cell][s.Levels[cell]]
}

// Mean returns the mean of a real unit given the other known cells.
func (s *ScoredRow) Mean(cell int) float64 {
	mean := 0.0
	for k, logp := range s.LogP[cell] {
		mean += float64(rbm.Exp(logp) * s.cells[cell].node(k, s.at[cell]))
	}
	return mean
}

// quantileSteps is the number of intervals between two nodes for the integration in Quantile.
const quantileSteps = 16

// Quantile returns the p-quantile of a real unit given the other known cells. It interpolates the
// density between nodes by the series of Whittaker and Shannon. The density is a mixture. If nodes are
// half a standard deviation of a component apart, the error of the interpolation is some 10⁻⁹ of the
// largest density. Quantile integrates the density by the trapezoidal rule, with an error of the
// integral below 10⁻⁴.
func (s *ScoredRow) Quantile(cell int, p float64) float64 {
	c, logp := &s.cells[cell], s.LogP[cell]
	first, last := len(logp), 0 // nodes with a density above the floor
	for k, x := range logp {
		if x > quantileFloor {
			first, last = min(first, k), k
		}
	}
	density := func(i int) float64 { // at i/quantileSteps nodes after the first
		if i%quantileSteps == 0 {
			return rbm.Exp(logp[first+i/quantileSteps])
		}
		sum, t := 0.0, float64(float64(i)/quantileSteps)
		sin := math.Sin(math.Pi * (t - math.Floor(t)))
		for k := first; k <= last; k++ {
			d := t - float64(k-first)
			sign := 1.0
			if (i/quantileSteps-(k-first))%2 != 0 {
				sign = -1
			}
			sum += float64(rbm.Exp(logp[k]) * float64(sign*sin) / float64(math.Pi*d))
		}
		return max(sum, 0)
	}
	below, before := 0.0, float64(density(0)/quantileSteps)
	for i := 1; i <= (last-first)*quantileSteps; i++ {
		next := float64(density(i) / quantileSteps)
		step := float64((before + next) / 2)
		if below+step >= p {
			at := (float64(i-1) + (p-below)/step) / quantileSteps
			return c.node(first, s.at[cell]) + float64(at*c.nodes.Step)
		}
		below, before = below+step, next
	}
	return c.node(last, s.at[cell])
}

// quantileFloor is the largest log p of the nodes that Quantile ignores at both ends of the grid.
const quantileFloor = -27

// EachScored scores the cells of all rows of set by Gaps.Scores, and calls do with each row. If all is false, it
// scores only the missing cells.
func EachScored(ctx context.Context, m *rbm.RBM, set *data.Set, all bool, key rbm.Key, bar interface{ Set(done int64, note string) }, do func(s *ScoredRow)) error {
	for lo := 0; lo < set.Len(); lo += scoredRows {
		rows := data.RowNumbers(lo, min(lo+scoredRows, set.Len()))
		g := NewGaps(m, len(rows))
		g.Set(set, rows, m.Classes())
		n, levels := len(g.cells), 0
		for _, c := range g.cells {
			levels += c.Levels()
		}
		logp, stdErr := make([][]float64, len(rows)), make([]float64, len(rows))
		for i := range logp {
			logp[i] = make([]float64, levels)
		}
		block := key.Child(uint64(lo))
		if err := g.Scores(ctx, m, logp, stdErr, all, block.Child(0)); err != nil {
			return err
		}
		s := ScoredRow{cells: g.cells, at: make([]float32, n), Levels: make([]int, n), Values: make([]float32, n), LogP: make([][]float64, n)}
		for i, r := range rows {
			for k := range g.cells {
				s.at[k] = g.cells[k].value(g.V, i)
			}
			if !all {
				if err := g.Draw(ctx, m, i, block.Child(1).Child(uint64(i))); err != nil {
					return err
				}
			}
			at := 0
			for k := range g.cells {
				c := &g.cells[k]
				s.LogP[k] = logp[i][at : at+c.Levels()]
				s.Levels[k], s.Values[k] = c.Level(g.V, i), c.value(g.V, i)
				at += c.Levels()
			}
			s.Number, s.StdErr = int(r), stdErr[i]
			do(&s)
			bar.Set(int64(r)+1, "")
		}
	}
	return nil
}
