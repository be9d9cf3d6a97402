package rbm

import (
	"errors"
	"fmt"
	"slices"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// A Kind is the type of the units of a group, such as Bernoulli: see package units.
type Kind = units.Kind

// The kinds of units that a label can have.
var (
	Softmax   Kind = units.Softmax
	Bernoulli Kind = units.Bernoulli
)

// Gaussian units are real visible units.
var Gaussian Kind = units.Gaussian

// A Group is a range of units of one kind in a layer. The visible layer is a list of
// groups: the inputs and, in a classification RBM, the label.
type Group struct {
	Kind  Kind
	First int // index of its first unit
	Units int
	Label bool // its units hold the class of an example; only the last group may be a label

	at int // number of units in earlier joint groups; a joint group, such as softmax, is one variable
}

// A layer holds the groups of a layer and the parameters of its units.
type layer struct {
	groups []Group
	apart  []Group // the groups of independent units; neighbours of the same kind are merged
	joint  []Group // the groups that are one variable each
	isReal bool    // states are real values
	dist   units.Distribution
}

// newLayer returns a layer of these groups. It sets First of each group.
func newLayer(groups ...Group) (l layer) {
	first, at := 0, 0
	for i, g := range groups {
		if g.Label && i < len(groups)-1 {
			panic("rbm: a label that is not the last group")
		}
		g.First, g.at = first, at
		first += g.Units
		l.groups = append(l.groups, g)
		l.isReal = l.isReal || g.Real()
		if g.Joint() {
			l.joint = append(l.joint, g)
			at += g.Units
		} else if n := len(l.apart); n > 0 && i > 0 && groups[i-1].Kind == g.Kind {
			l.apart[n-1].Units += g.Units
		} else {
			l.apart = append(l.apart, g)
		}
	}
	for _, g := range l.groups {
		for k, p := range g.Kind.Params() {
			if k == len(l.dist.Params) {
				l.dist.Params = append(l.dist.Params, make([]float32, first))
			}
			fill(g.values(l.dist.Params[k]), p.Initial)
		}
	}
	return l
}

// NewVisible returns the given number of rows of visible states, all zero: bits, or real values
// if some units are real.
func (m *RBM) NewVisible(rows int) Values { return NewValues(rows, m.Visible(), m.visible.isReal) }

// NewHidden returns the given number of rows of hidden states, all zero.
func (m *RBM) NewHidden(rows int) Values { return NewValues(rows, m.Hidden(), m.hidden.isReal) }

// Real reports whether m has real visible units.
func (m *RBM) Real() bool { return m.visible.isReal }

// RealHidden reports whether the hidden units of m are real.
func (m *RBM) RealHidden() bool { return m.hidden.isReal }

// HiddenKind returns the kind of the hidden units.
func (m *RBM) HiddenKind() Kind { return m.hidden.groups[0].Kind }

// VisibleParams returns the parameters of the visible units besides their biases: see
// units.Distribution. They share memory with m.
func (m *RBM) VisibleParams() [][]float32 { return m.visible.dist.Params }

// HiddenParams returns the parameters of the hidden units besides their biases. They share
// memory with m.
func (m *RBM) HiddenParams() [][]float32 { return m.hidden.dist.Params }

// A Param is a parameter of the units of a layer besides their biases.
type Param struct {
	Name   string    // in files and errors, such as visible_precision
	Values []float32 // one for each unit of the layer, shared with the model
}

// Params returns VisibleParams and HiddenParams with their names.
func (m *RBM) Params() (all []Param) {
	for _, l := range [...]struct {
		name string
		*layer
	}{{"visible_", &m.visible}, {"hidden_", &m.hidden}} {
		for k, values := range l.dist.Params {
			all = append(all, Param{l.name + l.param(k).Name, values})
		}
	}
	return all
}

// param returns the description of parameter k in the first group that has it.
func (l *layer) param(k int) units.Param {
	for _, g := range l.groups {
		if p := g.Kind.Params(); k < len(p) {
			return p[k]
		}
	}
	panic("rbm: no such parameter of units")
}

// rest returns Σ U′(x), in nats, of a row x of states under the parameters d: see package units.
func (l *layer) rest(row []float32, d *units.Distribution) float64 {
	sum := 0.0
	for i := range l.groups {
		g := &l.groups[i]
		if k, ok := g.Kind.(units.RealKind); ok {
			sum += k.Rest(g.values(row), d, g.First)
		}
	}
	return sum
}

// weight returns Σ b·x − Σ U′(x), in nats, of row r of v, where d has the fields b of the units.
func (l *layer) weight(v *Values, r int, d *units.Distribution) float64 {
	if !v.IsReal() {
		return maskedSums(d.Field, v.Row(r))
	}
	sum := 0.0
	row := v.Matrix().Row(r)
	for i, x := range row {
		sum += float64(float64(x) * float64(d.Field[i]))
	}
	return sum - l.rest(row, d)
}

// states converts v to the type of package units. The memory is shared.
func (v Values) states() units.States {
	if v.IsReal() {
		return units.States{Real: v.Real, Stride: v.Cols}
	}
	return units.States{Words: v.Words, Stride: v.Stride}
}

// Joint reports whether the units of g are one variable: exactly one of them is on.
func (g Group) Joint() bool { return g.Kind.Support() == units.OneHot }

// Real reports whether the units of g have real values. The states of other groups are bits, and can be listed.
func (g Group) Real() bool { return g.Kind.Support() == units.Real }

// jointUnits returns the number of units in joint groups.
func (l *layer) jointUnits() int {
	if n := len(l.joint); n > 0 {
		return l.joint[n-1].at + l.joint[n-1].Units
	}
	return 0
}

// logZ returns log Z of the units with parameters d, in nats, given their inputs z.
func (l *layer) logZ(z []float64, d *units.Distribution) float64 {
	sum := 0.0
	for _, groups := range [2][]Group{l.apart, l.joint} {
		for i := range groups {
			g := &groups[i]
			sum += g.Kind.LogZ(z[g.First:g.First+g.Units], d, g.First)
		}
	}
	return sum
}

// draw overwrites row r of dst with a draw of units whose inputs are their fields alone. It uses
// b and scratch as working memory; scratch has at least the length of the layer plus a block.
func (l *layer) draw(dst Values, r int, d *units.Distribution, scratch []float32, b *units.Block, stream vec.Stream) {
	x := dst.Slice(r, r+1).states()
	for i := range l.apart {
		g := &l.apart[i]
		for k := g.First / vec.Block; k*vec.Block < g.First+g.Units; k++ {
			in := scratch[:vec.Block]
			clear(in)
			width := copy(in, d.Field[k*vec.Block:g.First+g.Units])
			*b = units.Block{First: k * vec.Block, From: max(0, g.First-k*vec.Block), Width: width, In: in, Stride: vec.Block, Rows: 1, Row: uint32(r), Model: d}
			g.Kind.Draw(x, b, stream)
		}
	}
	for i := range l.joint {
		g := &l.joint[i]
		copy(scratch, g.values(d.Field))
		*b = units.Block{First: g.First, Width: g.Units, In: scratch, Stride: g.Units, Rows: 1, Row: uint32(r), Model: d}
		g.Kind.Draw(x, b, stream)
	}
}

// NewGroups returns an RBM with Bernoulli hidden units and the given visible groups. See NewLayers.
func NewGroups(hidden int, visible ...Group) *RBM {
	return NewLayers(Group{Kind: Bernoulli, Units: hidden}, visible...)
}

// NewLayers returns an RBM with these hidden units and visible groups. It sets First of each
// group. Weights and biases are zero; other parameters of units have the initial values of their
// kind. It panics if a layer or a group has no unit, or if a group before the last is a label. It also panics
// if the hidden group is softmax or a label, or if hidden units are real and there is a label. Visible units
// may be of any kind, but data, files and some methods need a [units.VisibleKind], and some others one that
// passes CheckGaussian.
func NewLayers(hidden Group, visible ...Group) *RBM {
	if hidden.Joint() || hidden.Label {
		panic("rbm: hidden units are independent")
	}
	n := 0
	for _, g := range visible {
		if g.Units <= 0 {
			panic("rbm: a group without units")
		}
		n += g.Units
	}
	m := newRBM(n, hidden)
	m.setVisible(visible)
	return m
}

func (m *RBM) setVisible(groups []Group) {
	if m.hidden.isReal && groups[len(groups)-1].Label {
		panic("rbm: a label needs hidden units that are 0 or 1")
	}
	m.visible = newLayer(groups...)
	m.visible.dist.Field = m.VisibleBias
}

// Groups returns the groups of the visible layer. The caller must not change them.
func (m *RBM) Groups() []Group { return m.visible.groups }

// SameShape reports whether m and o have the same groups in both layers.
func (m *RBM) SameShape(o *RBM) bool {
	return slices.Equal(m.hidden.groups, o.hidden.groups) && slices.Equal(m.visible.groups, o.visible.groups)
}

// CheckBinary returns an error that wraps ErrUnits unless all units of m are Bernoulli
// units. The label may be a softmax group. Callers that enumerate or flip units need it.
func (m *RBM) CheckBinary() error {
	if err := m.checkBinaryInputs(); err != nil {
		return err
	}
	return m.CheckBinaryHidden()
}

// CheckBinaryHidden is CheckBinary for the hidden units alone.
func (m *RBM) CheckBinaryHidden() error {
	if m.hidden.isReal {
		return fmt.Errorf("%w: the hidden units are %v units", ErrUnits, m.HiddenKind())
	}
	return nil
}

func (m *RBM) checkBinaryInputs() error {
	for _, g := range m.visible.groups {
		if g.Real() || g.Joint() && !g.Label {
			return fmt.Errorf("%w: visible units %d … %d are one %v group", ErrUnits, g.First, g.First+g.Units-1, g.Kind)
		}
	}
	return nil
}

// CheckGaussian returns an error that wraps ErrUnits if m has real visible units that are not Gaussian.
// Callers need it that integrate real visible units out, or compute their densities.
func (m *RBM) CheckGaussian() error {
	for _, g := range m.visible.groups {
		if g.Real() && g.Kind != Gaussian {
			return fmt.Errorf("%w; of real visible units only Gaussian ones are supported here", g.refusal())
		}
	}
	return nil
}

// CheckBits returns an error that wraps ErrUnits if a layer of m has real units.
func (m *RBM) CheckBits() error {
	if err := m.CheckBinaryHidden(); err != nil {
		return err
	}
	for _, g := range m.visible.groups {
		if g.Real() {
			return g.refusal()
		}
	}
	return nil
}

// refusal is the error of a method that does not support the units of g, a visible group.
func (g Group) refusal() error {
	return fmt.Errorf("%w: visible units %d … %d are %v units", ErrUnits, g.First, g.First+g.Units-1, g.Kind)
}

// CheckSites returns an error if m has real visible and real hidden units, or does not pass CheckGaussian.
// Callers need the conditional density of one visible unit given all others, which has no simple form for such
// models.
func (m *RBM) CheckSites() error {
	if err := m.CheckGaussian(); err != nil {
		return err
	}
	if m.visible.isReal && m.hidden.isReal {
		return errors.New("real visible and real hidden units have no densities unit by unit; use hidden units of bits")
	}
	return nil
}

// Label returns the group of units that holds the class of an example, and
// whether there is one.
func (m *RBM) Label() (Group, bool) {
	if g := m.visible.groups[len(m.visible.groups)-1]; g.Label {
		return g, true
	}
	return Group{Kind: Softmax, First: m.Visible()}, false
}

func (m *RBM) labelGroup() Group {
	label, _ := m.Label()
	return label
}

// SetLabel makes the last visible units, as many as classes, a label of the given kind, and
// all others Bernoulli inputs. With classes = 0 there is no label. It panics if
// classes is negative or exceeds the number of visible units.
func (m *RBM) SetLabel(classes int, kind Kind) {
	inputs := m.Visible() - classes
	if classes < 0 || inputs < 0 {
		panic("rbm: classes out of range")
	}
	var groups []Group
	if inputs > 0 {
		groups = append(groups, Group{Kind: Bernoulli, Units: inputs})
	}
	if classes > 0 {
		groups = append(groups, Group{Kind: kind, Units: classes, Label: true})
	}
	m.setVisible(groups)
}

// Classes returns the number of label units, 0 if there is no label.
func (m *RBM) Classes() int {
	return m.labelGroup().Units
}

// Inputs returns the number of visible units that are not label units.
func (m *RBM) Inputs() int {
	return m.labelGroup().First
}

// SoftmaxGroups returns the softmax groups of the visible layer. The caller must not change them.
func (m *RBM) SoftmaxGroups() []Group { return m.visible.joint }

// CheckSoftmax returns an error unless each softmax group has exactly one unit on in every row
// of v. The error names the first bad row, counted from 0. Groups beyond the columns of v are
// not checked: v may have the inputs alone.
func (m *RBM) CheckSoftmax(v Values) error {
	for r := range v.Rows {
		for i := range m.visible.joint {
			g := &m.visible.joint[i]
			if g.First+g.Units > v.Cols {
				break
			}
			if on := v.countIn(r, g.First, g.First+g.Units); on != 1 {
				return fmt.Errorf("row %d has %d of units %d … %d on; a softmax group has one", r, on, g.First, g.First+g.Units-1)
			}
		}
	}
	return nil
}

// binary returns the number of Bernoulli visible units of a model that passes CheckBinary.
func (m *RBM) binary() int {
	if m.softmaxLabel() {
		return m.Inputs()
	}
	return m.Visible()
}

// softmaxLabel reports whether the label is a softmax group.
func (m *RBM) softmaxLabel() bool {
	label, ok := m.Label()
	return ok && label.Joint()
}

// values returns the part of x for the units of g. x has one value for each unit of the layer.
func (g Group) values(x []float32) []float32 { return x[g.First : g.First+g.Units] }

// LabelKind returns the kind of the label units. Without a label the result has no meaning.
func (m *RBM) LabelKind() Kind {
	return m.labelGroup().Kind
}
