package sample

import (
	"context"
	"fmt"
	"math"

	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/rbm/ranks"
)

// A Draw is samples of a Law, and what shows whether the chains have mixed.
type Draw struct {
	V    rbm.Values // samples: states of Law.Model
	Mean rbm.Matrix // p(v=1|h) of each, with h drawn given the sample
	// Start is where the chains of the samples started, FromRandom or FromData. Row
	// has the row of Law.Data at which the chain of each started; nil for FromRandom.
	Start string
	Row   []int
	Proof
}

// firstLook is the number of rounds after which a run first asks whether its chains
// have mixed, and ends if they have. It asks again after twice as many.
const firstLook = 256

// traceLength is the largest number of values in the trace of a chain.
const traceLength = 1024

// Draw draws samples. Chains start at random states, and as many others
// at rows of Law.Data, if there are any. Both run until they have mixed, as Proof
// says, or for as many rounds as the settings allow. If the settings do not name a sampler
// and the chains of Gibbs steps have not mixed by then, ladders run. They replace the Gibbs chains if they
// have mixed, or if their two sides agree and those of the Gibbs chains do not. Ladders get an
// eighth of the rounds, and do not run where that is less than the first look, 256.
//
// The samples come from the chains that Settings.Start names: from each its state then,
// and, if there are more samples than chains, its state every 2τ rounds.
//
// A Sampler of kind exact draws independently from a list of the hidden states instead, as does
// that of a model with real units, unless one is named, if there are at most exact.GradientLimit.
//
// Equal arguments give identical results at any GOMAXPROCS. progress, if not nil, is
// called with the part of the work done. It returns an error if ctx ends or the
// estimator fails, and if there are chains and Rounds is less than 1.
func (l Law) Draw(ctx context.Context, s Settings, key rbm.Key, progress func(done float64)) (Draw, error) {
	if progress == nil {
		progress = func(float64) {}
	}
	if s.Sampler.Kind != "" && s.Sampler.Traits().Moments || s.Sampler.Kind == "" && l.few() {
		return l.listed(ctx, s, key)
	}
	if s.Rounds < 1 {
		return Draw{}, fmt.Errorf("sample: Settings.Rounds is %d; it must be at least 1, such as DefaultRounds, %d", s.Rounds, DefaultRounds)
	}
	if s.Sampler.Kind != "" {
		r, err := l.run(ctx, s.Group, s.Sampler, s.Rounds, key, progress)
		if err != nil {
			return Draw{}, err
		}
		return r.draw(ctx, s)
	}
	if d, ok := l.only(s, key); ok {
		return d, nil
	}
	const share = 0.5 // of the progress bar, for the first of the samplers
	first := s.chosen(l.Model)
	r, err := l.run(ctx, s.Group, first, s.Rounds, key, func(done float64) { progress(share * done) })
	if err != nil {
		return Draw{}, err
	}
	if rounds := s.Rounds / ladderShare; !r.proof.Mixed && first.Sampler() == "" && rounds >= firstLook {
		other, err := l.run(ctx, s.Group, Defaults("pt", s.Samples), rounds, key.Child(tuneKey),
			func(done float64) { progress(share + float64((1-share)*done)) })
		if err != nil {
			return Draw{}, err
		}
		if other.proof.Mixed || other.proof.agree() && !r.proof.agree() {
			r = other
		} else {
			r.proof.Why += "; nor have ladders of temperatures mixed"
		}
	}
	return r.draw(ctx, s)
}

// only returns the samples where there is a single state: a constraint on all units
// asks for none of them, or for all.
func (l Law) only(s Settings, key rbm.Key) (d Draw, ok bool) {
	m := l.Model
	c := m.Constraint
	if !c.OnAll() || m.Classes() > 0 || c.Active != 0 && c.Active != m.Visible()+m.Hidden() {
		return d, false
	}
	d = Draw{V: m.NewVisible(s.Samples), Mean: rbm.NewMatrix(s.Samples, m.Visible()), Start: FromRandom}
	h := m.NewHidden(s.Samples)
	(*rbm.Base)(nil).Draw(m, d.V, h, key)
	m.VisibleMean(d.Mean, h)
	d.Proof = independent("a single state", s.Samples)
	return d, true
}

// independent returns the proof of samples that come from no chains.
func independent(sampler string, samples int) Proof {
	nan := math.NaN()
	return Proof{Sampler: sampler, Tau: 0.5, Effective: float64(samples), RHat: nan, FreeEnergy: nan, FreeEnergyData: nan, Z: nan, P: nan, PicturesP: nan, Mixed: true}
}

// few reports whether the model has real units, and so few hidden states that listing them takes
// less time than chains would.
func (l Law) few() bool {
	return l.Model.Real() && exact.CheckDraws(l.Model) == nil && 1<<l.Model.Hidden() <= exact.GradientLimit
}

// listed returns exact draws.
func (l Law) listed(ctx context.Context, s Settings, key rbm.Key) (Draw, error) {
	m := l.Model
	d := Draw{V: m.NewVisible(s.Samples), Mean: rbm.NewMatrix(s.Samples, m.Visible()), Start: FromRandom}
	h := m.NewHidden(s.Samples)
	if err := exact.Draw(ctx, m, d.V, h, key); err != nil {
		return Draw{}, err
	}
	m.VisibleMean(d.Mean, h)
	d.Proof = independent("exact", s.Samples)
	return d, nil
}

// A run is both sides of the chains of one sampler.
type run struct {
	law        *Law
	key        rbm.Key
	cold, data *side // data is nil if there are no rows
	proof      Proof
}

// run runs chains until they have mixed, or for the given rounds.
func (l Law) run(ctx context.Context, g *ranks.Group, s negphase.Settings, rounds int, key rbm.Key, progress func(done float64)) (*run, error) {
	if err := CheckSampler(s, l.Model); err != nil {
		return nil, err
	}
	s, err := l.tuned(g, s, key.Child(tuneKey))
	if err != nil {
		return nil, err
	}
	every := max(1, rounds/traceLength)
	r := &run{law: &l, key: key}
	if r.cold, err = newSide(&l, g, s, nil, every, key.Child(coldKey)); err != nil {
		return nil, err
	}
	if l.Data.Rows > 0 {
		rows := make([]int, s.Count("chains"))
		for i := range rows {
			rows[i] = int(key.Child(pickKey).Uniform(uint64(i)) * float64(l.Data.Rows))
		}
		if r.data, err = newSide(&l, g, s, rows, every, key.Child(dataKey)); err != nil {
			return nil, err
		}
	}
	for done, look := 0, min(firstLook, rounds); ; look = min(2*look, rounds) {
		for ; done < look; done++ {
			if err := r.cold.round(ctx); err != nil {
				return nil, err
			}
			if r.data != nil {
				if err := r.data.round(ctx); err != nil {
					return nil, err
				}
			}
			progress(float64(done+1) / float64(rounds))
		}
		r.proof = r.judge()
		if r.proof.Sampler = s.String(); r.proof.Mixed || done == rounds {
			return r, nil
		}
	}
}

// tuned returns s with the base of its path, and the temperatures tuned to the model
// if they are to be tuned.
func (l Law) tuned(g *ranks.Group, s negphase.Settings, key rbm.Key) (negphase.Settings, error) {
	ladder := s.Ladder()
	onGibbs := s.Sampler() == ""
	if l.Base != nil && onGibbs && (s.NeedsBase() || ladder.Path == "" && ladder.Temperatures.Auto) {
		s.SetBase(l.Base)
	}
	if s.NeedsBase() {
		return s, fmt.Errorf("%s: path=data needs the data of the model; leave it out, or name them by -data", s.Kind)
	}
	return negphase.Tuned(g, s, l.Model, rbm.Batch{}, tuningRounds, key)
}

// draw takes the samples.
func (r *run) draw(ctx context.Context, s Settings) (Draw, error) {
	from := r.cold
	if r.data != nil && (s.Start == FromData || s.Start == "" && !r.proof.Mixed) {
		from = r.data
	}
	m, chains := r.law.Model, len(from.trace)
	d := Draw{V: m.NewVisible(s.Samples), Mean: rbm.NewMatrix(s.Samples, m.Visible()), Start: FromRandom, Proof: r.proof}
	if from == r.data {
		d.Start, d.Row = FromData, make([]int, s.Samples)
	}
	gap := 1
	if tau := r.proof.Tau; !math.IsNaN(tau) {
		gap = int(min(math.Ceil(2*tau), float64(r.proof.BurnIn)))
	}
	h, mean := m.NewHidden(chains), rbm.NewMatrix(chains, m.Visible())
	for first := 0; first < s.Samples; first += chains {
		for n := 0; first > 0 && n < gap; n++ { // none before the first samples
			if err := from.round(ctx); err != nil {
				return Draw{}, err
			}
		}
		m.HiddenSample(h, rbm.Batch{V: from.v, H: from.h}, r.key.Child(meanKey).Child(uint64(first)))
		m.VisibleMean(mean, h)
		for c := range min(chains, s.Samples-first) {
			d.V.CopyRow(first+c, from.v, c)
			copy(d.Mean.Row(first+c), mean.Row(c))
			if d.Row != nil {
				d.Row[first+c] = from.rows[c]
			}
		}
	}
	return d, nil
}

// A Proof says whether the chains have mixed. Its numbers describe the second half of
// the rounds. Free energies are those of the visible units, −log Σ_h exp(−E), in nats.
type Proof struct {
	Sampler string
	Rounds  int // that each chain ran
	BurnIn  int // of them, not in the numbers
	Chains  int // that started at random states; as many started at rows, if there are any. 0: the samples are independent draws

	// Tau is the integrated autocorrelation time, in rounds (diag.SummarizeChains), of
	// what forgets slowest: the free energy, the hidden activity Σ p(h=1|v), or one of the
	// three principal components of the chains' states. TauOf names it. Effective is the
	// effective sample size of all chains, and RHat is R̂, both of the same quantity.
	Tau, TauErr float64
	TauOf       string
	Effective   float64
	RHat        float64

	// Two samples: chains that started at random states, and at rows. FreeEnergy are
	// their means. Z is Welch's t of the means of the chains, and P its p-value.
	// PicturesP is the p-value of the Euclidean energy distance of their last states. All
	// are NaN without rows.
	FreeEnergy, FreeEnergyData float64
	Z, P, PicturesP            float64

	RoundTrips int64 // of the ladders' particles, in all rounds
	Ladders    int   // on both sides; 0 for chains without temperatures

	// Mixed is set if P and PicturesP are at least ½ %, Tau is known (TauErr is finite), the
	// burn-in is at least 5·Tau, and ladders have made ten round trips each. Otherwise Why says which
	// test failed. Chains that have mixed fail the first test at one look in a hundred.
	//
	// Draw looks after 256, 512, 1024, … rounds and ends at the first look that passes.
	// So chains that have mixed are hardly ever told that they have not, and chains
	// that have not have a chance to pass at each look. Mixed means that no difference
	// was found, by as many chains as there are: it does not show a small one, nor a
	// mode that neither side has reached.
	Mixed bool
	Why   string
}

const (
	// leastP is the limit of each of the two tests, so that mixed chains fail one of
	// them in 1 % of cases.
	leastP = 0.005
	// burnInTaus is the least burn-in in units of τ: e⁻⁵ of the start is left.
	burnInTaus = 5
	// leastTrips is the least mean number of round trips of a ladder, from its coldest
	// temperature to its hottest and back. With none, no cold state has forgotten its
	// start by the hot end, and the tests compare no more than two heaps of stuck chains.
	// Ten are what log Z along a ladder needs (negphase/logz). With one each, ladders of
	// the built-in digits passed whose samples were ten pictures over and over.
	leastTrips = 10
	// rearrangements of the energy test.
	rearrangements = 999
)

// judge returns the proof of the chains as they are.
func (r *run) judge() Proof {
	nan := math.NaN()
	p := Proof{Rounds: r.cold.rounds, BurnIn: r.cold.rounds / 2, Chains: len(r.cold.trace),
		FreeEnergyData: nan, Z: nan, P: nan, PicturesP: nan, RoundTrips: r.cold.trips}
	cold := settled(r.cold.trace)
	chains := len(cold)
	means := chainMeans(cold)
	if r.cold.each > 1 {
		p.Ladders = p.Chains
		if r.data != nil {
			p.Ladders *= 2
		}
	}
	p.FreeEnergy, _ = diag.MeanVariance(means)
	if r.data != nil {
		chains *= 2
		dataMeans := chainMeans(settled(r.data.trace))
		p.FreeEnergyData, _ = diag.MeanVariance(dataMeans)
		p.RoundTrips += r.data.trips
		if len(means) > 1 {
			p.Z, p.P = diag.Welch(means, dataMeans)
			p.PicturesP = r.comparePictures()
		}
	}
	p.Tau, p.TauErr, p.RHat, p.Effective = nan, math.Inf(1), nan, nan
	if chains > 1 && len(cold[0]) >= 4 {
		of, c := r.slowest()
		every := float64(r.cold.every)
		p.TauOf, p.Tau, p.TauErr, p.RHat, p.Effective = of, every*c.Time.Tau, every*c.Time.StdErr, c.RHat, c.Effective
	}
	p.Why = p.doubt()
	p.Mixed = p.Why == ""
	return p
}

// comparePictures tests whether the last states of the chains of both sides have
// one distribution.
func (r *run) comparePictures() float64 {
	p, _ := StatesTest(r.cold.v, r.data.v, rearrangements, r.key.Child(testKey).Child(uint64(r.cold.rounds)).Rand())
	return p
}

func chainMeans(x [][]float64) []float64 {
	means := make([]float64, len(x))
	for c, t := range x {
		means[c], _ = diag.MeanVariance(t)
	}
	return means
}

// doubt says why the chains have not mixed, or returns "".
func (p Proof) doubt() string {
	least := burnInTaus * p.Tau
	switch {
	case p.P < leastP:
		return fmt.Sprintf("chains from random states and from training rows still differ: their mean free energies are %.1f and %.1f nats (z = %.1f)", p.FreeEnergy, p.FreeEnergyData, p.Z)
	case p.PicturesP < leastP:
		return fmt.Sprintf("states of chains from random states and from training rows still differ (energy distance, p = %.3g)", p.PicturesP)
	case math.IsNaN(p.Tau):
		return "there are too few chains or rounds to tell"
	case math.IsInf(p.Tau, 1):
		return "the chains do not move"
	case math.IsInf(p.TauErr, 1):
		return fmt.Sprintf("the chains forget slowly or stay apart: their autocorrelation time (%s), %.3g rounds or more, is too long to be told from %d rounds", p.TauOf, p.Tau, p.Rounds)
	case least > float64(p.BurnIn):
		return fmt.Sprintf("the chains forget slowly: the autocorrelation time (%s) is %.3g rounds, and the burn-in of %d should be five times that", p.TauOf, p.Tau, p.BurnIn)
	case p.RoundTrips < leastTrips*int64(p.Ladders):
		return fmt.Sprintf("%d ladders of temperatures made %d round trips in all, fewer than %d each: their coldest states may still depend on where they started", p.Ladders, p.RoundTrips, leastTrips)
	}
	return ""
}

// agree reports whether neither test tells the two sides apart.
func (p Proof) agree() bool { return !(p.P < leastP) && !(p.PicturesP < leastP) }
