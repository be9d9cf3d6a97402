package mcmc

import "math/bits"

// A chance is a probability in units of 2⁻⁵³, what 53 random bits decide: the
// event happens if they are less. Odds below 2⁻⁵³ count as never.
type chance uint64

const always chance = 1 << 53

func chanceOf(p float64) chance { return chance(p * 0x1p53) }

// happens decides the event by a random word.
func (c chance) happens(word uint64) bool { return word>>11 < uint64(c) }

// below returns a number in 0…n−1 for a random half word. The odds differ by
// at most 2⁻³²; no mover needs them equal, only unchanged by its move.
func below(n int, half uint32) int { return int(uint64(n) * uint64(half) >> 32) }

// belowWord is below for a whole random word.
func belowWord(n int, word uint64) int {
	hi, _ := bits.Mul64(word, uint64(n))
	return int(hi)
}

// A law is the probability of a change as a function of β times its cost.
type law func(x float64) float64

// table returns the chance under p of each change of a system on g whose cost
// is −reach…reach half costs, that is, pairs of quanta, at index cost + reach.
func (p law) table(g *Graph, beta float64, reach int32) []chance {
	t := make([]chance, 2*int(reach)+1)
	for k := range t {
		t[k] = chanceOf(p(beta * g.cost(int32(k)-reach)))
	}
	return t
}

// cost returns the energy of that many pairs of quanta.
func (g *Graph) cost(half int32) float64 { return float64(half) * (2 * g.quantum) }
