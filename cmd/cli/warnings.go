package cli

import (
	"fmt"
	"regexp"
	"strings"

	"gorbm/data/grammar"
	"gorbm/negphase"
	"gorbm/negphase/diag"
	"gorbm/negphase/logz"
	"gorbm/negphase/sample"
	"gorbm/train"
)

// sentences has the sentence of each kind of warning. {name} stands for the number of that name, rounded to an
// integer; {name FORMAT} formats it, where % writes per cent; {of} lists what the warning is about, which
// otherwise stands in front of the sentence.
var sentences = map[diag.Kind]string{
	diag.Error:        "{of}",
	diag.FewTrips:     "{ladders} ladders made {trips} round trips together, fewer than {limit} each: they may miss modes of the model, and no error bar shows this",
	diag.FewDraws:     "the draws of {ladders} ladders are worth {draws} independent ones together, fewer than {limit} each: the ladders disagree, and each may still depend on where it started",
	diag.Unsettling:   "log Z moved by {change %.1f} nats within {rounds} rounds: the chains of the ladder are not in equilibrium with the model",
	diag.MeansDiffer:  "chains from random states and from training rows still differ: their mean free energies are {random %.1f} and {data %.1f} nats (z = {z %.1f})",
	diag.StatesDiffer: "states of chains from random states and from training rows still differ (energy distance, p = {p %.3g})",
	diag.TooFew:       "there are too few chains or rounds to tell",
	diag.Constant:     "it never changes, so its error is unknown",
	diag.SlowTail:     "a small part of its correlation lasts far longer than the rest; the errors are those of {batches} batches and may still be too small",
	diag.FewValues:    "the run is worth {worth %.2g} independent values of it, and below {limit} their errors cannot be trusted",
	diag.Endless:      "the chains forget slowly or stay apart: their autocorrelation time ({of}), {tau %.3g} rounds or more, is too long to be told from {rounds} rounds",
	diag.ShortBurnIn:  "the chains forget slowly: the autocorrelation time ({of}) is {tau %.3g} rounds, and the burn-in of {burn_in} should be {times} times that",
	sample.NorLadders: "nor have ladders of temperatures mixed",

	diag.ChainsDiffer:   "the mean energies of its {chains} chains differ by more than their errors (p = {p %.2g}): they have not converged",
	diag.SamplersDiffer: "{of} differ by {z %.1f} standard errors or less, too far apart for chance in {far} of {comparisons} comparisons: one of them has not converged",
	diag.SignKept:       "without a field the mean of m is 0, but this run has {mean %.3g} ± {error %.2g}: m changed its sign too rarely, so its error means nothing; look at |m|",
	diag.Rising:         "the mean energy rises with β by more than {limit} standard errors; in equilibrium it falls (dE/dβ = −Var E), so the chains have not reached all states",
	diag.OffCurve:       "the measurements differ from the curve, which uses all temperatures, by {limit} standard errors or more: the runs there have missed states that other temperatures reach",
	diag.ScanStuck:      "the energies hardly overlap with those at the next hotter temperature: fewer than {limit %} of swaps are accepted",
	diag.ScanCapped:     "for neighbours that accept half of their swaps there must be more than {most} temperatures, the most that auto chooses",

	diag.Lagging: "the chains of training lag behind the model: while it is fixed, their mean free energy changes by {nats %+.3g} nats, {sd %+.2g} standard deviations, within {updates} updates (steps {first} to {last}); the negative phase is not that of this model, and the likelihood may fall while other metrics improve",
	diag.Still:   "the chains of training hardly leave their modes within {updates} updates ({left %.2g}, where 0 means that they stay and 1 that they have forgotten them; steps {first} to {last}), so the fractions of chains in the modes may be wrong",

	train.NoLikelihoodKind: "there is no log-likelihood at step {step}",
	train.FallKind:         "{of} is {last %.5g} at step {step} and was {best %.5g} at step {best_step}",
	train.ShortKind:        "the model is far from the data: {of} is {last %.5g} at step {step}, and the distribution of the data scores {truth %.5g}",
	train.GoalKind:         "training makes the model worse: {of} is {last %.5g} at step {step} and was {best %.5g} at step {best_step}; usually the rate is too large for the end of a run, or the chains no longer follow the model",
	train.OverfitKind:      "the model overfits: {of} is {last %.5g} at step {step} and was {best %.5g} at step {best_step}, and its gap to the training rows grew by {gap %.3g} nats",
	train.WeightsKind:      "weights explode: at step {step} the largest is {largest %.3g}, and beyond {limit} single inputs fix the states of units",
	train.LargeStartKind:   "the run began with parameters up to {initial %.3g}: beyond {limit} single inputs fix the states of units, and a smaller rate does not help",
	train.DeadKind:         "{dead} of {hidden} hidden units are dead at step {step}: given training rows they are on, or off, with a mean probability below {limit %g}, so that they learn nothing from the data",
	train.LagCause:         "the chains lag behind the model, as {updates} updates from step {trial_step} with the exact negative phase raised the mean from {from %.4g} to {to %.4g} nats",
	train.ShortCause:       "the chains are too short, as {updates} updates from step {trial_step} with the exact negative phase raised the mean from {from %.4g} to {to %.4g} nats",
	train.RateCause:        "the rate is too high, as {updates} updates with the exact negative phase hardly bring it back",
	train.ExactRateCause:   "the rate is too high, as the negative phase is exact",
	train.NotChainsCause:   "the chains are not the cause, as {updates} updates with the exact negative phase hardly bring it nearer",
	train.UntestedCause:    "the chains lag behind the model or are too short, or the rate is too high; this was not tested",

	train.WorseKind:     "the model is worse than before the first step: {of} is {last %.5g}, it was {first %.5g}",
	train.UntrainedKind: "no step was better on the rows held out than the start, by {of}",
	train.NeverKind:     "never predicted: {of}; look at the balanced error, {error %}, not at the error",

	diag.FewSwaps:        "the ladder does not exchange: temperatures {colder} and {hotter} of {temperatures}, counted from the coldest, swap in {rate %} of attempts, so that the hotter particles do not help the coldest ones",
	negphase.NoOffWeight: "the ladder does not exchange: it leaves {rate %} of the estimate's weight to the hotter of {temperatures} temperatures, so that they do not help the coldest one",
	negphase.NoTrips:     "no particle has gone from the coldest of {temperatures} temperatures to the hottest and back in the last {rounds} rounds: the hot end does not refresh the cold one; ladder.png shows where they turn back",
	negphase.StepsHalved: "the chains cannot follow the model: steps were halved {halved} times in {updates} updates",
	negphase.NoRenewal:   "the ladder of ptt does not renew the chains: on average their particles left the oldest rung {age} of {updates} updates ago",
	diag.FewAccepted:     "the chains hardly move: {rate %} of the walks of {of} are accepted",

	logz.FewWeightsLow:  "its {weights} weights are worth {worth %.1f} (below {limit} their spread does not show the error), and log Z is likely above its estimate",
	logz.FewWeightsHigh: "its {weights} weights are worth {worth %.1f} (below {limit} their spread does not show the error), and log Z is likely below its estimate",
	logz.NoOverlap:      "neighbouring temperatures overlap by {overlap %}, and below 1 % there is no estimate",
	logz.Impossible:     "impossible: the distinct rows of the data alone make log Z at least {bound %.3f}, and the lowest estimate is {estimate %.3f}; the chains have missed these rows",
	logz.OffExact:       "off by {off %.2g}, {errors} of its standard errors, from the exact log Z",
	logz.Hopeless:       "the ladder stopped after {rounds} rounds: at its rate of round trips it needs more than {needed}, and may make {longest}",
	logz.SameChains:     "its chains are those of Bennett's estimate, which is impossible",

	logz.DisagreeKind(logz.ByAIS, logz.ByBennett):     "Bennett says {high %.2f} and AIS {low %.2f}, which their errors do not explain: AIS is too low where its chains miss modes of the model",
	logz.DisagreeKind(logz.ByBennett, logz.ByAIS):     "Bennett says {low %.2f} and AIS {high %.2f}, which their errors do not explain: the samples of the ladder have missed modes that AIS found",
	logz.DisagreeKind(logz.ByAIS, logz.ByReverse):     "AIS says {low %.2f} and reverse AIS {high %.2f}, which their errors do not explain: log Z lies between them, if the chains of the ladder have mixed",
	logz.DisagreeKind(logz.ByReverse, logz.ByAIS):     "AIS says {high %.2f} and reverse AIS {low %.2f}, so that the upper estimate is below the lower one: the samples of the ladder have missed modes that AIS found",
	logz.DisagreeKind(logz.ByBennett, logz.ByReverse): "Bennett says {low %.2f} and reverse AIS {high %.2f}, which their errors do not explain: reverse AIS is too high where few chains have all the weight",
	logz.DisagreeKind(logz.ByReverse, logz.ByBennett): "Bennett says {high %.2f} and reverse AIS {low %.2f}, which their errors do not explain: both come from the same chains, which then have not mixed",
}

// flagRemedies has the words of the commands for each remedy.
var flagRemedies = map[diag.Remedy]string{
	diag.RunLonger:        "a longer run",
	diag.MoreReplicas:     "more replicas or a lower hottest",
	diag.MoreTemperatures: "-scan with more temperatures, or auto",
	diag.NarrowerRange:    "-scan with a narrower range",
	diag.UsePT:            "pt",
	diag.UseSW:            "sw",
	diag.UseWolff:         "wolff",

	logz.MoreRounds:       "more -ladder-rounds",
	logz.MoreTemperatures: "more -ais-temperatures",
	logz.MoreChains:       "more -ais-chains",
	logz.SmallerRate:      "training at a smaller -rate",

	train.SmallerRate:      "a smaller -rate",
	train.AnotherRate:      "another -rate",
	train.LargerRate:       "a larger -rate",
	train.MoreSteps:        "more -steps",
	train.ExactPhase:       "-negphase exact",
	train.LargerWeights:    "larger -weights of their rows",
	train.EqualClasses:     "as many rows of each class",
	train.ByClasses:        "-preset discriminative",
	train.LinearSchedule:   "-schedule linear",
	train.LargerBatch:      "a larger -batch",
	train.AnotherStart:     "another -init",
	train.WeightDecay:      "some -l2",
	train.MoreHidden:       "more -hidden",
	train.FewerHidden:      "fewer -hidden",
	train.MoreRows:         "more rows",
	train.HoldOut:          "-holdout with -stop-after, which ends a run at its best",
	train.StopAfter:        "-stop-after, which ends a run at its best",
	train.UseBest:          "best.safetensors, the best on the rows held out",
	train.MoreSwaps:        "more rounds an update (-swaps)",
	train.MoreGibbs:        "more Gibbs steps an update (-k)",
	train.MoreChains:       "more -chains",
	train.PersistentChains: "chains that persist, such as -negphase pcd or pins",
	train.TunedLadder:      "a ladder such as -negphase pins -temperatures auto",

	negphase.CloserTemperatures: "temperatures closer together",
	negphase.TunedTemperatures:  "temperatures that are tuned (-temperatures reach:5, or -negphase pins -temperatures auto)",
	negphase.MoreTemperatures:   "more of them (-temperatures auto:NUMBER)",
	negphase.UsePins:            "-negphase pins, which may have more temperatures",
	negphase.UsePCD:             "-negphase pcd",
	negphase.HigherFreeze:       "a higher freeze",
	negphase.MoreRungs:          "more rungs",
	negphase.ShorterWalks:       "shorter walks (such as k=1-5), or gamma nearer to 1",
}

// Sentence describes a warning for the users of the commands: what it is about, what was found, its cause and
// what would help.
func Sentence(w diag.Warning) string { return SentenceWith(flagRemedies, w) }

// SentenceWith is Sentence with other words for the remedies. Remedies without words are left out.
func SentenceWith(remedies map[diag.Remedy]string, w diag.Warning) string {
	of := strings.Join(w.Of, ", ")
	sentence, ok := sentences[w.Kind]
	if !ok {
		sentence = string(w.Kind) // of a checkpoint of another version
	}
	text := placeholder.ReplaceAllStringFunc(sentence, func(match string) string {
		name, format, _ := strings.Cut(match[1:len(match)-1], " ")
		x, ok := w.Numbers[name]
		switch {
		case name == "of":
			return of
		case !ok:
			return "?"
		case format == "%":
			return Percent(x)
		case format == "":
			return fmt.Sprintf("%.0f", x)
		}
		return fmt.Sprintf(format, x)
	})
	if of != "" && !strings.Contains(sentence, "{of}") {
		text = of + ": " + text
	}
	if w.Cause != nil {
		text += ": " + SentenceWith(remedies, *w.Cause)
	}
	var help []string
	for _, r := range w.Help {
		if words := remedies[r]; words != "" {
			help = append(help, words)
		}
	}
	if help != nil {
		text += "; try " + grammar.List(help, "or")
	}
	return text
}

var placeholder = regexp.MustCompile(`\{[a-z_]+( [^}]+)?\}`)

// Sentences describes warnings one by one.
func Sentences(all []diag.Warning) (texts []string) {
	for _, w := range all {
		texts = append(texts, Sentence(w))
	}
	return texts
}

// Mixed says for how many queries of a sheet of samples the chains have mixed. A picture has one line per
// query.
func Mixed(s sample.Sheet) string {
	switch n := s.MixedQueries(); n {
	case len(s.Draws):
		return "their chains have mixed"
	case 0:
		return "their chains have not mixed"
	default:
		return fmt.Sprintf("their chains have mixed in %d of %d lines", n, len(s.Draws))
	}
}

// SamplesCaption returns the caption of a picture of samples: Mixed and, if a is not nil, the number of
// samples that have their class.
func SamplesCaption(s sample.Sheet, a *sample.Agreement) string {
	if a == nil {
		return Mixed(s)
	}
	return fmt.Sprintf("of %d samples, %d are nearest to a row of their class; %s", a.Of, a.Same, Mixed(s))
}
