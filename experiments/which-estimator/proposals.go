package main

import (
	"errors"
	"math/rand/v2"

	"gorbm/experiments/internal/informed"
	"gorbm/negphase"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// proposals returns estimators that move by locally balanced proposals, after pcd, pt and SARDONICS. Walks of SARDONICS update
// their weights after each flip.
func proposals() []estimator {
	all := []estimator{estimators[0], {name: "pt", settings: "pt:chains=10:tau=auto"}, {name: "sardonics", settings: "sardonics:k=auto:chains=50"}, {name: "LB", settings: "sardonics:k=1:gamma=1:walks=single:chains=50"}}
	for _, m := range informed.Tuned() {
		switch m.Name {
		case "PAS, √t", "PAS, corrected", string(informed.Langevin), string(informed.DLMCRatio):
			all = append(all, estimator{m.Name, "50 chains, a move an update", m.Mover})
		}
	}
	return all
}

// briefly returns the problems with other names than in the figures map and sets.
func briefly(problems ...problem) []problem {
	for i := range problems {
		problems[i].name = "half a second: " + problems[i].name
	}
	return problems
}

const whyProposals = "\nIn each update, each chain of visible and hidden units makes one move. For pcd this is a step of block Gibbs, and for the others a proposal with its acceptance test. LB flips one unit. The length of the others' paths, or their step size, is " +
	"adapted during the whole run, so that the acceptance is 0.574. [Informed proposals](../informed/README.md) describes the samplers and compares them on trained models. On bars the corrected path ends ahead of pcd. But after an eighth of the time pcd was better than the corrected path is at the end. Then the chains of pcd, which makes several times as many updates, lost modes. pt keeps the modes.\n"

const (
	proposingChains = 50
	// adaptEvery is the number of updates between changes of a setting, because a new step size needs a new table of probabilities. The
	// gain per update is that of the walks of package negphase.
	adaptEvery = 10
	adaptGain  = 0.1 * adaptEvery
)

// A proposing is an estimator with persistent chains of visible and hidden units. In each update each chain makes one move by an
// informed proposal. All chains have the same setting, which is adapted to the acceptance.
type proposing struct {
	mover      informed.Mover
	parameters *mcmc.Parameters // nil before the first call
	systems    []*mcmc.RBM
	chains     []informed.Chain
	states     *rbm.States
	source     rand.PCG
	draws      *rand.Rand
	moves      mcmc.Info // moves since the setting changed
}

func newProposing(m informed.Mover) *proposing {
	e := &proposing{mover: m}
	e.draws = rand.New(&e.source)
	return e
}

// Estimate implements negphase.Estimator. Chains start at uniformly random states.
func (e *proposing) Estimate(m *rbm.RBM, _ rbm.Batch, key rbm.Key) (rbm.Phase, negphase.Info, error) {
	if e.parameters == nil {
		if err := e.begin(m, key.Child(proposingChains)); err != nil {
			return rbm.Phase{}, negphase.Info{}, err
		}
	}
	e.parameters.Set(m)
	e.parameters.Load(e.systems, e.states.V, e.states.H)
	for i, c := range e.chains {
		key.Child(uint64(i)).Seed(&e.source)
		c.Reset()
		e.moves.Add(c.Move(e.draws))
		e.systems[i].Store(e.states.V, e.states.H, i)
	}
	if e.moves.Moves >= adaptEvery*proposingChains {
		accepted, _ := e.moves.Acceptance()
		e.chains[0].Adapt(accepted, adaptGain)
		e.moves = mcmc.Info{}
	}
	m.HiddenMean(e.states.Mean, e.states.V)
	return rbm.Phase{Batch: rbm.Batch{V: e.states.V, H: e.states.Mean}}, negphase.Info{Updates: proposingChains}, nil
}

// begin binds the chains to m.
func (e *proposing) begin(m *rbm.RBM, key rbm.Key) (err error) {
	e.states = rbm.NewStates(m, proposingChains)
	e.states.V.Randomize(key.Child(0))
	m.RandomizeHidden(e.states.H, key.Child(1))
	e.parameters = mcmc.NewParameters(m)
	systems := make([]mcmc.System, proposingChains)
	for i := range systems {
		s := mcmc.NewRBM(e.parameters)
		e.systems, systems[i] = append(e.systems, s), s
	}
	e.chains, err = informed.Bind(e.mover, 1, systems...)
	return err
}

// MarshalBinary implements encoding.BinaryMarshaler. Runs of this experiment are not saved.
func (e *proposing) MarshalBinary() ([]byte, error) { return nil, errors.ErrUnsupported }

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (e *proposing) UnmarshalBinary([]byte) error { return errors.ErrUnsupported }
