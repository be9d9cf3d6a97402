package sample

import (
	"math"

	"gorbm/rbm"
	"gorbm/rbm/units"
)

// A Cell is a variable among the inputs: a binary unit, the units of a softmax group, or a real unit.
//
// The levels of a real unit are its rbm.Nodes, shifted so that one of them is its value in a row: sums over them are
// integrals.
type Cell struct {
	First, Units int

	nodes rbm.Nodes // of a real unit; N is 0 of others
}

// Cells returns the variables among the inputs of m.
func Cells(m *rbm.RBM) (cells []Cell) {
	for _, g := range m.Groups() {
		if !g.Label && g.Kind.Support() == units.OneHot {
			cells = append(cells, Cell{First: g.First, Units: g.Units})
			continue
		}
		for i := g.First; i < g.First+g.Units && !g.Label; i++ {
			if g.Kind.Support() == units.Real {
				cells = append(cells, Cell{First: i, Units: 1, nodes: m.Nodes(i)})
			} else {
				cells = append(cells, Cell{First: i, Units: 1})
			}
		}
	}
	return cells
}

// real reports whether the cell is a real unit.
func (c *Cell) real() bool { return c.nodes.N > 0 }

// Levels returns the number of states of the cell; for a real unit, the number of its nodes.
func (c *Cell) Levels() int {
	if c.real() {
		return c.nodes.N
	}
	return max(2, c.Units)
}

// value returns the value of a real unit in row r of v; 0 of other cells.
func (c *Cell) value(v rbm.Values, r int) float32 {
	if c.real() {
		return v.At(r, c.First)
	}
	return 0
}

// Level returns the state of the cell in row r of v; for a real unit, the number of the node that is its value.
func (c *Cell) Level(v rbm.Values, r int) int {
	if c.real() {
		return c.number(v.At(r, c.First))
	}
	if c.Units == 1 {
		return int(v.At(r, c.First))
	}
	for k := range c.Units {
		if v.At(r, c.First+k) != 0 {
			return k
		}
	}
	return 0
}

// number returns the number of the node at x. A value beyond all nodes gets the number of the first node, because
// both contribute nothing to a sum.
func (c *Cell) number(x float32) int {
	k := math.Floor((float64(x) - c.nodes.Low) / c.nodes.Step)
	if !(k >= 0 && k < float64(c.nodes.N)) {
		return 0
	}
	return int(k)
}

// node returns the value of node k of the grid that goes through x.
func (c *Cell) node(k int, x float32) float64 {
	at := (float64(x) - c.nodes.Low) / c.nodes.Step
	part := at - math.Floor(at)
	if own := c.number(x); k == own {
		return float64(x)
	} else if !(at >= 0 && at < float64(c.nodes.N)) {
		part = 0
	}
	return c.nodes.Low + float64(c.nodes.Step*(float64(k)+part))
}

// put sets the state of the cell in row r of v. A real unit is set to a node of the grid that goes through x.
func (c *Cell) put(v rbm.Values, r, level int, x float32) {
	switch {
	case c.real():
		v.Put(r, c.First, float32(c.node(level, x)))
	case c.Units == 1:
		v.Set(r, c.First, level == 1)
	default:
		for k := range c.Units {
			v.Set(r, c.First+k, k == level)
		}
	}
}

// logStep returns the logarithm of the factor that turns a sum over the levels of the cell into an integral,
// 0 unless the cell is a real unit.
func (c *Cell) logStep() float64 {
	if c.real() {
		return rbm.Log(c.nodes.Step)
	}
	return 0
}
