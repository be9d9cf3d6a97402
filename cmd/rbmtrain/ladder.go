package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/report"
	"gorbm/train/rundir"
)

// A ladder reports on the temperatures of a run.
type ladder struct {
	negative negphase.Settings
	now      func() (negphase.Ladder, bool) // the current ladder; false: there is none
	state    *ladderState
}

// ladderState is the state of a ladder in a checkpoint.
type ladderState struct {
	Still       int64              `json:"still,omitempty"`        // number of rounds since the last measurement that counted a round trip
	FirstLadder *plots.NamedLadder `json:"first_ladder,omitempty"` // the ladder at its first measurement
}

// tempered reports whether the negative phase has a ladder of temperatures.
func tempered(s negphase.Settings) bool { return negphase.Has(s.Kind, "tau") }

// ladderColumns returns the columns of metrics.csv about the ladder. The number of
// temperatures of a tuned ladder changes, so it has columns for only two pairs: the
// coldest pair and the pair with the lowest rate of swaps.
func ladderColumns(s negphase.Settings) []string {
	if !tempered(s) {
		return nil
	}
	var c []string
	if t := s.Ladder().Temperatures; t.Auto {
		c = append(c, "temperatures", "swap_coldest", "swap_least")
	} else {
		for k := range len(t.List) - 1 {
			c = append(c, fmt.Sprintf("swap_%d_%d", k+1, k+2))
		}
	}
	for _, f := range columnFigures(s, negphase.Info{}, 0, true) {
		c = append(c, f.Key)
	}
	return append(c, "round_trips_per_1000", "barrier", "barrier_error", "association_deviation")
}

// ladderPanels are the panels of curves about the ladder.
var ladderPanels = []panel{
	{stem: "swap_", axis: "exchange of neighbours / % of attempts", scale: 100, counts: true, good: "20 to 60 % is good; near 0 the particles are independent single chains."},
	{stem: "off_weight", axis: "weight on hotter particles / %", scale: 100, counts: true, good: "More than a few per cent is good: the hotter particles then contribute to the estimate."},
	{stem: "temperatures", axis: "temperatures of the ladder / number", counts: true, whole: true, good: "A number that levels off is good: the ladder follows the model."},
	{stem: "barrier", axis: "barrier of the ladder / sum of rejections", counts: true, good: "Well below the number of temperatures is good: then neighbours exchange."},
	{stem: "round_trips_per_1000", axis: "round trips / per 1000 steps", counts: true, good: "More is better; with none, the hottest temperature does not refresh the coldest."},
}

// values returns the values of ladderColumns. Rates are over the since steps after the last
// measurement. The barrier and the deviation are measured since the temperatures last
// changed. At step 0 all values are 0.
func (d ladder) values(e train.Evaluation, since int) []float64 {
	l, ok := d.now()
	if !ok {
		return nil
	}
	rates := e.Info.SwapRates()
	if rates == nil {
		rates = make([]float64, len(l.Beta)-1)
	}
	v := rates
	if d.negative.Ladder().Temperatures.Auto {
		v = []float64{float64(len(l.Beta)), rates[0], slices.Min(rates)}
	}
	for _, f := range columnFigures(d.negative, e.Info, since, true) {
		if math.IsNaN(f.Value) {
			f.Value = 0
		}
		v = append(v, f.Value)
	}
	trips := 0.0
	if since > 0 {
		trips = 1000 * e.Info.Get(negphase.RoundTrips) / float64(since)
	}
	return append(v, trips, l.Barrier, l.BarrierErr, l.Deviation)
}

// pairColumns are the columns of ladder.csv, which has a row for each temperature.
// rejection is the rate of rejected swaps with the next higher temperature.
var pairColumns = []string{"step", "rung", "temperature", "beta", "rejection", "rejection_error"}

// named returns the current ladder, named after the step, and whether there is one.
func (d ladder) named(step int) (l plots.NamedLadder, ok bool) {
	l.Name = "step " + strconv.Itoa(step)
	l.Ladder, ok = d.now()
	return l, ok
}

// keepFirst stores the ladder for the picture, at the step before the first tuning, if the ladder is tuned.
func (d ladder) keepFirst(step int) {
	if !d.negative.Ladder().Temperatures.Auto || step != negphase.FirstTuning {
		return
	}
	if l, ok := d.named(step); ok {
		d.state.FirstLadder = &l
	}
}

// record adds the rejection rates of an evaluation to pairs, the table ladder.csv. It stores
// the first measured ladder for the picture.
func (d ladder) record(e train.Evaluation, pairs *rundir.Table) error {
	l, ok := d.named(e.Step)
	if !ok || l.Rounds == 0 {
		return nil
	}
	if d.state.FirstLadder == nil {
		d.state.FirstLadder = &l
	}
	for k, beta := range l.Beta {
		rejection, err := math.NaN(), math.NaN()
		if k < len(l.Rejection) {
			rejection = l.Rejection[k]
			if l.RejectionErr != nil {
				err = l.RejectionErr[k]
			}
		}
		if err := pairs.Add([]float64{float64(e.Step), float64(k + 1), 1 / beta, beta, rejection, err}); err != nil {
			return err
		}
	}
	return nil
}

// pictured returns the ladders that pictures show at a step: the first measured ladder and the current
// one. It returns nil if nothing was measured.
func (d ladder) pictured(step int) []plots.NamedLadder {
	now, ok := d.named(step)
	if !ok || now.Rounds == 0 {
		return nil
	}
	if first := d.state.FirstLadder; first != nil && first.Name != now.Name {
		return []plots.NamedLadder{*first, now}
	}
	return []plots.NamedLadder{now}
}

// picture returns ladder.png at a step, or nil if there is nothing to draw.
func (d ladder) picture(step int) *plots.Page {
	if ladders := d.pictured(step); ladders != nil {
		return plots.Ladders(ladders...)
	}
	return nil
}

// section returns the section of the report about the ladder at a step. Each column of page, with one ladder,
// is a separate picture, so that a narrow screen shows the columns below each other. If page is nil, section
// draws it.
func (d ladder) section(step int, page *plots.Page) (report.Section, error) {
	s := report.Section{Name: "The ladder of temperatures"}
	ladders := d.pictured(step)
	if page == nil && ladders != nil {
		page = plots.Ladders(ladders...)
	}
	for i, l := range ladders {
		var b bytes.Buffer
		if err := page.Columns(len(ladders))[i].Write(&b, plots.PNG); err != nil {
			return s, err
		}
		s.Pictures = append(s.Pictures, report.Picture{Title: "At " + l.Name, PNG: b.Bytes(), Width: ladderWidth,
			Alt:  "rejection rates between neighbouring temperatures, moves of particles between them, and their paths along the ladder",
			Note: "Good: rejection rates below 0.8 for all pairs, paths that cross from bottom to top, and an even grey in the last panel."})
	}
	return s, nil
}

// ladderWidth is the width of the picture of a ladder in a report, 11 cm in CSS pixels.
const ladderWidth = 416

// settledTunings is the number of tunings before which there is no early warning that a
// tuned ladder does not exchange. A tuning may double the number of temperatures: four
// tunings raise it from 5 to 64, the limit, and the fifth adapts these 64.
const settledTunings = 5

// settling reports whether it is too early to warn that a tuned ladder does not
// exchange. A ladder of two temperatures is never tuned.
func (d ladder) settling(info negphase.Info) bool {
	t := d.negative.Ladder().Temperatures
	return t.Auto && t.Number != 2 && info.Tuned < settledTunings
}

// early returns the warning during a run that the ladder does not exchange, or none. info has the counts
// since the last measurement.
func (d ladder) early(info negphase.Info) []diag.Warning {
	if w := d.negative.Exchange(info); w != nil && !d.settling(info) {
		return []diag.Warning{*w}
	}
	return nil
}

// countStill updates the number of rounds without a round trip. info has the counts of the since steps
// after the last measurement.
func (d ladder) countStill(info negphase.Info, since int) {
	d.state.Still += int64(since) * int64(d.negative.Count("swaps"))
	if info.Get(negphase.RoundTrips) > 0 {
		d.state.Still = 0
	}
}

// noTrips returns the warning that no particle has made a round trip in the last rounds, or none. See
// diag.TripRounds.
func (d ladder) noTrips() []diag.Warning {
	l, ok := d.now()
	if !ok || d.state.Still < diag.TripRounds {
		return nil
	}
	return []diag.Warning{{Kind: negphase.NoTrips, Help: []diag.Remedy{negphase.MoreSwaps, negphase.SmallerRate},
		Numbers: diag.Numbers{"temperatures": float64(len(l.Beta)), "rounds": float64(d.state.Still)}}}
}

// describe returns the closing line about the ladder, or "" if there is none. figures are derived from total,
// and standing has the final warnings.
func (d ladder) describe(total negphase.Info, figures []negphase.Figure, standing []diag.Warning) string {
	l, ok := d.now()
	rates := total.SwapRates()
	if !ok || rates == nil {
		return ""
	}
	verdict := "exchanges"
	switch {
	case diag.Has(standing, diag.FewSwaps), diag.Has(standing, negphase.NoOffWeight):
		verdict = "does not exchange"
	case diag.Has(standing, negphase.NoTrips):
		verdict = "nothing crosses it"
	}
	if l.Capped {
		verdict += ", though its barrier asks for more temperatures"
	}
	line := fmt.Sprintf("ladder: %s; %d temperatures from 1 to %s, neighbours exchange %s to %s over the run", verdict, len(l.Beta),
		plots.Temperature(l.Beta[len(l.Beta)-1]), cli.Percent(slices.Min(rates)), cli.Percent(slices.Max(rates)))
	for _, f := range figures {
		if f.Ladder && f.Text != "" {
			line += ", " + f.Text
		}
	}
	return line
}

// json returns the ladder for the JSON result, or nil if there is none.
func (d ladder) json() (rec cli.Record) {
	l, ok := d.now()
	if !ok {
		return nil
	}
	rec.Add("beta", l.Beta)
	rec.Add("rejection", l.Rejection)
	rec.AddSome("rejection_error", l.RejectionErr)
	rec.Add("barrier", l.Barrier)
	rec.Add("barrier_error", l.BarrierErr)
	rec.Add("association_deviation", l.Deviation)
	rec.Add("rounds", l.Rounds)
	rec.Add("tuned", l.Tuned)       // number of tunings
	rec.AddSome("capped", l.Capped) // the barrier needs more temperatures than allowed
	return rec
}
