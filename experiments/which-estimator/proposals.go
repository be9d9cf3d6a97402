package main

import (
	"errors"
	"math/rand/v2"

	"gorbm/experiments/internal/informed"
	"gorbm/negphase"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// proposals are locally balanced proposals as negative phases, next to pcd, pt and SARDONICS, whose walks renew
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

// briefly returns the problems under names that tell them from those of the figures map and sets.
func briefly(problems ...problem) []problem {
	for i := range problems {
		problems[i].name = "half a second: " + problems[i].name
	}
	return problems
}

const whyProposals = "\nEach chain of visible and hidden units makes one move an update: of pcd a step of block Gibbs, of the others a proposal with its acceptance test. LB flips one unit, the length of the others' paths or their step is " +
	"driven to an acceptance of 0.574 all along the run. [Informed proposals](../informed/README.md) has the samplers and their race on trained models. Where the corrected path ends ahead of pcd, on bars, pcd was nearer than that after an eighth of the time, and then its chains lost the modes; it makes several times as many updates. pt keeps them.\n"

const (
	proposingChains = 50
	// adaptEvery is the number of updates between changes of a setting, as a step size needs a new table of chances. An update
	// has the gain of the walks of package negphase.
	adaptEvery = 10
	adaptGain  = 0.1 * adaptEvery
)

// A proposing is a negative phase of persistent chains, of visible and hidden units, that make one move of an informed
// proposal an update. All share the setting, which follows the acceptance.
type proposing struct {
	mover      informed.Mover
	parameters *mcmc.Parameters // nil before the first call
	systems    []*mcmc.RBM
	chains     []informed.Chain
	states     *rbm.States
	source     rand.PCG
	draws      *rand.Rand
	moves      mcmc.Info // since the setting changed
}

func newProposing(m informed.Mover) *proposing {
	e := &proposing{mover: m}
	e.draws = rand.New(&e.source)
	return e
}

// Estimate implements negphase.Estimator. Chains start at uniform states.
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
