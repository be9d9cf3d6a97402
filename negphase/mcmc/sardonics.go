package mcmc

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gorbm/data/grammar"
)

// Weights are the form of the weight φ of a flip that raises the energy by ΔE.
// The walks of SARDONICS and of intracluster moves choose the next flip in
// proportion to it.
type Weights string

const (
	HeatBath  Weights = "heatbath"  // φ = 1/(1 + exp(γβΔE)); γ = 1 matches the target
	Boltzmann Weights = "boltzmann" // φ = exp(−γβΔE), on an RBM within e^±15; γ = ½ matches the target
)

// MaxLength is the largest length of a walk, and MaxWalks the largest number
// of walks in a half of a move. Larger numbers are taken for mistakes.
const (
	MaxLength = 1_000_000
	MaxWalks  = 1000
)

// Sardonics are self-avoiding walks in the space of states (Hamze, Wang & de
// Freitas 2012). A move is a chain of walks. Each walk flips k different units,
// one after the other, drawn among those it has not flipped yet in proportion
// to φ (equation 3). The whole move is accepted or rejected so that exp(−βE) is
// left invariant (equations 8 and 11). The length k is drawn for each walk
// before it starts, uniformly from MinLength … MaxLength.
//
// A move has two halves of Walks walks each, and each walk may flip units that
// earlier walks flipped. With Single it is one walk instead, the paper's
// Algorithm 1. The paper's "pure" sampler is Walks = 1, the iterated one has
// more.
//
// The type of a move is the bias of its first and of its second half:
// (Gamma1, Gamma1), (Gamma2, Gamma1) or (Gamma1, Gamma2), in proportion to
// Mix. These are the paper's LL, HL and LH, with L for Gamma1 and H for
// Gamma2 (section 3.2). Its prose calls H the hot bias, its tables have
// γ_H ≥ γ_L; the sampler is correct for any two numbers. A move and its reverse are scored
// under the mixture of all types, as in the paper's program, which accepts more than scoring
// each under its own type.
//
// The paper's experiments used heat-bath weights and biases in units of β,
// though it prints Boltzmann weights. Acceptance is highest at γ of 1.02 to 1.1
// for HeatBath and at about half of it for Boltzmann.
type Sardonics struct {
	MinLength int        // flips of a walk: k_l
	MaxLength int        // k_u: most flips of a walk
	Auto      bool       // the chain finds the lengths instead, see Adaptive: L−1 or L flips, equally likely
	Gamma1    float64    // in units of β
	Gamma2    float64    // in units of β, used where Mix has it
	Weights   Weights    // of flips
	Single    bool       // one walk a move; Walks and Mix are ignored
	Walks     int        // N, of each half
	Mix       [3]float64 // proportions of the types (1,1), (2,1), (1,2)
}

// keys returns the keys of m.
func (m *Sardonics) keys() grammar.Keys {
	return grammar.Keys{
		lengthsKey(&m.MinLength, &m.MaxLength, &m.Auto),
		gammaKey("1.02", &m.Gamma1, &m.Gamma2, m.mixed),
		weightsKey(&m.Weights),
		{
			Name: "walks", Initial: "1", Help: "walks in each half of a move; single: one walk a move",
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
			Name: "mix", Initial: "1/0/0", Help: "three proportions of moves: both halves with the first bias; the second bias, then the first; the first, then the second",
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

// DefaultSardonics returns pairs of walks of 1 to 25 flips at γ = 1.02β, where
// both lattices of the paper accept nearly all they can.
func DefaultSardonics() (m Sardonics) {
	m.keys().Initialize()
	return m
}

// balanced returns m at locally balanced biases, if it finds its lengths.
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

// Check returns an error that names the setting that is out of range, or that
// makes the chain reducible whatever the system is.
func (m Sardonics) Check() error {
	if err := m.keys().Check("sardonics"); err != nil {
		return err
	}
	switch k := m.MinLength; {
	case m.Auto || k != m.MaxLength:
	case !m.Single:
		return fmt.Errorf("sardonics: %d walks of always %d flips make an even number of flips, so half of all states can never be reached; let the length vary, such as k=%d-%d", m.walks(), k, max(1, k-1), max(2, k))
	case k%2 == 0:
		return fmt.Errorf("sardonics: walks of always %d flips, an even number, can never reach half of all states; let the length vary, such as k=%d-%d", k, k-1, k)
	}
	return nil
}
