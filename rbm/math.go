package rbm

import "gorbm/rbm/internal/vec"

// Exp returns e^x. Unlike math.Exp it is bit-identical on every processor, so draws that depend on
// a float64 exponential use it.
func Exp(x float64) float64 { return vec.Exp(x) }

// Log returns the natural logarithm of x: −Inf at 0, NaN below 0. It is bit-identical on every
// processor.
func Log(x float64) float64 { return vec.Log(x) }

// LogSumExp returns log Σ exp(xᵢ) without overflow. It is −Inf for an empty x.
func LogSumExp(x []float64) float64 { return vec.LogSumExp(x) }

// Subsets computes permanents of matrices of weights: sums over all permutations of their n columns,
// the members. It uses a recursion over the subsets of the columns. It is bit-identical on every processor.
type Subsets = vec.Subsets

// NewSubsets returns a Subsets for n members, 1 ≤ n ≤ 16.
func NewSubsets(n int) *Subsets { return vec.NewSubsets(n) }
