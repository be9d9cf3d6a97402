package compare

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/ranks"
)

// EnumerationLimit is the largest number of states that Enumerate enumerates. If the other layer has 784
// units, this takes a core some two minutes.
const EnumerationLimit = 1 << 22

// A Truth is the negative phase with which estimators are compared.
type Truth struct {
	Negative []float64 // moments, in the order of the package comment
	Exact    bool      // computed by enumeration
	// StdErr is the square root of the summed variances of the elements of Negative: the root mean
	// square distance from the exact negative phase. It is 0 if Exact.
	StdErr float64
	Info   negphase.Info // counts of the reference runs; zero if Exact

	// Positive is the positive phase for cosines between gradients; nil for cosines between negative
	// phases.
	Positive []float64
}

// Norm returns the Euclidean norm of the negative phase.
func (t *Truth) Norm() float64 { return norm(t.Negative) }

// GradientNorm returns the Euclidean norm of the gradient, Positive − Negative; NaN without a positive
// phase.
func (t *Truth) GradientNorm() float64 {
	if t.Positive == nil {
		return math.NaN()
	}
	return norm(floats.SubTo(make([]float64, len(t.Negative)), t.Positive, t.Negative))
}

// Enumerate returns the exact negative phase of m, up to rounding in float32.
// The error wraps exact.ErrTooLarge if there are more than EnumerationLimit
// states.
func Enumerate(m *rbm.RBM) (*Truth, error) {
	enum, err := exact.New(m, EnumerationLimit)
	if err != nil {
		return nil, err
	}
	moments := rbm.NewMoments(m)
	if z := enum.Moments(moments); math.IsNaN(z) || math.IsInf(z, 0) {
		return nil, fmt.Errorf("%w: log Z is %v", rbm.ErrDiverged, z)
	}
	mean := NewMean(m)
	mean.Add(rbm.Phase{Moments: moments})
	t := &Truth{Negative: make([]float64, len(mean.sum)), Exact: true}
	mean.Value(t.Negative)
	return t, nil
}

// ReferenceGroups is the number of independent runs of a reference. The standard error from their
// spread has a relative error of some 1/√(2·19) = 16 %.
const ReferenceGroups = 20

// DefaultReference returns settings for a reference: parallel tempering with
// two groups of replicas on a ladder that is tuned on the model first.
func DefaultReference() negphase.Settings { return reference("") }

// ReferenceFor returns DefaultReference. If Gibbs steps cannot keep the
// constraint of m, it returns the same ladder with exchanges of pairs of units instead.
func ReferenceFor(m *rbm.RBM) negphase.Settings {
	s := DefaultReference()
	if s.Keeps(m.Constraint) != nil {
		return reference(":exchange")
	}
	return s
}

// reference returns the settings of DefaultReference followed by more settings.
func reference(more string) negphase.Settings {
	s, err := negphase.Parse("pt:chains=2:tau=auto:order=evenodd"+more, negphase.Settings{})
	if err != nil {
		panic(err) // the text is a constant
	}
	return s
}

// Reference estimates the negative phase of m by ReferenceGroups independent runs of the
// estimator s, with the given number of updates each. It discards the first half of each run (Gelman &
// Rubin 1992). The standard error is computed from the spread of the runs, and is correct only
// if they have mixed: check the exchange rates in Info. progress, if not nil,
// is called after every update of this rank. Settings that are tuned are first tuned on m
// and then frozen, as in Run. If g is not nil, the runs are divided among its ranks, with identical
// results.
func Reference(ctx context.Context, g *ranks.Group, m *rbm.RBM, s negphase.Settings, updates int, key rbm.Key, progress func()) (*Truth, error) {
	s, err := negphase.Tuned(g, s, m, rbm.Batch{}, tuneUpdates, key.Child(ReferenceGroups))
	if err != nil {
		return nil, fmt.Errorf("the reference run: %w", err)
	}
	t := &Truth{Negative: NewMean(m).sum}
	spread := newSpread(len(t.Negative))
	mean := NewMean(m)
	type group struct {
		Value []float64
		Info  negphase.Info
	}
	if err := ranks.Deal(g, ReferenceGroups, func(i int) (x group, err error) {
		e, err := negphase.New(s)
		if err != nil {
			return x, err
		}
		mean.Reset()
		for n := range updates {
			if err := ctx.Err(); err != nil {
				return x, err
			}
			phase, info, err := e.Estimate(m, rbm.Batch{}, key.Child(uint64(i)).Child(uint64(n)))
			if err != nil {
				return x, fmt.Errorf("the reference run: %w", err)
			}
			x.Info.Add(info)
			if n >= updates/2 {
				mean.Add(phase)
			}
			if progress != nil {
				progress()
			}
		}
		x.Value = make([]float64, len(t.Negative))
		mean.Value(x.Value)
		return x, nil
	}, func(_ int, x group) error {
		t.Info.Add(x.Info)
		spread.add(x.Value)
		return nil
	}); err != nil {
		return nil, err
	}
	copy(t.Negative, spread.mean)
	t.StdErr = math.Sqrt(spread.variance() / ReferenceGroups)
	return t, nil
}

// A spread has the mean of vectors and the sum of the variances of their
// elements (Welford 1962).
type spread struct {
	mean    []float64
	squares float64 // sum of squared deviations from the mean
	n       int     // number of vectors
}

func newSpread(size int) *spread { return &spread{mean: make([]float64, size)} }

func (s *spread) add(x []float64) {
	s.n++
	for i, v := range x {
		d := v - s.mean[i]
		s.mean[i] += d / float64(s.n)
		s.squares += float64(d * (v - s.mean[i]))
	}
}

// variance returns the trace of the covariance matrix of the vectors; NaN for fewer
// than two vectors.
func (s *spread) variance() float64 {
	if s.n < 2 {
		return math.NaN()
	}
	return s.squares / float64(s.n-1)
}
