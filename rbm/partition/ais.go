// Package partition estimates log Z, the logarithm of an RBM's partition function,
// if there are too many states for enumeration (package exact). AIS, annealed importance sampling,
// is too low on average, and ReverseAIS too high. Bennett uses the acceptance ratio of neighbours in a
// ladder of temperatures. ReverseAIS and Bennett need draws from the model; package logz
// gets them from replicas at tuned temperatures.
//
// # Where to begin
//
// Read AIS first. ExampleAIS and ExampleBennett estimate log Z of a model that can be enumerated.
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

// Annealing has the settings of annealed importance sampling.
type Annealing struct {
	Chains       int       `json:"chains"`
	Temperatures int       `json:"temperatures"`   // number of inverse temperatures of the path, both ends included
	Pilot        int       `json:"pilot"`          // number of chains of the two short pilot runs that place the temperatures; 0: evenly spaced
	Path         []float64 `json:"path,omitempty"` // the inverse temperatures, from 0 to 1; nil: AIS places them
	Base         *rbm.Base `json:"-"`              // the distribution at β = 0; nil: see rbm.Base

	// Group has the ranks among which the chains are divided, with identical results; nil: one
	// process. All ranks must call with the same arguments.
	Group *ranks.Group `json:"-"`
}

// DefaultAnnealing returns 100 chains and 1000 inverse temperatures, placed by 50 pilot chains, on a
// path from the uniform distribution. A Base with the means of the data gives smaller errors.
func DefaultAnnealing() Annealing {
	return Annealing{Chains: 100, Temperatures: 1000, Pilot: 50}
}

const (
	// maxChains and maxTemperatures limit the memory of a run. A chain has about a
	// hundred bytes for its states and 512 for its gains, a temperature 8 bytes.
	maxChains       = 1 << 20
	maxTemperatures = 1 << 24
)

// Check returns an error if a setting is out of range, or if the base or m is not valid for
// annealing.
func (s Annealing) Check(m *rbm.RBM) error {
	switch {
	case s.Chains < 1 || s.Chains > maxChains:
		return fmt.Errorf("annealing: %d chains; it takes 1 to %d", s.Chains, maxChains)
	case s.Pilot < 0 || s.Pilot > maxChains:
		return fmt.Errorf("annealing: %d pilot chains; it takes 0 to %d", s.Pilot, maxChains)
	case s.Pilot == 1:
		return fmt.Errorf("annealing: one pilot chain shows no variance; use none, or 20 or more")
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
	StdErr float64 // standard error of LogZ, from the variance of the weights; +Inf for a single chain
	ESS    float64 // effective sample size of the weights, (Σw)²/Σw², between 1 and the number of chains
	CESS   float64 // the smallest conditional effective sample size of a step, as a fraction of the chains

	Path       []float64 // the inverse temperatures, ascending
	LogWeights []float64 // for each chain: the logarithm of its estimate of Z/Z₀, or of Z₀/Z in reverse

	// V has the last visible states of the chains. With the weights exp(LogWeights) they are draws from m, or in
	// reverse from the base. With ranks, it is complete only for the chains of this rank.
	V rbm.Values `json:"-"`
}

// AIS estimates log Z of m by annealed importance sampling (Neal 2001; Salakhutdinov & Murray 2008) with the
// hidden units summed out. Chains start at exact draws from the base. The mean of the chains' weights is an
// unbiased estimate of Z/Z₀, where Z₀ is the partition function of the base. LogZ uses the logarithm of this
// mean, and is too low on average, by about StdErr²/2. If the effective sample size ESS is small, the chains
// have missed important states, and LogZ is too low by more than StdErr shows. The random numbers of pilot
// runs differ from those of the run, so the estimate of Z/Z₀ stays unbiased.
//
// If progress is not nil, it is called from time to time with the fraction that is done. The
// error names a setting, wraps rbm.ErrDiverged if a parameter or weight is not
// finite, or is that of ctx. Equal settings, model and key give identical results at
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
// m, and move from β = 1 to β = 0: each move of AIS is reversed, in reversed order. The mean
// of their weights is an unbiased estimate of Z₀/Z. LogZ uses its negative logarithm, which
// is too high on average, so LogZ of AIS and of ReverseAIS bracket log Z. StdErr assumes
// independent rows; rows of one Markov chain are not.
//
// The number of chains is the number of rows. The other settings are those of AIS; give its Path to
// use the same temperatures. Errors are those of AIS, and that of rbm.RBM.CheckSoftmax. ReverseAIS
// panics if start has another width than the visible layer. It does not change start.
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

// pilotShare is the fraction of the work in the two pilot runs with DefaultAnnealing. Both have half the
// chains; the first has a twentieth and the second a tenth of the temperatures.
const pilotShare = 0.07

// share returns a progress function for the part of the work from fraction lo to fraction hi.
func share(progress func(done float64), lo, hi float64) func(done float64) {
	if progress == nil {
		return nil
	}
	return func(done float64) { progress(lo + float64((hi-lo)*done)) }
}

// run anneals the rows of v from β = 0 to 1, or from 1 to 0 if reverse is set, and returns the
// estimate.
func (s Annealing) run(ctx context.Context, m *rbm.RBM, v rbm.Values, reverse bool, key rbm.Key, progress func(done float64)) (Annealed, error) {
	path, err := s.place(ctx, m, key.Child(0), share(progress, 0, pilotShare))
	if err != nil {
		return Annealed{}, err
	}
	out := Annealed{CESS: 1, Path: path, LogWeights: make([]float64, v.Rows), V: v}
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
		// The relative standard error of the mean weight. To first order it is the standard
		// error of the logarithm.
		out.StdErr = math.Sqrt(max(0, 1/out.ESS-1/n) * n / (n - 1))
	}
	return out, nil
}

// conditionalESS returns (Σ Wg)²/(ΣW · Σ Wg²), between 0 and 1 (Zhou, Johansen & Aston 2016). W are
// the weights before a step, and g their factors in the step; both are given as logarithms.
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
			return 0 // a chain without weight has gained some
		}
	}
	// The scales e^top and e^high cancel.
	return min(1, after*after/(before*squares))
}
