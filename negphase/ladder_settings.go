package negphase

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/data/grammar"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

// The order of the swaps of pt.
const (
	// Sweep attempts all pairs in each round, upward from the coldest. It is the
	// default for tuned ladders too: at equal numbers of Gibbs steps it
	// made 1.4 to 1.8 times as many round trips as EvenOdd, on ladders of 16 to 64
	// temperatures with rejections of 17 to 68 % (TestRoundTripRate,
	// BenchmarkRoundTrips).
	Sweep   = "sweep"
	EvenOdd = "evenodd" // the even pairs in one round, the odd pairs in the next
)

// The distribution at β = 0, where the path of tempered distributions ends.
const (
	ToUniform = "uniform" // every state equally likely
	ToData    = "data"    // independent units with the data's base rates
)

const (
	// maxTemperatures is the largest number of temperatures of pt and pins:
	// checkpoints save the index of a temperature as a byte.
	maxTemperatures = 256
	// maxBlock is the largest number K of temperatures of ins, and of a block of
	// pins: the table of subsets has 2^K entries.
	maxBlock = 16
	// maxReplicas is the largest number of replicas, summed over all groups.
	maxReplicas = 1 << 24
	// leastHottest is the lower limit of the highest temperature of a tuned ladder. Below it, float32
	// cannot tell enough inverse temperatures apart.
	leastHottest = 1.01
)

// LadderSettings are the settings of a ladder of temperatures.
type LadderSettings struct {
	Temperatures Temperatures
	Hottest      float64 // the highest temperature of a tuned ladder; 0 is +Inf
	// Path is the distribution at β = 0: ToUniform, or ToData with the base rates of the data in
	// Base. "" is ToUniform.
	Path string
	Base *rbm.Base

	k, swaps int // Gibbs steps (or moves of the sampler) per round; rounds per update
	longest  int // largest number of temperatures
	chainSettings
	samplerSettings // the sampler that moves chains instead of Gibbs steps, if there is one
}

// keys returns the table of the settings. more are keys that only one kind of ladder has.
func (l *LadderSettings) keys(more ...grammar.Key) grammar.Keys {
	return slices.Concat(
		grammar.Keys{
			grammar.Count("k", &l.k, 1, 1, maxSteps, "number of Gibbs steps between swaps"),
			grammar.Count("swaps", &l.swaps, 1, 1, maxSteps, "number of rounds per update; a round is -k Gibbs steps and one swap"),
		},
		l.chainSettings.keys("groups of replicas"),
		grammar.Keys{
			{Name: "tau", Set: l.Temperatures.Set, Text: l.Temperatures.String, Initial: "1/2/3/4/5", Check: l.checkTemperatures,
				Help: "list of temperatures, rising from 1; the last may be inf. auto and auto:NUMBER tune all but the hottest; reach:NUMBER (default 5) also tunes the hottest, so that neighbours swap often"},
			{Name: "hottest", Set: l.setHottest, Text: func() string { return grammar.FormatNumbers(l.Hottest) }, Check: l.checkHottest, Example: "5",
				Help: "highest temperature of a ladder with tau=auto, or its largest value with tau=reach (default: inf)"},
		},
		more,
		grammar.Keys{
			grammar.Word("path", &l.Path, "", "distribution at β = 0: uniform, or data, independent units with the frequencies of the data, which is nearer to the model (default with tau=auto: data)", ToUniform, ToData).Like(ToData),
			l.gibbsKey(),
			{Name: samplerKey, Set: l.samplerSettings.Set, Text: l.samplerSettings.String, Check: l.checkSampler},
		})
}

// Ladder returns a copy of the settings of the ladder; the zero value if the kind has no ladder.
func (s Settings) Ladder() LadderSettings {
	if l := s.ladder(); l != nil {
		return *l
	}
	return LadderSettings{}
}

// ladder returns the settings of the ladder; nil if the kind has no ladder.
func (s Settings) ladder() *LadderSettings {
	if l, ok := s.specific.(interface{ ofLadder() *LadderSettings }); ok {
		return l.ofLadder()
	}
	return nil
}

func (l *LadderSettings) ofLadder() *LadderSettings { return l }

func (l *LadderSettings) needsBase() bool        { return l.Path == ToData && l.Base == nil }
func (l *LadderSettings) setBase(base *rbm.Base) { l.Path, l.Base = ToData, base }

// Longest returns the largest number of temperatures that the kind supports.
func (l LadderSettings) Longest() int { return l.longest }

// MaxTemperatures returns the largest number of temperatures that tuning may give the ladder, for
// estimates of memory; 1 if there is no ladder.
func (l LadderSettings) MaxTemperatures() int {
	switch t := l.Temperatures; {
	case !t.Auto:
		return max(1, len(t.List))
	case t.Number > 0:
		return t.Number
	}
	return min(l.longest, autoTemperatures)
}

func (l *LadderSettings) checkTemperatures() error {
	t := l.Temperatures.List
	bad := func(format string, args ...any) error {
		list := grammar.FormatNumbers(t...)
		if list == "" {
			list = "(none)"
		}
		return fmt.Errorf("temperatures %s: %s", list, fmt.Sprintf(format, args...))
	}
	switch {
	case l.Temperatures.Auto:
		return l.checkAuto()
	case len(t) < 2:
		return bad("there must be at least two; for one temperature use pcd")
	case len(t) > l.longest && l.longest == maxBlock:
		return bad("ins takes at most %d, as its work grows like 2^K; use pt or pins", maxBlock)
	case len(t) > l.longest:
		return bad("at most %d are allowed", l.longest)
	case l.chains > maxReplicas/len(t):
		return bad("%d chains of them make more than %d replicas", l.chains, maxReplicas)
	case t[0] != 1:
		return bad("the first must be 1, the temperature of the model")
	}
	for k, x := range t {
		if math.IsNaN(x) {
			return bad("they must be numbers")
		}
		if k > 0 && x <= t[k-1] {
			return bad("they must rise, but %v follows %v", x, t[k-1])
		}
	}
	return nil
}

func (l *LadderSettings) checkAuto() error {
	switch t := l.Temperatures; {
	case len(t.List) > 0:
		return fmt.Errorf("temperatures %s are given and to be tuned; leave one out", grammar.FormatNumbers(t.List...))
	case t.Number != 0 && (t.Number < 2 || t.Number > l.longest):
		return fmt.Errorf("tau is %v; the number must lie in 2 … %d", &t, l.longest)
	case l.chains > maxReplicas/l.MaxTemperatures():
		return fmt.Errorf("%d chains at up to %d temperatures make more than %d replicas", l.chains, l.MaxTemperatures(), maxReplicas)
	}
	return nil
}

func (l *LadderSettings) setHottest(text string) error {
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return errors.New("it must be a number, or inf")
	case x == 0 || math.IsNaN(x):
		return fmt.Errorf("it must be at least %v, or inf", leastHottest)
	}
	l.Hottest = x
	return nil
}

func (l *LadderSettings) checkHottest() error {
	switch {
	case l.Hottest == 0:
		return nil
	case !l.Temperatures.Auto:
		return errors.New("hottest is for tau=auto and tau=reach; end the temperatures with it instead")
	case !(l.Hottest >= leastHottest):
		return fmt.Errorf("hottest is %v; it must be at least %v, or inf", l.Hottest, leastHottest)
	}
	return nil
}

func (l *LadderSettings) checkSampler() error {
	if l.mover != nil && l.Path == ToData {
		return fmt.Errorf("path=data is for block Gibbs steps; with the sampler %s the temperatures lead to the uniform distribution, so leave path out", moverName(l.mover))
	}
	if mcmc.FindsLength(l.mover) {
		return errors.New("k=auto is for walks at one temperature, as in sardonics:k=auto; in a ladder give lengths, or k=fit")
	}
	return l.checkMover()
}

// Temperatures describes the temperatures of a ladder: a list, or how the ladder is tuned.
type Temperatures struct {
	// List rises from 1 and may end at +Inf, β = 0.
	List []float64
	// Auto tunes the temperatures; List is then empty. The ladder has Number temperatures or, if Number
	// is 0, as many as the measured barrier requires (see Ladder.Barrier). The highest is
	// LadderSettings.Hottest. With Reach, Auto is set too, and the highest temperature is tuned so that
	// neighbours reject the fraction reachRejection of their swaps.
	Auto, Reach bool
	Number      int
}

// String returns the text that Set reads.
func (t *Temperatures) String() string {
	switch {
	case !t.Auto:
		return grammar.FormatNumbers(t.List...)
	case t.Reach:
		return fmt.Sprintf("reach/%d", t.Number)
	case t.Number == 0:
		return "auto"
	}
	return fmt.Sprintf("auto/%d", t.Number)
}

// Set parses a list of numbers separated by '/' or ',', or "auto" or "reach", which a number may
// follow as in "auto/20" or "auto:20".
func (t *Temperatures) Set(text string) error {
	var read Temperatures
	number := func(rest string) error {
		n, err := strconv.Atoi(rest[1:])
		if err != nil || !strings.ContainsAny(rest[:1], "/:") || n == 0 {
			return errors.New("a ladder to be tuned is auto or reach, or auto/20 with a number")
		}
		read.Number = n
		return nil
	}
	text = strings.TrimSpace(text)
	rest, auto := strings.CutPrefix(text, "auto")
	if !auto {
		rest, read.Reach = strings.CutPrefix(text, "reach")
	}
	if read.Auto = auto || read.Reach; read.Auto {
		if read.Reach {
			read.Number = startTemperatures
		}
		if rest != "" {
			if err := number(rest); err != nil {
				return err
			}
		}
	} else if text != "" {
		for _, f := range strings.Split(strings.ReplaceAll(text, ",", "/"), "/") {
			x, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
			if err != nil {
				return fmt.Errorf("temperature %q is not a number", f)
			}
			read.List = append(read.List, x)
		}
	}
	*t = read
	return nil
}
