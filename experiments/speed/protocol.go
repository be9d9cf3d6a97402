package main

// A job is what contestants do, each in its own way, on files that the race has
// written: packed rows of bits and float32 parameters.
type job struct {
	Kind     string  `json:"kind"` // pcd, pt, ins, discriminative, classify, ais, exact
	Visible  int     `json:"visible"`
	Hidden   int     `json:"hidden"`
	Classes  int     `json:"classes"`            // label units, the last of the visible ones
	States   int     `json:"states,omitempty"`   // the inputs are groups of that many units, of which one is on; 0: bits
	Gaussian bool    `json:"gaussian,omitempty"` // the inputs are Gaussian units of precision 1
	Batch    int     `json:"batch"`
	Chains   int     `json:"chains"` // chains, or groups of one chain a temperature
	Rate     float64 `json:"rate"`
	Seed     uint64  `json:"seed"`

	Betas        []float64 `json:"betas,omitempty"` // of pt and ins, from 1 down
	Temperatures int       `json:"temperatures"`    // of ais

	Data   string `json:"data"` // rows of bits, each of whole 64-bit words; float32 of Gaussian units
	Rows   int    `json:"rows"`
	Labels string `json:"labels"` // the class of each row, a byte; only for discriminative
	Model  string `json:"model"`  // weights row by row of visible units, visible biases, hidden biases, precisions
	Base   string `json:"base"`   // visible biases of the base rates

	recipe
}

// A recipe is what people add to a plain update. Its zero value is a plain update.
type recipe struct {
	Center     float64 `json:"center,omitempty"`
	Momentum   float64 `json:"momentum,omitempty"`
	L2         float64 `json:"l2,omitempty"`
	Average    float64 `json:"average,omitempty"`
	Constraint string  `json:"constraint,omitempty"`
}

// A request is one line to a contestant.
type request struct {
	Do  string `json:"do"` // hello, prepare, run, answer, peak
	Job *job   `json:"job,omitempty"`
	N   int    `json:"n,omitempty"` // times to run

	Path string `json:"path,omitempty"` // where start writes the first model of Seed: scikit-learn alone

	// What answer asks for: the change that Steps updates from Seed make, the
	// weights of particles of these energies, or values of the first Rows.
	Steps    int       `json:"steps,omitempty"`
	Seed     uint64    `json:"seed"`
	Energies []float64 `json:"energies,omitempty"`
	Rows     int       `json:"rows,omitempty"`
}

// A reply is one line of a contestant.
type reply struct {
	Error   string    `json:"error,omitempty"`
	Version string    `json:"version,omitempty"`
	Seconds float64   `json:"seconds"`
	Values  []float64 `json:"values,omitempty"`
	change
	Bytes int64 `json:"bytes,omitempty"`
}

// A change is what some updates made of the parameters.
type change struct {
	Weights []float64 `json:"weights,omitempty"` // for each visible unit, mean over the hidden ones
	Biases  []float64 `json:"biases,omitempty"`  // of the visible units
	Jumps   float64   `json:"jumps,omitempty"`   // Σ over steps and all weights of the square of a step less the one before
	Whole   float64   `json:"whole,omitempty"`   // Σ over all weights of the square of the whole movement
}
