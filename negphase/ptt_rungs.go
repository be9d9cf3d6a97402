package negphase

import (
	"math"

	"gorbm/rbm"
)

// A rung is a model of the ladder of ptt with its particles. The live model has no
// reservoir.
type rung struct {
	model *rbm.RBM
	logZ  estimateOfLogZ

	// The reservoir: member s of chain r is row s·R + r.
	reservoir     rbm.Values // v
	reservoirH    rbm.Values // h, drawn from p(h|v)
	reservoirFree []float64  // F under the model
	reservoirBorn []int64    // call in which the particle was an exact draw of the oldest rung

	// What a round works on: one member of each chain.
	states *rbm.States
	free   []float64 // F under the model
	born   []int64
	at     []int32 // rows of the members in the reservoir
	moved  []bool  // v has changed since gather
}

// estimateOfLogZ is log Z of a rung. The variance is +Inf where it is not known.
type estimateOfLogZ struct{ Mean, Variance float64 }

func (e estimateOfLogZ) known() bool { return !math.IsInf(e.Variance, 1) }

// newRung returns a rung of m with the given numbers of chains and members of the reservoir for
// each.
func newRung(m *rbm.RBM, rows, members int) *rung {
	return &rung{model: m, reservoir: rbm.NewBits(rows*members, m.Visible()), reservoirH: rbm.NewBits(rows*members, m.Hidden()),
		reservoirFree: make([]float64, rows*members), reservoirBorn: make([]int64, rows*members), states: rbm.NewStates(m, rows),
		free: make([]float64, rows), born: make([]int64, rows), at: make([]int32, rows), moved: make([]bool, rows)}
}

// fill redraws h of the members, whose v have been set, and computes their F.
func (g *rung) fill(key rbm.Key) {
	mean := rbm.NewMatrix(g.reservoir.Rows, g.model.Hidden())
	g.model.HiddenMeanFree(mean, g.reservoirFree, g.reservoir)
	g.model.HiddenSample(g.reservoirH, rbm.Batch{V: g.reservoir, H: mean}, key)
}

// gather takes a member of each chain's reservoir. Its hidden means are not known.
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

// scatter puts back those that have moved, with h redrawn.
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

// drawHidden draws h from p(h|v), whose means are known.
func (g *rung) drawHidden(key rbm.Key) {
	g.model.HiddenSample(g.states.H, rbm.Batch{V: g.states.V, H: g.states.Mean}, key)
}

// Purposes of the keys of a rung within a round.
const (
	gatherKey = iota
	gibbsKey
	hiddenKey
	exchangeKey
	fillKey
)

// step takes rung i, or the live model if i is len(rungs), through its Gibbs steps. The oldest
// rung has no weights, so its states are independent draws.
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

// rungKey returns the key of rung i in a round.
func rungKey(key rbm.Key, i int) rbm.Key { return key.Child(uint64(i)) }

// sweep takes the rungs from number from on, and the live model, through one round: Gibbs steps, then
// swaps of neighbours from the oldest to the newest. Rungs that rest take no Gibbs steps. It returns the
// mean probability of a swap between the newest rung and the live model.
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

// refresh takes rung i through its Gibbs steps and swaps with rung i+1.
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
