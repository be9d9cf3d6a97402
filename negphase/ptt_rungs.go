package negphase

import (
	"math"

	"gorbm/rbm"
)

// A rung is a frozen model of ptt with its particles. The live model is a rung without reservoir.
type rung struct {
	model *rbm.RBM
	logZ  estimateOfLogZ

	// The reservoir has several members for each of the R chains: member s of chain r is row s·R + r.
	reservoir     rbm.Values // v
	reservoirH    rbm.Values // h, drawn from p(h|v)
	reservoirFree []float64  // F(v) under the model
	reservoirBorn []int64    // call in which the particle was drawn exactly from the oldest rung

	// A round moves one member for each chain.
	states *rbm.States
	free   []float64 // F(v) under the model
	born   []int64   // call in which the particle was drawn exactly from the oldest rung
	at     []int32   // row of the member in the reservoir
	moved  []bool    // v has changed since gather
}

// estimateOfLogZ is an estimate of log Z of a rung. The variance is +Inf if log Z is unknown.
type estimateOfLogZ struct{ Mean, Variance float64 }

func (e estimateOfLogZ) known() bool { return !math.IsInf(e.Variance, 1) }

// newRung returns a rung with model m, the given number of chains, and the given number of members in the
// reservoir for each chain.
func newRung(m *rbm.RBM, rows, members int) *rung {
	return &rung{model: m, reservoir: rbm.NewBits(rows*members, m.Visible()), reservoirH: rbm.NewBits(rows*members, m.Hidden()),
		reservoirFree: make([]float64, rows*members), reservoirBorn: make([]int64, rows*members), states: rbm.NewStates(m, rows),
		free: make([]float64, rows), born: make([]int64, rows), at: make([]int32, rows), moved: make([]bool, rows)}
}

// fill draws h from p(h|v) for all members of the reservoir and computes their free energies.
func (g *rung) fill(key rbm.Key) {
	mean := rbm.NewMatrix(g.reservoir.Rows, g.model.Hidden())
	g.model.HiddenMeanFree(mean, g.reservoirFree, g.reservoir)
	g.model.HiddenSample(g.reservoirH, rbm.Batch{V: g.reservoir, H: mean}, key)
}

// gather copies a random member of each chain's reservoir into g.states. It does not set Mean.
func (g *rung) gather(key rbm.Key) {
	rows := len(g.at)
	members := g.reservoir.Rows / rows
	for r := range g.at {
		at := int(key.Uniform(uint64(r))*float64(members))*rows + r
		g.at[r] = int32(at)
		copy(g.states.V.Row(r), g.reservoir.Row(at))
		copy(g.states.H.Row(r), g.reservoirH.Row(at))
		g.free[r], g.born[r], g.moved[r] = g.reservoirFree[at], g.reservoirBorn[at], false
	}
}

// scatter redraws h of the members in g.states, and copies members that have moved back to the
// reservoir.
func (g *rung) scatter(key rbm.Key) {
	g.drawHidden(key)
	for r, at := range g.at {
		if !g.moved[r] {
			continue
		}
		copy(g.reservoir.Row(int(at)), g.states.V.Row(r))
		copy(g.reservoirH.Row(int(at)), g.states.H.Row(r))
		g.reservoirFree[at], g.reservoirBorn[at] = g.free[r], g.born[r]
	}
}

// drawHidden draws h from p(h|v), with the means in g.states.Mean.
func (g *rung) drawHidden(key rbm.Key) {
	g.model.HiddenSample(g.states.H, rbm.Batch{V: g.states.V, H: g.states.Mean}, key)
}

// Purposes of the random streams of a rung within a round.
const (
	gatherKey = iota
	gibbsKey
	hiddenKey
	exchangeKey
	fillKey
)

// step makes the Gibbs steps of rung i, or of the live model if i is len(rungs). The oldest
// rung has no weights, so that its Gibbs steps give independent draws.
func (p *ptt) step(i int, key rbm.Key) error {
	g := p.live
	if i < len(p.rungs) {
		g = p.rungs[i]
	} else {
		g.drawHidden(key.Child(hiddenKey))
	}
	if err := p.stepFree(g.model, g.states, g.free, p.k, key.Child(gibbsKey)); err != nil {
		return err
	}
	p.info.Updates += int64(p.k) * int64(p.rows)
	for r := range g.moved {
		g.moved[r] = true
	}
	if i == 0 {
		for r := range g.born {
			g.born[r] = p.now
		}
	}
	return finite(g.free)
}

func rungKey(key rbm.Key, i int) rbm.Key { return key.Child(uint64(i)) }

// sweep makes one round of the rungs from, from+1, … and the live model: Gibbs steps, then
// swaps of neighbours from the oldest to the newest. If rest is set, only the live model makes Gibbs
// steps. sweep returns the mean probability of a swap between the newest rung and the live model.
func (p *ptt) sweep(from int, rest bool, key rbm.Key) (rate float64, err error) {
	n := len(p.rungs)
	for i := from; i <= n; i++ {
		if i < n {
			p.rungs[i].gather(rungKey(key, i).Child(gatherKey))
			if rest {
				continue
			}
		}
		if err := p.step(i, rungKey(key, i)); err != nil {
			return 0, err
		}
	}
	for i := from; i < n; i++ {
		if err := p.exchange(i, rungKey(key, i).Child(exchangeKey)); err != nil {
			return 0, err
		}
	}
	for i := from; i < n; i++ {
		p.rungs[i].scatter(rungKey(key, i).Child(hiddenKey))
	}
	return p.work.rate, nil
}

// refresh makes the Gibbs steps of rung i and its swaps with rung i+1.
func (p *ptt) refresh(i int, key rbm.Key) error {
	for j := i; j < i+2; j++ {
		p.rungs[j].gather(rungKey(key, j).Child(gatherKey))
	}
	if err := p.step(i, rungKey(key, i)); err != nil {
		return err
	}
	if err := p.exchange(i, rungKey(key, i).Child(exchangeKey)); err != nil {
		return err
	}
	for j := i; j < i+2; j++ {
		p.rungs[j].scatter(rungKey(key, j).Child(hiddenKey))
	}
	return nil
}
