package main

import (
	"gorbm/negphase/sample"
	"gorbm/train"
)

// What -json prints.

type jsonResult struct {
	Steps          int                        `json:"steps"`
	Seconds        float64                    `json:"seconds"`
	StepsPerSecond float64                    `json:"steps_per_second"`
	SecondsInAll   float64                    `json:"seconds_in_all"`
	Metrics        map[string]float64         `json:"metrics"`
	Best           map[string]train.BestValue `json:"best,omitempty"`
	Law            *float64                   `json:"true_log_likelihood_train,omitempty"`
	SwapRates      []float64                  `json:"swap_rates,omitempty"`
	RoundTrips     *int64                     `json:"round_trips,omitempty"`
	OffWeight      *float64                   `json:"off_weight,omitempty"`
	Ladder         *jsonLadder                `json:"ladder,omitempty"`
	MeanAge        *float64                   `json:"mean_age,omitempty"`
	Vetoes         int64                      `json:"vetoes,omitempty"`
	LogZ           *float64                   `json:"log_z,omitempty"`
	LogZErr        *float64                   `json:"log_z_std_err,omitempty"`
	Acceptance     *float64                   `json:"acceptance,omitempty"`
	FlipsPerUpdate *float64                   `json:"flips_per_update,omitempty"`
	BestStep       *int                       `json:"best_step,omitempty"`
	Samples        *sample.Agreement          `json:"samples_of_class,omitempty"`
	Mixed          *bool                      `json:"samples_mixed,omitempty"`
	Warnings       []string                   `json:"warnings,omitempty"`
	Data           string                     `json:"data"`
	Binarize       string                     `json:"binarize"`
	Objective      string                     `json:"objective,omitempty"` // missing: joint
	Alpha          float64                    `json:"alpha,omitempty"`
	NegPhase       string                     `json:"negphase"` // "": the objective has no negative phase
	Model          string                     `json:"model"`
	Folder         string                     `json:"folder"`
}

type jsonLadder struct {
	Beta           []float64 `json:"beta"`
	Rejection      []float64 `json:"rejection"`
	RejectionError []float64 `json:"rejection_error,omitempty"`
	Barrier        float64   `json:"barrier"`
	BarrierError   float64   `json:"barrier_error"`
	Deviation      float64   `json:"association_deviation"`
	Rounds         int64     `json:"rounds"`
	Tuned          int64     `json:"tuned"`            // number of tunings
	Capped         bool      `json:"capped,omitempty"` // the barrier needs more temperatures than allowed
}
