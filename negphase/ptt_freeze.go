package negphase

import (
	"fmt"
	"math"

	"gorbm/rbm"
	"gorbm/rbm/partition"
)

// oldest returns the distribution of the oldest rung of a ladder whose first model is m.
func (p *ptt) oldest(m *rbm.RBM) *rbm.Base {
	switch p.path {
	case ToUniform:
		return uniformBase(m)
	case ToData:
		return p.base
	}
	return startingBase(m)
}

// begin makes the ladder ready for a negative phase of m. A new ladder has only the oldest rung, a
// model without weights, and the chains are draws from it. If m is already trained, it hardly swaps
// with this rung. Rungs are then added on the straight line between the parameters of both, as if a run
// had led along the line.
func (p *ptt) begin(m *rbm.RBM, key rbm.Key) error {
	switch {
	case p.states != nil:
		return p.chains.begin(m, rbm.Batch{}, key)
	case p.raw != nil:
		return p.restore(m, key)
	}
	if err := p.settings.suits(m); err != nil {
		return err
	}
	if err := m.CheckFinite(); err != nil {
		return fmt.Errorf("%w: the energy of chain 0: %v", rbm.ErrDiverged, err)
	}
	base := p.oldest(m)
	if err := base.Check(m); err != nil {
		return err
	}
	oldest := newRung(baseModel(base, m), p.rows, p.reservoir)
	oldest.logZ.Mean = base.LogZ(m)
	base.Draw(m, oldest.reservoir, oldest.reservoirH, key.Child(gatherKey))
	oldest.fill(key.Child(fillKey))
	states := rbm.NewStates(m, p.rows)
	base.Draw(m, states.V, states.H, key.Child(hiddenKey))
	p.states = states
	p.place(m, []*rung{oldest})
	err := p.look(m)
	if err == nil {
		p.live.model, p.live.free, p.next = m, p.next, p.live.free
		p.startCounts()
		var rate float64
		if rate, err = p.thermalise(-1, key.Child(gibbsKey)); err == nil {
			p.rate = rate
			if rate < p.freeze {
				err = p.raise(key.Child(exchangeKey))
			}
		}
	}
	if err != nil {
		p.states, p.rungs = nil, nil
		return err
	}
	p.startCounts()
	p.looked = true
	return nil
}

// place sets the rungs of the ladder, and allocates the memory for swaps between models of m's shape.
func (p *ptt) place(m *rbm.RBM, rungs []*rung) {
	p.rungs = rungs
	p.live.states = p.states
	p.work.grow(m, p.rows)
}

// thermalise makes sweeps of all rungs. It returns the mean swap rate between the
// newest rung and the live model in the second half of the sweeps. It records
// pairEnergies.ratio for the pair whose lower rung is watch; for no pair if watch is −1.
func (p *ptt) thermalise(watch int, key rbm.Key) (rate float64, err error) {
	p.work.watch, p.work.seen = watch, [2][]float64{}
	defer func() { p.work.watch = -1 }()
	for t := range p.sweeps {
		sweep, err := p.sweep(0, false, key.Child(uint64(t)))
		if err != nil {
			return 0, err
		}
		if t >= p.sweeps/2 {
			rate += sweep // divided below: a sum of quotients could be rounded above 1
		}
	}
	return rate / float64(p.sweeps-p.sweeps/2), nil
}

const (
	// floorShare times the setting freeze is the least swap rate of a new rung with the rung before it.
	// At a lower rate the two are too far apart. RestrictedBoltzmannMachines.jl returns to an earlier
	// state at a rate of 0.1 and freezes at 0.3.
	floorShare = 1. / 3
	// leastShare is the smallest fraction of the way from the newest rung to the live model at which
	// a new rung is tried.
	leastShare = 1. / 1024
)

// raise freezes the live model as a new rung. Its reservoir starts as copies of the live chains, and
// sweeps of all rungs thermalise it. If the new rung then hardly swaps with the rung before, the model
// has changed too fast for the chains. In this case raise tries models on the straight line between the
// parameters of both, and halves their distance from the rung before until a model swaps often enough.
// It adds that model as a rung, and continues from there towards the live model.
func (p *ptt) raise(key rbm.Key) error {
	m := p.live.model
	share := 1.0
	for try := 0; len(p.rungs) < maxRungs && share >= leastShare; try++ {
		before := p.rungs[len(p.rungs)-1]
		model := m.Clone()
		if share < 1 {
			model.Set(before.model)
			model.Parameters().Approach(float32(share), m.Parameters(), nil)
		}
		g := newRung(model, p.rows, p.reservoir)
		for row := range g.reservoir.Rows {
			r := row % p.rows
			copy(g.reservoir.Row(row), p.states.V.Row(r))
			g.reservoirBorn[row] = p.live.born[r]
			if share < 1 { // the model is nearer to the rung before
				copy(g.reservoir.Row(row), before.reservoir.Row(row))
				g.reservoirBorn[row] = before.reservoirBorn[row]
			}
		}
		round := key.Child(uint64(try))
		g.fill(round.Child(hiddenKey))
		p.rungs = append(p.rungs, g)
		p.startCounts()

		n := len(p.rungs)
		rate, err := p.thermalise(n-2, round.Child(gibbsKey))
		if err != nil {
			return err
		}
		p.rate = rate
		if p.pairRate() < floorShare*p.freeze {
			p.rungs = p.rungs[:n-1]
			share /= 2
			continue
		}
		g.logZ = p.logZAbove(before.logZ)
		if share == 1 {
			return nil
		}
		share = min(1, 2*share)
	}
	p.startCounts()
	return nil
}

// half returns pairEnergies.ratio of the watched pair in the second half of the sweeps.
func (p *ptt) half() (below, above []float64) {
	n := len(p.work.seen[0]) / 2
	return p.work.seen[0][n:], p.work.seen[1][n:]
}

// pairRate returns the mean probability of a swap of the watched pair.
func (p *ptt) pairRate() float64 {
	below, above := p.half()
	rate := 0.0
	for i, x := range below {
		// The log of the acceptance is pairEnergies.delta, the difference of two ratios.
		rate += rbm.Exp(min(0, above[i]-x)) / float64(len(below))
	}
	return rate
}

// logZAbove returns log Z of the upper model of the watched pair, by Bennett's estimate of the ratio of
// Z of both models. before is log Z of the lower model. The error is computed from the spread over
// chains.
func (p *ptt) logZAbove(before estimateOfLogZ) estimateOfLogZ {
	var draws [2][]float64
	below, above := p.half()
	sweeps := len(below) / p.rows
	for i, x := range [2][]float64{below, above} {
		draws[i] = make([]float64, len(x))
		for t := range sweeps {
			for r := range p.rows {
				draws[i][r*sweeps+t] = x[t*p.rows+r]
			}
		}
	}
	groups := p.rows
	if groups == 1 {
		groups = 0
	}
	ratio, err := partition.Bennett([]float64{0, 1}, draws[:], groups, before.Mean)
	if err != nil || !before.known() {
		return estimateOfLogZ{Variance: math.Inf(1)}
	}
	return estimateOfLogZ{ratio.LogZ[1], before.Variance + float64(ratio.StdErr[1]*ratio.StdErr[1])}
}

// restore restores the chains and the ladder from a checkpoint, for a negative phase of m.
func (p *ptt) restore(m *rbm.RBM, key rbm.Key) error {
	bad := func(format string, args ...any) error {
		p.states = nil
		return fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
	}
	saved, err := p.read(p.raw)
	if err != nil {
		return err
	}
	p.chains.saved = saved.chains
	if err := p.chains.begin(m, rbm.Batch{}, key); err != nil {
		return err
	}
	var rungs []*rung
	for i, s := range saved.rungs {
		if len(s.parameters) != m.Parameters().Bytes() {
			return bad("saved rung %d has %d bytes of parameters, not %d", i, len(s.parameters), m.Parameters().Bytes())
		}
		if err := (savedChains{h: s.h, v: s.v}).check(m, true); err != nil {
			p.states = nil
			return err
		}
		g := newRung(m.Clone(), p.rows, p.reservoir)
		g.model.Parameters().SetFrom(s.parameters)
		g.reservoir.CopyFrom(s.v)
		g.reservoirH.CopyFrom(s.h)
		g.reservoirBorn, g.logZ = s.born, s.logZ
		g.fill(key)
		g.reservoirH.CopyFrom(s.h) // in place of the hidden states that fill drew
		rungs = append(rungs, g)
	}
	p.place(m, rungs)
	p.setSaved(saved)
	p.raw, p.looked = nil, false
	return nil
}
