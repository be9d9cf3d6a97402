package mcmc

import (
	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// loading is what Load works with: it takes the states over, a row at a time,
// sums preactivations, a stripe of them at a time, and takes what follows from
// them, a row at a time.
type loading struct {
	unpack, stripes, settle parallel.Loop
	now                     struct {
		s    []*RBM
		v, h rbm.Bits
	}
}

func (l *loading) prepare(c *Machine) {
	l.unpack.Body, l.stripes.Body = c.unpack, c.addStripe
	l.settle.Body = func(r int) { l.now.s[r].settle() }
}

// Load makes row r of v and h the state of s[r], systems on c. It sums all
// preactivations anew, of all systems together; chains on them need a Reset
// then. It panics if there are not as many rows as systems, or if they are of
// another shape; it allocates nothing. Large ones are shared out among
// goroutines.
func (c *Machine) Load(s []*RBM, v, h rbm.Bits) {
	if v.Rows != len(s) || h.Rows != len(s) || v.Cols != c.units[visible] || h.Cols != c.units[hidden] {
		panic("mcmc: Load needs one row of visible and of hidden states a system")
	}
	for _, s := range s {
		if s.machine != c {
			panic("mcmc: Load of a system on another machine")
		}
	}
	if len(s) == 0 {
		return
	}
	l, cost := &c.loading, c.cost(len(s))
	l.now.s, l.now.v, l.now.h = s, v, h
	l.unpack.Run(len(s), cost)
	l.stripes.Run(c.stripes(visible)+c.stripes(hidden), cost)
	l.settle.Run(len(s), cost)
	l.now.s, l.now.v, l.now.h = nil, rbm.Bits{}, rbm.Bits{}
}

// unpack takes row r over.
func (c *Machine) unpack(r int) {
	now := &c.loading.now
	now.s[r].unpack(visible, now.v.Row(r))
	now.s[r].unpack(hidden, now.h.Row(r))
}

// stripe is the number of preactivations that are summed together, a cache line
// or more of each row.
const stripe = 64

// stripes returns the number of stripes of a layer's preactivations.
func (c *Machine) stripes(layer int) int { return (c.size[layer] + stripe - 1) / stripe }

// addStripe sums stripe i, of those of the hidden layer and then of the visible
// one, for all systems. It takes the rows of 64 units for all systems before
// the next: these 16 KB stay in the first-level cache.
func (c *Machine) addStripe(i int) {
	from, at := visible, i*stripe
	if n := c.stripes(hidden); i >= n {
		from, at = hidden, (i-n)*stripe
	}
	to := min(at+stripe, c.size[1-from])
	all, row, stride := c.loading.now.s, c.row[from], c.stride[1-from]
	for word := range words(c.units[from]) {
		for _, s := range all {
			walk.AddRows(s.field[1-from][at:to], row[at:], stride, s.on[from][s.cut[from][word]:s.cut[from][word+1]])
		}
	}
}
