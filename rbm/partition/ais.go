// Package partition estimates log Z, the logarithm of an RBM's partition function,
// where there are too many states for enumeration (package exact): by annealed
// importance sampling from below, by its reverse from above, and by Bennett's
// acceptance ratio along a ladder of temperatures. The caller supplies the draws
// from which the latter two start; package logz gets them from replicas at tuned
// temperatures.
//
// # Where to begin
//
// Read AIS first. ExampleAIS and ExampleBennett, in example_test.go, estimate log Z of a model
// that can be enumerated.
package partition

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// Annealing are the settings of annealed importance sampling.
type Annealing struct {
	Chains       int       `json:"chains"`
	Temperatures int       `json:"temperatures"`   // inverse temperatures of the path, both ends included
	Pilot        int       `json:"pilot"`          // chains of the two short runs that place the temperatures; 0: evenly spaced
	Path         []float64 `json:"path,omitempty"` // the inverse temperatures, from 0 to 1; nil: AIS places them
	Base         *rbm.Base `json:"-"`              // the distribution at β = 0; nil: the uniform distribution

	// Group are the ranks that share the chains, with identical results; nil: one process.
	// All of them must call alike.
	Group *ranks.Group `json:"-"`
}

// DefaultAnnealing returns 100 chains and 1000 inverse temperatures placed by
// 50 chains, on a path from the uniform distribution. A Base of the data's means is better.
func DefaultAnnealing() Annealing {
	return Annealing{Chains: 100, Temperatures: 1000, Pilot: 50}
}

const (
	// maxChains and maxTemperatures bound the memory of a run. A chain takes some
	// hundred bytes for its states and 512 for its gains, a temperature 8 bytes.
	maxChains       = 1 << 20
	maxTemperatures = 1 << 24
)

// Check returns an error that names the setting that is out of range, or says
// what is wrong with the base or a parameter of m.
func (s Annealing) Check(m *rbm.RBM) error {
	switch {
	case s.Chains < 1 || s.Chains > maxChains:
		return fmt.Errorf("annealing: %d chains; it takes 1 to %d", s.Chains, maxChains)
	case s.Pilot < 0 || s.Pilot > maxChains:
		return fmt.Errorf("annealing: %d pilot chains; it takes 0 to %d", s.Pilot, maxChains)
	case s.Pilot == 1:
		return fmt.Errorf("annealing: one pilot chain shows no variance; take none, or 20 or more")
	case s.Path == nil && (s.Temperatures < 2 || s.Temperatures > maxTemperatures):
		return fmt.Errorf("annealing: %d temperatures; it takes 2 to %d", s.Temperatures, maxTemperatures)
	case len(s.Path) > maxTemperatures:
		return fmt.Errorf("annealing: a path of %d temperatures; it takes up to %d", len(s.Path), maxTemperatures)
	}
	if err := m.CheckSteps(); err != nil {
		return fmt.Errorf("annealing: %w; enumerate, if the model is small", err)
	}
	if err := cmp.Or(checkPath(s.Path), s.Base.Check(m), m.Constraint.Check(m)); err != nil {
		return fmt.Errorf("annealing: %w", err)
	}
	return cmp.Or(m.CheckFinite(), m.CheckNormalisable())
}

// An Annealed is an estimate of log Z by annealed importance sampling, in nats.
type Annealed struct {
	LogZ   float64
	StdErr float64 // of LogZ, from the spread of the weights; +Inf for a single chain
	ESS    float64 // effective sample size of the weights, (Σw)²/Σw², between 1 and the number of chains
	CESS   float64 // the smallest conditional effective sample size of a step, as a fraction of the chains

	Path       []float64 // the inverse temperatures, ascending
	LogWeights []float64 // for each chain: its log estimate of Z/Z₀, or of Z₀/Z in reverse
}

// AIS estimates log Z of m by annealed importance sampling (Neal 2001;
// Salakhutdinov & Murray 2008) with the hidden units summed out. Chains start at
// exact draws from the base, and the mean of their weights is an unbiased estimate
// of Z/Z₀. Its logarithm is too low on average, by some half of StdErr². Where the
// effective sample size is small, the chains missed states that matter, and it is
// too low by more than StdErr shows. Pilot runs and the run have separate keys,
// so that placing the temperatures leaves the estimate unbiased.
//
// progress, if not nil, is called now and then with the fraction that is done. The
// error names a setting, wraps rbm.ErrDiverged if a parameter or weight is not
// finite, or is the context's. Equal settings, model and key give identical results at
// any GOMAXPROCS.
func AIS(ctx context.Context, m *rbm.RBM, s Annealing, key rbm.Key, progress func(done float64)) (Annealed, error) {
	if err := s.Check(m); err != nil {
		return Annealed{}, err
	}
	v, h := m.NewVisible(s.Chains), m.NewHidden(s.Chains)
	s.Base.Draw(m, v, h, key.Child(1))
	return s.run(ctx, m, v, false, key, progress)
}

// ReverseAIS estimates log Z of m by the reverse of AIS (Burda, Grosse &
// Salakhutdinov 2015). Chains start at the rows of start, which must be draws from
// m, and go down the path: each move of AIS is reversed, in reversed order. The mean
// of their weights is an unbiased estimate of Z₀/Z. So LogZ, its negative logarithm,
// is too high on average, and together with AIS it brackets the truth, as far as the
// rows of start are draws from m. StdErr takes the rows to be independent, which
// rows of one Markov chain are not. Settings are those of AIS, but there are as many
// chains as rows; pass the Path that AIS has placed to use it again. Errors are those
// of AIS, and one that names a row in which a softmax label does not have exactly
// one class. It panics if start has another width than the visible layer. It does
// not change start.
func ReverseAIS(ctx context.Context, m *rbm.RBM, s Annealing, start rbm.Values, key rbm.Key, progress func(done float64)) (Annealed, error) {
	if start.Cols != m.Visible() {
		panic("partition: rows of another width than the visible layer")
	}
	s.Chains = start.Rows
	if err := s.Check(m); err != nil {
		return Annealed{}, err
	}
	if err := m.CheckSoftmax(start); err != nil {
		return Annealed{}, fmt.Errorf("annealing: %w", err)
	}
	v := m.NewVisible(start.Rows)
	v.CopyFrom(start)
	return s.run(ctx, m, v, true, key, progress)
}

// pilotShare is the fraction of the work that the pilots do under DefaultAnnealing:
// half the chains at a twentieth and a tenth of the temperatures.
const pilotShare = 0.07

// share returns a progress function for a part of the work, from lo to hi of the
// whole.
func share(progress func(done float64), lo, hi float64) func(done float64) {
	if progress == nil {
		return nil
	}
	return func(done float64) { progress(lo + float64((hi-lo)*done)) }
}

// run moves the rows of v up the path, or down it if reverse is set, and returns the
// estimate that their weights give.
func (s Annealing) run(ctx context.Context, m *rbm.RBM, v rbm.Values, reverse bool, key rbm.Key, progress func(done float64)) (Annealed, error) {
	path, err := s.place(ctx, m, key.Child(0), share(progress, 0, pilotShare))
	if err != nil {
		return Annealed{}, err
	}
	out := Annealed{CESS: 1, Path: path, LogWeights: make([]float64, v.Rows)}
	if reverse {
		path = slices.Clone(path)
		slices.Reverse(path)
	}
	var steps func(int)
	if progress = share(progress, pilotShare, 1); progress != nil {
		steps = func(n int) { progress(float64(n) / float64(len(path)-1)) }
	}
	err = rbm.AnnealRanks(ctx, s.Group, m, s.Base, path, v, key.Child(2), func(_ int, gains []float64) {
		out.CESS = min(out.CESS, conditionalESS(out.LogWeights, gains))
		floats.Add(out.LogWeights, gains)
	}, steps)
	if err != nil {
		return Annealed{}, err
	}
	n := float64(v.Rows)
	twice := floats.ScaleTo(make([]float64, v.Rows), 2, out.LogWeights)
	sum, squares := rbm.LogSumExp(out.LogWeights), rbm.LogSumExp(twice) // log Σ w and log Σ w²
	ratio := sum - rbm.Log(n)
	if reverse {
		ratio = -ratio
	}
	out.LogZ = s.Base.LogZ(m) + ratio
	out.ESS = min(rbm.Exp(2*sum-squares), n)
	out.StdErr = math.Inf(1)
	if v.Rows > 1 {
		// The relative variance of the mean weight, whose root is the standard
		// error of its logarithm to first order.
		out.StdErr = math.Sqrt(max(0, 1/out.ESS-1/n) * n / (n - 1))
	}
	return out, nil
}

// conditionalESS returns (Σ Wg)²/(ΣW · Σ Wg²), between 0 and 1, for weights W
// before a step and their factors g at it, given as logarithms (Zhou, Johansen &
// Aston 2016).
func conditionalESS(logw, gains []float64) float64 {
	top, high := math.Inf(-1), math.Inf(-1)
	for r, w := range logw {
		top, high = max(top, w), max(high, w+gains[r])
	}
	var before, after, squares float64
	for r, w := range logw {
		e, f := rbm.Exp(w-top), rbm.Exp(w+gains[r]-high)
		before += e
		after += f
		if e > 0 {
			squares += float64(f * (f / e))
		} else if f > 0 {
			return 0 // all of the weight is on chains that had none
		}
	}
	// The scales e^top and e^high cancel.
	return min(1, after*after/(before*squares))
}
