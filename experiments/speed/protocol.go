package main

// A job is the work that contestants do. Its files, which the race has written, have packed rows of bits
// and float32 parameters.
type job struct {
	Kind     string  `json:"kind"` // pcd, pt, ins, discriminative, classify, ais, exact
	Visible  int     `json:"visible"`
	Hidden   int     `json:"hidden"`
	Classes  int     `json:"classes"`            // number of label units, the last visible ones
	States   int     `json:"states,omitempty"`   // number of units of each softmax group of inputs; 0: bits
	Gaussian bool    `json:"gaussian,omitempty"` // the inputs are Gaussian units of precision 1
	Batch    int     `json:"batch"`
	Chains   int     `json:"chains"` // number of chains, or of groups with one chain per temperature
	Rate     float64 `json:"rate"`
	Seed     uint64  `json:"seed"`

	Betas        []float64 `json:"betas,omitempty"` // inverse temperatures of pt and ins, from 1 down
	Temperatures int       `json:"temperatures"`    // number of temperatures of ais

	Data   string `json:"data"` // rows of bits, each padded to whole 64-bit words, or float32 for Gaussian units
	Rows   int    `json:"rows"`
	Labels string `json:"labels"` // class of each row as a byte, for discriminative
	Model  string `json:"model"`  // weights row by row of visible units, visible biases, hidden biases, precisions
	Base   string `json:"base"`   // visible biases of the independent units from which ais starts

	recipe
}

// A recipe is a set of common additions to an update. Its zero value is the plain update.
type recipe struct {
	Center     float64 `json:"center,omitempty"`
	Momentum   float64 `json:"momentum,omitempty"`
	L2         float64 `json:"l2,omitempty"`
	Average    float64 `json:"average,omitempty"`
	Constraint string  `json:"constraint,omitempty"`
}

// A request is sent to a contestant as one line of JSON.
type request struct {
	Do  string `json:"do"` // hello, prepare, start, run, answer, peak
	Job *job   `json:"job,omitempty"`
	N   int    `json:"n,omitempty"` // number of runs

	Path string `json:"path,omitempty"` // file to which start writes the first model of Seed; for scikit-learn only

	// answer returns the change by Steps updates with Seed, the weights of infinite swapping for particles
	// with Energies, or the values of the first Rows rows.
	Steps    int       `json:"steps,omitempty"`
	Seed     uint64    `json:"seed"`
	Energies []float64 `json:"energies,omitempty"`
	Rows     int       `json:"rows,omitempty"`
}

// A reply is the answer of a contestant, one line of JSON.
type reply struct {
	Error   string    `json:"error,omitempty"`
	Version string    `json:"version,omitempty"`
	Seconds float64   `json:"seconds"`
	Values  []float64 `json:"values,omitempty"`
	change
	Bytes int64 `json:"bytes,omitempty"`
}

// A change describes how some updates changed the parameters.
type change struct {
	Weights []float64 `json:"weights,omitempty"` // by visible unit: mean change over the hidden units
	Biases  []float64 `json:"biases,omitempty"`  // changes of the visible biases
	Jumps   float64   `json:"jumps,omitempty"`   // sum over steps and weights of the squared difference between a step and the previous step
	Whole   float64   `json:"whole,omitempty"`   // sum over weights of the square of the whole change
}
