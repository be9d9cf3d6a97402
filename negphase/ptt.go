package negphase

import (
	"fmt"
	"math"

	"gorbm/data/grammar"
	"gorbm/negphase/diag"
	"gorbm/rbm"
)

type pttSettings struct {
	k, chains, rungs, sweeps, reservoir int
	freeze                              float64
	path                                string    // the oldest rung: ToUniform or ToData; "": startingBase of the first model
	base                                *rbm.Base // base rates of the data, for ToData
}

func (s *pttSettings) needsBase() bool        { return s.path == ToData && s.base == nil }
func (s *pttSettings) setBase(base *rbm.Base) { s.path, s.base = ToData, base }

func (s *pttSettings) keys() grammar.Keys {
	sweeps := grammar.Count("sweeps", &s.sweeps, 40, 2, maxSteps, "number of sweeps of all frozen models after one is added: half to thermalise it, half to measure it")
	sweeps.Check = s.checkSweeps
	return grammar.Keys{
		grammar.Count("k", &s.k, 1, 1, maxSteps, "number of Gibbs steps between swaps"),
		grammar.Count("chains", &s.chains, 10, 1, MaxChains, "chains"),
		grammar.Count("rungs", &s.rungs, 2, 2, 8, "number of frozen models that take part in an update"),
		// RestrictedBoltzmannMachines.jl, src/train/ptt.jl.
		grammar.Share("freeze", &s.freeze, 0.3, "rate of swaps with the newest frozen model below which the current model is frozen too"),
		sweeps,
		grammar.Count("reservoir", &s.reservoir, 4, 1, 1000, "number of stored states of each frozen model, per chain"),
		grammar.Word("path", &s.path, "", "the oldest frozen model: uniform, every state equally likely, or data, independent units with the frequencies of the data (default: the initial model without its weights)", ToUniform, ToData).Like(ToData),
	}
}

func (s *pttSettings) checkSweeps() error {
	if s.sweeps < 2 || s.sweeps > maxSteps || s.sweeps%2 != 0 {
		return fmt.Errorf("sweeps is %d; it must be an even number from 2 to %d", s.sweeps, maxSteps)
	}
	return nil
}

func (s *pttSettings) estimator(all Settings) Estimator {
	r := s.chains
	return &ptt{chains: chains{settings: all, rows: r, joint: true}, pttSettings: *s,
		live: &rung{free: make([]float64, r), born: make([]int64, r), moved: make([]bool, r)}, next: make([]float64, r), linear: make([]float64, r), log: make([]float64, r)}
}

const (
	// vetoShare is the fraction of updates that an estimator may reject without a
	// warning.
	vetoShare = 0.01
	// renewalShare is the smallest mean age, as a fraction of the run, at which particles count as not
	// renewed. If no particle is ever renewed, the mean of the age over all updates is half the run.
	renewalShare = 0.25
)

func (*pttSettings) Traits() Traits {
	return Traits{BitsOnly: "keeps states as bits; use pcd, pt, ins or pins", NoSamples: "follows a model in training; use pcd, pt, ins, pins, sardonics, im or walk"}
}

// Figures implements Reporter. The age of a particle is the number of calls since it was drawn exactly
// from the oldest rung. The count Ages is the sum of the ages of Aged particles of the live model.
// Particles that are much younger than the run prove that the ladder renews them. Vetoes counts the
// updates that were rejected.
func (s *pttSettings) Figures(i Info, _ int) []Figure {
	return []Figure{{Key: "mean_age", Value: ratio(i.Get("Ages"), i.Get("Aged"))}, {Key: "vetoes", Value: unlessZero(i.Get("Vetoes"))}}
}

// Kinds of warnings of ptt.
const (
	StepsHalved diag.Kind = "steps_halved" // the estimator rejected too many updates
	NoRenewal   diag.Kind = "no_renewal"   // the ladder does not renew the chains
)

// Warnings implements Warner.
func (s *pttSettings) Warnings(i, _ Info, updates int) (all []diag.Warning) {
	n := float64(updates)
	if vetoes := i.Get("Vetoes"); vetoes > vetoShare*n {
		all = append(all, diag.Warning{Kind: StepsHalved, Numbers: diag.Numbers{"halved": vetoes, "updates": n}, Help: []diag.Remedy{SmallerRate, MoreChains}})
	}
	if age := ratio(i.Get("Ages"), i.Get("Aged")); age >= renewalShare*n {
		all = append(all, diag.Warning{Kind: NoRenewal, Numbers: diag.Numbers{"age": age, "updates": n}, Help: []diag.Remedy{HigherFreeze, MoreRungs}})
	}
	return all
}

// ptt is parallel tempering along the trajectory of training (arXiv:2405.15376, arXiv:2607.27077). The
// rungs of its ladder are frozen models with earlier parameters of the run. The oldest rung has no
// weights and is sampled exactly: it is startingBase of the first model of the run, or the distribution
// that path names. Above the newest rung is the live model, which is being trained. Neighbours a and b
// swap their particles x and y with the probability
//
//	min(1, e^Δ),  Δ = F_a(x) + F_b(y) − F_a(y) − F_b(x),
//
// where F_a and F_b are the free energies in v of the two models. The unknown normalisers cancel. A
// particle persists as v; after the swaps h is redrawn from p(h|v) of its new model.
//
// Each rung keeps a reservoir of particles. A call takes one of them for each chain,
// moves it by Gibbs steps and swaps, and puts it back. The newest rungs take part in
// every call. In every second call a pair of older rungs takes part too, and the newest rungs then swap
// without Gibbs steps. The first such pair is the oldest one, the next the pair above it, and so on. So
// the cost of a call does not depend on the number of rungs.
//
// When the live model swaps too rarely with the newest rung, it is frozen as a new rung, and sweeps of
// all rungs thermalise the new rung: see raise. From these sweeps log Z of the new rung is computed
// too, by Bennett's estimate of its ratio to the rung before.
type ptt struct {
	chains // the live model's
	pttSettings
	rungs  []*rung // frozen models, from the oldest
	live   *rung   // the live model; shares the states of chains
	fixed  bool    // no rungs are added
	looked bool    // the live chains' means and free energies are already those for the next call

	now       int64   // calls so far; sweeps that thermalise a rung do not count
	oldPairs  int64   // calls in which a pair of older rungs took part
	rate      float64 // moving average of the swap rate with the newest rung
	vetoes    int64   // updates rejected since the last call
	work      exchangeWork
	next, log []float64 // scratch of Veto
	linear    []float64 // scratch of Veto
	raw       []byte    // state from a checkpoint, until the first call uses it
	info      Info
}

const (
	// maxRungs bounds the memory. A ladder with maxRungs rungs adds no more.
	maxRungs = 64
	// rateShare is the weight of a call in the moving average of the swap rate.
	rateShare = 0.1
	// lossShare is the fraction of the chains below which an update must not reduce the effective
	// sample size.
	lossShare = 0.5
)

// Veto rejects an update to m if it changes the model too much for the chains. The chains are draws
// from the model before the update. Veto weights the chains as draws from m, and rejects m if the
// effective sample size is less than half the number of chains. See Vetoer.
func (p *ptt) Veto(m *rbm.RBM) bool {
	if p.states == nil {
		return false
	}
	if p.look(m) != nil {
		p.vetoes++
		return true
	}
	for r, f := range p.next {
		p.log[r] = p.live.free[r] - f
	}
	if effective(p.linear, p.log) < lossShare*float64(p.rows) {
		p.vetoes++
		return true
	}
	p.live.free, p.next = p.next, p.live.free
	p.looked = true
	return false
}

// effective returns the effective sample size (Σw)²/Σw² of weights w that are given by their logarithms.
// It overwrites w with the weights divided by the largest.
func effective(w, log []float64) float64 {
	top := math.Inf(-1)
	for _, x := range log {
		top = max(top, x)
	}
	sum, square := 0.0, 0.0
	for r, x := range log {
		w[r] = rbm.Exp(x - top)
		sum += w[r]
		square += float64(w[r] * w[r])
	}
	return sum * sum / square
}

// look computes the hidden means and free energies of the live chains under m, into their Mean and into
// p.next.
func (p *ptt) look(m *rbm.RBM) error {
	p.looked = false
	if err := p.hiddenMeanFree(m, p.states.Mean, p.next, p.states.V); err != nil {
		return err
	}
	return finite(p.next)
}

func (p *ptt) Estimate(m *rbm.RBM, _ rbm.Batch, key rbm.Key) (rbm.Phase, Info, error) {
	if err := p.begin(m, key.Child(startKey)); err != nil {
		return rbm.Phase{}, Info{}, err
	}
	p.live.model = m
	if !p.looked {
		if err := p.look(m); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		p.live.free, p.next = p.next, p.live.free
	}
	p.looked = false
	p.startCounts()
	round := key.Child(roundKeys)
	if p.rate < p.freeze && len(p.rungs) < maxRungs && !p.fixed {
		if err := p.raise(round.Child(swapKey)); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		p.startCounts()
	}
	p.info.Count("Vetoes", float64(p.vetoes))
	p.vetoes = 0
	from, rest := 0, false
	if n := len(p.rungs); n > p.pttSettings.rungs {
		from, rest = n-p.pttSettings.rungs+1, p.now%2 == 1
	}
	if rest {
		if err := p.refresh(int(p.oldPairs%int64(from)), round.Child(moveKey)); err != nil {
			return rbm.Phase{}, Info{}, err
		}
		p.oldPairs++
	}
	rate, err := p.sweep(from, rest, round.Child(stepKey))
	if err != nil {
		return rbm.Phase{}, Info{}, err
	}
	p.now++
	p.rate += float64(rateShare * (rate - p.rate))
	for _, born := range p.live.born {
		p.info.Count("Ages", float64(p.now-born))
	}
	p.info.Count("Aged", float64(p.rows))
	copy(p.work.phase.Data, p.states.Mean.Data) // because Veto overwrites Mean
	return rbm.Phase{Batch: rbm.Batch{V: p.states.V, H: p.work.phase}}, p.info, nil
}

// Freeze implements Freezer: no rungs are added from now on.
func (p *ptt) Freeze() { p.fixed = true }

// startCounts resets the counts at the start of a call, or after the number of rungs has changed.
func (p *ptt) startCounts() {
	n := len(p.rungs)
	if len(p.info.Swaps) != n {
		p.info.SwapTries, p.info.Swaps = make([]int64, n), make([]int64, n)
	}
	p.info.Reset()
	p.info.Tuned = int64(n - 1)
}

// LogZ implements LogZer. The chains of training are not independent of m, because the updates of m
// depend on them. So sweeps of all rungs first thermalise the chains under m. From the second half of the
// sweeps, Bennett's estimate gives the ratio of Z between m and the newest rung. ok is false if
// neighbouring models overlap too little.
func (p *ptt) LogZ(m *rbm.RBM, key rbm.Key) (logZ, stdErr float64, ok bool, err error) {
	if p.states == nil && p.raw == nil {
		return 0, 0, false, nil
	}
	if err := p.begin(m, key.Child(startKey)); err != nil {
		return 0, 0, false, err
	}
	p.live.model = m
	if err := p.look(m); err != nil {
		return 0, 0, false, err
	}
	p.live.free, p.next = p.next, p.live.free
	p.startCounts()
	_, err = p.thermalise(len(p.rungs)-1, key.Child(stepKey))
	p.looked = false
	if err != nil {
		return 0, 0, false, err
	}
	z := p.logZAbove(p.rungs[len(p.rungs)-1].logZ)
	return z.Mean, math.Sqrt(z.Variance), z.known(), nil
}
