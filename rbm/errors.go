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
	ErrUnits = errors.New("this needs binary units, besides a label")
	// ErrConstraint is wrapped by the errors of what does not work for a model
	// with a constraint.
	ErrConstraint = errors.New("not possible under a constraint")
)
