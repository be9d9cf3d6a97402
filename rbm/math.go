package rbm

import "gorbm/rbm/internal/vec"

// Exp returns e^x, bit-identical on every processor, unlike math.Exp. Draws
// that depend on an exponential in float64 use it.
func Exp(x float64) float64 { return vec.Exp(x) }

// Log returns the natural logarithm of x, bit-identical on every
// processor: −Inf at 0, NaN below.
func Log(x float64) float64 { return vec.Log(x) }

// LogSumExp returns log Σ eˣ, safe at any size; −Inf for no terms.
func LogSumExp(x []float64) float64 { return vec.LogSumExp(x) }

// Subsets computes sums over the ways to put members of a set at places, subset by
// subset: the recursion of permanents, bit-identical on every processor.
type Subsets = vec.Subsets

// NewSubsets returns sums over the subsets of n members, 1 ≤ n ≤ 16.
func NewSubsets(n int) *Subsets { return vec.NewSubsets(n) }
