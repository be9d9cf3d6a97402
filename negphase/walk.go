package negphase

import (
	"cmp"
	"slices"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// walkSettings are the settings of sardonics, im and walk.
type walkSettings struct {
	chainSettings
	samplerSettings
	moves int // of each chain in an update
}

func (s *walkSettings) keys() grammar.Keys {
	return slices.Concat(
		grammar.Keys{{Name: samplerKey, Set: s.samplerSettings.Set, Text: s.samplerSettings.String, Initial: cmp.Or(s.only, "gibbs"), Check: s.checkMover}},
		s.chainSettings.keys("chains"),
		grammar.Keys{grammar.Count("moves", &s.moves, 1, 1, maxSteps, "moves of each chain an update"), s.gibbsKey()})
}

func (s *walkSettings) estimator(all Settings) Estimator {
	w := &walk{chains: chains{settings: all, rows: s.chains, start: s.start, joint: true}, moves: newMoves(s.samplerSettings, s.moves), at: make([]int32, s.chains)}
	for i := range w.at {
		w.at[i] = int32(i)
	}
	return w
}

// walk continues its chains by moves of a sampler of binary systems that flips
// visible and hidden units alike. Those of sardonics (Hamze, Wang & de Freitas
// 2012) and im (Hamze & de Freitas 2010) are self-avoiding walks of many flips,
// which cross energy barriers that block Gibbs steps climb one layer at a time.
// Chains of walk take any sampler. The estimate is the mean of v p(h|v)ᵀ over the
// chains.
//
// Moves of im keep the number of active units, so a block Gibbs step, which
// changes it, comes before them.
type walk struct {
	chains
	moves *binaryMoves
	at    []int32 // the identity: chain i has replica i
	info  Info
}

// coldest is the ladder of a single temperature.
var coldest = []float64{1}

func (w *walk) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := w.begin(m, pos, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	w.info.Reset()
	if err := w.moves.prepare(m, coldest, w.rows); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	if err := w.moves.run(m, w.states, w.at, nil, key.Child(roundKeys), &w.info, &w.team); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	return rbm.Phase{Batch: rbm.Batch{V: w.states.V, H: w.states.Mean}}, w.info, w.hiddenMean(m, w.states.Mean, w.states.V, nil)
}
