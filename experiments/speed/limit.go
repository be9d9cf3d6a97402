package main

import "math"

// A Limit is the least time that the processor could need for an update: what
// an update must do at least, counted in vectors of sixteen float32, at the
// rates that were measured in the same run. Loads that miss the first-level
// cache, bookkeeping and the energies of pt and ins are not in it.
type Limit struct {
	Densities  densities `json:"densities"`
	LoadAdds   float64   `json:"load_adds"`   // up pass and ascent: a row of weights for each active unit
	Adds       float64   `json:"adds"`        // down pass: tables, or masked additions
	PermuteAdd float64   `json:"permute_add"` // down pass: looked up in tables
	Draws      float64   `json:"draws"`
	Seconds    float64   `json:"seconds"` // of one core
}

const lanes = 16

// newLimit counts the operations of an update. Every active unit of the data and
// of the chains adds its row of weights on the way up, and a row of means to the
// weights in the ascent, if it is in the estimate. There are two ways down, of
// which the faster counts. One uses tables of the sums of all subsets of four hidden
// units: they are made by four additions a row of weights, and serve 16 chains by a
// permutation and an addition. The other is an addition for each chain and 16
// hidden units, masked by those that are on.
func newLimit(j job, d densities, r rates) Limit {
	chains, groups := float64(j.Chains*max(1, len(j.Betas))), float64(j.Chains)
	if j.Kind != "pt" {
		groups = chains
	}
	n, wide := float64(j.Visible), math.Ceil(float64(j.Hidden)/lanes)
	data := float64(j.Batch) * n * d.Data
	l := Limit{Densities: d}
	l.LoadAdds = (data+chains*n*d.Visible)*wide + (data+groups*n*d.Estimate)*wide
	l.Draws = chains * float64(j.Visible+j.Hidden)

	quads := math.Ceil(float64(j.Hidden) / 4)
	looked, made := n*quads*math.Ceil(chains/lanes), n*quads*4
	masked := n * wide * chains
	if looked/r.PermuteAdd+made/r.Add < masked/r.Add {
		l.PermuteAdd, l.Adds = looked, made
	} else {
		l.Adds = masked
	}
	l.Seconds = l.LoadAdds/r.LoadAdd + l.Adds/r.Add + l.Draws/r.Draw
	if l.PermuteAdd > 0 {
		l.Seconds += l.PermuteAdd / r.PermuteAdd
	}
	return l
}

// limit writes the limit of updates to out, if it can be measured. p is gorbm with
// one thread, which has the job.
func (r *race) limit(it item, p *child, out *Item) error {
	if it.operation != "update" || p.program != gorbm || it.job.Kind == "discriminative" || it.job.recipe != (recipe{}) { // of which nobody has counted the operations
		return nil
	}
	said, err := p.ask(request{Do: "rates"})
	if err != nil {
		return err
	}
	best := *said.Rates
	if r.best != nil {
		best.Rates, best.Draw = best.Max(r.best.Rates), max(best.Draw, r.best.Draw)
	}
	r.best = &best
	if best.LoadAdd == 0 {
		return nil
	}
	if said, err = p.ask(request{Do: "densities"}); err != nil {
		return err
	}
	l := newLimit(it.job, *said.Densities, best)
	out.Limit = &l
	return nil
}
