package negphase

import (
	"cmp"
	"math"
	"slices"

	"gorbm/data/grammar"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// walkSettings are the settings of sardonics, im and walk.
type walkSettings struct {
	chainSettings
	samplerSettings
	moves int // moves of each chain per update
}

func (s *walkSettings) keys() grammar.Keys {
	return slices.Concat(
		grammar.Keys{{Name: samplerKey, Set: s.samplerSettings.Set, Text: s.samplerSettings.String, Initial: cmp.Or(s.only, "gibbs"), Check: s.checkMover}},
		s.chainSettings.keys("chains"),
		grammar.Keys{grammar.Count("moves", &s.moves, 1, 1, maxSteps, "number of moves of each chain per update"), s.gibbsKey()})
}

func (s *walkSettings) estimator(all Settings) Estimator {
	w := &walk{chains: chains{settings: all, rows: s.chains, start: s.start, joint: true}, moves: newMoves(s.samplerSettings, s.moves), at: make([]int32, s.chains)}
	for i := range w.at {
		w.at[i] = int32(i)
	}
	return w
}

// walk has persistent chains that are moved by a sampler of binary systems, which flips both visible
// and hidden units. The moves of sardonics (Hamze, Wang & de Freitas 2012) and im (Hamze & de Freitas
// 2010) are self-avoiding walks of many flips. Such walks can cross energy barriers that block Gibbs
// steps would have to climb one layer at a time. The kind walk has any sampler. The estimate is the
// mean of v p(h|v)ᵀ over the chains.
//
// With k=auto the length of walks adapts after each call to their acceptance over all chains. The
// length does not depend on the number of processors or ranks. Freeze stops the adaptation.
//
// In a model with Gaussian visible units the sampler moves the other units; a Gibbs step after the moves
// draws the Gaussian ones. See binaryMoves.
//
// Moves of im keep the number of active units, so a block Gibbs step before them changes it.
type walk struct {
	chains
	moves *binaryMoves
	at    []int32 // the identity: chain i has replica i
	info  Info
}

// coldest has the inverse temperature of chains without a ladder.
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
	return rbm.Phase{Batch: rbm.Batch{V: w.states.V, H: w.states.Mean}}, w.info, w.moves.gatherMeans(m, w.states, nil, &w.team)
}

// Freeze implements Freezer: the length of walks is fixed from now on.
func (w *walk) Freeze() { w.moves.frozen = true }

// lengths returns the current smallest and largest length of walks; zeros before the first call, or if
// the sampler has no adaptive walks.
func (w *walk) lengths() (low, high int) {
	if len(w.moves.replicas) == 0 {
		return 0, 0
	}
	c, ok := w.moves.replicas[0].chain.(mcmc.Adaptive)
	if !ok {
		return 0, 0
	}
	if w.moves.length != nil {
		c.TakeLength(w.moves.length)
	}
	return c.Lengths()
}

// MarshalBinary returns the chains. With k=auto it appends the logarithm of the length of walks as
// float64, noLength before the first call, and whether the length is frozen.
func (w *walk) MarshalBinary() ([]byte, error) {
	b, err := w.chains.MarshalBinary()
	if mcmc.FindsLength(w.moves.mover) {
		log := w.moves.saved
		if w.moves.length != nil {
			log = w.moves.length.Log
		}
		b = appendValues(b, log, w.moves.frozen)
	}
	return b, err
}

// lengthBytes is the size of the state of the length of walks in the binary form.
const lengthBytes = 8 + 1

// UnmarshalBinary leaves w unchanged if it returns an error.
func (w *walk) UnmarshalBinary(b []byte) error {
	if !mcmc.FindsLength(w.moves.mover) {
		return w.chains.UnmarshalBinary(b)
	}
	n := max(0, len(b)-lengthBytes)
	r := reader{b: b[n:]}
	var log float64
	var frozen bool
	r.read(&log, &frozen)
	if r.err == nil && log != noLength && !(log >= 0 && log <= math.Log(mcmc.MaxLength)) {
		r.check(false, "saved walks of exp(%v) flips", log)
	}
	if r.err != nil {
		return r.err
	}
	if err := w.chains.UnmarshalBinary(b[:n]); err != nil {
		return err
	}
	w.moves.length, w.moves.saved, w.moves.frozen = nil, log, frozen
	w.moves.replicas = nil // the next call binds the chains again
	return nil
}
