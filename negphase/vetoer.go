package negphase

import "gorbm/rbm"

// A Vetoer is an Estimator that may reject an update of the parameters.
type Vetoer interface {
	Estimator
	// Veto reports whether an update to the parameters of m is rejected, because the chains cannot
	// follow it. Call it after an update, before the next call of Estimate. If it returns true, restore
	// the earlier parameters, or make the step smaller and call Veto again. If it returns false, the
	// next call of Estimate must be with m. The parameters of the last call of Estimate are never
	// rejected. Before the first call of Estimate, Veto returns false.
	Veto(m *rbm.RBM) bool
}

// A LogZer is an Estimator that can estimate log Z of the model in training.
type LogZer interface {
	Estimator
	// LogZ returns an estimate of log Z of m in nats with its standard error. ok is false if there is
	// none. LogZ moves the chains, so call it on a copy. m is the model of the last call of Estimate,
	// the model after one more update, or the moving average of the model's parameters.
	LogZ(m *rbm.RBM, key rbm.Key) (logZ, stdErr float64, ok bool, err error)
}
