package diag

import "math"

// A Look is a measurement of the chains of a training run. A copy of them continues on the fixed model; if
// they keep up with training, the distribution of their free energies stays the same. JSON has the names that
// checkpoints use.
type Look struct {
	Step    int     `json:"step"`
	Updates int     `json:"updates"` // number of updates of the continued chains
	Chains  float64 `json:"chains"`  // number of chains
	Drift   float64 `json:"drift"`   // change of the mean free energy, in standard deviations of the free energy
	Nats    float64 `json:"nats"`    // the same change in nats

	Left   float64 `json:"left"`   // how far chains have moved from earlier states: 1 if they have forgotten these, 1/M if each stays in one of M equal modes
	Places int     `json:"places"` // number of chains that Left compares; 0: Left is not known
	Since  int     `json:"since"`  // number of updates since the earlier states
}

// A Window has the last looks at the chains of a run, the oldest first: at most WindowLooks of them.
type Window []Look

// Kinds of warnings about the chains of a run.
const (
	Lagging Kind = "lagging" // the model changes faster than the chains follow
	Still   Kind = "still"   // the chains hardly leave their modes
)

// OfChains reports whether the kind is Lagging or Still.
func OfChains(k Kind) bool { return k == Lagging || k == Still }

// The verdict on a Window.
const (
	// WindowLooks is the largest number of looks. Before the end of the run the verdict needs leastLooks of
	// them, because a run may begin with a jump. At the end of a schedule that ends at rate 0 only the last
	// endLooks count for Lagging.
	WindowLooks, leastLooks, endLooks = 6, 3, 2
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
	// Chains hardly move if Look.Left, over many hundred updates, is at most leastLeft and at
	// least stillZ standard errors below 1. For chains that never leave two modes it is 0.5, and for chains
	// in more modes less. The standard error is that of independent chains (placesVariance). In simulations
	// with at least leastPlaces such chains, at most one window in 100,000 had a false alarm.
	leastLeft, stillZ, leastPlaces = 0.55, 5, 4
)

// lag returns the mean drift over the window, in standard deviations and in nats,
// and whether it is more than chance.
func (w Window) lag() (drift, nats float64, clear bool) {
	chains := 0.0
	for _, p := range w {
		drift += p.Drift / float64(len(w))
		nats += p.Nats / float64(len(w))
		chains += p.Chains
	}
	z := math.Abs(drift) * math.Sqrt(chains/2)
	return drift, nats, math.Abs(drift) >= leastDrift && z >= driftZ && math.Abs(nats) >= leastNats
}

// still returns the mean of Look.Left over the window, weighted by inverse variances. clear is true
// if it is too small.
func (w Window) still() (left float64, clear bool) {
	weight := 0.0 // by the inverse variances
	for _, p := range w {
		if p.Places >= leastPlaces {
			precision := 1 / placesVariance(p.Places)
			left, weight = left+float64(p.Left*precision), weight+precision
		}
	}
	if weight == 0 {
		return math.NaN(), false
	}
	left /= weight
	return left, left <= leastLeft && (1-left)*math.Sqrt(weight) >= stillZ
}

// placesVariance returns the variance of Look.Left for n independent chains that have forgotten their
// earlier states: the variance of the mean of n values 2·rank/(n−1), where each rank is equally likely to
// be 0, 1, … or n−1. Because all chains are ranked against the same earlier states, the variance is a
// little smaller. In simulations of 2, 4, 10 and 100 chains, n times the variance was 0.93, 0.53, 0.40 and
// 0.33, where this formula gives 1, 0.56, 0.41 and 0.34.
func placesVariance(n int) float64 {
	return float64(n+1) / (3 * float64(n) * float64(n-1))
}

// since returns the number of updates that the last known Left of the window covers.
func (w Window) since() (updates int) {
	for _, p := range w {
		if p.Places > 0 {
			updates = p.Since
		}
	}
	return updates
}

// Judge returns the warning that the chains do not mix, if they do not. end is set at the end of the run.
// falls is set if the schedule ends at rate 0: chains that lag then cause no warning before the end, because
// they catch up as the rate falls.
func (w Window) Judge(end, falls bool) (found Warning, bad bool) {
	if len(w) == 0 || !end && len(w) < leastLooks {
		return Warning{}, false
	}
	numbers := Numbers{"first": float64(w[0].Step), "last": float64(w[len(w)-1].Step), "updates": float64(w[len(w)-1].Updates)}
	recent := w
	if end && falls {
		recent = w[max(0, len(w)-endLooks):]
	}
	if drift, nats, bad := recent.lag(); bad && (end || !falls) {
		numbers["nats"], numbers["sd"] = nats, drift
		return Warning{Kind: Lagging, Numbers: numbers}, true
	}
	if left, bad := w.still(); bad {
		numbers["left"], numbers["updates"] = left, float64(w.since())
		return Warning{Kind: Still, Numbers: numbers}, true
	}
	return Warning{}, false
}
