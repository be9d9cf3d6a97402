package train

import (
	"fmt"
	"math"
	"slices"

	"gorbm/negphase/diag"
	"gorbm/rbm"
)

// A mixingPoint is the part of a measurement that the verdict uses.
type mixingPoint struct {
	Step    int     `json:"step"`
	Updates int     `json:"updates"` // number of updates of the continued chains
	Chains  float64 `json:"chains"`  // number of chains
	Drift   float64 `json:"drift"`   // change of the mean free energy, in standard deviations of the free energy
	Nats    float64 `json:"nats"`    // the same change in nats

	Left   float64 `json:"left"`   // how far chains have moved from earlier states: see pastStates.left
	Places int     `json:"places"` // number of chains that Left compares; 0: Left is not known
	Since  int     `json:"since"`  // number of updates since the earlier states

	// Distances of the continued chains from fresh chains that started from the data and from the base
	// rates, and of these two from each other. They are in standard deviations of distances by chance. If
	// Compared is false there were no fresh chains.
	Compared bool    `json:"compared"`
	Data     float64 `json:"data"`
	Base     float64 `json:"base"`
	Fresh    float64 `json:"fresh"`
}

// leastSD is the smallest standard deviation of free energies, in nats, that a drift is divided by. If
// chains hardly differ, a change of a tenth of a nat means nothing.
const leastSD = 0.1

// point returns the drift: the chains' mean free energy over the last third of the trace, minus their mean
// free energy after the first update. The particles after the first update are those that the next update
// of training would use. The drift is divided by the standard deviation of single values in the last third,
// or by sd if that is larger, because few chains may have too small a deviation.
func (c *continuation) point(sd float64) mixingPoint {
	p := mixingPoint{Chains: float64(len(c.trace))}
	var late []float64
	for _, x := range c.trace {
		last := x[len(x)-(len(x)+2)/3:]
		late = append(late, last...)
		mean, _ := diag.MeanVariance(last)
		p.Nats += (mean - x[0]) / p.Chains
	}
	_, variance := diag.MeanVariance(late)
	p.Drift = p.Nats / max(math.Sqrt(variance), sd, leastSD)
	return p
}

// The verdict combines the last windowPoints measurements.
const (
	// Before the end of the run it needs leastPoints measurements, because a run may begin with a jump.
	windowPoints, leastPoints = 6, 3
	// At the end of a schedule that ends at rate 0 only the last endPoints measurements count.
	endPoints = 2
	// Chains lag behind the model if their mean free energy drifts by leastDrift standard deviations as
	// soon as the model is fixed, and by driftZ standard errors. Two normal distributions one standard
	// deviation apart share 62 % of their mass. The difference of two means of n chains in equilibrium has
	// a variance of at most 2/n, so that a false alarm has a probability of at most 3·10⁻⁵ per measurement:
	// see TestMixingFalseAlarms.
	leastDrift, driftZ = 0.9, 4
	// Drifts below leastNats are ignored, however narrow the distribution of free energies, because the
	// model is hardly wrong then. Ladders drifted by 0.55 nats in a run that learnt a distribution of four
	// modes to within 0.1 nats.
	leastNats = 1
	// Chains are stuck if they are at least stuckZ standard deviations away from both kinds of fresh
	// chains, while these two agree to within agreeZ.
	stuckZ, agreeZ = 5, 2
	// Chains hardly move if pastStates.left, after leftEvery updates or more, is at most leastLeft and at
	// least stillZ standard errors below 1. For chains that never leave two modes it is 0.5, and for chains
	// in more modes less. The standard error is that of independent chains (placesVariance). In simulations
	// with at least leastPlaces such chains, at most one window in 100,000 had a false alarm.
	leastLeft, stillZ, leastPlaces = 0.55, 5, 4
)

// lag returns the mean drift over the window, in standard deviations and in nats,
// and whether it is more than chance.
func lag(window []mixingPoint) (drift, nats float64, clear bool) {
	chains := 0.0
	for _, p := range window {
		drift += p.Drift / float64(len(window))
		nats += p.Nats / float64(len(window))
		chains += p.Chains
	}
	z := math.Abs(drift) * math.Sqrt(chains/2)
	return drift, nats, math.Abs(drift) >= leastDrift && z >= driftZ && math.Abs(nats) >= leastNats
}

// stuck returns how far the chains are from the nearer kind of fresh chains, in standard deviations: the
// sum of the n distances in the window, divided by √n. clear is true if the two kinds of fresh chains agree
// with each other but not with the chains.
func stuck(window []mixingPoint) (z float64, clear bool) {
	var data, base, fresh, n float64
	for _, p := range window {
		if p.Compared {
			data, base, fresh, n = data+p.Data, base+p.Base, fresh+p.Fresh, n+1
		}
	}
	if n == 0 {
		return 0, false
	}
	z = min(data, base) / math.Sqrt(n)
	return z, z >= stuckZ && math.Abs(fresh)/math.Sqrt(n) <= agreeZ
}

// still returns the mean of pastStates.left over the window, weighted by inverse variances. clear is true
// if it is too small.
func still(window []mixingPoint) (left float64, clear bool) {
	weight := 0.0 // by the inverse variances
	for _, p := range window {
		if p.Places >= leastPlaces {
			w := 1 / placesVariance(p.Places)
			left, weight = left+float64(p.Left*w), weight+w
		}
	}
	if weight == 0 {
		return math.NaN(), false
	}
	left /= weight
	return left, left <= leastLeft && (1-left)*math.Sqrt(weight) >= stillZ
}

// since returns the number of updates that the last known Left of the window covers.
func since(window []mixingPoint) (updates int) {
	for _, p := range window {
		if p.Places > 0 {
			updates = p.Since
		}
	}
	return updates
}

// warn returns a warning if the chains do not mix, and "" otherwise. During a run it returns one warning at
// most. If the schedule ends at rate 0, chains that lag cause no warning during the run, because they catch
// up as the rate falls.
func (x *mixing) warn(end bool) string {
	if len(x.Window) == 0 || !end && (x.Warned != "" || len(x.Window) < leastPoints) {
		return ""
	}
	text := x.verdict(end)
	if !end {
		x.Warned = text
	}
	return text
}

// advice lists what helps if the chains do not follow the model: a smaller rate and the Remedies. If a
// ladder is the first of the remedies, it comes before the rate.
func advice(s Settings, m *rbm.RBM) string {
	help := []string{"a smaller -rate"}
	if !Ends(s.Schedule) {
		help = append(help, "-schedule linear")
	}
	remedies := Remedies(s, m)
	if len(remedies) > 0 && remedies[0] == ladderRemedy {
		help, remedies = slices.Insert(help, 0, ladderRemedy), remedies[1:]
	}
	help = append(help, remedies...)
	return help[0] + or(help[1:])
}

func (x *mixing) verdict(end bool) string {
	s := x.s.trainer.settings
	first, last := x.Window[0], x.Window[len(x.Window)-1]
	when := fmt.Sprintf("at step %d", last.Step)
	if first != last {
		when = fmt.Sprintf("at steps %d to %d", first.Step, last.Step)
	}
	help := "try " + advice(s, x.s.trainer.model)
	window := x.Window
	if end && Ends(s.Schedule) {
		window = window[max(0, len(window)-endPoints):]
	}
	if drift, nats, clear := lag(window); clear && (end || !Ends(s.Schedule)) {
		way := "falls"
		if drift > 0 {
			way = "rises"
		}
		return fmt.Sprintf("the chain of training does not mix: the model changes faster than its chains follow. While it is held fixed, their mean free energy %s by %.3g nats, %.2g standard deviations, within %d updates (%s), so the negative phase is not that of this model; the likelihood may fall while other metrics improve; %s",
			way, math.Abs(nats), math.Abs(drift), last.Updates, when, help)
	}
	if z, clear := stuck(x.Window); clear {
		return fmt.Sprintf("the chain of training does not mix: fresh chains from the data and from the base rates agree with each other after %d updates, but not with the chains of training (%.2g standard deviations %s), which miss modes of the model; %s",
			last.Updates, z, when, help)
	}
	if left, clear := still(x.Window); clear {
		return fmt.Sprintf("the chain of training does not mix: within %d updates the chains hardly leave their modes (%.2g %s, where 0 means that they stay and 1 that they have forgotten them), so the fractions of chains in the modes may be wrong; %s",
			since(x.Window), left, when, help)
	}
	return ""
}
