package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// tempered reports whether the negative phase has a ladder of temperatures.
func (p *plan) tempered() bool { return negphase.Has(p.settings.Negative.Kind, "tau") }

// weighs reports whether the estimate weighs particles of several
// temperatures.
func (p *plan) weighs() bool {
	return p.settings.Negative.Kind == "ins" || p.settings.Negative.Kind == "pins"
}

// ladderColumns are the columns of metrics.csv that belong to the ladder. A
// tuned one changes its length: there the coldest pair and the worst stand for
// all.
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

// ladderValues are the values of these columns. Rates are those since the
// evaluation before and the rest is measured since the ladder stands; at step
// 0, where there is nothing, they are 0.
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

// pairColumns are those of ladder.csv: a row a temperature, of a pair with the
// next one.
var pairColumns = []string{"step", "rung", "temperature", "beta", "rejection", "rejection_error"}

// keepFirst keeps a tuned ladder as it was before the first tuning, for the
// picture.
func (r *runner) keepFirst(step int) {
	if !r.settings.Negative.Ladder().Temperatures.Auto || step != negphase.FirstTuning {
		return
	}
	if l, ok := r.trainer.Ladder(); ok {
		r.state.FirstLadder = &train.NamedLadder{Name: "step " + strconv.Itoa(step), Ladder: l}
	}
}

// recordLadder writes how the ladder exchanges at this evaluation to
// ladder.csv, and keeps the first that was measured for the picture.
func (r *runner) recordLadder(e train.Evaluation) error {
	l, ok := r.trainer.Ladder()
	if !ok || l.Rounds == 0 {
		return nil
	}
	if r.state.FirstLadder == nil {
		r.state.FirstLadder = &train.NamedLadder{Name: "step " + strconv.Itoa(e.Step), Ladder: l}
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
	l, ok := r.trainer.Ladder()
	if !ok || l.Rounds == 0 {
		return nil
	}
	now := train.NamedLadder{Name: "step " + strconv.Itoa(r.trainer.Steps()), Ladder: l}
	ladders := []train.NamedLadder{now}
	if first := r.state.FirstLadder; first != nil && first.Name != now.Name {
		ladders = []train.NamedLadder{*first, now}
	}
	return rbm.ReplaceFile(r.folder.Path(train.LadderFile), func(w io.Writer) error { return train.Ladders(w, ladders...) })
}

// exchangeFloor is the rate of exchange of the coldest pair below which a
// ladder is called broken: at one exchange in a hundred attempts the replicas
// above serve a chain for nothing.
const exchangeFloor = 0.01

// exchangeTries is the least number of attempts that tell of such a rate: at
// five times the floor a hundred fail all by a chance of 0.6 %.
const exchangeTries = 1 / exchangeFloor

// settledTunings is the number of tunings after which a ladder that does not
// exchange is called broken before the end: it may double four times, from 5
// temperatures to 64, and the next tuning knows these.
const settledTunings = 5

// settling reports whether the ladder is to be tuned before it is judged.
func (r *runner) settling(info negphase.Info) bool {
	t := r.settings.Negative.Ladder().Temperatures
	return t.Auto && t.Number != 2 && info.Tuned < settledTunings // two are never tuned
}

// exchangeWarning says in plain words that the ladder does not exchange, by the
// counts of so many steps, or "".
func (r *runner) exchangeWarning(info negphase.Info, when string) string {
	rates := info.SwapRates()
	if rates == nil || max(info.SwapTries[0], info.Groups) < exchangeTries {
		return ""
	}
	rate, what := rates[0], "swaps in"
	if off, ok := info.OffWeight(); ok {
		rate, what = off, "moves weight off the coldest particle in"
	}
	if rate >= exchangeFloor {
		return ""
	}
	l, _ := r.trainer.Ladder()
	kind := r.settings.Negative.Kind
	remedy := "put -temperatures closer together, let them be tuned by -negphase pins -temperatures auto, or take pcd"
	if r.settings.Negative.Ladder().Temperatures.Auto {
		remedy = "allow more of them by -temperatures auto:NUMBER, or take pcd"
		if kind == "ins" {
			remedy = "take pins, which may have more than 16 of them, or take pcd"
		}
	}
	return fmt.Sprintf("the ladder does not exchange: the coldest pair (temperatures %s and %s) %s %s of attempts%s, so %s is pcd with %d times the chains to run; %s",
		train.Temperature(l.Beta[0]), train.Temperature(l.Beta[1]), what, percent(rate), when, kind, len(l.Beta), remedy)
}

// countStill counts the rounds since the last measurement with a round trip.
func (r *runner) countStill(e train.Evaluation) {
	r.state.Still += int64(e.Step-r.state.Measured) * int64(r.settings.Negative.Count("swaps"))
	if e.Info.RoundTrips > 0 {
		r.state.Still = 0
	}
}

const (
	// tripRounds is the number of rounds without a round trip after which a
	// ladder is called broken: many times the 2 + 2Λ rounds that the best one
	// takes (Syed et al. 2022, section 3.5) at any barrier that the bound on
	// temperatures allows.
	tripRounds = 2000
	// tripTime is how long a ladder must have stood, as each tuning begins all
	// round trips anew: twice what one takes in the best ladder of 64 temperatures,
	// of which every particle may make one.
	tripTime = 256
)

// tripWarning says that nothing comes from the hot end of a ladder to the cold
// one, or does no longer, or "".
func (r *runner) tripWarning() string {
	l, ok := r.trainer.Ladder()
	if !ok || r.state.Still < tripRounds || l.Rounds < tripTime {
		return ""
	}
	return fmt.Sprintf("no particle has gone from the coldest of %d temperatures to the hottest and back in the last %d rounds: the hot end does not refresh the cold one; %s shows where they turn back; more rounds an update (-swaps) or a smaller -rate give them time",
		len(l.Beta), r.state.Still, r.folder.Path(train.LadderFile))
}

// describeLadder prints the closing lines of a ladder.
func (r *runner) describeLadder(w io.Writer, total negphase.Info) {
	l, ok := r.trainer.Ladder()
	rates := total.SwapRates()
	if !ok || rates == nil {
		return
	}
	if r.settings.Negative.Ladder().Temperatures.Auto {
		most := ""
		if l.Capped {
			most = ", the most that are taken, where the barrier asks for more"
		}
		fmt.Fprintf(w, "ladder: %d temperatures from 1 to %s%s; its coldest pair exchanges %s, the worst %s\n", len(l.Beta),
			train.Temperature(l.Beta[len(l.Beta)-1]), most, percent(rates[0]), percent(slices.Min(rates)))
	} else {
		var s []string
		for k, rate := range rates {
			s = append(s, fmt.Sprintf("%s–%s %s", train.Temperature(l.Beta[k]), train.Temperature(l.Beta[k+1]), percent(rate)))
		}
		fmt.Fprintf(w, "exchange between temperatures: %s\n", strings.Join(s, ", "))
	}
	fmt.Fprintf(w, "barrier between its ends, by the sum of rejections: %s; %d round trips; particles' shares of time at each temperature within %.2g of %.2g\n",
		train.WithError(l.Barrier, l.BarrierErr), total.RoundTrips, l.Deviation, 1/float64(len(l.Beta)))
	if off, ok := total.OffWeight(); ok {
		fmt.Fprintf(w, "weight of the estimate off the coldest particle: %s\n", percent(off))
	}
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

func (r *runner) jsonLadder() *jsonLadder {
	l, ok := r.trainer.Ladder()
	if !ok {
		return nil
	}
	return &jsonLadder{Beta: l.Beta, Rejection: l.Rejection, RejectionError: l.RejectionErr,
		Barrier: l.Barrier, BarrierError: l.BarrierErr, Deviation: l.Deviation, Rounds: l.Rounds, Tuned: l.Tuned, Capped: l.Capped}
}
