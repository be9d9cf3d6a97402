package negphase

import (
	"encoding"

	"gorbm/rbm"
)

// An Estimator estimates the negative phase of a model's log-likelihood gradient. Most estimators keep
// their chains from call to call. Use each estimator with one model only; the parameters of the model
// may change between calls. Do not use it concurrently.
type Estimator interface {
	// Estimate advances the chains under m and returns the negative phase and the counts of this call.
	// Both are valid until the next call. If a chain has several particles in the phase, their rows are
	// adjacent. pos is the positive phase, a batch with its hidden means. Estimators whose chains do
	// not start at the data ignore pos. Neither m nor pos is changed. Equal state, m, pos and key give
	// identical results at any GOMAXPROCS. The error wraps rbm.ErrDiverged if an energy is not finite,
	// and exact.ErrTooLarge if the model cannot be enumerated.
	Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, Info, error)

	// The binary form is the state of the estimator, without the model and the settings. A new
	// estimator with the same settings that unmarshals it continues with identical results.
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}
