package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
)

// moments are the traces of x, |x|, x² and x⁴ of an observable x in [−1, 1].
type moments struct{ Value, Abs, Square, Fourth *diag.Trace }

// momentsLimit is the largest number of blocks of a trace of moments. Errors need blocks
// shorter than the autocorrelation time. A run whose blocks are longer has thousands of
// independent values, so that the errors are good anyway.
const momentsLimit = 1 << 14

func newTrace() *diag.Trace { return diag.NewTrace(momentsLimit) }

func newMoments() *moments { return &moments{newTrace(), newTrace(), newTrace(), newTrace()} }

func (m *moments) add(x float64) { m.addMean(x, x, 1) }

// addMean adds the powers of x and y, averaged with the weights w and 1 − w.
func (m *moments) addMean(x, y, w float64) {
	m.Value.Add(mean(x, y, w))
	m.Abs.Add(mean(math.Abs(x), math.Abs(y), w))
	x, y = float64(x*x), float64(y*y)
	m.Square.Add(mean(x, y, w))
	m.Fourth.Add(mean(float64(x*x), float64(y*y), w))
}

// mean returns w·x + (1−w)·y, and exactly x if w is 1.
func mean(x, y, w float64) float64 {
	if w == 1 {
		return x
	}
	return float64(w*x) + float64((1-w)*y)
}

// spread returns scale·(<x²> − <x>²) from the traces of x and x².
func spread(scale float64, x, xSquare *diag.Trace) estimate {
	mean, square := x.Summary().Mean, xSquare.Summary().Mean
	return estimate{
		scale * (square - float64(mean*mean)),
		scale * diag.FunctionError([]float64{1, -2 * mean}, xSquare, x),
	}
}

// binder returns the Binder cumulant 1 − <x⁴>/(3<x²>²).
func (m *moments) binder() estimate {
	square, fourth := m.Square.Summary().Mean, m.Fourth.Summary().Mean
	norm := 1 / (3 * square * square)
	return estimate{1 - fourth*norm, diag.FunctionError([]float64{-norm, 2 * fourth * norm / square}, m.Fourth, m.Square)}
}

// An estimate is a number with its standard error.
type estimate struct{ mean, err float64 }

// A pick selects the moments of the magnetisation or of the overlap.
type pick func(o *observables) *moments

func spins(o *observables) *moments   { return o.Spins }
func overlap(o *observables) *moments { return o.Overlap }

// value, abs and square return the means of x, |x| and x² over all chains.
func (r row) value(x pick) estimate {
	return r.traceMean(func(o *observables) *diag.Trace { return x(o).Value })
}
func (r row) abs(x pick) estimate {
	return r.traceMean(func(o *observables) *diag.Trace { return x(o).Abs })
}
func (r row) square(x pick) estimate {
	return r.traceMean(func(o *observables) *diag.Trace { return x(o).Square })
}
func (r row) binder(x pick) estimate {
	return r.mean(func(o *observables) estimate { return x(o).binder() })
}

func (r row) traceMean(trace func(o *observables) *diag.Trace) estimate {
	s := r.summary(func(m *measured) *diag.Trace { return trace(m.Observables) })
	return estimate{s.Mean, s.StdErr}
}

func (n estimate) String() string { return withError(n.mean, n.err) }

// observables are the measurements of -observables and -overlap for a sampler, after each
// move.
type observables struct {
	Origin       float64     // an energy near the mean, which avoids cancellation in the variance
	Energy       *diag.Trace // energy − Origin
	EnergySquare *diag.Trace // (energy − Origin)²
	Spins        *moments    // moments of the magnetisation per spin; nil if it is fixed
	Overlap      *moments    // moments of the overlap with the second replica; nil without one
}

// A reading is the energy and the magnetisation per spin of a state.
type reading struct{ energy, m float64 }

// read returns the energy of a state, including c.shift, and its magnetisation per spin if requested.
func (c *contestant) read(s mcmc.System, magnetisation bool) reading {
	r := reading{energy: s.Energy() + c.shift}
	if magnetisation {
		state := s.State()
		r.m = 2*float64(countOnes(state))/float64(len(state)) - 1
	}
	return r
}

// add adds the mean of two readings with the weights w and 1 − w.
func (o *observables) add(x, y reading, w float64) {
	a, b := x.energy-o.Origin, y.energy-o.Origin
	o.Energy.Add(mean(a, b, w))
	o.EnergySquare.Add(mean(float64(a*a), float64(b*b), w))
	if o.Spins != nil {
		o.Spins.addMean(x.m, y.m, w)
	}
}

// within returns the variance of the energies of two readings with the weights w and 1 − w.
func within(x, y reading, w float64) float64 {
	d := x.energy - y.energy
	return w * (1 - w) * float64(d*d)
}

// readings returns the reading x of the state after a move, with weight w = 1. For ins, y is the reading of
// the replica that shares the coldest temperature, and the weights are w and 1 − w.
func (c *contestant) readings(magnetisation bool) (x, y reading, w float64) {
	x, w = c.read(c.system, magnetisation), 1
	if c.ladder != nil {
		var partner int
		if w, partner = c.ladder.Weight(0); partner != 0 {
			return x, c.read(c.ladder.Replica(partner), magnetisation), w
		}
	}
	return x, x, w
}

// observe adds the values of the current state. The overlap is between the coldest replicas of c and its twin.
func (c *contestant) observe() {
	o := c.Observables
	x, y, weight := c.readings(o.Spins != nil)
	if o.Energy.Len() == 0 {
		o.Origin = x.energy
	}
	o.add(x, y, weight)
	if o.Overlap != nil {
		state := c.system.State()
		differ := countDifferent(state, c.twin.system.State())
		o.Overlap.add(1 - 2*float64(differ)/float64(len(state)))
	}
}

func newObservables(magnetisation, overlap bool) *observables {
	o := &observables{Energy: newTrace(), EnergySquare: newTrace()}
	if magnetisation {
		o.Spins = newMoments()
	}
	if overlap {
		o.Overlap = newMoments()
	}
	return o
}

// resetObservables discards all measurements.
func (c *contestant) resetObservables() {
	if o := c.Observables; o != nil {
		c.Observables = newObservables(o.Spins != nil, o.Overlap != nil)
	}
}

// A twin is the second replica of -overlap.
type twin struct {
	system system
	chain  mcmc.Chain
	rand   *rand.Rand
}

// countOnes returns the number of ones in a state of zeros and ones.
func countOnes(state []uint8) (n int) {
	for ; len(state) >= 8; state = state[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(state))
	}
	for _, x := range state {
		n += int(x)
	}
	return n
}

// countDifferent returns the number of sites at which two states of equal length differ.
func countDifferent(a, b []uint8) (n int) {
	for ; len(a) >= 8; a, b = a[8:], b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(a) ^ binary.LittleEndian.Uint64(b))
	}
	for i, x := range a {
		n += int(x ^ b[i])
	}
	return n
}

// specificHeat returns β²(<E²> − <E>²)/N.
func (r row) specificHeat() estimate {
	scale := r.beta * r.beta / float64(r.system.Len())
	return r.mean(func(o *observables) estimate { return spread(scale, o.Energy, o.EnergySquare) })
}

// susceptibility returns βN(<m²> − <|m|>²).
func (r row) susceptibility() estimate {
	scale := r.beta * float64(r.system.Len())
	return r.mean(func(o *observables) estimate { return spread(scale, o.Spins.Abs, o.Spins.Square) })
}

// An observable is a quantity of -observables or -overlap. Samplers are compared by it.
type observable struct {
	key, label string // name in JSON and in tables; label "": not in tables
	name       string // name in comparisons
	moments    pick   // moments that it needs; nil: moments of the energy
	value      func(r row) estimate
}

// allObservables has all observables in the order of tables.
var allObservables = []observable{
	{"specific_heat", "specific heat", "the specific heat", nil, row.specificHeat},
	{"magnetisation_mean", "m", "m", spins, func(r row) estimate { return r.value(spins) }},
	{"abs_magnetisation_mean", "|m|", "|m|", spins, func(r row) estimate { return r.abs(spins) }},
	{"squared_magnetisation_mean", "", "m²", spins, func(r row) estimate { return r.square(spins) }},
	{"susceptibility", "susceptibility", "the susceptibility", spins, row.susceptibility},
	{"binder_cumulant", "Binder cumulant", "the Binder cumulant of m", spins, func(r row) estimate { return r.binder(spins) }},
	{"abs_overlap_mean", "|q|", "|q|", overlap, func(r row) estimate { return r.abs(overlap) }},
	{"squared_overlap_mean", "q²", "q²", overlap, func(r row) estimate { return r.square(overlap) }},
	{"overlap_binder_cumulant", "Binder cumulant of q", "the Binder cumulant of q", overlap, func(r row) estimate { return r.binder(overlap) }},
}

// all returns the observables that are measured.
func (o *observables) all() []observable {
	return slices.DeleteFunc(slices.Clone(allObservables), func(x observable) bool { return o == nil || x.moments != nil && x.moments(o) == nil })
}

// observed returns the observables of a sampler for JSON and tables.
func (r row) observed() (rec cli.Record) {
	for _, x := range r.Observables.all() {
		n := x.value(r)
		rec.Show(x.key, x.label, n.mean, n.String())
		rec.Add(strings.TrimSuffix(x.key, "_mean")+"_std_err", n.err)
	}
	return rec
}

// printObservables prints a table of the observables, with a line for each sampler.
func printObservables(w io.Writer, rows []row) error {
	table := observablesTable(rows)
	if table == nil {
		return nil
	}
	fmt.Fprintln(w)
	return cli.PrintTable(w, table, true)
}

// observablesTable returns the table of the observables, or nil if none were measured.
func observablesTable(rows []row) [][]string {
	if rows[0].Observables == nil {
		return nil
	}
	var all []cli.Record
	for _, r := range rows {
		all = append(all, append(cli.Record{{Label: "sampler", Text: r.name}}, r.observed()...))
	}
	return cli.Table(all)
}
