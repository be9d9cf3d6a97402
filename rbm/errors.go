package rbm

import "errors"

var (
	// ErrFormat is wrapped by the errors of reading a file or a saved state that is
	// damaged, of another kind or of an unknown version.
	ErrFormat = errors.New("bad format")
	// ErrDiverged is wrapped by the errors that stop training because a
	// parameter or an energy is not finite.
	ErrDiverged = errors.New("diverged")
	// ErrUnits is wrapped by the errors of what needs binary units. See RBM.CheckBinary.
	ErrUnits = errors.New("units are not binary")
	// ErrConstraint is wrapped by the errors of what does not work for a model
	// with a constraint.
	ErrConstraint = errors.New("not possible under a constraint")
)

// A RateError is a divergence that a lower rate prevents. It wraps ErrDiverged.
type RateError struct {
	Cause  string // what was measured
	Remedy string // what follows "train at a lower rate"
}

// Error names the cause and the remedy.
func (e *RateError) Error() string {
	return ErrDiverged.Error() + ": " + e.Cause + "; train at a lower rate" + e.Remedy
}

// Unwrap returns ErrDiverged.
func (e *RateError) Unwrap() error { return ErrDiverged }
