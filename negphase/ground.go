package negphase

import (
	"fmt"

	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// A ground says which units of a model a sampler moves, and what has to be
// done besides for chains to reach all states.
type ground struct {
	constraint *rbm.Constraint
	sites      []int32
	active     int     // of the sites: under a constraint as many as differ from the reference, else half
	reference  []uint8 // of all units; nil: zeros
	locked     bool    // moves never change the number of active units, so Gibbs steps have to
	visible    bool    // visible units are no sites, and are drawn given the hidden ones
	first      int     // label unit
	labels     int     // label units of a softmax label
}

// groundOf returns the ground of a sampler on m, or an error that says why it
// cannot move there.
func groundOf(m *rbm.RBM, mover mcmc.Mover) (ground, error) {
	g := ground{constraint: m.Constraint, first: m.Visible() - labelUnits(m), labels: labelUnits(m)}
	c, units := m.Constraint, m.Visible()+m.Hidden()
	g.visible = c != nil && c.On == rbm.HiddenUnits
	for i := range units {
		if i >= m.Visible() || !g.visible && i < m.Visible()-g.labels {
			g.sites = append(g.sites, int32(i))
		}
	}
	if len(g.sites) < 2 {
		return g, fmt.Errorf("%s: the model has a single unit to move; take exact", moverName(mover))
	}
	if c == nil {
		g.active, g.locked = len(g.sites)/2, mcmc.KeepsActive(mover)
		return g, nil
	}
	if !mcmc.KeepsActive(mover) {
		return g, fmt.Errorf("%s cannot keep the constraint %v: its moves change the number of active units; take im or walk:exchange", moverName(mover), c)
	}
	g.active = c.Active
	if c.Reference != nil {
		g.reference = make([]uint8, units)
		copy(g.reference[units-len(c.Reference):], c.Reference)
	}
	if g.visible || g.labels == 0 {
		return g, g.moves(mover)
	}
	distance := labelDistances(m)
	for y, d := range distance {
		if d != distance[0] {
			return g, fmt.Errorf("%s: the reference of the constraint %v is nearer to some classes than to others (%d units for class 0, %d for class %d), and moves cannot change between them; take exact or a reference without label units",
				moverName(mover), c, distance[0], d, y)
		}
	}
	g.active -= distance[0]
	return g, g.moves(mover)
}

// moves returns an error if under the constraint the sites have a single state.
func (g *ground) moves(mover mcmc.Mover) error {
	if g.active > 0 && g.active < len(g.sites) {
		return nil
	}
	others := "exact"
	if g.visible {
		others = "pcd or exact"
	}
	return fmt.Errorf("%s: under the constraint %v the %d units that it moves have a single state; take %s", moverName(mover), g.constraint, len(g.sites), others)
}

// labelDistances returns how many label units differ from the reference where
// each class is on, under a constraint on all units.
func labelDistances(m *rbm.RBM) []int {
	d := make([]int, labelUnits(m))
	for y := range d {
		for k := range d {
			if (k == y) != (m.Constraint.Reference != nil && m.Constraint.Reference[m.Inputs()+k] == 1) {
				d[y]++
			}
		}
	}
	return d
}

// fitted returns the sampler with the reference of the constraint, and with
// the lengths of walks that there is room for if fit is set.
func (g *ground) fitted(mover mcmc.Mover, fit bool) mcmc.Mover {
	if g.reference != nil {
		switch m := mover.(type) {
		case mcmc.Intracluster:
			m.Reference = g.reference
			mover = m
		case mcmc.Exchange:
			m.Reference = g.reference
			mover = m
		}
	}
	if !fit {
		return mover
	}
	n := len(g.sites)
	longest := max(2, n-1) // a walk over all sites has but one end
	if mcmc.KeepsActive(mover) {
		longest = max(1, min(g.active, n-g.active))
	}
	return withLengths(mover, 1, min(maxFit, longest))
}

// bind binds the sampler to a system. Where the number of active units is kept
// and no constraint says what it is, half of them have room for the longest
// walks.
func (g *ground) bind(m mcmc.Mover, s *mcmc.RBM, beta float64) (mcmc.Chain, error) {
	x := make([]uint8, s.Len())
	copy(x, g.reference)
	for _, i := range g.sites[:min(max(g.active, 0), len(g.sites))] {
		x[i] ^= 1
	}
	s.SetState(x)
	return m.Bind(s, beta, g.sites)
}

// drawShell draws a state of each row of s, of all that a constraint on all
// units allows, uniformly given its label, which is drawn among the classes
// that leave room for the others.
func drawShell(m *rbm.RBM, s *rbm.States, key rbm.Key) {
	c, labels := m.Constraint, labelUnits(m)
	inputs := m.Visible() - labels
	units := inputs + m.Hidden()
	reference := make([]uint8, m.Visible()+m.Hidden())
	copy(reference, c.Reference)
	var classes, room []int
	for y, d := range labelDistances(m) {
		if n := c.Active - d; n >= 0 && n <= units {
			classes, room = append(classes, y), append(room, n)
		}
	}
	for r := range s.V.Rows {
		draws := key.Child(uint64(r)).Rand()
		active := c.Active
		for k := range labels {
			s.V.Set(r, inputs+k, false)
		}
		if labels > 0 {
			n := draws.IntN(len(classes))
			s.V.Set(r, inputs+classes[n], true)
			active = room[n]
		}
		on := make([]bool, units)
		for _, i := range draws.Perm(units)[:active] {
			on[i] = true
		}
		for i := range inputs {
			s.V.Set(r, i, on[i] != (reference[i] == 1))
		}
		for j := range m.Hidden() {
			s.H.Set(r, j, on[inputs+j] != (reference[m.Visible()+j] == 1))
		}
	}
}

// Fitted returns s with the lengths of walks that it comes to on m.
func (s Settings) Fitted(m *rbm.RBM) Settings {
	if !s.Fit || s.mover() == "" {
		return s
	}
	if g, err := groundOf(m, s.Mover); err == nil {
		s.Mover, s.Fit = g.fitted(s.Mover, true), false
	}
	return s
}

// CheckModel returns an error that says why estimators of these settings cannot
// run on m: they cannot keep its constraint, or their sampler cannot move it. If
// they can, it returns what the sampler warns of, such as that it may never
// reach some states; "" if there is nothing.
func (s Settings) CheckModel(m *rbm.RBM) (doubt string, err error) {
	if err := s.Keeps(m.Constraint); err != nil || s.mover() == "" {
		return "", err
	}
	beta := coldest
	if Has(s.Kind, "tau") {
		beta = firstBeta(s)
	}
	w := newWalks(s, 1)
	if err := w.prepare(m, beta, 1); err != nil {
		return "", err
	}
	for _, p := range w.places {
		c, ok := p.chain.(mcmc.Warner)
		switch {
		case !ok || c.Warning() == "":
		case p.beta == 1:
			return c.Warning(), nil
		default:
			return fmt.Sprintf("at inverse temperature %v: %s", p.beta, c.Warning()), nil
		}
	}
	return "", nil
}
