package mcmc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gorbm/data/grammar"
)

// Weights selects the form of the weight φ of a flip that raises the energy by ΔE.
// The walks of Sardonics and Intracluster draw the next flip with probability
// proportional to φ. γ is the bias of the walk, in units of β.
type Weights string

const (
	HeatBath  Weights = "heatbath"  // φ = 1/(1 + exp(γβΔE)); locally balanced at γ = 1
	Boltzmann Weights = "boltzmann" // φ = exp(−γβΔE), clipped to e^±15 on an RBM; locally balanced at γ = ½
)

// MaxLength is the largest length of a walk, and MaxWalks the largest number
// of walks in a half of a move.
const (
	MaxLength = 1_000_000
	MaxWalks  = 1000
)

// Sardonics makes self-avoiding walks in the space of states (Hamze, Wang & de
// Freitas 2012). A move is a sequence of walks. Each walk flips k different units,
// one after the other. Each unit is drawn among those that the walk has not flipped yet, with probability
// proportional to φ (equation 3). The whole move is accepted or rejected so that exp(−βE) is
// left invariant (equations 8 and 11). The length k is drawn for each walk
// before it starts, uniformly from MinLength … MaxLength.
//
// A move has two halves with Walks walks each. A walk may flip units that
// earlier walks of the move flipped. With Single a move is one walk instead, the paper's
// Algorithm 1. The paper's "pure" sampler has Walks = 1, its "iterated" sampler has
// more.
//
// A move has one of three types, drawn with probabilities proportional to Mix. A type consists of the
// biases of the first and of the second half: (Gamma1, Gamma1), (Gamma2, Gamma1) or (Gamma1, Gamma2).
// These are the paper's LL, HL and LH, where γ_L = Gamma1 and γ_H = Gamma2 (section 3.2). The paper's
// text calls H the hot bias, but its tables have γ_H ≥ γ_L; the sampler is correct for any two numbers.
// The proposal probability of a move, and of its reverse, is the sum over all types, weighted by their
// proportions, as in the paper's program. So more moves are accepted than with the probabilities of the
// drawn type alone.
//
// The paper prints Boltzmann weights, but its experiments used heat-bath weights and biases in units of β.
// Acceptance is highest at γ of 1.02 to 1.1 for HeatBath, and at about half of that for Boltzmann.
type Sardonics struct {
	MinLength int        // k_l: smallest number of flips of a walk
	MaxLength int        // k_u: largest number of flips of a walk
	Auto      bool       // the chain adapts the lengths instead (see Adaptive): L−1 or L flips, equally likely
	Gamma1    float64    // bias in units of β
	Gamma2    float64    // bias in units of β; unused if Mix has only the first type
	Weights   Weights    // form of the weights of flips
	Single    bool       // one walk per move; Walks and Mix are ignored
	Walks     int        // N: number of walks in each half
	Mix       [3]float64 // proportions of the types (1,1), (2,1), (1,2)
}

func (m *Sardonics) keys() grammar.Keys {
	return grammar.Keys{
		lengthsKey(&m.MinLength, &m.MaxLength, &m.Auto),
		gammaKey("1.02", &m.Gamma1, &m.Gamma2, m.mixed),
		weightsKey(&m.Weights),
		{
			Name: "walks", Initial: "1", Help: "number of walks in each half of a move, or single: one walk per move",
			Set: func(text string) (err error) {
				if m.Single = text == "single"; m.Single {
					return nil
				}
				if m.Walks, err = strconv.Atoi(text); err != nil {
					return fmt.Errorf("%q is not a whole number, nor single", text)
				}
				return nil
			},
			Text: func() string {
				if m.Single {
					return "single"
				}
				return strconv.Itoa(m.Walks)
			},
			Check: func() error {
				if !m.Single && (m.Walks < 1 || m.Walks > MaxWalks) {
					return fmt.Errorf("walks is %d; it must lie in 1 … %d", m.Walks, MaxWalks)
				}
				return nil
			},
		},
		{
			Name: "mix", Initial: "1/0/0", Help: "proportions of three kinds of moves: both halves with the first bias; the second bias, then the first; the first, then the second",
			Set: func(text string) error {
				if strings.Count(text, "/") != len(m.Mix)-1 {
					return fmt.Errorf("%q is not three numbers, as 2/1/1: the proportions of the types 11, 21 and 12", text)
				}
				x, err := parseNumbers(text)
				copy(m.Mix[:], x)
				return err
			},
			Text: func() string {
				if m.mixed() {
					return grammar.FormatNumbers(m.Mix[:]...)
				}
				return ""
			},
			Check: func() error {
				if m.Single {
					return nil
				}
				sum := 0.0
				for _, p := range m.Mix {
					if !(p >= 0) || math.IsInf(p, 0) {
						return fmt.Errorf("mix has %v; proportions must not be negative", p)
					}
					sum += p
				}
				if sum == 0 || math.IsInf(sum, 0) {
					return errors.New("mix has no type with a positive finite proportion")
				}
				return nil
			},
		},
	}
}

// DefaultSardonics returns settings with pairs of walks of 1 to 25 flips at γ = 1.02 in units of β. On
// both lattices of the paper the acceptance is near its maximum at this γ.
func DefaultSardonics() (m Sardonics) {
	m.keys().Initialize()
	return m
}

// balanced returns m with locally balanced biases if Auto is set, and otherwise m.
func (m Sardonics) balanced() Mover {
	if m.Auto {
		m.Gamma1, m.Gamma2 = m.Weights.Balanced(), m.Weights.Balanced()
	}
	return m
}

// walks returns the number of walks in a move.
func (m *Sardonics) walks() int {
	if m.Single {
		return 1
	}
	return 2 * m.Walks
}

// mixed reports whether Gamma2 is used.
func (m *Sardonics) mixed() bool { return !m.Single && (m.Mix[1] > 0 || m.Mix[2] > 0) }

// Check returns an error that names a setting that is out of range or makes the chain reducible on any
// system.
func (m Sardonics) Check() error {
	if err := m.keys().Check("sardonics"); err != nil {
		return err
	}
	switch k := m.MinLength; {
	case m.Auto || k != m.MaxLength:
	case !m.Single:
		return fmt.Errorf("sardonics: %d walks, all of %d flips, make an even number of flips, so half of all states can never be reached; let the length vary, such as k=%d-%d", m.walks(), k, max(1, k-1), max(2, k))
	case k%2 == 0:
		return fmt.Errorf("sardonics: if all walks have %d flips, an even number, half of all states can never be reached; let the length vary, such as k=%d-%d", k, k-1, k)
	}
	return nil
}
