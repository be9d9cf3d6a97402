package negphase

import "gorbm/rbm"

// A Vetoer is an Estimator that may reject an update of the parameters.
type Vetoer interface {
	Estimator
	// Veto judges m, the parameters that an update has led to, before the next call
	// of Estimate. If it is true, the update went too far for the chains to follow:
	// restore the parameters before it, or take a part of its step, and ask again.
	// The parameters of the last call of Estimate are never rejected. If it is false,
	// the next call of Estimate must be under m. Before the first call of Estimate it
	// is false.
	Veto(m *rbm.RBM) bool
}

// A LogZer is an Estimator whose chains know log Z of the model that they follow.
type LogZer interface {
	Estimator
	// LogZ returns an estimate of log Z of m in nats and its standard error, and whether
	// there is one. It moves the chains, so call it on a copy. m may be one update away
	// from the model of the last call of Estimate, or the moving average of its parameters.
	LogZ(m *rbm.RBM, key rbm.Key) (logZ, stdErr float64, ok bool, err error)
}
