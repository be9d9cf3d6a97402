package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
)

// A row is the result of one sampler from all its chains.
type row struct {
	*contestant              // the sampler and the measurements of its first chain
	runs         []*measured // measurements of each chain
	diag.Summary             // summary of the energy; times are in moves
	seconds      float64     // computing time of all chains
	info         mcmc.Info
}

// perSecond divides a count by the computing time.
func (r row) perSecond(count float64) float64 { return count / r.seconds }

// secondsOf returns the computing time of a number of moves.
func (r row) secondsOf(moves float64) float64 { return moves * r.seconds / float64(r.N) }

// exchanged returns the acceptance rate of swaps between the k-th coldest temperature, from 0, and the next
// hotter one, over all chains, or NaN if there were no attempts.
func (r row) exchanged(k int) float64 {
	var tries, made int64
	for _, m := range r.runs {
		if x := m.Exchanges; x != nil && k < len(x.Tries) {
			tries, made = tries+x.Tries[k], made+x.Made[k]
		}
	}
	return float64(made) / float64(tries)
}

// roundTrips returns the number of round trips of replicas, from the coldest temperature to the hottest and
// back.
func (r row) roundTrips() (n int64) {
	for _, m := range r.runs {
		n += m.Exchanges.Trips
	}
	return n
}

// newRows returns the results of the samplers of field. runs are chains × samplers.
func newRows(field []*contestant, runs [][]*measured) (rows []row) {
	for i, c := range field {
		var chains []*measured
		for _, run := range runs {
			chains = append(chains, run[i])
		}
		rows = append(rows, newRow(c, chains))
	}
	return rows
}

// newRow returns the result of the sampler c from the measurements of its chains. It copies the measurements
// of the first chain into c, because they may come from another rank.
func newRow(c *contestant, runs []*measured) row {
	c.measured = *runs[0]
	r := row{contestant: c, runs: runs}
	for _, m := range runs {
		r.seconds += m.Elapsed.Seconds()
		r.info.Add(m.Info)
	}
	inMove := 0.0
	for _, m := range runs {
		inMove += m.Within / float64(r.info.Moves)
	}
	r.Summary = statesSummary(r.summary(func(m *measured) *diag.Trace { return m.Trace }), inMove)
	return r
}

// record returns the result of a sampler. In tables, τ is in the time unit unitName, which has unit seconds.
// Numbers that the run does not determine are null in JSON.
func (r row) record(unit float64, unitName string) (rec cli.Record) {
	spins, acceptance := float64(r.system.Len()), math.NaN()
	if a, ok := r.info.Acceptance(); ok {
		acceptance = a
	}
	rate := func(key, label string, count float64) {
		rec.Show(key, label, r.perSecond(count), short(r.perSecond(count)))
	}
	rec.Show("sampler", "sampler", r.name, r.name)
	if len(r.runs) > 1 {
		rec.Add("chains", len(r.runs))
	}
	if shortest, longest := r.lengths(); longest > 0 {
		rec.Add("shortest_walk", shortest)
		rec.Add("longest_walk", longest)
		rec.Add("seconds_warm_up", r.warmUp().Seconds())
	}
	rec.Add("chains_p", cli.Known(r.agreement())) // p-value of the differences between the mean energies of the chains
	rec.Show("moves", "moves", r.N, strconv.FormatInt(r.N, 10))
	rec.Show("seconds", "seconds", r.seconds, fmt.Sprintf("%.3g", r.seconds))
	rate("moves_per_second", "moves/s", float64(r.N))
	rate("flips_per_second", "flips/s", float64(r.info.Flips))
	rec.Show("acceptance", "accepted", acceptance, cli.Percent(acceptance))
	if r.ladder != nil {
		var temperatures, exchanged []float64
		for k, beta := range r.ladder.Betas() {
			if temperatures = append(temperatures, 1/beta); k+1 < len(r.ladder.Betas()) {
				exchanged = append(exchanged, r.exchanged(k))
			}
		}
		rec.Add("temperatures", temperatures)
		rec.Add("exchanged", exchanged) // for each temperature but the hottest: acceptance rate of swaps with the next hotter one
		rec.Add("round_trips", r.roundTrips())
	}
	rec.Add("energy_mean", r.Mean)
	rec.Add("energy_std_err", r.StdErr)
	rec.Show("energy_per_spin", "energy/spin", r.Mean/spins, withError(r.Mean/spins, r.StdErr/spins))
	rec.Add("energy_variance", r.Variance)
	rec.Show("tau_int", "τ / moves", r.Time.Tau, tauText(r.Summary, 1))
	stdErr, effective := math.NaN(), short(r.perSecond(r.Effective))
	if r.Trusted() {
		stdErr = r.Time.StdErr
	} else {
		rec.Add("tau_int_above", cli.Known(r.TauBound())) // lower bound of τ
		effective = "?"
		if worth := float64(r.N) / (2 * r.TauBound()); worth > 0 {
			effective = "< " + short(r.perSecond(worth))
		}
	}
	rec.Add("tau_int_std_err", stdErr)
	rec.Show("tau_int_seconds", "τ / "+unitName, r.secondsOf(r.Time.Tau), tauText(r.Summary, r.secondsOf(1)/unit))
	rec.Add("effective_samples", r.Effective)
	rec.Show("effective_samples_per_second", "effective/s", r.perSecond(r.Effective), effective)
	return rec
}

// records returns the results of all samplers, with τ in the same unit.
func records(rows []row) (all []cli.Record) {
	longest := 0.0
	for _, r := range rows {
		if tau := r.secondsOf(r.Time.Tau); !math.IsInf(tau, 1) {
			longest = max(longest, tau)
		}
	}
	unit, name := cli.TimeUnit(longest)
	for _, r := range rows {
		all = append(all, r.record(unit, name))
	}
	return all
}

// result returns the JSON object on standard output. If there is one sampler, its fields are
// also at the top level.
func (p *plan) result(rows []row, warnings []string) (out cli.Record) {
	all := records(rows)
	for i, r := range rows {
		all[i] = append(all[i], r.observed()...)
	}
	n := len(rows) - p.references
	out.Add("system", p.model)
	out.Add("spins", p.units)
	out.Add("bonds", p.pairs)
	out.Add("beta", p.beta)
	if p.keepsUp {
		out.Add("active", p.active)
	}
	out.Add("seed", p.seed)
	out.Add("samplers", all[:n])
	if n == 1 {
		out = append(out, all[0]...)
	}
	out = append(out, p.tuning.record(p.policy)...)
	if p.references > 0 {
		out.Add("references", all[n:]) // the sampler with its settings before tuning
	}
	if differences := compare(rows, p.symmetric).record(); len(differences) > 0 {
		out.Add("comparisons", differences)
	}
	out.Add("warnings", warnings)
	return out
}

// print prints the results: as JSON, or as a table with conclusions.
func (p *plan) print(rows []row) error {
	warnings := p.warnings(rows)
	return p.flags.Print(p.result(rows, warnings), func(w io.Writer) error {
		if !p.flags.Quiet {
			if err := cmp.Or(cli.PrintTable(w, cli.Table(records(rows)), true), printObservables(w, rows)); err != nil {
				return err
			}
			for _, line := range slices.Concat(p.tuning.lines(), lengthLines(rows), p.conclusions(rows)) {
				fmt.Fprintln(w, line)
			}
		}
		p.flags.Warn(warnings...)
		return nil
	})
}

// lengths returns the smallest and the largest number of flips of a walk over all chains, if the
// sampler has tuned them, otherwise zeros.
func (r row) lengths() (shortest, longest int) {
	for i, m := range r.runs {
		if i == 0 || m.Lengths[0] < shortest {
			shortest = m.Lengths[0]
		}
		longest = max(longest, m.Lengths[1])
	}
	return shortest, longest
}

// warmUp returns the computing time in which all chains have tuned the lengths of their walks.
func (r row) warmUp() (t time.Duration) {
	for _, m := range r.runs {
		t += m.WarmUp
	}
	return t
}

// lengthLines returns a line for each sampler that has tuned the length of its walks.
func lengthLines(rows []row) (lines []string) {
	for _, r := range rows {
		if shortest, longest := r.lengths(); longest > 0 {
			flips := fmt.Sprint(longest)
			if shortest < longest {
				flips = fmt.Sprintf("%d to %d", shortest, longest)
			}
			lines = append(lines, fmt.Sprintf("%s makes walks of %s flips, tuned in %.2g s before the burn-in.", r.name, flips, r.warmUp().Seconds()))
		}
	}
	return lines
}

// short writes a rate to three significant digits, in thousands (k), millions (M) or billions (G).
func short(x float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if x >= unit.size {
			return cli.Number(x/unit.size) + unit.name
		}
	}
	return cli.Number(x)
}

// withError writes a number with its standard error, to two significant digits of the
// error.
func withError(x, err float64) string {
	switch {
	case math.IsNaN(x):
		return "?"
	case math.IsInf(x, 0):
		return "∞"
	case err == 0 || math.IsNaN(err) || math.IsInf(err, 0):
		return strconv.FormatFloat(x, 'g', 4, 64) + " ± ?"
	}
	return cli.PlusMinus(x, err, cli.Decimals(err))
}

// conclusions returns lines that compare several samplers, if their errors can be
// trusted: whether their observables agree, and which sampler is fastest.
func (p *plan) conclusions(rows []row) []string {
	if len(rows) < 2 || slices.ContainsFunc(rows, func(r row) bool { return !r.Trusted() }) {
		return nil
	}
	lines := compare(rows, p.symmetric).agreement()
	// Exclude samplers whose chains have not mixed: their τ is underestimated.
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return r.Slow || r.chainsWarning() != nil || r.observablesWarnings(p.symmetric) != nil
	})
	if len(rows) < 2 {
		return lines
	}
	best := rows[0]
	for _, r := range rows {
		if r.perSecond(r.Effective) > best.perSecond(best.Effective) {
			best = r
		}
	}
	var others []string
	for _, r := range rows {
		if r.contestant != best.contestant {
			ratio := best.perSecond(best.Effective) / r.perSecond(r.Effective)
			uncertain := math.Hypot(best.Time.StdErr/best.Time.Tau, r.Time.StdErr/r.Time.Tau)
			others = append(others, fmt.Sprintf("%s times those of %s", withError(ratio, ratio*uncertain), r.name))
		}
	}
	return append(lines, fmt.Sprintf("%s gives the most independent energies per second, %s.", best.name, strings.Join(others, ", ")))
}

// traceLines returns the energies of all samplers as the lines of a CSV file.
// In a long run a line has several moves, and the energy is their mean.
func traceLines(rows []row) [][]string {
	head := []string{"sampler", "move", "seconds", "energy"}
	several := len(rows[0].runs) > 1
	if several {
		head = append(head, "chain")
	}
	lines := [][]string{head}
	for _, r := range rows {
		for chain, m := range r.runs {
			for i, energy := range m.Trace.Blocks() {
				move := (i + 1) * m.Trace.Stride()
				line := []string{r.name, strconv.Itoa(move), cli.Field(r.secondsOf(float64(move)), 6), cli.Field(energy, 12)}
				if several {
					line = append(line, strconv.Itoa(chain))
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}
