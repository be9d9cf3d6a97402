package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/data"
	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/claims"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/units"
	"gorbm/train"
)

// A hiddenLayer is a kind and number of hidden units, a curve of the figure hidden.
type hiddenLayer struct {
	name string
	rbm.Group
	rate map[float64]float64 // best rate in the search, by the seconds of a run
}

// hiddenLayers are compared with the first of them.
var hiddenLayers = []hiddenLayer{
	{"50 dReLU units", rbm.Group{Kind: units.DReLU, Units: 50}, map[float64]float64{4: 0.2}},
	{"50 bits", rbm.Group{Kind: rbm.Bernoulli, Units: 50}, map[float64]float64{4: 0.8}},
	{"200 bits", rbm.Group{Kind: rbm.Bernoulli, Units: 200}, map[float64]float64{4: 1.6}},
}

var (
	hiddenSeconds = []float64{4}
	hiddenRates   = []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2}
)

// A hiddenSize has the numbers of training rows, of held-out rows and of samples, and the rounds of the sampling chains.
type hiddenSize struct{ rows, heldOut, samples, rounds int }

var fullHidden = hiddenSize{rows: 20_000, heldOut: 10_000, samples: 1000, rounds: sample.DefaultRounds / 16}

// sizeOfHidden returns fullHidden, or the sizes of -quick.
func sizeOfHidden(o claims.Options) hiddenSize {
	return claims.Size(o, hiddenSize{rows: 1000, heldOut: 500, samples: 100, rounds: 8}, fullHidden)
}

const (
	hiddenSearch = 100 // seed of the search, which no other run has

	familyDraws    = "draws of the family" // rows in place of a model's samples
	hiddenError    = "error of correlations"
	hiddenPearson  = "Pearson"
	hiddenSlope    = "slope"
	hiddenUpdates  = "updates"
	hiddenMixed    = "mixed"  // 1 if chains from random states agreed with chains from rows
	hiddenSearched = "search" // errors in the search; X is the rate
)

// searchPanel returns the panel of the search among runs of this many seconds.
func searchPanel(seconds float64) string { return fmt.Sprintf("%s, %g s", hiddenSearched, seconds) }

// family returns training rows and held-out rows of the family of sequences.
func (p *files) family(ctx context.Context, n hiddenSize) (rows, heldOut *data.Set, err error) {
	spec := fmt.Sprintf("sequences:%d", n.rows+n.heldOut)
	set, err := p.set(ctx, problem{name: spec, load: builtIn(spec)})
	if err != nil {
		return nil, nil, err
	}
	return set.Take(data.RowNumbers(0, n.rows)), set.Take(data.RowNumbers(n.rows, n.rows+n.heldOut)), nil
}

// start returns a training of the layer with the settings of rbmtrain's preset for such data, except for the rate. horizon is the number of updates over which
// the rate falls to 0; 0: it is constant.
func (l hiddenLayer) start(set *data.Set, rate float64, seed uint64, horizon int) (*training, error) {
	s := train.PresetFor(set, false).Settings("pcd")
	s.Rate, s.Horizon, s.Seed = rate, horizon, seed
	if horizon == 0 {
		s.Schedule = "constant"
	}
	m := train.NewModelOf(set, l.Group, false, rbm.Softmax, seed)
	train.SetLogOdds(m, set)
	t, err := train.New(s, set, m)
	return &training{Trainer: t, set: set}, err
}

// race trains the layer for this many seconds, and compares the two-site correlations of samples with those of
// held-out rows of the family.
func (l hiddenLayer) race(ctx context.Context, p *files, n hiddenSize, rate float64, seed uint64, seconds float64, add func(panel string, y float64)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	rows, heldOut, err := p.family(ctx, n)
	if err != nil {
		return err
	}
	horizon, err := forecast(ctx, seconds, func() (*training, error) { return l.start(rows, rate, seed, 0) })
	if err != nil {
		return err
	}
	t, err := l.start(rows, rate, seed, horizon)
	if err == nil {
		err = t.advance(ctx, seconds)
	}
	if err != nil {
		return err
	}
	s := sample.Settings{Samples: n.samples, Rounds: n.rounds, Start: sample.FromRandom}
	sheet, err := sample.DrawEach(ctx, t.Model(), rows, []sample.Query{{Class: rbm.Free}}, s, rbm.NewKey(measureKey).Child(seed), nil)
	if err != nil {
		return err
	}
	add(hiddenUpdates, float64(t.Steps()))
	mixed := 0.0
	if sheet.Mixed() {
		mixed = 1
	}
	add(hiddenMixed, mixed)
	drawn := *heldOut
	drawn.X = sheet.Values
	compareContacts(&drawn, heldOut, add)
	return nil
}

// compareContacts compares the two-site correlations of contacts in drawn with those in rows. Nearly all other pairs of sites
// are independent, and their sampling error is many times the signal.
func compareContacts(drawn, rows *data.Set, add func(panel string, y float64)) {
	x, y := contactCorrelations(drawn), contactCorrelations(rows)
	errors, norm := 0.0, 0.0
	for i, y := range y {
		errors, norm = errors+(x[i]-y)*(x[i]-y), norm+y*y
	}
	_, slope := stat.LinearRegression(y, x, nil, false)
	add(hiddenError, math.Sqrt(errors/norm))
	add(hiddenPearson, stat.Correlation(x, y, nil))
	add(hiddenSlope, slope)
}

// contactCorrelations returns f(a,b) − f(a)·f(b) for all states a and b of the two sites of each contact.
func contactCorrelations(set *data.Set) (c []float64) {
	sites := len(set.Schema.Columns)
	states := set.X.Cols / sites
	n := float64(set.Len())
	one, two := make([]float64, set.X.Cols), make([]float64, len(set.Contacts)*states*states)
	state := make([]int, sites)
	for r := range set.Len() {
		set.X.Each(r, func(unit int) {
			one[unit] += 1 / n
			state[unit/states] = unit % states
		})
		for k, pair := range set.Contacts {
			two[(k*states+state[pair[0]])*states+state[pair[1]]] += 1 / n
		}
	}
	for k, f := range two {
		pair := set.Contacts[k/(states*states)]
		c = append(c, f-one[pair[0]*states+k/states%states]*one[pair[1]*states+k%states])
	}
	return c
}

// hiddenFigure compares kinds of hidden units on sequences of a known Potts model.
func hiddenFigure(p *files) claims.Figure {
	names := func() (all []string) {
		for _, l := range hiddenLayers {
			all = append(all, l.name)
		}
		return all
	}
	// best returns the rate with the smallest error in the search.
	best := func(t *claims.Table, name string, seconds float64) (best float64) {
		least := math.Inf(1)
		for _, rate := range t.Xs(searchPanel(seconds), name) {
			if y := t.At(searchPanel(seconds), name, rate).Mean(); y < least {
				best, least = rate, y
			}
		}
		return best
	}
	return claims.Figure{
		Name: "hidden", Ours: true, Title: "dReLU units and bits on sequences of a known Potts model",
		Says: "at equal computing time, do hidden dReLU units learn the correlations between sites in contact better than bits?",
		Jobs: func(o claims.Options) (jobs []claims.Job) {
			job := func(l hiddenLayer, rate float64, seed int, seconds float64, panel string) claims.Job {
				return claims.Job{Name: fmt.Sprintf("%s%s, %g s, rate %g, seed %d", map[bool]string{true: "search, "}[panel != ""], l.name, seconds, rate, seed), Run: func(ctx context.Context) (points []claims.Point, err error) {
					err = l.race(ctx, p, sizeOfHidden(o), rate, uint64(seed), claims.Size(o, 0.02, seconds), func(name string, y float64) {
						switch {
						case panel == "":
							points = append(points, claims.Point{Panel: name, Curve: l.name, Repeat: seed, X: seconds, Y: y})
						case name == hiddenError:
							points = append(points, claims.Point{Panel: panel, Curve: l.name, Repeat: seed, X: rate, Y: y})
						}
					})
					if panel != "" && errors.Is(err, rbm.ErrDiverged) {
						err = nil // the rate is too high
					}
					return points, err
				}}
			}
			jobs = append(jobs, claims.Job{Name: familyDraws, Run: func(ctx context.Context) (points []claims.Point, err error) {
				n := sizeOfHidden(o)
				rows, heldOut, err := p.family(ctx, n)
				if err != nil {
					return nil, err
				}
				for repeat := range o.Seeds(3, 3) {
					compareContacts(rows.Take(data.RowNumbers(repeat*n.samples, (repeat+1)*n.samples)), heldOut, func(panel string, y float64) {
						points = append(points, claims.Point{Panel: panel, Curve: familyDraws, Repeat: repeat + 1, Y: y})
					})
				}
				return points, nil
			}})
			for _, seconds := range hiddenSeconds {
				for _, rate := range claims.Size(o, hiddenRates[:1], hiddenRates) {
					for _, l := range hiddenLayers {
						jobs = append(jobs, job(l, rate, hiddenSearch, seconds, searchPanel(seconds)))
					}
				}
			}
			for seed := range o.Seeds(3, 3) {
				for _, seconds := range hiddenSeconds {
					for _, l := range hiddenLayers {
						jobs = append(jobs, job(l, l.rate[seconds], seed+1, seconds, ""))
					}
				}
			}
			return jobs
		},
		Claims: func(t *claims.Table) (all []claims.Claim) {
			same, searches := 0, 0
			for _, seconds := range hiddenSeconds {
				for _, l := range hiddenLayers {
					if rate := best(t, l.name, seconds); rate > 0 {
						searches++
						if rate == l.rate[seconds] {
							same++
						}
					}
				}
				at := func(name string) claims.Repeats { return chains.Logs(t.At(hiddenError, name, seconds)) }
				for _, l := range hiddenLayers[1:] {
					all = append(all, claims.Smaller(fmt.Sprintf("after %g s, %s have a smaller error of the correlations than %s", seconds, l.name, hiddenLayers[0].name), at(l.name), at(hiddenLayers[0].name)))
				}
			}
			return append(all, claims.Holds("each layer has the rate that was best for it in the search", same == searches, float64(same), "%d of %d", same, searches))
		},
		Draw: func(w io.Writer, t *claims.Table) error {
			panels := []claims.Panel{{Name: hiddenError, Title: "error of the correlations of contacts", X: "s of updates", Y: "error", LogX: true, LogY: true, Geometric: true, Dots: true}}
			for _, seconds := range hiddenSeconds {
				panels = append(panels, claims.Panel{Name: searchPanel(seconds), Title: fmt.Sprintf("search, %g s", seconds), X: "rate", Y: "error", LogX: true, LogY: true, Dots: true})
			}
			return claims.Curves(w, t, 3, panels, names())
		},
		Finding: func(t *claims.Table) string {
			var texts []string
			for _, seconds := range hiddenSeconds {
				var errors []string
				for _, name := range names() {
					errors = append(errors, fmt.Sprintf("%.3f with %s", math.Exp(chains.Logs(t.At(hiddenError, name, seconds)).Mean()), name))
				}
				texts = append(texts, fmt.Sprintf("%s after %g s", strings.Join(errors, ", "), seconds))
			}
			return fmt.Sprintf("The relative error of the correlations between sites in contact is %s. %d other rows of the family have an error of %.3f.", strings.Join(texts, "; "), fullHidden.samples, t.At(hiddenError, familyDraws, 0).Mean())
		},
		Notes: func(t *claims.Table) string {
			var b strings.Builder
			fmt.Fprintf(&b, "\nThe %d rows of `-data sequences` are drawn from a Potts model of 60 sites of 21 states, whose couplings at a contact have rank 2. All layers are trained by `pcd` with the preset of rbmtrain for such data: batches of 50, 200 chains, centring, and a rate that falls to 0 as a cosine. Each layer has the rate that was best for it in a search with another seed. In that search dReLU units diverged at rates from 0.8 on. "+
				"The time of a run is that of its updates on one core. A run of a quarter of this time, which does not count, forecasts the number of updates. The error is ‖C − C'‖/‖C'‖, where C are the connected correlations f(a,b) − f(a)·f(b) of all states of the two sites of each of the 30 contacts, in %d samples of the model, and C' those in %d other rows of the family. "+
				"The last line has rows of the family in place of samples, and so only sampling error. Samples are from chains that started at random states; \"mixed\" counts the runs in which these chains agreed with chains that started at rows. Numbers are means ± standard deviations over the seeds.\n\n"+
				"| hidden layer | s | rate | updates | error | Pearson | slope | mixed |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n", fullHidden.rows, fullHidden.samples, fullHidden.heldOut)
			line := func(name string, x float64, first string) {
				fmt.Fprintf(&b, "| %s | %s |", name, first)
				for _, c := range []struct {
					panel  string
					digits int
				}{{hiddenUpdates, 0}, {hiddenError, 3}, {hiddenPearson, 4}, {hiddenSlope, 3}} {
					if r := t.At(c.panel, name, x); len(r) > 0 {
						mean, sd := r.Average()
						fmt.Fprintf(&b, " %.*f ± %.*f |", c.digits, mean, c.digits, sd)
					} else {
						b.WriteString(" – |")
					}
				}
				if r := t.At(hiddenMixed, name, x); len(r) > 0 {
					fmt.Fprintf(&b, " %.0f of %d |\n", r.Mean()*float64(len(r)), len(r))
				} else {
					b.WriteString(" – |\n")
				}
			}
			for _, seconds := range hiddenSeconds {
				for _, l := range hiddenLayers {
					line(l.name, seconds, fmt.Sprintf("%g | %g", seconds, l.rate[seconds]))
				}
			}
			line(familyDraws, 0, "– | –")
			return b.String()
		},
	}
}
