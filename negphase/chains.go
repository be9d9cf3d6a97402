package negphase

import (
	"fmt"
	"math"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// Purposes of the random streams that are derived from the key of a call.
const (
	startKey = iota
	roundKeys
)

// Purposes of the random streams within a round.
const (
	stepKey = iota
	swapKey
	moveKey
	drawKey
)

// Where chains start.
const (
	Uniform = "uniform" // hidden states uniformly at random
	Data    = "data"    // hidden states drawn given rows of the first batch
)

const (
	// MaxChains is the largest number of chains.
	MaxChains = 1_000_000
	// MaxSites is the largest advisable number of units, summed over all chains and replicas, for
	// samplers of binary systems. They store flip costs and weights, some 50 bytes per unit or 3 GiB
	// together.
	MaxSites = 1 << 26

	maxSteps = 1_000_000 // largest number of Gibbs steps per update
)

// chainSettings are the settings of estimators that keep chains.
type chainSettings struct {
	chains int // number of chains, or of groups of replicas in a ladder
	start  string
}

// keys returns the table of the settings. what describes the chains in the help.
func (s *chainSettings) keys(what string) grammar.Keys {
	return grammar.Keys{
		grammar.Count("chains", &s.chains, 10, 1, MaxChains, what),
		grammar.Word("start", &s.start, Uniform, "where chains start: uniform or data", Uniform, Data),
	}
}

// chains are Markov chains that persist from call to call.
type chains struct {
	settings Settings
	rows     int
	start    string
	joint    bool        // binary visible states persist too; in other chains Gibbs steps redraw them from the hidden ones
	states   *rbm.States // nil before the first call
	saved    savedChains // states from a checkpoint, until the first call uses them
	team
}

// savedChains are the states that persist: the hidden ones, and in joint chains
// also the visible ones if they are bits. Chains that have not started have no rows.
type savedChains struct{ h, v rbm.Values }

// begin makes the chains ready to be advanced under m.
func (c *chains) begin(m *rbm.RBM, pos rbm.Batch, key rbm.Key) error {
	if err := c.settings.suits(m); err != nil {
		return err
	}
	if c.states != nil {
		return checkShape(c.states, m)
	}
	states := rbm.NewStates(m, c.rows)
	joint := c.joint && !m.Real()
	if c.saved.h.Rows > 0 {
		if err := c.saved.check(m, joint); err != nil {
			return err
		}
		states.H.CopyFrom(c.saved.h)
		if joint {
			states.V.CopyFrom(c.saved.v)
		}
		c.saved = savedChains{}
	} else {
		if err := drawStart(m, states, c.start, pos, key); err != nil {
			return err
		}
		if joint {
			drawVisible(m, states, c.start, pos, key.Child(visibleKey))
		}
	}
	c.states = states
	return nil
}

// visibleKey is the purpose of the random stream of visible states at the start.
const visibleKey = 0

// drawVisible draws the visible states at which joint chains start, uniformly or from the rows of the
// batch. Grey values of the batch are probabilities.
func drawVisible(m *rbm.RBM, s *rbm.States, start string, pos rbm.Batch, key rbm.Key) {
	switch {
	case start == Uniform && m.Constraint.OnAll():
		drawShell(m, s, key)
	case start == Uniform:
		s.V.Randomize(key)
		for i, g := range m.SoftmaxGroups() {
			for r := range s.V.Rows {
				on := int(key.Uniform(uint64(i*s.V.Rows+r)) * float64(g.Units))
				for k := range g.Units {
					s.V.Set(r, g.First+k, k == on)
				}
			}
		}
	case pos.V.IsReal():
		p := rbm.NewMatrix(s.V.Rows, s.V.Cols)
		for r := range p.Rows {
			copy(p.Row(r), pos.V.Matrix().Row(r%pos.Rows()))
		}
		rbm.DrawBits(s.V, p, key)
	default:
		for r := range s.V.Rows {
			copy(s.V.Row(r), pos.V.Row(r%pos.Rows()))
		}
	}
}

// check returns an error if m cannot have the saved states: their shape differs or the constraint of
// m forbids them.
func (s savedChains) check(m *rbm.RBM, joint bool) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", rbm.ErrFormat, fmt.Sprintf(format, args...))
	}
	switch {
	case s.h.IsReal() != m.RealHidden():
		return bad("the saved chains are of a model without %v hidden units; this model has them", m.HiddenKind())
	case s.h.Cols != m.Hidden():
		return bad("the saved chains have %d hidden units, the model has %d", s.h.Cols, m.Hidden())
	case joint && s.v.Cols != m.Visible():
		return bad("the saved chains have %d visible units, the model has %d", s.v.Cols, m.Visible())
	}
	if s.h.IsReal() { // no constraint applies to real hidden units
		return nil
	}
	for r := range s.h.Rows {
		c, what, active := m.Constraint, "hidden units", 0
		switch {
		case c == nil:
			continue
		case c.OnAll():
			what, active = "units", s.v.Slice(r, r+1).Count()+s.h.Slice(r, r+1).Count()
		default:
			active = s.h.Slice(r, r+1).Count()
		}
		if active != c.Active {
			return bad("saved chain %d has %d active %s; the model's constraint is %v", r, active, what, c)
		}
	}
	if joint {
		if err := m.CheckSoftmax(s.v); err != nil {
			return bad("saved chains: %v", err)
		}
	}
	return nil
}

func drawStart(m *rbm.RBM, s *rbm.States, start string, pos rbm.Batch, key rbm.Key) error {
	if start == Uniform {
		m.RandomizeHidden(s.H, key)
		return nil
	}
	if pos.Rows() == 0 {
		return fmt.Errorf("chains that start at the data need at least one row")
	}
	m.HiddenSample(s.H, pos, key)
	return nil
}

func checkShape(s *rbm.States, m *rbm.RBM) error {
	if s.H.Cols != m.Hidden() || s.V.Cols != m.Visible() {
		return fmt.Errorf("the chains have %d visible and %d hidden units, the model has %d and %d",
			s.V.Cols, s.H.Cols, m.Visible(), m.Hidden())
	}
	return nil
}

// finite returns an error if the energy of a chain is not finite.
func finite(energies []float64) error {
	for r, e := range energies {
		if math.IsNaN(e) || math.IsInf(e, 0) {
			return fmt.Errorf("%w: the energy of chain %d is %v", rbm.ErrDiverged, r, e)
		}
	}
	return nil
}
