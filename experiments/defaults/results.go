package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"text/tabwriter"

	"gonum.org/v1/gonum/stat"
)

// A row is a run and what it reached; NaN where a number does not apply.
type row struct {
	Data, Labels, Method string
	Hidden, Steps, Seed  int

	Seconds               float64 // of training, on one core
	Error, LogP           float64 // of the test rows
	LogLikelihood, StdErr float64 // of the test rows, by Bennett's ratio
	Hottest               float64 // temperature of a ladder
}

var columns = []string{"data", "labels", "method", "hidden", "steps", "seed", "seconds", "error", "log_p", "log_likelihood", "std_err", "hottest"}

// key tells runs apart.
func (r row) key() string {
	return fmt.Sprint(r.Data, "|", r.Labels, "|", r.Method, "|", r.Hidden, "|", r.Steps, "|", r.Seed)
}

func (r *row) numbers() []*float64 {
	return []*float64{&r.Seconds, &r.Error, &r.LogP, &r.LogLikelihood, &r.StdErr, &r.Hottest}
}

func known(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// readRows reads the rows of a file; none if there is no file.
func readRows(path string) ([]row, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], columns) {
		return nil, fmt.Errorf("%s: the columns are not those of this experiment; choose another -out", path)
	}
	var rows []row
	for i, line := range lines[1:] {
		r := row{Data: line[0], Labels: line[1], Method: line[2]}
		var err, e error
		for k, p := range []*int{&r.Hidden, &r.Steps, &r.Seed} {
			*p, e = strconv.Atoi(line[3+k])
			err = errors.Join(err, e)
		}
		for k, p := range r.numbers() {
			*p, e = strconv.ParseFloat(line[6+k], 64)
			err = errors.Join(err, e)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+2, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// appendRow adds a row to a file, with the names of the columns if it is new.
func appendRow(path string, r row) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		w.Write(columns)
	}
	line := []string{r.Data, r.Labels, r.Method, strconv.Itoa(r.Hidden), strconv.Itoa(r.Steps), strconv.Itoa(r.Seed)}
	for _, p := range r.numbers() {
		line = append(line, strconv.FormatFloat(*p, 'g', 10, 64))
	}
	w.Write(line)
	w.Flush()
	return errors.Join(w.Error(), f.Close())
}

// A mean is a mean over seeds with their standard deviation, of those for which
// the number is known.
type mean struct {
	Mean *float64 `json:"mean"`
	SD   *float64 `json:"sd"`
	SE   *float64 `json:"se"` // of the mean
	N    int      `json:"n"`
}

func meanOf(rows []row, of func(r row) float64) (m mean) {
	var x []float64
	for _, r := range rows {
		if v := of(r); !math.IsNaN(v) {
			x = append(x, v)
		}
	}
	if m.N = len(x); m.N > 0 {
		average, sd := stat.MeanStdDev(x, nil)
		m.Mean = &average
		if m.N > 1 {
			se := stat.StdErr(sd, float64(m.N))
			m.SD, m.SE = &sd, &se
		}
	}
	return m
}

// format prints the mean, with this deviation or error of it.
func (m mean) format(scale float64, digits int, spread *float64) string {
	switch {
	case m.Mean == nil:
		return "–"
	case spread == nil:
		return fmt.Sprintf("%.*f", digits, scale**m.Mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, scale**m.Mean, digits, scale**spread)
}

// A line of the table is a method at one length.
type line struct {
	Method        string `json:"method"`
	Steps         int    `json:"steps"`
	Seconds       mean   `json:"seconds"`
	Error         mean   `json:"error"`
	LogP          mean   `json:"log_p"`
	LogLikelihood mean   `json:"log_likelihood"`
	Hottest       mean   `json:"hottest"`
	// By how much the first method is better at this length, over the same seeds: its
	// error is lower and its log-likelihood higher.
	BetterError         mean `json:"better_error"`
	BetterLogLikelihood mean `json:"better_log_likelihood"`
}

type table []line

func errorOf(r row) float64         { return r.Error }
func logLikelihoodOf(r row) float64 { return r.LogLikelihood }

// summarize takes the means over seeds, in the order of methods and lengths.
func summarize(rows []row) table {
	var t table
	for _, steps := range lengths(rows) {
		first := of(rows, methods[0].name, steps)
		for _, m := range methods {
			mine := of(rows, m.name, steps)
			if len(mine) == 0 {
				continue
			}
			t = append(t, line{
				Method: m.name, Steps: steps,
				Seconds: meanOf(mine, func(r row) float64 { return r.Seconds }),
				Error:   meanOf(mine, errorOf), LogP: meanOf(mine, func(r row) float64 { return r.LogP }),
				LogLikelihood: meanOf(mine, logLikelihoodOf),
				Hottest: meanOf(mine, func(r row) float64 {
					if r.Hottest == 0 {
						return math.NaN()
					}
					return r.Hottest
				}),
				BetterError:         pairs(mine, first, func(a, b row) float64 { return a.Error - b.Error }),
				BetterLogLikelihood: pairs(mine, first, func(a, b row) float64 { return b.LogLikelihood - a.LogLikelihood }),
			})
		}
	}
	return t
}

func lengths(rows []row) (steps []int) {
	for _, r := range rows {
		steps = append(steps, r.Steps)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// of returns the rows of a method at a length.
func of(rows []row, method string, steps int) (some []row) {
	for _, r := range rows {
		if r.Method == method && r.Steps == steps {
			some = append(some, r)
		}
	}
	return some
}

// pairs takes the mean difference between rows of equal seeds.
func pairs(rows, first []row, difference func(a, b row) float64) mean {
	var d []row
	if len(rows) > 0 && len(first) > 0 && rows[0].Method == first[0].Method {
		return mean{}
	}
	for _, a := range rows {
		for _, b := range first {
			if a.Seed == b.Seed {
				d = append(d, row{Error: difference(a, b)})
			}
		}
	}
	return meanOf(d, errorOf)
}

// printAll prints a table for each set of data and size of model.
func printAll(w io.Writer, rows []row) {
	title := func(r row) string {
		return fmt.Sprintf("%s, -labels %s, %d hidden units", r.Data, r.Labels, r.Hidden)
	}
	byTitle := map[string][]row{}
	var titles []string
	for _, r := range rows {
		if byTitle[title(r)] == nil {
			titles = append(titles, title(r))
		}
		byTitle[title(r)] = append(byTitle[title(r)], r)
	}
	for i, t := range titles {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, t)
		summarize(byTitle[t]).print(w)
	}
}

// print prints means ± standard deviations over seeds, and differences ± standard
// errors.
func (t table) print(w io.Writer) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "steps\tmethod\tseeds\ts of a core\ttest error %%\tlog p(y|x)\tlog-likelihood\tknown\thottest\t%s better ± se: error %%\tlog-likelihood\n", methods[0].name)
	sd := func(m mean, scale float64, digits int) string { return m.format(scale, digits, m.SD) }
	for _, l := range t {
		fmt.Fprintf(tw, "%d\t%s\t%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", l.Steps, l.Method, l.Seconds.N, sd(l.Seconds, 1, 1), sd(l.Error, 100, 2),
			sd(l.LogP, 1, 4), sd(l.LogLikelihood, 1, 2), l.LogLikelihood.N, sd(l.Hottest, 1, 3),
			l.BetterError.format(100, 2, l.BetterError.SE), l.BetterLogLikelihood.format(1, 2, l.BetterLogLikelihood.SE))
	}
	tw.Flush()
}
