package negphase

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// binaryMoves moves the chains of a model by a sampler of binary systems. The
// system of a chain has the state (v,h): all visible units, then all hidden ones.
//
// The units of a softmax label are not flipped: after the moves the label is
// drawn given the hidden units. Under a constraint on the hidden units, only
// these are flipped; after the moves all visible units are drawn given them.
//
// In a model with Gaussian units the system has the other units only: the Gaussian ones are integrated
// out (see mcmc.Marginal). Its parameters depend on the temperature. A Gibbs step after the moves draws
// all visible units given the hidden ones.
//
// A replica is a system, with a sampler that is bound to it at one inverse temperature. A run loads each
// row of the states into a replica at the temperature of the row.
type binaryMoves struct {
	samplerSettings
	moves int // moves of each chain per run, after the Gibbs steps

	parameters *mcmc.Parameters
	marginals  []*mcmc.Marginal // for each inverse temperature, if the model has Gaussian units
	base       *rbm.Base        // the distribution at β = 0, for marginals
	replicas   []replica        // nil: the next call of prepare makes them
	betas      []float64        // inverse temperatures to which the replicas are bound
	order      []*mcmc.RBM      // [row] its system
	moving     parallel.Loop    // over replicas
	length     *mcmc.Length     // length of walks with k=auto, set by the first call of prepare; otherwise nil
	saved      float64          // logarithm of the length in a checkpoint; noLength if there is none
	frozen     bool             // the length does not change
	sites
	now struct { // arguments of the current run
		states *rbm.States
		at     []int32
		lo, hi int // rows of this rank
		key    rbm.Key
	}
}

// A replica is a system with its sampler.
type replica struct {
	beta   float64
	system *mcmc.RBM
	spins  *mcmc.Ising // replaces system if the model has Gaussian units
	bits   []uint8     // scratch: the state of spins
	chain  mcmc.Chain
	source *rand.PCG
	draws  *rand.Rand
	label  []float64 // scratch: probabilities of the classes
	cost   []float64 // scratch: flip costs of the label units
	info   mcmc.Info
}

// newMoves returns a sampler that makes the given number of moves of each chain per run.
func newMoves(s samplerSettings, moves int) *binaryMoves {
	w := &binaryMoves{samplerSettings: s, moves: moves, saved: noLength}
	w.moving.Body = w.move
	return w
}

// prepare makes w ready for runs under m. groups is the number of groups of chains. Each group has one
// chain at each inverse temperature. Call it whenever the parameters have changed.
func (w *binaryMoves) prepare(m *rbm.RBM, betas []float64, groups int) error {
	var err error
	begun := w.replicas != nil
	bound := begun && slices.Equal(w.betas, betas)
	if begun && !m.Constraint.Equal(w.constraint) {
		return fmt.Errorf("the chains have the constraint %v, the model has %v", w.constraint, m.Constraint)
	}
	if !begun {
		if w.sites, err = sitesOf(m, w.mover); err != nil {
			return err
		}
	}
	if err := w.takeParameters(m, betas); err != nil || bound {
		return err
	}
	if c := m.Constraint; w.gibbs > 0 && c.OnAll() {
		return fmt.Errorf("gibbs=%d: Gibbs steps never change the number of visible units that are active, so under the constraint %v leave gibbs out", w.gibbs, c)
	}
	mover := w.fitted(w.mover, w.fit)
	replicas := make([]replica, groups*len(betas))
	w.order = make([]*mcmc.RBM, len(replicas))
	for i := range replicas {
		p := &replicas[i]
		p.beta, p.source = betas[i%len(betas)], new(rand.PCG)
		p.draws = rand.New(p.source)
		if w.marginals != nil {
			q := w.marginals[i%len(betas)]
			p.spins, p.bits = mcmc.NewIsing(q.Graph, nil), make([]uint8, q.Graph.Len())
			p.chain, err = w.bind(mover, p.spins, 1)
		} else {
			p.system = mcmc.NewRBM(w.parameters)
			p.label, p.cost = make([]float64, w.softmax.Units), make([]float64, w.softmax.Units)
			p.chain, err = w.bind(mover, p.system, p.beta)
		}
		if err != nil {
			return err
		}
	}
	w.replicas = replicas
	w.betas = append(w.betas[:0], betas...)
	return w.newLength()
}

// takeParameters computes the parameters of the systems from m.
func (w *binaryMoves) takeParameters(m *rbm.RBM, betas []float64) error {
	if m.Real() {
		for k, beta := range betas {
			beta = float64(float32(beta)) // Gibbs steps compute with float32
			if k < len(w.marginals) {
				if err := w.marginals[k].Set(m, w.base, beta); err != nil {
					return err
				}
				continue
			}
			q, err := mcmc.NewMarginal(m)
			if err == nil {
				err = q.Set(m, w.base, beta)
			}
			if err != nil {
				return err
			}
			w.marginals = append(w.marginals, q)
		}
		return nil
	}
	if w.parameters == nil {
		w.parameters = mcmc.NewParameters(m)
	} else {
		w.parameters.Set(m)
	}
	if reach := w.parameters.Reach(); math.IsInf(reach, 0) || math.IsNaN(reach) {
		return fmt.Errorf("%w: the energy of chain 0 may be %v", rbm.ErrDiverged, -reach)
	}
	return nil
}

// newLength sets the length of walks with k=auto to the length in a checkpoint or to the initial value.
func (w *binaryMoves) newLength() error {
	c, ok := w.replicas[0].chain.(mcmc.Adaptive)
	if !ok || c.NewLength() == nil {
		return nil
	}
	w.length = c.NewLength()
	if w.saved >= 0 {
		w.length.Log = w.saved
	}
	if err := w.length.Check(); err != nil {
		return fmt.Errorf("%w: saved %w", rbm.ErrFormat, err)
	}
	return nil
}

// noLength is saved in place of the logarithm of the length if there has been no call.
const noLength = -1

// lengthGain is the gain of the adaptation of the length of walks in a call, see mcmc.Length.Adapt. The
// acceptance of ten walks has an error of 0.16, which changes the length by 1.6 %. The length follows a
// change of the parameters within some twenty calls.
const lengthGain = 0.1

// adapt changes the length of walks after moves of all chains.
func (w *binaryMoves) adapt(moves mcmc.Info) {
	if a, ok := moves.Acceptance(); ok && w.length != nil && !w.frozen {
		w.length.Adapt(a, lengthGain)
	}
}

// run advances each row at[i] of s by the Gibbs steps and then by the moves of replica i. It overwrites
// the states and the energy of the row. rowBeta has the inverse temperature of each row; nil is 1 for
// all. Each rank of t advances its rows. The error says that an energy is not finite, or that a rank is
// lost.
func (w *binaryMoves) run(m *rbm.RBM, s *rbm.States, at []int32, rowBeta []float32, key rbm.Key, info *Info, t *team) error {
	lo, hi := t.group.Rows(len(at))
	gibbs := w.gibbs
	if gibbs == 0 && w.needsGibbs {
		gibbs = 1
	}
	if gibbs > 0 {
		m.StepRows(s, lo, hi, rowBeta, gibbs, key.Child(stepKey))
	}
	if w.marginals == nil {
		w.load(s, at, lo, hi)
	}
	w.now.states, w.now.at, w.now.lo, w.now.hi, w.now.key = s, at, lo, hi, key.Child(moveKey)
	cost := 0
	if len(w.replicas)*len(w.units) >= wideSites {
		cost = parallel.Always
	}
	w.moving.Run(len(w.replicas), cost)
	if w.marginals != nil {
		m.StepRows(s, lo, hi, rowBeta, 1, key.Child(drawKey))
		gibbs++
	}
	var moves mcmc.Info
	for i := range w.replicas {
		moves.Add(w.replicas[i].info)
	}
	if moves, err := t.sumMoves(moves); err != nil {
		return err
	} else {
		info.countMoves(moves)
		w.adapt(moves)
	}
	info.Updates += int64(gibbs+w.moves) * int64(len(at))
	if err := t.gatherStates(s); err != nil {
		return err
	}
	return finite(s.Energy)
}

// load loads row at[i] of s into the system of replica i, for the rows lo … hi−1.
func (w *binaryMoves) load(s *rbm.States, at []int32, lo, hi int) {
	for i, row := range at {
		w.order[row] = w.replicas[i].system
	}
	w.parameters.Load(w.order[lo:hi], s.V.Slice(lo, hi), s.H.Slice(lo, hi))
}

// gatherMeans sets the hidden means of the rows of s after a run, except of rows with weight zero. A nil
// weight selects all rows.
func (w *binaryMoves) gatherMeans(m *rbm.RBM, s *rbm.States, weight []float32, t *team) error {
	if w.marginals != nil { // the Gibbs step after the moves has computed them
		return t.gatherMeans(s.Mean, weight)
	}
	return t.hiddenMean(m, s.Mean, s.V, weight)
}

// wideSites is the smallest number of units, summed over all chains, for which several goroutines move
// the chains. Fewer units take no longer than waking a goroutine.
const wideSites = 1 << 12

// move makes the moves of the chain of replica i.
func (w *binaryMoves) move(i int) {
	p, s, row := &w.replicas[i], w.now.states, int(w.now.at[i])
	p.info = mcmc.Info{}
	if row < w.now.lo || row >= w.now.hi {
		return
	}
	w.now.key.Child(uint64(row)).Seed(p.source)
	if p.spins != nil {
		w.spinsOf(p, row)
	}
	p.chain.Reset()
	if w.length != nil {
		p.chain.(mcmc.Adaptive).TakeLength(w.length)
	}
	for range w.moves {
		p.info.Add(p.chain.Move(p.draws))
	}
	if p.spins != nil {
		hidden := p.spins.State()[p.spins.Len()-s.H.Cols:]
		for j, x := range hidden {
			s.H.Set(row, j, x != 0)
		}
		return
	}
	p.system.Store(s.V, s.H, row)
	s.Energy[row] = p.system.Energy()
	if w.hiddenOnly {
		s.Energy[row] += w.redrawInputs(p, s.V, row)
	}
	if w.softmax.Units > 0 {
		s.Energy[row] += w.redrawLabel(p, s.V, row)
	}
}

// spinsOf sets the spins of p to the state in a row.
func (w *binaryMoves) spinsOf(p *replica, row int) {
	v, h := w.now.states.V.Matrix().Row(row), w.now.states.H
	visible := w.marginals[0].Visible
	for k, i := range visible {
		p.bits[k] = uint8(v[i])
	}
	for j := range h.Cols {
		p.bits[len(visible)+j] = 0
		if h.Get(row, j) {
			p.bits[len(visible)+j] = 1
		}
	}
	p.spins.SetState(p.bits)
}

// redrawInputs draws the visible units of a row, without its softmax label,
// given its hidden units, and returns the increase of the energy. Visible units do
// not interact, so their flip costs add up.
func (w *binaryMoves) redrawInputs(p *replica, v rbm.Values, row int) (rise float64) {
	state := p.system.State()
	for i := range v.Cols - w.softmax.Units {
		if cost := p.system.FlipCost(i); p.draws.Float64() < flipChance(cost, p.beta) {
			rise += float64(cost)
			v.Set(row, i, state[i] == 0)
		}
	}
	return rise
}

// flipChance returns the probability that a unit changes when it is drawn given
// the other layer. cost is the increase of the energy if it flips.
func flipChance(cost, beta float64) float64 { return 1 / (1 + rbm.Exp(beta*cost)) }

// redrawLabel draws the softmax label of a row given its hidden units, and
// returns the increase of the energy.
func (w *binaryMoves) redrawLabel(p *replica, v rbm.Values, row int) (rise float64) {
	state := p.system.State()[w.softmax.First:][:w.softmax.Units]
	for k := range p.cost {
		p.cost[k] = p.system.FlipCost(w.softmax.First + k)
	}
	labelProbabilities(p.label, state, p.cost, p.beta)
	u, y := p.draws.Float64(), 0
	for ; y < w.softmax.Units-1 && u >= p.label[y]; y++ {
		u -= p.label[y]
	}
	for k, on := range state {
		if (on != 0) != (k == y) {
			rise += p.cost[k]
			v.Set(row, w.softmax.First+k, k == y)
		}
	}
	return rise
}

// labelProbabilities overwrites p with the probabilities of the classes given the hidden units. state and
// cost have the states and flip costs of the label's units. p_k ∝ exp(β·d_k), where d_k is the decrease
// of the energy when unit k of the label turns on.
func labelProbabilities(p []float64, state []uint8, cost []float64, beta float64) {
	top := 0.0
	for k, c := range cost {
		if p[k] = -c; state[k] != 0 {
			p[k] = c
		}
		p[k] *= beta
		if k == 0 || p[k] > top {
			top = p[k]
		}
	}
	sum := 0.0
	for k, x := range p {
		p[k] = rbm.Exp(x - top)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
}
