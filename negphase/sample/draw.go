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

// A Draw has samples of a Target, and the results of tests of whether the chains have mixed.
type Draw struct {
	V    rbm.Values // samples: states of Target.Model
	Mean rbm.Matrix // p(v=1|h) for each sample, with h drawn given the sample
	// Start is FromRandom or FromData: where the chains of the samples started. For FromData, Row
	// has the row of Target.Data at which the chain of each sample started; otherwise it is nil.
	Start string
	Row   []int
	Proof
}

// firstLook is the number of rounds after which a run first tests whether its chains
// have mixed. It tests again each time the number has doubled.
const firstLook = 256

// traceLength is the largest number of values in the trace of a chain.
const traceLength = 1024

// Draw draws samples. One set of chains starts at random states and, if Target.Data has rows, another
// set of the same size starts at these rows. Both sets run until they have mixed (see Proof), or for
// Settings.Rounds rounds.
//
// Without Settings.Sampler the chains make Gibbs steps. If these chains have not mixed, ladders of
// temperatures run for an eighth of Settings.Rounds, provided that this number is at least firstLook.
// The ladders replace the Gibbs chains if they have mixed, or if their two sets agree and those of the
// Gibbs chains do not.
//
// Settings.Start selects the set from which the samples come. The first samples are the final states of
// its chains. If there are more samples than chains, the chains continue, and their states every 2τ
// rounds are the further samples; τ is Proof.Tau.
//
// A sampler of kind exact has no chains: it enumerates the hidden states and draws independently. A
// model with real units and at most exact.GradientLimit hidden states has this sampler if no other is
// named.
//
// Equal arguments give identical results at any GOMAXPROCS. progress, if not nil, is called with the
// fraction of the work done. Draw returns an error if ctx ends, if the estimator fails, or if there are
// chains and Rounds is less than 1.
func (t Target) Draw(ctx context.Context, s Settings, key rbm.Key, progress func(done float64)) (Draw, error) {
	if progress == nil {
		progress = func(float64) {}
	}
	if s.Sampler.Kind != "" && s.Sampler.Traits().Moments || s.Sampler.Kind == "" && t.few() {
		return t.listed(ctx, s, key)
	}
	if s.Rounds < 1 {
		return Draw{}, fmt.Errorf("sample: Settings.Rounds is %d; it must be at least 1, such as DefaultRounds, %d", s.Rounds, DefaultRounds)
	}
	if s.Sampler.Kind != "" {
		r, err := t.run(ctx, s.Group, s.Sampler, s.Rounds, key, progress)
		if err != nil {
			return Draw{}, err
		}
		return r.draw(ctx, s)
	}
	if d, ok := t.only(s, key); ok {
		return d, nil
	}
	const share = 0.5 // fraction of the progress bar for the first sampler
	first := s.chosen(t.Model)
	r, err := t.run(ctx, s.Group, first, s.Rounds, key, func(done float64) { progress(share * done) })
	if err != nil {
		return Draw{}, err
	}
	if rounds := s.Rounds / ladderShare; !r.proof.Mixed && first.Sampler() == "" && rounds >= firstLook {
		other, err := t.run(ctx, s.Group, Defaults("pt", s.Samples), rounds, key.Child(tuneKey),
			func(done float64) { progress(share + float64((1-share)*done)) })
		if err != nil {
			return Draw{}, err
		}
		if other.proof.Mixed || other.proof.agree() && !r.proof.agree() {
			r = other
		} else {
			r.proof.Why.Cause = &diag.Warning{Kind: NorLadders}
		}
	}
	return r.draw(ctx, s)
}

// Method only is for a constraint that leaves a single state, with all units off or all on. It returns
// samples, all in this state. For other models ok is false.
func (t Target) only(s Settings, key rbm.Key) (d Draw, ok bool) {
	m := t.Model
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

// independent returns the proof of independent samples.
func independent(sampler string, samples int) Proof {
	nan := math.NaN()
	return Proof{Sampler: sampler, Tau: 0.5, Effective: float64(samples), RHat: nan, FreeEnergy: nan, FreeEnergyData: nan, Z: nan, P: nan, PicturesP: nan, Mixed: true}
}

// few reports whether the model has real units, and so few hidden states that enumerating them is
// faster than running chains.
func (t Target) few() bool {
	return t.Model.Real() && exact.CheckDraws(t.Model) == nil && 1<<t.Model.Hidden() <= exact.GradientLimit
}

// listed returns independent draws, by enumeration of the hidden states.
func (t Target) listed(ctx context.Context, s Settings, key rbm.Key) (Draw, error) {
	m := t.Model
	d := Draw{V: m.NewVisible(s.Samples), Mean: rbm.NewMatrix(s.Samples, m.Visible()), Start: FromRandom}
	h := m.NewHidden(s.Samples)
	if err := exact.Draw(ctx, m, d.V, h, key); err != nil {
		return Draw{}, err
	}
	m.VisibleMean(d.Mean, h)
	d.Proof = independent("exact", s.Samples)
	return d, nil
}

// A run has the two sets of chains of one sampler.
type run struct {
	target     *Target
	key        rbm.Key
	cold, data *side // chains from random states, and from rows of data; data is nil if there are no rows
	proof      Proof
}

// run runs both sets of chains until they have mixed, or for the given number of rounds.
func (t Target) run(ctx context.Context, g *ranks.Group, s negphase.Settings, rounds int, key rbm.Key, progress func(done float64)) (*run, error) {
	if err := CheckSampler(s, t.Model); err != nil {
		return nil, err
	}
	s, err := t.tuned(g, s, key.Child(tuneKey))
	if err != nil {
		return nil, err
	}
	every := max(1, rounds/traceLength)
	r := &run{target: &t, key: key}
	if r.cold, err = newSide(&t, g, s, nil, every, key.Child(coldKey)); err != nil {
		return nil, err
	}
	if t.Data.Rows > 0 {
		rows := make([]int, s.Count("chains"))
		for i := range rows {
			rows[i] = int(key.Child(pickKey).Uniform(uint64(i)) * float64(t.Data.Rows))
		}
		if r.data, err = newSide(&t, g, s, rows, every, key.Child(dataKey)); err != nil {
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

// tuned sets the base of the path of s, if s needs one, and tunes the temperatures of s to the model,
// if they are to be tuned.
func (t Target) tuned(g *ranks.Group, s negphase.Settings, key rbm.Key) (negphase.Settings, error) {
	ladder := s.Ladder()
	onGibbs := s.Sampler() == ""
	if t.Base != nil && onGibbs && (s.NeedsBase() || ladder.Path == "" && ladder.Temperatures.Auto) {
		s.SetBase(t.Base())
	}
	if s.NeedsBase() {
		return s, fmt.Errorf("%s: path=data needs the data of the model; leave it out, or name them by -data", s.Kind)
	}
	return negphase.Tuned(g, s, t.Model, rbm.Batch{}, tuningRounds, key)
}

// draw takes samples from the chains; see Target.Draw.
func (r *run) draw(ctx context.Context, s Settings) (Draw, error) {
	from := r.cold
	if r.data != nil && (s.Start == FromData || s.Start == "" && !r.proof.Mixed) {
		from = r.data
	}
	m, chains := r.target.Model, len(from.trace)
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
		for n := 0; first > 0 && n < gap; n++ { // the first samples are the current states
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

// A Proof has the results of tests of whether the chains have mixed. They are computed from the second half of
// the rounds. Free energies are those of the visible units, −log Σ_h exp(−E), in nats.
type Proof struct {
	Sampler string
	Rounds  int // number of rounds of each chain
	BurnIn  int // number of these rounds that are discarded
	Chains  int // number of chains in each set; 0: independent draws

	// Tau is the integrated autocorrelation time in rounds (diag.SummarizeChains) of the slowest
	// quantity. Quantities are the free energy, the hidden activity Σ p(h=1|v), and the three leading
	// principal components of the chains' states. TauOf names the quantity. Effective is its effective
	// sample size over all chains, and RHat its R̂.
	Tau, TauErr float64
	TauOf       string
	Effective   float64
	RHat        float64

	// Comparison of the two sets of chains. FreeEnergy is the mean free energy of the chains from
	// random states, and FreeEnergyData of the chains from rows of data. Z is Welch's t of the chains'
	// means, and P its p-value. PicturesP is the p-value of the energy test (diag.EnergyTest, Euclidean
	// distance) of the chains' last states. All but FreeEnergy are NaN if there are no rows.
	FreeEnergy, FreeEnergyData float64
	Z, P, PicturesP            float64

	RoundTrips int64 // round trips of the ladders' particles, in all rounds
	Ladders    int   // number of ladders in both sets; 0 for chains without temperatures

	// Mixed is set if all tests pass: P and PicturesP are at least diag.LeastP, Tau is known (TauErr is
	// finite), the burn-in is at least diag.LeastBurnIn times Tau, and ladders have made diag.LeastTrips round
	// trips on average. Otherwise Why says which test failed. Chains that have mixed fail one of the tests of P
	// and PicturesP with a probability of 1 %.
	//
	// Draw makes the tests after 256, 512, 1024, … rounds, and stops when all pass.
	// So chains that have mixed hardly ever fail every time, but chains
	// that have not mixed have a chance to pass each time. Mixed means that the tests
	// found no difference with this number of chains. There may still be a small difference, or a
	// mode that no chain has reached.
	Mixed bool
	Why   diag.Warning
}

// NorLadders is the kind of the Cause of Proof.Why if ladders of temperatures, which Draw tries after Gibbs
// chains, have not mixed either.
const NorLadders diag.Kind = "nor_ladders"

// rearrangements is the number of permutations in the energy test.
const rearrangements = 999

// judge tests the chains in their current states.
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
			p.PicturesP, _ = StatesTest(r.cold.v, r.data.v, rearrangements, r.key.Child(testKey).Child(uint64(r.cold.rounds)).Rand())
		}
	}
	p.Tau, p.TauErr, p.RHat, p.Effective = nan, math.Inf(1), nan, nan
	if chains > 1 && len(cold[0]) >= 4 {
		name, c := r.slowest()
		every := float64(r.cold.every)
		p.TauOf, p.Tau, p.TauErr, p.RHat, p.Effective = name, every*c.Time.Tau, every*c.Time.StdErr, c.RHat, c.Effective
	}
	p.Why = p.doubt()
	p.Mixed = p.Why.Kind == ""
	return p
}

func chainMeans(x [][]float64) []float64 {
	means := make([]float64, len(x))
	for c, t := range x {
		means[c], _ = diag.MeanVariance(t)
	}
	return means
}

// doubt returns why the chains have not mixed. If they have, its kind is "".
func (p Proof) doubt() (w diag.Warning) {
	w.Numbers = diag.Numbers{"random": p.FreeEnergy, "data": p.FreeEnergyData, "z": p.Z, "p": p.PicturesP, "tau": p.Tau,
		"rounds": float64(p.Rounds), "burn_in": float64(p.BurnIn), "times": diag.LeastBurnIn,
		"ladders": float64(p.Ladders), "trips": float64(p.RoundTrips), "limit": diag.LeastTrips}
	switch {
	case p.P < diag.LeastP:
		w.Kind = diag.MeansDiffer
	case p.PicturesP < diag.LeastP:
		w.Kind = diag.StatesDiffer
	case math.IsNaN(p.Tau):
		w.Kind = diag.TooFew
	case math.IsInf(p.Tau, 1):
		w.Kind, w.Of = diag.Constant, []string{p.TauOf}
	case math.IsInf(p.TauErr, 1):
		w.Kind, w.Of = diag.Endless, []string{p.TauOf}
	case diag.LeastBurnIn*p.Tau > float64(p.BurnIn):
		w.Kind, w.Of = diag.ShortBurnIn, []string{p.TauOf}
	case p.RoundTrips < diag.LeastTrips*int64(p.Ladders):
		w.Kind = diag.FewTrips
	default:
		return diag.Warning{}
	}
	return w
}

// agree reports whether both tests find no difference between the two sets of chains.
func (p Proof) agree() bool { return !(p.P < diag.LeastP) && !(p.PicturesP < diag.LeastP) }
