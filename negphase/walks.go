package negphase

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gorbm/negphase/binary"
	"gorbm/rbm"
)

// walks take the chains of a model through moves of a sampler of binary
// systems. A chain is the state (v,h) of a system of all visible, then all
// hidden units, whose flip costs are rebuilt from the parameters in each run.
// Units of a softmax label are no sites: after the moves the label is drawn
// anew given the hidden units.
//
// Systems stand at places, each with a sampler bound to it at one inverse
// temperature; a run loads into them the rows that are assigned to the places.
type walks struct {
	mover        binary.Mover
	fit          bool // lengths of walks are those that the model has room for
	moves, gibbs int  // of each chain in a run; Gibbs steps come first

	machine *binary.Machine
	places  []place
	rung    []float64     // inverse temperatures that the places were bound for
	order   []*binary.RBM // the system of each row
	loop    *rbm.Loop     // over places
	first   int           // label unit
	labels  int           // number of label units, 0 without softmax labels
	now     struct {      // the run under way
		states *rbm.States
		at     []int32
		key    rbm.Key
	}
}

// A place is a system with its sampler.
type place struct {
	beta   float64
	system *binary.RBM
	chain  binary.Chain
	source *rand.PCG
	draws  *rand.Rand
	label  []float64 // scratch of the law of a label
	info   binary.Info
}

// newWalks returns walks of so many moves a run.
func newWalks(s Settings, moves int) *walks {
	w := &walks{mover: s.Mover, fit: s.Fit, moves: moves, gibbs: s.Gibbs}
	if w.gibbs == 0 && keepsActive(s.Mover) {
		w.gibbs = 1
	}
	w.loop = rbm.NewLoop(w.run1)
	return w
}

// prepare makes ready for runs of groups of chains of m, one at each inverse
// temperature of rung. It has to be called whenever parameters changed.
func (w *walks) prepare(m *rbm.RBM, rung []float64, groups int) error {
	bound := w.machine != nil && slices.Equal(w.rung, rung)
	if bound {
		w.machine.Set(m)
	} else {
		w.machine = binary.NewMachine(m)
	}
	if reach := w.machine.Reach(); math.IsInf(reach, 0) || math.IsNaN(reach) {
		return fmt.Errorf("%w: the energy of chain 0 may be %v", rbm.ErrDiverged, -reach)
	}
	if bound {
		return nil
	}
	mover, sites, err := fitted(m, w.mover, w.fit)
	if err != nil {
		return err
	}
	w.first, w.labels = m.Inputs(), labelUnits(m)
	w.places = make([]place, groups*len(rung))
	w.order = make([]*binary.RBM, len(w.places))
	for i := range w.places {
		p := &w.places[i]
		p.beta = rung[i%len(rung)]
		p.system, p.source, p.label = binary.NewRBM(w.machine), new(rand.PCG), make([]float64, w.labels)
		p.draws = rand.New(p.source)
		if p.chain, err = bind(mover, p.system, p.beta, sites); err != nil {
			return err
		}
	}
	w.rung = append(w.rung[:0], rung...)
	return nil
}

// run takes row at[i] of s through Gibbs steps and moves at place i, for all
// places, and overwrites its states and energy. rowBeta has the inverse
// temperature of each row, nil is 1 for all.
func (w *walks) run(m *rbm.RBM, s *rbm.States, at []int32, rowBeta []float32, key rbm.Key, info *Info) {
	if w.gibbs > 0 {
		m.Step(s, rowBeta, w.gibbs, key.Child(stepKey))
	}
	for i, row := range at {
		w.order[row] = w.places[i].system
	}
	w.machine.Load(w.order, s.V, s.H)
	w.now.states, w.now.at, w.now.key = s, at, key.Child(moveKey)
	w.loop.Run(len(w.places), len(w.places)*(m.Visible()+m.Hidden()) >= wideSites)
	for i := range w.places {
		info.Moves.Add(w.places[i].info)
	}
	info.Updates += int64(w.gibbs+w.moves) * int64(len(at))
}

// wideSites is the number of units in all chains from which chains are shared
// out: below, their moves take no longer than it takes to wake a goroutine.
const wideSites = 1 << 12

// run1 takes the chain at place i through its moves.
func (w *walks) run1(i int) {
	p, s, row := &w.places[i], w.now.states, int(w.now.at[i])
	p.info = binary.Info{}
	w.now.key.Child(uint64(row)).Seed(p.source)
	p.chain.Reset()
	for range w.moves {
		p.info.Add(p.chain.Move(p.draws))
	}
	p.system.Store(s.V, s.H, row)
	s.Energy[row] = p.system.Energy()
	if w.labels > 0 {
		s.Energy[row] += w.redraw(p, s.V, row)
	}
}

// redraw draws the softmax label of a row given its hidden units, and returns
// the energy that the new one adds. Label units are not joined to each other,
// so that their flip costs add up.
func (w *walks) redraw(p *place, v rbm.Bits, row int) (rise float64) {
	state, cost := p.system.State()[w.first:][:w.labels], p.system.Deltas()[w.first:][:w.labels]
	labelLaw(p.label, state, cost, p.beta)
	u, y := p.draws.Float64(), 0
	for ; y < w.labels-1 && u >= p.label[y]; y++ {
		u -= p.label[y]
	}
	for k, on := range state {
		if (on != 0) != (k == y) {
			rise += cost[k]
			v.Set(row, w.first+k, k == y)
		}
	}
	return rise
}

// labelLaw overwrites p with the law of a softmax label given the hidden
// units, ∝ exp(β·field), from the states of its units and their flip costs.
func labelLaw(p []float64, state []uint8, cost []float64, beta float64) {
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

// sitesOf returns the units that samplers may flip: all but softmax labels.
func sitesOf(m *rbm.RBM) []int32 {
	sites := make([]int32, 0, m.Visible()+m.Hidden())
	for i := range m.Visible() + m.Hidden() {
		if i < m.Inputs() || i >= m.Inputs()+labelUnits(m) {
			sites = append(sites, int32(i))
		}
	}
	return sites
}

// fitted returns the sampler as it is bound to systems of m and the sites that
// it moves on.
func fitted(m *rbm.RBM, mover binary.Mover, fit bool) (binary.Mover, []int32, error) {
	sites := sitesOf(m)
	n := len(sites)
	if n < 2 {
		return nil, nil, fmt.Errorf("%s: the model has a single unit besides its label; take exact", moverName(mover))
	}
	if fit {
		longest := max(2, n-1) // a walk over all sites has one end only
		if keepsActive(mover) {
			longest = n / 2
		}
		mover = withLengths(mover, 1, min(maxFit, longest))
	}
	return mover, sites, nil
}

// bind binds the sampler to a system in which half of the sites are on: where
// the number is kept, no state has room for longer walks.
func bind(m binary.Mover, s *binary.RBM, beta float64, sites []int32) (binary.Chain, error) {
	x := make([]uint8, s.Len())
	for _, i := range sites[:len(sites)/2] {
		x[i] = 1
	}
	s.SetState(x)
	return m.Bind(s, beta, sites)
}

// Fitted returns s with the lengths of walks that it comes to on m.
func (s Settings) Fitted(m *rbm.RBM) Settings {
	if !s.Fit || s.mover() == "" {
		return s
	}
	if mover, _, err := fitted(m, s.Mover, true); err == nil {
		s.Mover, s.Fit = mover, false
	}
	return s
}

// CheckModel returns an error that says why the sampler of s cannot move m;
// nil if s has none.
func (s Settings) CheckModel(m *rbm.RBM) error {
	if s.mover() == "" {
		return nil
	}
	beta := []float64{1}
	if Has(s.Kind, "tau") {
		beta = firstBeta(s)
	}
	return newWalks(s, 1).prepare(m, beta, 1)
}
