package rbm

import "errors"

var (
	// ErrFormat says that a file or saved state is damaged, of another kind or of an
	// unknown version.
	ErrFormat = errors.New("bad format")
	// ErrDiverged says that a parameter or an energy is not finite or too large.
	ErrDiverged = errors.New("diverged")
	// ErrUnits says that a method needs binary units. See RBM.CheckBinary.
	ErrUnits = errors.New("units are not binary")
	// ErrConstraint says that a method does not work for a model with a constraint.
	ErrConstraint = errors.New("not possible under a constraint")
)

// A RateError is a divergence that a lower rate may prevent. It wraps ErrDiverged.
type RateError struct {
	Cause  string // a clause that says which quantity is too large
	Remedy string // continues the text "train at a lower rate"
}

// Error names the cause and the remedy.
func (e *RateError) Error() string {
	return ErrDiverged.Error() + ": " + e.Cause + "; train at a lower rate" + e.Remedy
}

// Unwrap returns ErrDiverged.
func (e *RateError) Unwrap() error { return ErrDiverged }
