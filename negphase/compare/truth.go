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

// EnumerationLimit is the largest number of states that Enumerate lists: at 784
// summed units that takes a core some two minutes.
const EnumerationLimit = 1 << 22

// A Truth is the negative phase that estimators are compared with.
type Truth struct {
	Negative []float64 // moments, in the order of the package
	Exact    bool      // by enumeration
	// StdErr is the root of the summed variances of the elements of Negative: its
	// distance from the exact one in the root mean square; 0 if exact.
	StdErr float64
	Info   negphase.Info // of the reference run; zero if exact

	// Positive, if not nil, is the positive phase, which cosines then take
	// into account.
	Positive []float64
}

// Norm returns the length of the negative phase.
func (t *Truth) Norm() float64 { return norm(t.Negative) }

// GradientNorm returns the length of the gradient, the positive less the
// negative phase; NaN without a positive phase.
func (t *Truth) GradientNorm() float64 {
	if t.Positive == nil {
		return math.NaN()
	}
	return norm(floats.SubTo(make([]float64, len(t.Negative)), t.Positive, t.Negative))
}

// Enumerate returns the exact negative phase of m, to the rounding of float32.
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

// ReferenceGroups is the number of independent runs of a reference: their
// spread gives its standard error to some 1/√(2·19) = 16 %.
const ReferenceGroups = 20

// DefaultReference returns the settings of a reference: parallel tempering of
// two groups along a ladder that is tuned on the model first.
func DefaultReference() negphase.Settings { return reference("") }

// ReferenceFor returns DefaultReference, or if Gibbs steps cannot keep the
// constraint of m, the same ladder with exchanges of pairs of units instead.
func ReferenceFor(m *rbm.RBM) negphase.Settings {
	s := DefaultReference()
	if s.Keeps(m.Constraint) != nil {
		return reference(":exchange")
	}
	return s
}

// reference returns DefaultReference with more settings.
func reference(more string) negphase.Settings {
	s, err := negphase.Parse("pt:chains=2:tau=auto:order=evenodd"+more, negphase.Settings{})
	if err != nil {
		panic(err) // the text is a constant
	}
	return s
}

// Reference estimates the negative phase of m by 20 independent runs of the
// estimator, updates each. The first half of each run is discarded (Gelman &
// Rubin 1992). Its error comes from the spread of the runs, which is right only
// if they have mixed: look at the exchange rates in Info. progress, if not nil,
// is called after every update of this rank. A ladder that tunes itself is tuned beforehand
// and then frozen, as in Run. The ranks of g, if it is not nil, divide the runs; results are
// identical.
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

// A spread holds the mean of vectors and the sum of the variances of their
// elements (Welford 1962).
type spread struct {
	mean    []float64
	squares float64
	n       int
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

// variance returns the trace of the covariance of one vector; NaN of fewer
// than two.
func (s *spread) variance() float64 {
	if s.n < 2 {
		return math.NaN()
	}
	return s.squares / float64(s.n-1)
}
