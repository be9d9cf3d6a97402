package negphase

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gorbm/data/grammar"
	"gorbm/negphase/mcmc"
	"gorbm/negphase/tune"
	"gorbm/rbm"
)

const (
	// tuneShare is the part of the flips between two tunings that the trials of
	// the second are given. They take more where the least trial of long walks is
	// longer than its share.
	tuneShare = 0.25
	// tuneTrials and tuneKernels are the numbers of trials before the finals and of
	// kernels of a tuning: fewer than where a sampler is tuned once.
	tuneTrials, tuneKernels = 24, 20
)

// tuneKey returns the row of the updates between tunings.
func (m *samplerSettings) tuneKey() grammar.Key {
	return grammar.Key{Name: "tune", Set: (*count)(&m.tune).Set, Text: (*count)(&m.tune).String, Example: "5000", Check: m.checkTune,
		Help: "updates after which k, gamma, walks and mix of sardonics, or k and gamma of im, as far as they are not given, are tuned to the model as it then is, by trials of about a quarter as many flips; 0, the default, is never"}
}

func (m *samplerSettings) checkTune() error {
	switch {
	case m.tune == 0:
		return nil
	case m.tune < 0 || m.tune > maxSteps:
		return fmt.Errorf("tune is %d; it must lie in 0 … %d, and 0 is never", m.tune, maxSteps)
	}
	_, err := m.space(m.mover, maxFit)
	if err != nil {
		return fmt.Errorf("tune=%d: %w", m.tune, err)
	}
	return nil
}

// space returns the settings that are open, around base, where walks have room for
// so many flips.
func (m *samplerSettings) space(base mcmc.Mover, room int) (*tune.Space, error) {
	return tune.NewSpace(base, m.held, room, tune.Limits{}, false)
}

// isOpen reports whether a part of the text of the sampler is of a setting that is
// tuned.
func (m *samplerSettings) isOpen(part string) bool {
	name, _, _ := strings.Cut(part, "=")
	return slices.Contains(tune.Keys(), name) && !slices.Contains(m.held, name)
}

// A walkTuner counts what chains did since their sampler was tuned.
type walkTuner struct{ updates, flips int64 }

func (t *walkTuner) count(info Info) {
	t.updates++
	t.flips += int64(info.Get("Moves.Flips"))
}

// tune tunes the sampler of the chains to m if that is due. Trials start at the state
// of the first chain and leave the chains as they are. Each flip counts as equally
// long, so that equal keys give equal kernels. A budget that is too small for
// trials, or a state without room for walks, puts the tuning off by as many updates
// again.
func (w *walk) tune(m *rbm.RBM, key rbm.Key) error {
	b := w.moves
	every := int64(b.samplerSettings.tune)
	if w.fixed || every == 0 || w.tuner.flips == 0 || w.tuner.updates%every != 0 {
		return nil
	}
	if err := b.prepare(m, coldest, w.rows); err != nil {
		return err
	}
	b.load(w.states, w.at, 0, w.rows)
	start := slices.Clone(b.places[0].system.State())
	room := b.room(start)
	base := b.fitted(b.mover, b.fit)
	if b.fit {
		base = withLengths(base, 1, min(maxFit, room))
	}
	space, err := b.space(base, room)
	if im, ok := base.(mcmc.Intracluster); err != nil || ok && im.MaxLength > room {
		return nil // put off
	}
	problem := &tune.Problem{
		Space: space, Beta: 1, Start: start, Sites: b.units, Hidden: m.Visible(), Key: key, SecondsPerFlip: 1,
		NewSystem: func(state []uint8) mcmc.System {
			s := mcmc.NewRBM(b.parameters)
			s.SetState(state)
			return s
		},
	}
	options := tune.Options{Method: tune.NoisyEI, Seconds: tuneShare * float64(w.tuner.flips), Evaluations: tuneTrials, Kernels: tuneKernels}
	result, err := problem.Tune(context.Background(), options, func(float64) {})
	switch {
	case errors.Is(err, tune.ErrBudget):
		return nil // put off
	case err != nil:
		return err
	}
	b.setKernels(result.Kernels)
	w.info.Count("Tunings", 1)
	w.info.Count("TuningFlips", math.Trunc(result.TrialSeconds+result.BurnSeconds))
	w.tuner = walkTuner{}
	return nil
}

// setKernels replaces the sampler.
func (w *binaryMoves) setKernels(kernels []mcmc.Mover) {
	w.kernels, w.betas = kernels, w.betas[:0]
}

// room returns how many flips a walk has room for in a state.
func (w *binaryMoves) room(state []uint8) int {
	if !mcmc.KeepsActive(w.mover) {
		return len(w.units)
	}
	active := w.active
	if w.constraint == nil {
		active = 0
		for _, i := range w.units {
			active += int(state[i])
		}
	}
	return min(active, len(w.units)-active, w.active, len(w.units)-w.active)
}

// MarshalBinary returns the chains and, with tune, the counts since the last tuning
// and the kernels as texts, each after its length.
func (w *walk) MarshalBinary() ([]byte, error) {
	b, err := w.chains.MarshalBinary()
	if w.moves.samplerSettings.tune == 0 {
		return b, err
	}
	b = appendValues(b, w.tuner.updates, w.tuner.flips, uint32(len(w.moves.kernels)))
	for _, k := range w.moves.kernels {
		text := mcmc.FormatMover(k)
		b = appendValues(b, uint32(len(text)), []byte(text))
	}
	return b, err
}

// UnmarshalBinary changes nothing unless all of b fits.
func (w *walk) UnmarshalBinary(b []byte) error {
	if w.moves.samplerSettings.tune == 0 {
		return w.chains.UnmarshalBinary(b)
	}
	r := reader{b: b}
	saved := r.chains(w.rows, w.joint)
	var t walkTuner
	var n uint32
	r.read(&t.updates, &t.flips, &n)
	r.check(t.updates >= 0 && t.flips >= 0 && n <= tuneKernels, "the saved tuning has impossible counts")
	var kernels mcmc.Mixture
	for range n {
		if r.err != nil {
			return r.err
		}
		var length uint32
		r.read(&length)
		r.check(int(length) <= len(r.b), "the saved chains are cut short") // before room is made
		if r.err != nil {
			return r.err
		}
		kernel, err := mcmc.ParseMover(string(r.b[:length]), mcmc.Linear)
		r.check(err == nil && moverName(kernel) == moverName(w.moves.mover), "the saved kernel %q is none of the sampler", r.b[:length])
		r.b = r.b[length:]
		kernels = append(kernels, kernel)
	}
	r.check(len(r.b) == 0, "the saved chains are too long by %d bytes", len(r.b))
	if r.err == nil {
		w.states, w.saved, w.tuner = nil, saved, t
		w.moves.setKernels(kernels)
	}
	return r.err
}
