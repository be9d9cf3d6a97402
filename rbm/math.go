package rbm

import "gorbm/rbm/internal/vec"

// Exp returns e^x with the same bits on every processor, unlike math.Exp. Draws
// that depend on an exponential in float64 use it.
func Exp(x float64) float64 { return vec.Exp(x) }

// Log returns the natural logarithm of x with the same bits on every
// processor: −Inf at 0, NaN below.
func Log(x float64) float64 { return vec.Log(x) }

// LogSumExp returns log Σ eˣ, safe at any size; −Inf for no terms.
func LogSumExp(x []float64) float64 { return vec.LogSumExp(x) }
