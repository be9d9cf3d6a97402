package sample

import (
	"math"

	"gorbm/rbm"
)

// A Cell is a variable among the inputs: a binary unit, the units of a softmax group, or a real unit.
//
// The levels of a real unit are the nodes of a grid (see rbm.Nodes), shifted so that one node is the unit's value in a
// row. Sums over the nodes approximate integrals.
type Cell struct {
	First, Units int // index of the first unit, and number of units

	nodes rbm.Nodes // grid of a real unit; for other cells N is 0
}

// Cells returns the variables among the inputs of m.
func Cells(m *rbm.RBM) (cells []Cell) {
	for _, g := range m.Groups() {
		if !g.Label && g.Joint() {
			cells = append(cells, Cell{First: g.First, Units: g.Units})
			continue
		}
		for i := g.First; i < g.First+g.Units && !g.Label; i++ {
			if g.Real() {
				cells = append(cells, Cell{First: i, Units: 1, nodes: m.Nodes(i)})
			} else {
				cells = append(cells, Cell{First: i, Units: 1})
			}
		}
	}
	return cells
}

func (c *Cell) real() bool { return c.nodes.N > 0 }

// Levels returns the number of states of the cell; for a real unit, the number of nodes.
func (c *Cell) Levels() int {
	if c.real() {
		return c.nodes.N
	}
	return max(2, c.Units)
}

// value returns the value of a real unit in row r of v; for other cells 0.
func (c *Cell) value(v rbm.Values, r int) float32 {
	if c.real() {
		return v.At(r, c.First)
	}
	return 0
}

// Level returns the state of the cell in row r of v; for a real unit, the number of the node at its value.
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

// node returns the value of node k, in the grid that is shifted so that x is a node.
func (c *Cell) node(k int, x float32) float64 {
	at := (float64(x) - c.nodes.Low) / c.nodes.Step
	part := at - math.Floor(at)
	if k == c.number(x) {
		return float64(x)
	} else if !(at >= 0 && at < float64(c.nodes.N)) {
		part = 0
	}
	return c.nodes.Low + float64(c.nodes.Step*(float64(k)+part))
}

// put sets the state of the cell in row r of v. It sets a real unit to node(level, x).
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

// logStep returns the logarithm of the distance between the nodes of a real unit; 0 for other cells. A
// sum over the nodes times this distance approximates an integral.
func (c *Cell) logStep() float64 {
	if c.real() {
		return rbm.Log(c.nodes.Step)
	}
	return 0
}
