package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/negphase/diag"
	"gorbm/rbm/atomicfile"
	"gorbm/train/plots"
	"gorbm/train/report"
)

// A scanResult is the result of a scan.
type scanResult struct {
	*plan
	rows      [][]row        // contestants × temperatures, coldest first
	measured  [][][]estimate // contestants × temperatures × figures
	points    [][]cli.Record // rows of the tables: contestants × temperatures, in the order of inOrder
	curves    []*curve       // for each contestant; nil: see failed
	failed    []error        // for each contestant: the reason why it has no curve, or nil
	crossings []crossing
	compared  comparison
}

// newScanResult evaluates the measurements of all chains.
func (p *plan) newScanResult() *scanResult {
	s := &scanResult{plan: p}
	for i := range p.contestants {
		var rows []row
		var measured [][]estimate
		for k := range p.scan.betas {
			r := p.rowAt(i, k)
			all := make([]estimate, len(figures))
			for _, f := range s.figuresOf(i) {
				all[f] = figures[f].measured(r)
			}
			rows, measured = append(rows, r), append(measured, all)
		}
		s.measured = append(s.measured, measured)
		c, err := p.reweigh(i)
		s.rows, s.curves, s.failed = append(s.rows, rows), append(s.curves, c), append(s.failed, err)
	}
	for i := range s.rows {
		var points []cli.Record
		for _, k := range s.inOrder() {
			points = append(points, s.point(i, k))
		}
		s.points = append(s.points, points)
	}
	s.crossings = p.crossings(s.curves)
	for at, q := range p.scan.systems {
		for k, beta := range p.scan.betas {
			var rows []row
			for i := range s.rows {
				if p.scan.systemOf[i] == at {
					rows = append(rows, s.rows[i][k])
				}
			}
			s.compared.add(rows, q.symmetric, fmt.Sprintf(" at %s = %.4g", p.scan.name(), p.scan.x(beta)))
		}
	}
	s.compared.sort()
	return s
}

// inOrder returns the indices of the temperatures in ascending order of the variable of the scan.
func (s *scanResult) inOrder() []int {
	order := make([]int, len(s.scan.betas))
	for k := range order {
		order[k] = k
	}
	if s.scan.inBeta {
		slices.Reverse(order)
	}
	return order
}

// figuresOf returns the indices in figures of the quantities measured for contestant i.
func (s *scanResult) figuresOf(i int) (all []int) {
	for f, figure := range figures {
		if !figure.spins || s.contestants[i].Scanned.At[0].Spins != nil {
			all = append(all, f)
		}
	}
	return all
}

// exchanges reports whether contestant i exchanges replicas.
func (s *scanResult) exchanges(i int) bool { return !math.IsNaN(s.rows[i][0].exchanged(0)) }

// point returns the result of contestant i at temperature k as a record.
func (s *scanResult) point(i, k int) (rec cli.Record) {
	r := s.rows[i][k]
	beta := s.scan.betas[k]
	hot := "∞"
	if beta > 0 {
		hot = fmt.Sprintf("%.5g", 1/beta)
	}
	rec.Show("temperature", "T", 1/beta, hot)
	rec.Show("beta", "β", beta, fmt.Sprintf("%.5g", beta))
	for _, f := range s.figuresOf(i) {
		e := s.measured[i][k][f]
		text := e.String()
		if beta == 0 && e == (estimate{}) { // exactly 0, because β is a factor
			text = "0"
		}
		rec.Show(figures[f].key, figures[f].label, e.mean, text)
		rec.Add(figures[f].key+"_std_err", e.err)
	}
	rec.Show("tau_int", "τ / moves", r.Time.Tau, tauText(r.Summary, 1))
	err := math.NaN()
	if r.Trusted() {
		err = r.Time.StdErr
	}
	rec.Add("tau_int_std_err", err)
	overlap := s.overlap(i, k)
	text := cli.Percent(overlap)
	if overlap < 1e-3 {
		text = "< 0.1 %"
	}
	rec.Show("overlap", "overlap", overlap, text)
	if s.exchanges(i) {
		swaps := r.exchanged(k)
		rec.Show("exchanged", "swaps with hotter", swaps, cli.Percent(swaps))
	}
	return rec
}

// curvePoint returns the reweighted estimates of contestant i at a point of its curve.
func (s *scanResult) curvePoint(i, at int) (rec cli.Record) {
	c := s.curves[i]
	rec.Add("temperature", 1/c.beta[at])
	rec.Add("beta", c.beta[at])
	for _, f := range s.figuresOf(i) {
		rec.Add(figures[f].key, c.values[f][at].mean)
		rec.Add(figures[f].key+"_std_err", c.values[f][at].err)
	}
	name := "log_z"
	if !c.absolute {
		name = "log_z_above_hottest"
	}
	rec.Add(name, c.logZ[at].mean)
	rec.Add(name+"_std_err", c.logZ[at].err)
	return rec
}

// record returns the JSON object of the scan.
func (s *scanResult) record(warnings []string) (out cli.Record) {
	out.Add("seed", s.seed)
	var all []cli.Record
	for i := range s.contestants {
		q := s.scan.systems[s.scan.systemOf[i]]
		var rec cli.Record
		rec.Add("sampler", q.movers[s.moverOf(i)].name)
		rec.Add("system", q.model)
		rec.Add("spins", q.units)
		rec.Add("bonds", q.pairs)
		moves, seconds := s.length(i)
		rec.Add("moves", moves)
		rec.Add("seconds", seconds)
		if s.exchanges(i) {
			rec.Add("round_trips", s.rows[i][0].roundTrips())
		}
		var curve []cli.Record
		rec.Add("scan", s.points[i])
		if c := s.curves[i]; c != nil {
			for at := range c.beta {
				curve = append(curve, s.curvePoint(i, at))
			}
			rec.Add("curve", curve)
		}
		all = append(all, rec)
	}
	out.Add("samplers", all)
	if len(s.crossings) > 0 {
		var crossings []cli.Record
		for _, x := range s.crossings {
			var rec cli.Record
			rec.Add("a", x.a)
			rec.Add("b", x.b)
			rec.Add(map[bool]string{true: "beta", false: "temperature"}[s.scan.inBeta], x.x.mean)
			rec.Add("std_err", x.x.err)
			crossings = append(crossings, rec)
		}
		out.Add("binder_crossings", crossings)
	}
	if differences := s.compared.record(); len(differences) > 0 {
		out.Add("comparisons", differences)
	}
	out.Add("warnings", warnings)
	return out
}

// conclusions returns lines with log Z and the agreement of the samplers.
func (s *scanResult) conclusions() (lines []string) {
	for i, c := range s.curves {
		if c == nil {
			continue
		}
		coldest := len(c.beta) - 1
		if c.beta[0] > c.beta[coldest] {
			coldest = 0
		}
		z := c.logZ[coldest]
		if c.absolute {
			lines = append(lines, fmt.Sprintf("%s: log Z = %s at β = %.5g.", s.contestants[i].name, z, c.beta[coldest]))
		}
	}
	return append(lines, s.compared.agreement()...)
}

// crossingTable lists the crossings of the Binder cumulants. It is nil if there are none.
func (s *scanResult) crossingTable() (table [][]string) {
	if len(s.crossings) > 0 {
		table = [][]string{{"Binder cumulants of", "cross at " + s.scan.name()}}
	}
	for _, x := range s.crossings {
		table = append(table, []string{x.a + " and " + x.b, x.x.String()})
	}
	return table
}

// overlap returns the mean acceptance probability of a swap of contestant i between temperature k and the next
// hotter one, a measure of the overlap of their energies. It is NaN at the hottest temperature.
func (s *scanResult) overlap(i, k int) float64 {
	if k+1 == len(s.scan.betas) {
		return math.NaN()
	}
	sum, moves := 0.0, int64(0)
	for _, run := range s.runs {
		sum += run[i].Scanned.Accept[k]
		moves += run[i].Info.Moves
	}
	return sum / float64(moves)
}

// offCurve returns the temperatures at which a figure of contestant i is too far from its curve.
func (s *scanResult) offCurve(i int) (off []string) {
	if s.curves[i] == nil {
		return nil
	}
	for _, k := range s.inOrder() {
		if slices.ContainsFunc(s.figuresOf(i), func(f int) bool {
			a, b := s.measured[i][k][f], s.curves[i].scanned[f][k]
			// A value without an error never changed; there is a warning that the run is too short.
			return a.err > 0 && b.err > 0 && math.Abs(a.mean-b.mean) >= diag.SignificantOfMany*math.Hypot(a.err, b.err)
		}) {
			off = append(off, s.at(k))
		}
	}
	return off
}

// rises reports whether the mean energy of contestant i at temperature k is significantly above that at the
// next hotter one.
func (s *scanResult) rises(i, k int) bool {
	if k+1 == len(s.rows[i]) {
		return false
	}
	const rounding = 1e-9
	cold, hot := s.rows[i][k], s.rows[i][k+1]
	rise := cold.Mean - hot.Mean
	return rise > rounding*math.Abs(cold.Mean) && rise > diag.SignificantOfMany*math.Hypot(cold.StdErr, hot.StdErr)
}

// at returns temperature k as text: its T or, in a scan of β, its β.
func (s *scanResult) at(k int) string { return fmt.Sprintf("%.4g", s.scan.x(s.scan.betas[k])) }

// finish prints the scan and writes its files.
func (s *scanResult) finish() error {
	warnings := s.warnings()
	var err error
	if s.out != "" {
		err = s.writeOut(s.picture, func() (report.Report, error) { return s.page(warnings), nil })
	}
	if s.table != "" {
		err = errors.Join(err, atomicfile.Write(s.table, cli.WriteCSV(s.lines())))
	}
	return errors.Join(err, s.flags.Print(s.record(warnings), func(w io.Writer) error {
		if !s.flags.Quiet {
			for i := range s.contestants {
				fmt.Fprintln(w, s.title(i))
				if err := cli.PrintTable(w, s.tableOf(i), false); err != nil {
					return err
				}
			}
			if table := s.crossingTable(); table != nil {
				fmt.Fprintln(w)
				if err := cli.PrintTable(w, table, true); err != nil {
					return err
				}
			}
			for _, line := range s.conclusions() {
				fmt.Fprintln(w, line)
			}
		}
		s.flags.Warn(warnings...)
		return nil
	}))
}

// length returns the number of moves of contestant i in all chains, and their computing time.
func (s *scanResult) length(i int) (moves int64, seconds float64) {
	for _, run := range s.runs {
		moves += run[i].Info.Moves
		seconds += run[i].Elapsed.Seconds()
	}
	return moves, seconds
}

// title returns the name of contestant i and the length of its run.
func (s *scanResult) title(i int) string {
	moves, seconds := s.length(i)
	text := fmt.Sprintf("%s: %s of all temperatures in %.3g s", s.contestants[i].name, cli.Count(moves, "move"), seconds)
	if s.exchanges(i) {
		text += ", " + cli.Count(s.rows[i][0].roundTrips(), "round trip")
	}
	return text
}

// tableOf returns the table of contestant i.
func (s *scanResult) tableOf(i int) [][]string { return cli.Table(s.points[i]) }

// lines returns the lines of -table: first the measurements of each contestant, then its curve.
func (s *scanResult) lines() [][]string {
	var all []cli.Record
	columns := []string{"system", "sampler", "kind", "temperature", "beta"}
	add := func(i int, kind string, rec cli.Record) {
		var head cli.Record
		q := s.scan.systems[s.scan.systemOf[i]]
		head.Add("system", q.model)
		head.Add("sampler", q.movers[s.moverOf(i)].name)
		head.Add("kind", kind)
		rec = append(head, rec...)
		for _, f := range rec {
			if f.Key != "" && !slices.Contains(columns, f.Key) {
				columns = append(columns, f.Key)
			}
		}
		all = append(all, rec)
	}
	for i := range s.contestants {
		for _, point := range s.points[i] {
			add(i, "scan", point)
		}
		if c := s.curves[i]; c != nil {
			for at := range c.beta {
				add(i, "curve", s.curvePoint(i, at))
			}
		}
	}
	return cli.Columns(all, 10, columns...)
}

// charts returns a chart for each measured quantity: dots with error bars for the measurements, and the
// reweighted curves. The names of the curves end in the text reweighted. Curves of samplers on the same
// lattice nearly coincide, so their dashes alternate.
func (s *scanResult) charts(reweighted string) (all []plots.Chart) {
	samplers := len(s.scan.systems[0].movers)
	order := s.inOrder()
	for f, figure := range figures {
		c := plots.Chart{Title: strings.ToUpper(figure.label[:1]) + figure.label[1:], X: map[bool]string{true: "inverse temperature β", false: "temperature T"}[s.scan.inBeta]}
		low, high := math.Inf(1), math.Inf(-1)
		for i, contestant := range s.contestants {
			if !slices.Contains(s.figuresOf(i), f) {
				continue
			}
			dots := plots.Line{Name: contestant.name, Color: i + 1, Apart: true, Bars: true, Err: []float64{}, Layer: s.moverOf(i), Layers: samplers}
			for _, k := range order {
				e := s.measured[i][k][f]
				dots.X, dots.Y, dots.Err = append(dots.X, s.scan.x(s.scan.betas[k])), append(dots.Y, e.mean), append(dots.Err, e.err)
				low, high = min(low, e.mean), max(high, e.mean)
			}
			if curve := s.curves[i]; curve != nil {
				line := plots.Line{Name: contestant.name + reweighted, Color: i + 1, Err: []float64{}, Layer: s.moverOf(i), Layers: samplers}
				for at, e := range curve.values[f] {
					line.X, line.Y, line.Err = append(line.X, s.scan.x(curve.beta[at])), append(line.Y, e.mean), append(line.Err, e.err)
				}
				c.Lines = append(c.Lines, line)
			}
			c.Lines = append(c.Lines, dots)
		}
		if c.Lines == nil {
			continue
		}
		if x, ok := s.onsager(); ok && low < high {
			c.Lines = append(c.Lines, plots.Line{Name: "critical point, infinite lattice", Grey: true, Dashed: true, X: []float64{x, x}, Y: []float64{low, high}})
		}
		all = append(all, c)
	}
	return all
}

// onsager returns the critical point of the square lattice, T = 2J/ln(1+√2) (Onsager 1944), in the variable
// of the scan. ok is true if all systems are such lattices and the point lies within the scan.
func (s *scanResult) onsager() (x float64, ok bool) {
	for _, q := range s.scan.systems {
		if sides := q.shape(); q.graph == nil || q.keepsUp || len(sides) != 2 || !q.symmetric || q.boundary != "periodic" || min(sides[0], sides[1]) < 3 {
			return 0, false
		}
	}
	j, err := strconv.ParseFloat(s.couplings, 64)
	beta := math.Log(1+math.Sqrt2) / (2 * math.Abs(j))
	last := len(s.scan.betas) - 1
	return s.scan.x(beta), err == nil && beta <= s.scan.betas[0] && beta >= s.scan.betas[last]
}

// picture returns the picture of -out.
func (s *scanResult) picture() *plots.Page {
	const across, width, height = 2, 20 * vg.Centimeter, 7 * vg.Centimeter
	return plots.Charts(s.charts(""), across, width, height)
}

// page returns the report of -out.
func (s *scanResult) page(warnings []string) report.Report {
	var models []string
	for _, one := range s.scan.systems {
		models = append(models, one.model)
	}
	page := report.Report{Title: "isingmc: " + strings.Join(models, "; "), Lead: strings.ReplaceAll(s.describe(), "\n", "; "), Words: s.conclusions(), Warnings: warnings, Section: report.Section{Charts: s.charts(" reweighted")}}
	for i := range s.contestants {
		page.Tables = append(page.Tables, report.TableOf(s.title(i), s.tableOf(i)))
	}
	if crossings := s.crossingTable(); crossings != nil {
		page.Tables = append(page.Tables, report.TableOf("Crossings", crossings))
	}
	page.Tables = append(page.Tables, s.settingsTable())
	return page
}
