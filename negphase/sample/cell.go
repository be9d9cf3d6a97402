package sample

import (
	"gorbm/rbm"
)

// A Cell is a variable among the visible units: a binary unit, the units of a softmax group, or a real unit. The
// levels of a real unit are the nodes of a grid (see rbm.Nodes). Sums over the nodes approximate integrals.
type Cell struct {
	First, Units int // index of the first unit, and number of units

	nodes rbm.Nodes // grid of a real unit; for other cells N is 0
}

// Cells returns the variables among the inputs of m and then its label, if it has a softmax label.
func Cells(m *rbm.RBM) (cells []Cell) {
	for _, g := range m.Groups() {
		if g.Joint() {
			cells = append(cells, Cell{First: g.First, Units: g.Units})
			continue
		}
		for i := g.First; i < g.First+g.Units && !g.Label; i++ {
			c := Cell{First: i, Units: 1}
			if g.Real() {
				c.nodes = m.Nodes(i)
			}
			cells = append(cells, c)
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

// Level returns the state of the cell in row r of v; for a real unit 0.
func (c *Cell) Level(v rbm.Values, r int) int {
	if c.Units == 1 && !c.real() {
		return int(v.At(r, c.First))
	}
	for k := range c.Units {
		if v.At(r, c.First+k) != 0 {
			return k
		}
	}
	return 0
}

// node returns the value of node k.
func (c *Cell) node(k int) float64 { return c.nodes.Low + float64(float64(k)*c.nodes.Step) }

// put sets the state of the cell in row r of v; a real unit gets the value of a node.
func (c *Cell) put(v rbm.Values, r, level int) {
	switch {
	case c.real():
		v.Put(r, c.First, float32(c.node(level)))
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
