package diag

import "math"

// The criteria of this project by which chains and estimates are judged, with their limits. Packages train,
// sample, logz and negphase and the commands apply them; no other package has a limit of its own for the same
// question.
const (
	// Significant is the number of standard errors beyond which two independent numbers differ by more than
	// chance: once in 370 comparisons by the normal distribution. Errors from the spread of ten ladders are
	// widened by Student's t (see logz.Bracket), so that chance is not larger for them.
	Significant = 3
	// SignificantOfMany replaces Significant where a run makes dozens of such comparisons: chance exceeds it
	// once in 16,000. By Bonferroni's bound, ChanceOfMany is the p-value at which all comparisons of a run
	// together are reported.
	SignificantOfMany = 4
	ChanceOfMany      = 6e-5

	// LeastExchange is the fraction of attempts below which neighbours of a ladder exchange too rarely, and
	// below which a sampler's proposals are accepted too rarely: with one in a hundred, the hotter replicas do
	// not help the coldest one. It is compared after LeastAttempts attempts or more. If the true rate is five
	// times the limit, all attempts fail with a probability of 0.6 %.
	LeastExchange = 0.01
	LeastAttempts = 1 / LeastExchange

	// TripRounds is the number of rounds without any round trip after which a ladder does not refresh its cold
	// end. With the best ladder of barrier Λ, the sum of the rejection rates, a round trip takes 2 + 2Λ rounds
	// (Syed et al. 2022, section 3.5). For any Λ that the limit on the number of temperatures allows, these are
	// far fewer. A tuning interrupts all round trips, but the interval to the next tuning is a fifth of the
	// steps before it: of the last 2000 rounds, more than 300 are in one interval.
	TripRounds = 2000

	// LeastTrips is the least mean number of round trips of a ladder, from its coldest temperature to its
	// hottest and back. Without round trips no particle has carried a fresh state from the hot end to the cold
	// one. On a model of MNIST (784 × 500 units) with one round trip a ladder, Bennett's estimate of log Z was
	// below AIS with 20000 temperatures for all of six seeds. On another, with seven, the two agreed. On the few
	// of 303 enumerable models with fewer than ten, the interval contained log Z in two of three cases. Samples
	// of the built-in digits, with one round trip a ladder, repeated the same ten pictures.
	LeastTrips = 10

	// LeastDraws is the least number of independent draws of each ladder for an estimate of log Z. The burn-in
	// on the frozen ladder has a quarter of the number of sampled rounds: with 40 draws, one every 2τ rounds, it
	// is 20τ long, which allows for the inaccurate errors of ten ladders. On the 303 models with enough round
	// trips, the interval contained log Z in 95 % of the cases with more than 40 draws, in eight of nine between
	// 30 and 40, and in two of three below.
	LeastDraws = 40
	// LeastSettled replaces LeastDraws where an early and a late part of the draws agree within Unsettled
	// standard errors. To choose both, ladders of training runs on MNIST (784 × 500 units, rates of 0.005 to
	// 0.02) continued for N rounds on a fixed model. Some estimates were too low, by 17 nats at N = 50 and 11 at
	// N = 400, with standard errors near 1. Of 84 estimates at N = 100 to 1000 that pass both tests, three were
	// off by more than 2 standard errors, and none by more than 2.2.
	LeastSettled = 14
	Unsettled    = 2

	// LeastEffective is the number of independent values of a series below which neither the error of its mean
	// nor τ can be trusted, because the sum of its autocorrelations is mostly noise. (The emcee package requires
	// 50 of its autocorrelation times, which are 2τ.)
	LeastEffective = 50
	// LeastWeight is the fraction of its weights that the effective sample size of importance sampling must
	// reach, of LeastWeights weights or more. With a smaller size, chains probably miss modes of the model, which
	// their spread does not show. On the 303 models, with a hundred chains at 500 and at 5000 temperatures, four
	// times each, the interval of 95 % contained log Z in 95 % of the cases with a size of 70 or more, for AIS and
	// for its reverse. Between 50 and 70 it did in 85 % (AIS) and 74 % (reverse). Four hundred chains gave no
	// better results at equal size per chain.
	LeastWeight  = 0.7
	LeastWeights = 100

	// LeastBurnIn is the least burn-in of a sample, in autocorrelation times: the correlation with the start is
	// then e⁻⁵.
	LeastBurnIn = 5
	// LeastP is the least p-value of each of the two tests that compare chains from two kinds of starts. Mixed
	// chains fail one of the two with a probability of 1 %.
	LeastP = 0.005
)

// Kinds of warnings about chains. Comments name the criterion.
const (
	Constant     Kind = "constant"      // a quantity never changes
	TooFew       Kind = "too_few"       // there are too few chains or values to tell
	FewValues    Kind = "few_values"    // a series is worth too few independent values: LeastEffective
	SlowTail     Kind = "slow_tail"     // Summary.Slow
	Endless      Kind = "endless"       // the autocorrelation time is too long to be measured
	ShortBurnIn  Kind = "short_burn_in" // LeastBurnIn
	MeansDiffer  Kind = "means_differ"  // chains from two kinds of starts have different means: LeastP
	StatesDiffer Kind = "states_differ" // they have different states: LeastP
	FewTrips     Kind = "few_trips"     // LeastTrips
	FewDraws     Kind = "few_draws"     // LeastDraws or LeastSettled
	FewSwaps     Kind = "few_swaps"     // LeastExchange
	FewAccepted  Kind = "few_accepted"  // LeastExchange, of a sampler's proposals
	Unsettling   Kind = "unsettled"     // an early and a late part of the draws differ: Unsettled
)

// Kinds of warnings about samplers that are compared with each other or along temperatures.
const (
	ChainsDiffer   Kind = "chains_differ"   // the chains of a sampler have different means: ChanceOfMany
	SamplersDiffer Kind = "samplers_differ" // samplers of one distribution have different means: ChanceOfMany
	SignKept       Kind = "sign_kept"       // a mean that is 0 by symmetry differs from 0: SignificantOfMany
	Rising         Kind = "rising"          // the energy rises with β: SignificantOfMany
	OffCurve       Kind = "off_curve"       // a mean differs from the curve through all temperatures: SignificantOfMany
	ScanStuck      Kind = "scan_stuck"      // energies at neighbouring temperatures hardly overlap: LeastExchange
	ScanCapped     Kind = "scan_capped"     // a scan would need more temperatures than it may have
)

// Remedies for samplers.
const (
	RunLonger        Remedy = "run_longer"
	MoreReplicas     Remedy = "more_replicas"
	MoreTemperatures Remedy = "scan_temperatures"
	NarrowerRange    Remedy = "narrower_range"
	UsePT            Remedy = "use_pt"
	UseSW            Remedy = "use_sw"
	UseWolff         Remedy = "use_wolff"
)

// Above reports whether x is significantly above y. xErr and yErr are standard errors.
func Above(x, xErr, y, yErr float64) bool { return x-y > Significant*math.Hypot(xErr, yErr) }

// WorstExchange returns the lowest rate of exchanges among the pairs of neighbours with LeastAttempts attempts
// or more, and the number of its pair, from 0 for the coldest. The rate is NaN if there is no such pair.
func WorstExchange(tries, swaps []int64) (pair int, rate float64) {
	rate = math.NaN()
	for k, n := range tries {
		if n < LeastAttempts {
			continue
		}
		if x := float64(swaps[k]) / float64(n); !(x >= rate) {
			pair, rate = k, x
		}
	}
	return pair, rate
}
