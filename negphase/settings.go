package negphase

import (
	"fmt"
	"slices"
	"strings"

	"gorbm/data"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// Start says where the chains of an estimator begin.
type Start string

const (
	Uniform Start = "uniform" // hidden states uniformly at random
	Data    Start = "data"    // hidden states drawn given rows of the first batch
)

// Order says which pairs of temperatures pt swaps in which order.
type Order string

const (
	// Sweep tries all pairs in each round, upward from the coldest. It is the
	// default also of tuned ladders, because at equal numbers of Gibbs steps it
	// made 1.4 to 1.8 times the round trips of EvenOdd, on ladders of 16 to 64
	// temperatures and rejections of 17 to 68 % (TestRoundTripRate,
	// BenchmarkRoundTrips).
	Sweep   Order = "sweep"
	EvenOdd Order = "evenodd" // the even pairs in one round, the odd ones in the next
)

// Path says where the path of tempered laws ends, at β = 0.
type Path string

const (
	ToUniform Path = "uniform" // every state equally likely
	ToData    Path = "data"    // independent units with the data's base rates
)

// order returns the order of the swaps.
func (s Settings) order() Order {
	if s.Order == "" {
		return Sweep
	}
	return s.Order
}

// Settings choose an estimator. Fields that a kind does not have are ignored
// by New and refused by Parse.
type Settings struct {
	Kind   string `json:"kind"`
	K      int    `json:"k"`      // κ: Gibbs steps between swaps: cd, pcd, pt, ins, pins, ucd
	Swaps  int    `json:"swaps"`  // rounds of κ steps and a swap in each update: pt, ins, pins
	Chains int    `json:"chains"` // chains, or groups of replicas: all but cd and exact
	Start  Start  `json:"start"`  // where chains begin: all but cd and exact
	Order  Order  `json:"order"`  // of the swaps: pt; "" is Sweep
	Block  int    `json:"block"`  // most temperatures in a block: pins

	// Temperatures rise from 1 and may end at +Inf, β = 0: pt, ins, pins. In
	// their place, Auto has them tuned between 1 and Hottest, 0 being +Inf: so
	// many as Rungs, or if that is 0, as the barrier asks for.
	Temperatures []float64 `json:"temperatures"`
	Auto         bool      `json:"-"`
	Rungs        int       `json:"-"`
	Hottest      float64   `json:"hottest"`

	// Path is where temperatures lead to: pt, ins, pins; "" is ToUniform.
	// For ToData the caller gives the Base to New.
	Path Path      `json:"path"`
	Base *rbm.Base `json:"-"`

	Max int `json:"max"` // Gibbs steps after which a pair of chains is cut: ucd

	// Mover takes the chains of sardonics, im and walk from update to update,
	// and in pt, ins and pins, if it is not nil, replicas between swaps: K
	// moves in place of as many Gibbs steps. With Fit its walks are of 1 to
	// maxFit flips, of as many as the model has room for.
	Mover mcmc.Mover `json:"-"`
	Fit   bool       `json:"-"`
	Moves int        `json:"moves"` // of each chain in an update: sardonics, im, walk
	// Gibbs is the number of block Gibbs steps before the moves. 0 is one step
	// for movers that keep the number of active units, unless the model has a
	// constraint that does too, and none for others.
	Gibbs int `json:"gibbs"`
}

// DefaultSettings returns the settings of the infinite-swapping paper for an
// estimator of the given kind: one Gibbs step and one swap an update, ten
// chains with a uniform start, temperatures 1 to 5 (sections 4.2.4–4.2.6), for
// pins blocks of defaultBlock; and for what it lacks: a cut after 1000 steps in
// ucd, and one move an update of the walks of sardonics and im, in walk of
// single-site Gibbs sampling.
func DefaultSettings(kind string) Settings {
	s := Settings{Kind: kind, K: 1, Swaps: 1, Chains: 10, Start: Uniform, Temperatures: []float64{1, 2, 3, 4, 5}, Block: defaultBlock, Max: 1000, Moves: 1}
	s.Mover, s.Fit = defaultMover(kind)
	return s
}

// A kind of estimator: the settings it has, and how it is made.
type kind struct {
	name string
	keys []string
	make func(s Settings) Estimator
}

// kinds is the table of all estimators; tests go through it.
var kinds = []kind{
	{"cd", []string{"k"}, func(s Settings) Estimator { return &cd{steps: s.K} }},
	{"pcd", []string{"k", "chains", "start"}, func(s Settings) Estimator { return newPCD(s) }},
	{"pt", []string{"k", "swaps", "chains", "start", "tau", "hottest", "order", "path", "gibbs"}, func(s Settings) Estimator { return newPT(s) }},
	{"ins", []string{"k", "swaps", "chains", "start", "tau", "hottest", "path", "gibbs"}, func(s Settings) Estimator { return newINS(s) }},
	{"pins", []string{"k", "swaps", "chains", "start", "tau", "hottest", "block", "path", "gibbs"}, func(s Settings) Estimator { return newINS(s) }},
	{"ucd", []string{"k", "max", "chains", "start"}, func(s Settings) Estimator { return newUCD(s) }},
	{"sardonics", walkKeys, func(s Settings) Estimator { return newWalk(s) }},
	{"im", walkKeys, func(s Settings) Estimator { return newWalk(s) }},
	{"walk", walkKeys, func(s Settings) Estimator { return newWalk(s) }},
	{"exact", nil, func(s Settings) Estimator { return &exact{} }},
}

// Kinds returns the names of all estimators.
func Kinds() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// Has reports whether estimators of this kind have the setting named by the
// grammar's key: k, swaps, chains, start, tau, hottest, order, block,
// path, max, moves or gibbs; the keys of a Mover's own are not among them.
func Has(name, key string) bool {
	k, err := find(name)
	return err == nil && slices.Contains(k.keys, key)
}

func find(name string) (kind, error) {
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, fmt.Errorf("unknown negative phase %q%s; there are %s",
		name, didYouMean(name, Kinds()), strings.Join(Kinds(), ", "))
}

// didYouMean returns "; did you mean …?" if a known name is like name.
func didYouMean(name string, known []string) string {
	if near := data.Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// New returns a new estimator. The error is that of Check, or that Path is
// ToData without a Base.
func New(s Settings) (Estimator, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if Has(s.Kind, "path") && s.Path == ToData && s.Base == nil {
		return nil, fmt.Errorf("%s: path=data needs the base rates of the data; without data take path=uniform", s.Kind)
	}
	k, err := find(s.Kind)
	if err != nil {
		return nil, err
	}
	return k.make(s), nil
}

// Check returns an error that names the setting that is out of range, of those
// that the kind has, or the kind if it is unknown.
func (s Settings) Check() error {
	k, err := find(s.Kind)
	if err != nil {
		return err
	}
	for _, key := range k.keys {
		if err := s.check(key); err != nil {
			return err
		}
	}
	return s.checkMover()
}

const (
	maxSteps = 1_000_000 // Gibbs steps an update: more is surely a slip
	maxRungs = 256       // temperatures of pt and pins: their ranks are saved in a byte
	// maxINS is the largest number of temperatures of ins, and of a block of
	// pins: the table of subsets has 2^K entries.
	maxINS = 16
	// defaultBlock is the length of a block of pins. At 784 × 500 units, 10
	// groups and 30 temperatures an update then takes 2 % longer than one of pt,
	// with blocks of 10 it takes 5 % and of 12 it takes 14 % (BenchmarkLadder).
	defaultBlock = 8
	// maxReplicas is the largest number of replicas in all chains.
	maxReplicas = 1 << 24
	// MaxChains is the largest number of chains.
	MaxChains = 1_000_000
	// MaxSites is the largest number of units in all chains and replicas that
	// samplers of binary systems should move: they keep flip costs and weights,
	// some 50 bytes a unit, 3 GiB.
	MaxSites = 1 << 26
)

// check checks the setting of one key.
func (s Settings) check(key string) error {
	count := func(n, top int) error {
		if n < 1 || n > top {
			return fmt.Errorf("%s: %s is %d; it must lie in 1 … %d", s.Kind, key, n, top)
		}
		return nil
	}
	switch key {
	case "k":
		return count(s.K, maxSteps)
	case "swaps":
		return count(s.Swaps, maxSteps)
	case "chains":
		return count(s.Chains, MaxChains)
	case "start":
		if s.Start != Uniform && s.Start != Data {
			return fmt.Errorf("%s: start is %q; it is uniform or data", s.Kind, s.Start)
		}
	case "tau":
		if s.Auto {
			return s.checkAuto()
		}
		return s.checkLadder()
	case "hottest":
		return s.checkHottest()
	case "path":
		if s.Path != "" && s.Path != ToUniform && s.Path != ToData {
			return fmt.Errorf("%s: path is %q; it is uniform or data", s.Kind, s.Path)
		}
	case "order":
		if o := s.order(); o != Sweep && o != EvenOdd {
			return fmt.Errorf("%s: order is %q; it is sweep or evenodd", s.Kind, s.Order)
		}
	case "block":
		if s.Block < 2 || s.Block > maxINS {
			return fmt.Errorf("%s: block is %d; it must lie in 2 … %d", s.Kind, s.Block, maxINS)
		}
	case "max":
		return s.checkCut()
	case "moves":
		return count(s.Moves, maxSteps)
	case "gibbs":
		return s.checkGibbs()
	}
	return nil
}
