package mcmc

import (
	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// loading is the working memory of Load. Load has three parallel loops: unpack copies states, one row per
// task; stripes sums preactivations, one stripe of units per task; settle sums energies, one row per task.
type loading struct {
	unpack, stripes, settle parallel.Loop
	now                     struct { // the arguments of the current Load
		s    []*RBM
		v, h rbm.Values
	}
}

func (l *loading) prepare(c *Parameters) {
	l.stripes.Body = c.addStripe
	l.unpack.Body = func(r int) {
		l.now.s[r].unpack(visible, l.now.v.Row(r))
		l.now.s[r].unpack(hidden, l.now.h.Row(r))
	}
	l.settle.Body = func(r int) { l.now.s[r].settle() }
}

// Load sets the state of each system s[r], which must have parameters c, to row r of v and h. Chains on
// these systems then need a Reset. It panics if the numbers of rows and systems differ, or if v or h has
// another number of units than c. It allocates nothing. Several goroutines load large models.
func (c *Parameters) Load(s []*RBM, v, h rbm.Values) {
	if v.Rows != len(s) || h.Rows != len(s) || v.Cols != c.units[visible] || h.Cols != c.units[hidden] {
		panic("mcmc: Load needs one row of visible and of hidden states per system")
	}
	for _, s := range s {
		if s.parameters != c {
			panic("mcmc: Load of a system on other parameters")
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
	l.now.s, l.now.v, l.now.h = nil, rbm.Values{}, rbm.Values{}
}

// stripe is the number of neighbouring preactivations that one task sums. The weights of a stripe
// occupy four cache lines of a row.
const stripe = 64

// stripes returns the number of stripes of a layer's preactivations.
func (c *Parameters) stripes(layer int) int { return (c.size[layer] + stripe - 1) / stripe }

// addStripe sums the preactivations in stripe i for all systems. The stripes of the hidden layer are
// numbered first, then those of the visible layer. It adds the rows of 64 units to all
// systems before it continues with the next 64 units, so that these 16 KB stay in the first-level cache.
func (c *Parameters) addStripe(i int) {
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
