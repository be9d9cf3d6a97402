package main

import (
	"gorbm/negphase/logz"
	"gorbm/train"
)

// Output of -json.

type jsonResult struct {
	Model      string   `json:"model"`
	Data       string   `json:"data"`
	Binarize   string   `json:"binarize"`
	N          int      `json:"n"`
	Constraint string   `json:"constraint,omitempty"`
	FreeEnergy *float64 `json:"free_energy,omitempty"`
	logZResult
	MeanLogLikelihood *float64     `json:"mean_log_likelihood,omitempty"`
	UpperBound        *float64     `json:"mean_log_likelihood_upper_bound,omitempty"` // instead of an estimate that is impossible
	TrueLogLikelihood *float64     `json:"true_log_likelihood,omitempty"`
	PseudoLikelihood  *float64     `json:"pseudo_likelihood,omitempty"`
	Classification    *labelResult `json:"classification,omitempty"`
	Features          string       `json:"features,omitempty"` // which kind of means -features wrote
}

type labelResult struct {
	train.Score
	NLL         float64            `json:"negative_log_likelihood"` // mean of −log p(y|x) in nats
	Calibration *train.Calibration `json:"calibration,omitempty"`
}

type historyResult struct {
	Run      string `json:"run"`
	Data     string `json:"data"`
	Binarize string `json:"binarize"`
	NTrain   int    `json:"n_train"`
	NTest    int    `json:"n_test"`

	Constraint string           `json:"constraint,omitempty"`
	Snapshots  []snapshotResult `json:"snapshots"`
}

type snapshotResult struct {
	Step       int      `json:"step"`
	Train      *float64 `json:"log_likelihood_train,omitempty"`
	Test       *float64 `json:"log_likelihood_test,omitempty"`
	TrainBound *float64 `json:"log_likelihood_train_upper_bound,omitempty"` // instead of an estimate that is impossible
	TestBound  *float64 `json:"log_likelihood_test_upper_bound,omitempty"`
	logZResult
}

type logZResult struct {
	LogZ       *float64        `json:"log_z,omitempty"`
	LogZBy     logz.Method     `json:"log_z_by,omitempty"`
	LogZStdErr *float64        `json:"log_z_std_err,omitempty"`
	LowerBound *float64        `json:"log_z_lower_bound,omitempty"`
	AIS        *estimateResult `json:"ais,omitempty"`
	ReverseAIS *estimateResult `json:"reverse_ais,omitempty"`
	Bennett    *estimateResult `json:"bennett,omitempty"`
	Warnings   []string        `json:"warnings,omitempty"`
}

type estimateResult struct {
	LogZ         *float64 `json:"log_z,omitempty"`
	StdErr       *float64 `json:"std_err,omitempty"`
	Raised       bool     `json:"raised,omitempty"`     // to log_z_lower_bound, by at most its standard error
	Impossible   bool     `json:"impossible,omitempty"` // below log_z_lower_bound
	Doubtful     bool     `json:"doubtful,omitempty"`   // a warning concerns it
	ESS          *float64 `json:"ess,omitempty"`
	CESS         *float64 `json:"cess,omitempty"`
	Overlap      *float64 `json:"overlap,omitempty"`
	Chains       int      `json:"chains,omitempty"`
	Ladders      int      `json:"ladders,omitempty"`
	Temperatures int      `json:"temperatures"`
	RoundTrips   *int64   `json:"round_trips,omitempty"`
}
