package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gorbm/cmd/cli"
	"gorbm/negphase"
	"gorbm/train"
	"gorbm/train/plots"
	"gorbm/train/rundir"
)

// tempered reports whether the negative phase has a ladder of temperatures.
func (p *plan) tempered() bool { return negphase.Has(p.settings.Negative.Kind, "tau") }

// weighs reports whether the estimate is a weighted mean over particles at
// several temperatures.
func (p *plan) weighs() bool {
	return p.settings.Negative.Kind == "ins" || p.settings.Negative.Kind == "pins"
}

// ladderColumns are the columns of metrics.csv about the ladder. A tuned ladder
// changes its length, so its pairs have no columns of their own: there are two,
// for the coldest pair and for the one that exchanges least.
func (p *plan) ladderColumns() []string {
	if !p.tempered() {
		return nil
	}
	var c []string
	if t := p.settings.Negative.Ladder().Temperatures; t.Auto {
		c = append(c, "temperatures", "swap_coldest", "swap_least")
	} else {
		for k := range len(t.List) - 1 {
			c = append(c, fmt.Sprintf("swap_%d_%d", k+1, k+2))
		}
	}
	if p.weighs() {
		c = append(c, "off_weight")
	}
	return append(c, "round_trips_per_1000", "barrier", "barrier_error", "association_deviation")
}

// ladderPanels are the panels of curves about the ladder.
var ladderPanels = []panel{
	{stem: "swap_", axis: "exchange of neighbours / % of attempts", scale: 100, ofSteps: true},
	{stem: "off_weight", axis: "weight off the coldest particle / %", scale: 100, ofSteps: true},
	{stem: "temperatures", axis: "temperatures of the ladder / number", ofSteps: true, whole: true},
	{stem: "barrier", axis: "barrier of the ladder / sum of rejections", ofSteps: true},
	{stem: "round_trips_per_1000", axis: "round trips / per 1000 steps", ofSteps: true},
}

// ladderValues are the values of these columns. Rates count what happened since
// the last evaluation. The barrier and the deviation are measured since the
// temperatures last changed. At step 0 all are 0.
func (r *runner) ladderValues(e train.Evaluation) []float64 {
	l, ok := r.trainer.Ladder()
	if !ok {
		return nil
	}
	rates := e.Info.SwapRates()
	if rates == nil {
		rates = make([]float64, len(l.Beta)-1)
	}
	v := rates
	if r.settings.Negative.Ladder().Temperatures.Auto {
		v = []float64{float64(len(l.Beta)), rates[0], slices.Min(rates)}
	}
	if r.weighs() {
		off, _ := e.Info.OffWeight()
		v = append(v, off)
	}
	trips := 0.0
	if steps := e.Step - r.state.Measured; steps > 0 {
		trips = 1000 * float64(e.Info.RoundTrips) / float64(steps)
	}
	return append(v, trips, l.Barrier, l.BarrierErr, l.Deviation)
}

// pairColumns are the columns of ladder.csv. It has a row for each temperature;
// rejections are those of the pair with the next higher temperature.
var pairColumns = []string{"step", "rung", "temperature", "beta", "rejection", "rejection_error"}

// named returns the ladder as it is at a step, for a picture, and whether there
// is one.
func (r *runner) named(step int) (l plots.NamedLadder, ok bool) {
	l.Name = "step " + strconv.Itoa(step)
	l.Ladder, ok = r.trainer.Ladder()
	return l, ok
}

// keepFirst keeps a tuned ladder as it was just before the first tuning, for
// the picture.
func (r *runner) keepFirst(step int) {
	if !r.settings.Negative.Ladder().Temperatures.Auto || step != negphase.FirstTuning {
		return
	}
	if l, ok := r.named(step); ok {
		r.state.FirstLadder = &l
	}
}

// recordLadder writes to ladder.csv how the ladder exchanges at this
// evaluation. It keeps the first ladder that was measured for the picture.
func (r *runner) recordLadder(e train.Evaluation) error {
	l, ok := r.named(e.Step)
	if !ok || l.Rounds == 0 {
		return nil
	}
	if r.state.FirstLadder == nil {
		r.state.FirstLadder = &l
	}
	for k, beta := range l.Beta {
		rejection, err := math.NaN(), math.NaN()
		if k < len(l.Rejection) {
			rejection = l.Rejection[k]
			if l.RejectionErr != nil {
				err = l.RejectionErr[k]
			}
		}
		if err := r.pairs.Add([]float64{float64(e.Step), float64(k + 1), 1 / beta, beta, rejection, err}); err != nil {
			return err
		}
	}
	return nil
}

// drawLadder writes ladder.png: the ladder as it was first measured, or before
// it was tuned, and as it is now.
func (r *runner) drawLadder() error {
	now, ok := r.named(r.trainer.Steps())
	if !ok || now.Rounds == 0 {
		return nil
	}
	ladders := []plots.NamedLadder{now}
	if first := r.state.FirstLadder; first != nil && first.Name != now.Name {
		ladders = []plots.NamedLadder{*first, now}
	}
	return r.draws(rundir.LadderFile, plots.Ladders(ladders...))
}

// exchangeTries is the least number of attempts after which the rate of
// exchange of a pair is compared with the floor, cli.ExchangeFloor. A pair that
// exchanges five times as often as the floor fails a hundred attempts in a row
// with a probability of 0.6 %.
const exchangeTries = 1 / cli.ExchangeFloor

// settledTunings is the number of tunings after which a ladder that does not
// exchange is warned of before the end of the run. The number of temperatures
// may double at each tuning: four times take it from 5 to 64, the most that are
// taken, and the fifth places these.
const settledTunings = 5

// settling reports whether it is too early to warn that a tuned ladder does not
// exchange. A ladder of two temperatures is never tuned.
func (r *runner) settling(info negphase.Info) bool {
	t := r.settings.Negative.Ladder().Temperatures
	return t.Auto && t.Number != 2 && info.Tuned < settledTunings
}

// exchangeWarning returns a warning if the coldest pair of temperatures hardly
// exchanges, and "" if it does or if there are too few attempts to tell. info
// has the counts, and when says up to which step they were taken.
func (r *runner) exchangeWarning(info negphase.Info, when string) string {
	rates := info.SwapRates()
	if rates == nil || max(info.SwapTries[0], info.Groups) < exchangeTries {
		return ""
	}
	rate, what := rates[0], "swaps in"
	if off, ok := info.OffWeight(); ok {
		rate, what = off, "moves weight off the coldest particle in"
	}
	if rate >= cli.ExchangeFloor {
		return ""
	}
	l, ok := r.trainer.Ladder()
	if !ok {
		return "" // rungs of a trajectory are no temperatures
	}
	kind := r.settings.Negative.Kind
	remedy := "put -temperatures closer together, let them be tuned by -temperatures reach:5 or by -negphase pins -temperatures auto, or take pcd"
	switch t := r.settings.Negative.Ladder().Temperatures; {
	case t.Reach:
		remedy = "try a smaller -rate, so that the ladder can follow the model, or take pcd"
	case t.Auto && kind == "ins":
		remedy = "take pins, which may have more than 16 of them, or take pcd"
	case t.Auto:
		remedy = "allow more of them by -temperatures auto:NUMBER, or take pcd"
	}
	return fmt.Sprintf("the ladder does not exchange: the coldest pair (temperatures %s and %s) %s %s of attempts%s, so %s is pcd with %d times the chains to run; %s",
		plots.Temperature(l.Beta[0]), plots.Temperature(l.Beta[1]), what, cli.Percent(rate), when, kind, len(l.Beta), remedy)
}

// countStill counts the rounds since the last evaluation that saw a round trip.
func (r *runner) countStill(e train.Evaluation) {
	r.state.Still += int64(e.Step-r.state.Measured) * int64(r.settings.Negative.Count("swaps"))
	if e.Info.RoundTrips > 0 {
		r.state.Still = 0
	}
}

// tripRounds is the number of rounds without a round trip after which the run
// warns. The best ladder with the barrier Λ takes 2 + 2Λ rounds for one (Syed et
// al. 2022, section 3.5), which is far less at any Λ that the bound on the number
// of temperatures allows. A tuning interrupts all round trips, but each interval
// between two is a fifth of the steps before it: of the last 2000 rounds, more
// than 300 are in one interval.
const tripRounds = 2000

// tripWarning returns a warning if no particle has made a round trip from the
// coldest temperature to the hottest and back for long, and "" otherwise.
func (r *runner) tripWarning() string {
	l, ok := r.trainer.Ladder()
	if !ok || r.state.Still < tripRounds {
		return ""
	}
	return fmt.Sprintf("no particle has gone from the coldest of %d temperatures to the hottest and back in the last %d rounds: the hot end does not refresh the cold one; %s shows where they turn back; more rounds an update (-swaps) or a smaller -rate give them time",
		len(l.Beta), r.state.Still, r.folder.Path(rundir.LadderFile))
}

// ladderWarnings returns the warnings about the ladder at the end: that it does
// not exchange, or that no particle makes round trips.
func (r *runner) ladderWarnings(total negphase.Info) (exchange, trips string) {
	if exchange = r.exchangeWarning(total, ""); exchange != "" {
		return exchange, ""
	}
	return "", r.tripWarning()
}

// describeLadder prints the closing line about the ladder.
func (r *runner) describeLadder(w io.Writer, total negphase.Info) {
	l, ok := r.trainer.Ladder()
	rates := total.SwapRates()
	if !ok || rates == nil {
		return
	}
	verdict := "good"
	switch exchange, trips := r.ladderWarnings(total); {
	case exchange != "":
		verdict = "does not exchange"
	case trips != "":
		verdict = "nothing crosses it"
	}
	if l.Capped {
		verdict += ", though its barrier asks for more temperatures"
	}
	fmt.Fprintf(w, "ladder: %s; %d temperatures from 1 to %s, neighbours exchange %s to %s over the run, %s", verdict, len(l.Beta),
		plots.Temperature(l.Beta[len(l.Beta)-1]), cli.Percent(slices.Min(rates)), cli.Percent(slices.Max(rates)), cli.Count(total.RoundTrips, "round trip"))
	if off, ok := total.OffWeight(); ok {
		fmt.Fprintf(w, ", %s of the estimate's weight off the coldest particle", cli.Percent(off))
	}
	fmt.Fprintln(w)
}

// jsonLadder is the ladder in the JSON result.
type jsonLadder struct {
	Beta           []float64 `json:"beta"`
	Rejection      []float64 `json:"rejection"`
	RejectionError []float64 `json:"rejection_error,omitempty"`
	Barrier        float64   `json:"barrier"`
	BarrierError   float64   `json:"barrier_error"`
	Deviation      float64   `json:"association_deviation"`
	Rounds         int64     `json:"rounds"`
	Tuned          int64     `json:"tuned"`            // how often
	Capped         bool      `json:"capped,omitempty"` // the barrier asks for more temperatures
}

// jsonLadder returns the ladder for the JSON result; nil if there is none.
func (r *runner) jsonLadder() *jsonLadder {
	l, ok := r.trainer.Ladder()
	if !ok {
		return nil
	}
	return &jsonLadder{Beta: l.Beta, Rejection: l.Rejection, RejectionError: l.RejectionErr,
		Barrier: l.Barrier, BarrierError: l.BarrierErr, Deviation: l.Deviation, Rounds: l.Rounds, Tuned: l.Tuned, Capped: l.Capped}
}
