package mcmc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// Swapping selects how the replicas of a ladder are exchanged.
type Swapping string

const (
	// NoSwaps leaves the replicas independent of each other.
	NoSwaps Swapping = ""
	// Swaps is parallel tempering: neighbours swap by the Metropolis–Hastings rule, all
	// pairs in turn from the coldest (Geyer 1991; Hukushima & Nemoto 1996).
	Swaps Swapping = "pt"
	// InfiniteSwaps is partial infinite swapping in blocks of two temperatures (Dupuis et al. 2012).
	// The two states of a block are assigned to its two temperatures with the conditional
	// probability of the assignment given both states. Estimates average over
	// both assignments, with these probabilities as weights.
	InfiniteSwaps Swapping = "ins"
)

// maxReplicas bounds the number of replicas of a ladder.
const maxReplicas = 512

// Tempering moves replicas of a system at several temperatures by Mover, and exchanges replicas. The
// temperatures rise in geometric progression from the temperature of Bind to Hottest times this
// temperature. So all pairs swap equally often if the specific heat is constant. The chain is a
// *Ladder.
type Tempering struct {
	Swapping Swapping
	Mover    Mover
	Replicas int     // number of temperatures, at least 2
	Hottest  float64 // ratio of the highest temperature to the lowest, above 1
}

// SwappingKinds returns the names of the kinds of Tempering.
func SwappingKinds() []string { return []string{string(Swaps), string(InfiniteSwaps)} }

func (t *Tempering) keys() grammar.Keys {
	return grammar.Keys{
		grammar.Count("replicas", &t.Replicas, 8, 2, maxReplicas, "number of temperatures, in geometric progression"),
		{Name: "hottest", Initial: "2", Help: "the highest temperature, as a multiple of -temperature",
			Set: func(text string) (err error) {
				if t.Hottest, err = strconv.ParseFloat(text, 64); err != nil {
					return fmt.Errorf("%q is not a number", text)
				}
				return nil
			},
			Text: func() string { return grammar.FormatNumbers(t.Hottest) },
			Check: func() error {
				if !(t.Hottest > 1) || math.IsInf(t.Hottest, 1) {
					return fmt.Errorf("hottest is %v; it must be a finite number above 1", t.Hottest)
				}
				return nil
			}},
	}
}

// Check returns an error that names the setting that is out of range.
func (t Tempering) Check() error {
	switch {
	case !slices.Contains(SwappingKinds(), string(t.Swapping)):
		return fmt.Errorf("tempering without an exchange: use pt or ins")
	case t.Mover == nil:
		return fmt.Errorf("%s: no sampler moves the replicas", t.Swapping)
	}
	if err := t.keys().Check(string(t.Swapping)); err != nil {
		return err
	}
	return CheckMover(t.Mover)
}

// TemperingHelp returns the help texts of pt and ins and of their keys, one per line.
func TemperingHelp() (kinds, keys string) {
	kinds = fmt.Sprintf("  %-21s %s\n", "pt:SAMPLER", "parallel tempering: replicas at several temperatures, which swap") +
		fmt.Sprintf("  %-21s %s\n", "ins:SAMPLER", "infinite swapping of the replicas of each pair of temperatures")
	for _, k := range new(Tempering).keys() {
		keys += fmt.Sprintf("  %-8s of pt and ins: %s\n", k.Name, k.Help)
	}
	return kinds, keys
}

// ParseTempering parses pt or ins in the grammar
//
//	pt[:replicas=8][:hottest=2][:SAMPLER[:key=value]…]
//
// ParseMover parses the sampler, with the default order o. If the text has no sampler, the sampler is
// standard. given lists the keys of pt or ins that the text sets.
func ParseTempering(text, standard string, o Order) (t Tempering, given []string, err error) {
	parts := strings.Split(text, ":")
	t.Swapping = Swapping(parts[0])
	if !slices.Contains(SwappingKinds(), parts[0]) {
		return t, nil, grammar.NoKind("ladder", parts[0], SwappingKinds())
	}
	keys := t.keys()
	keys.Initialize()
	at := 1
	for at < len(parts) && strings.Contains(parts[at], "=") {
		name, _, _ := strings.Cut(parts[at], "=")
		given = append(given, name)
		at++
	}
	if err := keys.Parse(parts[0], parts[1:at]); err != nil {
		return t, nil, err
	}
	sampler := strings.Join(parts[at:], ":")
	if sampler == "" {
		sampler = standard
	}
	if t.Mover, err = ParseMover(sampler, o); err != nil {
		return t, nil, fmt.Errorf("%s: %w", t.Swapping, err)
	}
	return t, given, t.Check()
}

// format returns t in the grammar.
func (t Tempering) format() string {
	text := string(t.Swapping)
	for _, k := range t.keys() {
		text += ":" + k.Name + "=" + k.Text()
	}
	return text + ":" + FormatMover(t.Mover)
}

// Bind returns a *Ladder whose coldest replica is s; see Mover. It is an error if s is neither
// an Ising nor an RBM.
func (t Tempering) Bind(s System, beta float64, sites []int32) (Chain, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	betas := make([]float64, t.Replicas)
	for k := range betas {
		betas[k] = beta * rbm.Exp(-float64(rbm.Log(t.Hottest)*float64(k)/float64(t.Replicas-1)))
	}
	if betas[len(betas)-1] == betas[0] {
		return nil, fmt.Errorf("%s: at infinite temperature there is nothing hotter", t.Swapping)
	}
	return NewLadder(s, t.Mover, t.Swapping, betas, sites)
}

// A Ladder is a chain with replicas of one system at falling inverse temperatures. A move makes a move
// of each replica and then exchanges. It leaves the product of the replicas' Boltzmann
// distributions invariant. An exchange swaps the states of two systems, so that each
// system keeps its temperature.
type Ladder struct {
	betas    []float64
	systems  []System // replicas, from the coldest
	chains   []Chain
	swapping Swapping
	stale    []bool    // [replica] its state was swapped since the last Reset of its chain
	weight   []float64 // [replica] weight of its state in the estimate at its temperature
	partner  []int     // [replica] the replica whose state has the rest of the weight

	tries, swaps []int64 // for each pair, from the coldest
	particle     []int   // [replica] particle whose state it has
	journeys     Journeys
	trips        int64 // round trips of all particles
}

// NewLadder returns a ladder whose coldest replica is s itself. The other replicas are copies of s in
// its state. The inverse temperatures must fall and not be negative. For sites and errors see Mover.
func NewLadder(s System, m Mover, swapping Swapping, betas []float64, sites []int32) (*Ladder, error) {
	n := len(betas)
	if swapping != NoSwaps && !slices.Contains(SwappingKinds(), string(swapping)) {
		return nil, fmt.Errorf("a ladder that swaps by %q: use pt or ins", swapping)
	}
	if n < 1 || n > maxReplicas {
		return nil, fmt.Errorf("%d temperatures: give 1 to %d", n, maxReplicas)
	}
	l := &Ladder{betas: slices.Clone(betas), swapping: swapping, stale: make([]bool, n), weight: slices.Repeat([]float64{1}, n), partner: make([]int, n),
		tries: make([]int64, n-1), swaps: make([]int64, n-1), particle: make([]int, n), journeys: make(Journeys, n)}
	for k, beta := range betas {
		if k > 0 && !(beta < betas[k-1]) {
			return nil, fmt.Errorf("inverse temperature %v after %v: they must fall", beta, betas[k-1])
		}
		replica := s
		if k > 0 {
			switch s := s.(type) {
			case *Ising:
				replica = NewIsing(s.graph, s.state)
			case *RBM:
				r := NewRBM(s.parameters)
				r.SetState(s.state)
				replica = r
			default:
				return nil, fmt.Errorf("replicas need an Ising system or an RBM to copy")
			}
		}
		chain, err := m.Bind(replica, beta, sites)
		if err != nil {
			return nil, err
		}
		l.systems, l.chains = append(l.systems, replica), append(l.chains, chain)
		l.partner[k], l.particle[k] = k, k
	}
	return l, nil
}

// Betas returns the inverse temperatures, falling. The ladder owns the slice.
func (l *Ladder) Betas() []float64 { return l.betas }

// Replica returns the system at the k-th temperature. It must not be changed.
func (l *Ladder) Replica(k int) System { return l.systems[k] }

// Chains returns the chains that move the replicas, coldest first. The ladder owns the slice.
func (l *Ladder) Chains() []Chain { return l.chains }

// Weight returns the weights of the estimate at the k-th temperature after a move. The state of replica
// k has this weight, and the state of replica partner has the rest, 1 − weight.
func (l *Ladder) Weight(k int) (weight float64, partner int) { return l.weight[k], l.partner[k] }

// Exchanged returns the numbers of attempted and of accepted exchanges since the last Forget, for each
// pair from the coldest. trips is the number of round trips of particles from the coldest
// temperature to the hottest and back. The ladder owns the slices.
func (l *Ladder) Exchanged() (tries, swaps []int64, trips int64) { return l.tries, l.swaps, l.trips }

// Forget resets the counts of Exchanged to 0.
func (l *Ladder) Forget() {
	clear(l.tries)
	clear(l.swaps)
	clear(l.journeys)
	l.trips = 0
}

// Reset recomputes the caches of all chains. It does not change the states of the other replicas.
func (l *Ladder) Reset() {
	for k, c := range l.chains {
		c.Reset()
		l.stale[k] = false
	}
}

// Warning returns the warnings of the replicas' sampler; see Warner.
func (l *Ladder) Warning() string {
	if w, ok := l.chains[0].(Warner); ok {
		return w.Warning()
	}
	return ""
}

// Move makes a move of each replica, from the coldest, and the exchanges.
func (l *Ladder) Move(r *rand.Rand) Info {
	var info Info
	for k, c := range l.chains {
		if l.stale[k] {
			c.Reset()
			l.stale[k] = false
		}
		info.Add(c.Move(r))
	}
	info.Moves = 1
	l.exchangeAll(func(p float64) bool { return r.Float64() < p })
	if l.journeys.Trace(l.particle[len(l.particle)-1], l.particle[0]) {
		l.trips++
	}
	return info
}

// exchangeAll makes the exchanges of a move. decide draws true with the given probability.
func (l *Ladder) exchangeAll(decide func(p float64) bool) {
	pairs := len(l.betas) - 1
	switch l.swapping {
	case Swaps:
		for k := range pairs {
			l.swapIf(k, decide(rbm.Exp(min(0, l.gain(k)))))
		}
	case InfiniteSwaps:
		for k := range l.weight {
			l.weight[k], l.partner[k] = 1, k
		}
		for k := 1; k < pairs; k += 2 {
			l.swapIf(k, decide(l.assign(k)))
		}
		for k := 0; k < pairs; k += 2 { // last, because the estimate at the coldest temperature needs the weights of pair 0
			p := l.assign(k)
			weight := 1 - p
			if l.swapIf(k, decide(p)) {
				weight = p
			}
			l.weight[k], l.weight[k+1] = weight, weight
			l.partner[k], l.partner[k+1] = k+1, k
		}
	}
}

// gain returns the change of the logarithm of the joint probability by a swap of replicas k and k+1.
func (l *Ladder) gain(k int) float64 {
	return (l.betas[k] - l.betas[k+1]) * (l.systems[k].Energy() - l.systems[k+1].Energy())
}

// assign returns the conditional probability, given the states of replicas k and k+1, that each state
// belongs to the other temperature.
func (l *Ladder) assign(k int) float64 { return 1 / (1 + rbm.Exp(-l.gain(k))) }

// swapIf counts an attempt to swap replicas k and k+1, swaps them if do is true, and returns do.
func (l *Ladder) swapIf(k int, do bool) bool {
	l.tries[k]++
	if !do {
		return false
	}
	l.swaps[k]++
	swapStates(l.systems[k], l.systems[k+1])
	l.stale[k], l.stale[k+1] = true, true
	l.particle[k], l.particle[k+1] = l.particle[k+1], l.particle[k]
	return true
}

// Journeys has the stage of the round trip of each particle of a ladder.
type Journeys []uint8

const (
	notBegun = iota
	upward   // from the lowest temperature to the highest
	downward // from the highest temperature to the lowest
)

// Trace updates the stages of the particles at the highest and the lowest temperature. It reports
// whether the particle at the lowest has completed a round trip.
func (j Journeys) Trace(highest, lowest int) (trip bool) {
	if j[highest] == upward {
		j[highest] = downward
	}
	trip = j[lowest] == downward
	j[lowest] = upward
	return trip
}

// Valid reports whether all stages exist.
func (j Journeys) Valid() bool { return len(j) == 0 || slices.Max(j) <= downward }

// swapStates exchanges the states of two systems of one kind and size.
func swapStates(a, b System) {
	switch a := a.(type) {
	case *Ising:
		b := b.(*Ising)
		swapAll(a.state, b.state)
		swapAll(a.local, b.local)
		swapAll(a.real, b.real)
		a.energy, b.energy = b.energy, a.energy
	case *RBM:
		b := b.(*RBM)
		swapAll(a.state, b.state)
		for l := range a.field {
			swapAll(a.field[l], b.field[l])
		}
		a.energy, b.energy = b.energy, a.energy
	}
}

func swapAll[T any](a, b []T) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}
