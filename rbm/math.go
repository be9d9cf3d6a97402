package rbm

import "gorbm/rbm/internal/vec"

// Exp returns e^x with the same bits on every processor, which the library's
// does not: draws that hang on an exponential in float64 use this one.
func Exp(x float64) float64 { return vec.Exp(x) }

// Log returns the natural logarithm of x with the same bits on every
// processor; −Inf at 0 and NaN below.
func Log(x float64) float64 { return vec.Log(x) }

// LogSumExp returns log Σ eˣ, safe at any size; −Inf for no terms.
func LogSumExp(x []float64) float64 { return vec.LogSumExp(x) }
