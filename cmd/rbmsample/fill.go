package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// quantiles are the probabilities of the quantiles of numbers in the file of probabilities.
var quantiles = []float64{0.05, 0.25, 0.5, 0.75, 0.95}

// Values of -fill-by.
const (
	byMean = "mean"
	byMode = "mode"
	byDraw = "draw"
)

// A filling is a table whose missing cells are filled in.
type filling struct {
	*options
	m        *rbm.RBM
	about    modelfile.About
	set      *data.Set
	notation data.Notation
	columns  []data.Column // the inputs, then the label if the table has labels
	at       []int         // the index of each column in the table; −1: the table does not have it
	first    int           // index of the record of row 0

	words             map[data.Cell]string // of the cells that are filled
	probabilitiesFile string
	probabilities     bytes.Buffer // the text of this file
	rows, estimated   int          // rows that are filled, and those among them with estimated probabilities
	worst             float64      // the largest standard error of a probability
}

// fillTable carries out -fill: it writes the table with its missing cells filled in, and their probabilities. If ctx is
// cancelled, it writes the table with the rows that are filled so far.
func (o *options) fillTable(ctx context.Context) error {
	f, err := o.planFill(ctx)
	if err != nil {
		return err
	}
	todo := 0 // number of rows with missing cells
	for r := range f.set.Len() {
		if f.unlabelled(r) || f.set.Missing.Rows > 0 && f.set.MissesCells(int32(r)) {
			todo++
		}
	}
	begin, told := time.Now(), false
	bar := o.flags.NewProgress("filling", "rows", int64(todo))
	err = sample.EachPosterior(ctx, f.m, f.set, rbm.NewKey(o.seed), func(r int, cells []int, p *sample.Posterior) error {
		err := f.fillRow(r, cells, p)
		bar.Set(int64(f.rows), "")
		if spent := time.Since(begin); !told && spent > tellAfter {
			told = true
			if all := time.Duration(float64(spent) / float64(f.rows) * float64(todo)); all > longFill {
				o.flags.Warn(fmt.Sprintf("-fill takes some %v in all; Ctrl-C keeps the rows that are filled until then", all.Round(time.Second)))
			}
		}
		return err
	})
	bar.Done()
	stopped := err != nil && errors.Is(err, ctx.Err())
	if err != nil && (!stopped || f.rows == 0) {
		return err
	}
	if err := f.write(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if stopped {
		o.flags.Warn(fmt.Sprintf("interrupted: %d of %d rows with missing cells are filled in %s; the others are as they were", f.rows, todo, o.out))
		return err
	}
	return f.report()
}

const (
	// tellAfter is the time after which a prediction of the whole time is possible.
	tellAfter = time.Second / 2
	// longFill is the predicted time above which fillTable prints it.
	longFill = 10 * time.Second
)

// planFill checks the flags and reads the files.
func (o *options) planFill(ctx context.Context) (*filling, error) {
	if data.IsPipe(o.fill) {
		return nil, cli.Usagef("-fill reads a table from a file, not from a pipe; write it to a .csv")
	}
	if o.out == "" || !strings.HasSuffix(strings.ToLower(o.out), ".csv") {
		return nil, cli.Usagef("-out is %q; -fill writes a .csv", o.out)
	}
	if err := o.flags.CheckNew(); err != nil {
		return nil, err
	}
	f := &filling{options: o, words: map[data.Cell]string{}, probabilitiesFile: o.out[:len(o.out)-len(".csv")] + ".probabilities.csv"}
	if _, err := os.Lstat(f.probabilitiesFile); err == nil {
		return nil, fmt.Errorf("-fill: %s is there already; remove it or choose another -out", f.probabilitiesFile)
	}
	var err error
	if f.m, f.about, err = o.model.Load(); err != nil {
		return nil, err
	}
	schema, err := cli.SchemaOf(f.m, f.about)
	switch {
	case err != nil:
		return nil, fmt.Errorf("model %s: %w", o.model.Path, err)
	case schema == nil || schema.Alphabet != "":
		return nil, cli.Usagef("-fill is for models of tables, and %s is none; see -clamp", o.model.Path)
	case f.m.Constraint != nil:
		return nil, cli.Usagef("-fill cannot be used with the constraint %v of the model", f.m.Constraint)
	}
	if err := f.m.CheckSites(); err != nil {
		return nil, cli.Usagef("-fill: %v", err)
	}
	if f.set, err = o.loadTable(ctx, o.fill, f.m, f.about, schema); err != nil {
		return nil, err
	}
	if f.m.Classes() > 0 && f.m.LabelKind() == rbm.Bernoulli && (f.set.Y == nil || f.set.Unlabelled() > 0) {
		return nil, fmt.Errorf("%s has rows without a label, which cannot be summed out as the labels of %s are bernoulli; leave such rows out", o.fill, o.model.Path)
	}
	lines, notation, err := data.LinesAsWritten(ctx, o.fill)
	if err != nil {
		return nil, err
	}
	f.notation, f.first = notation, 1
	if f.set.Header == data.HeaderNo {
		f.first = 0
	}
	if len(lines) != f.set.Len()+f.first {
		return nil, fmt.Errorf("%s has changed while it was read; try again", o.fill)
	}
	f.columns = schema.Columns
	if f.m.Classes() > 0 {
		f.columns = append(slices.Clone(f.columns), data.Column{Name: schema.Label, Levels: classNames(f.m, f.about)})
	}
	for _, c := range f.columns {
		f.at = append(f.at, f.place(lines, c.Name))
	}
	return f, f.say([][]string{{"row", "column", "level", "p"}})
}

// place returns the index of a column in the table, or −1. Without a header data calls the columns c1, c2, ….
func (f *filling) place(lines [][]string, name string) int {
	if f.first == 0 {
		i, err := strconv.Atoi(strings.TrimPrefix(name, "c"))
		if err != nil {
			return -1
		}
		return i - 1
	}
	return slices.IndexFunc(lines[0], func(n string) bool { return strings.TrimSpace(n) == name })
}

// say writes lines to the file of probabilities.
func (f *filling) say(lines [][]string) error {
	return cli.WriteSeparated(lines, f.notation.Separator)(&f.probabilities)
}

// unlabelled reports whether the label of row r is missing.
func (f *filling) unlabelled(r int) bool {
	return f.m.Classes() > 0 && (f.set.Y == nil || f.set.Y[r] == data.NoClass)
}

// fillRow fills the missing cells of row r. They have the given indices and the distribution p.
func (f *filling) fillRow(r int, cells []int, p *sample.Posterior) error {
	var lines [][]string
	if f.rows++; p.StdErr != nil {
		f.estimated, f.worst = f.estimated+1, max(f.worst, p.Worst())
	}
	for i, cell := range cells {
		at, c := f.at[cell], &f.columns[cell]
		if at < 0 { // the table has no column of labels
			continue
		}
		say := func(level string, p float64) {
			lines = append(lines, []string{strconv.Itoa(r), c.Name, level, f.notation.Number(strconv.FormatFloat(p, 'g', 6, 64))})
		}
		word := ""
		if c.Number != nil {
			x := p.Mean(i)
			if f.fillBy == byDraw {
				x = float64(p.Draw.At(0, p.Cells[i].First))
			}
			word = c.Number.Text(x)
			for k, x := range p.Quantiles(i, quantiles) {
				say("<= "+f.notation.Number(c.Number.Text(x)), quantiles[k])
			}
		} else {
			word = c.Levels[train.Likeliest(p.LogP[i])]
			if f.fillBy == byDraw {
				word = c.Levels[p.Cells[i].Level(p.Draw, 0)]
			} else if mean, ok := meanLevel(c, p.LogP[i]); ok && f.fillBy == byMean {
				word = strconv.FormatFloat(mean, 'g', 6, 64)
			}
			for k, level := range c.Levels {
				say(f.notation.Number(level), rbm.Exp(p.LogP[i][k]))
			}
		}
		f.words[data.Cell{Record: f.first + r, Column: at}] = f.notation.Number(word)
	}
	return f.say(lines)
}

// write writes the table and the probabilities.
func (f *filling) write(ctx context.Context) error {
	whole, err := data.Rewrite(ctx, f.fill, f.words)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(f.out, func(w io.Writer) error { _, err := w.Write(whole); return err }); err != nil {
		return err
	}
	return atomicfile.Write(f.probabilitiesFile, func(w io.Writer) error {
		_, err := f.probabilities.WriteTo(w)
		return err
	})
}

// report prints what was filled.
func (f *filling) report() error {
	if f.estimated > 0 {
		f.flags.Warn(sample.GapDoubt("probabilities", f.estimated, f.set.Len(), f.worst, ""))
	}
	var rec cli.Record
	rec.Add("filled", len(f.words))
	rec.Add("rows", f.set.Len())
	rec.Add("out", f.out)
	rec.Add("probabilities", f.probabilitiesFile)
	return f.flags.Print(rec, func(w io.Writer) error {
		if f.flags.Quiet {
			return nil
		}
		_, err := fmt.Fprintf(w, "%d missing cells of %d rows are filled (%s) in %s; %s has the probabilities\n", len(f.words), f.set.Len(), f.how(), f.out, f.probabilitiesFile)
		return err
	})
}

// how says what was written into cells.
func (f *filling) how() string {
	if f.fillBy != byMean {
		return f.fillBy
	}
	numbers, words := 0, 0
	for i := range f.columns {
		if _, ok := meanLevel(&f.columns[i], make([]float64, len(f.columns[i].Levels))); ok || f.columns[i].Number != nil {
			numbers++
		} else {
			words++
		}
	}
	switch {
	case numbers == 0:
		return "most probable level"
	case words == 0:
		return "mean"
	}
	return fmt.Sprintf("mean of numbers in %s, most probable level in %d", cli.Count(numbers, "column"), words)
}

// loadTable loads a table with missing cells. It must have the columns of the model's training table.
func (o *options) loadTable(ctx context.Context, path string, m *rbm.RBM, about modelfile.About, schema *data.Schema) (*data.Set, error) {
	set, _, err := data.Load(ctx, path, data.Options{Schema: schema, Unlabelled: true, NoLabel: about.Unlabelled, Missing: about.Missing, Separator: about.Separator})
	if err != nil {
		return nil, err
	}
	if set.Y != nil {
		if set, err = set.WithClasses(about.ClassNames); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	whole := *set // without missing cells, which Fits would refuse
	whole.Missing = rbm.Values{}
	if err := train.Fits(m, &whole); err != nil && !errors.Is(err, train.ErrNoLabels) {
		return nil, fmt.Errorf("%s does not fit %s: %w", path, o.model.Path, err)
	}
	return set, nil
}

// meanLevel returns the mean of the levels of a column whose levels are numbers, at least three, with the log
// probabilities logp. Of two numbers one is taken, as of two words. isNumber is false for other columns.
func meanLevel(c *data.Column, logp []float64) (mean float64, isNumber bool) {
	for k, level := range c.Levels {
		x, err := data.ParseNumber(level)
		if err != nil || x-x != 0 {
			return 0, false
		}
		mean += rbm.Exp(logp[k]) * x
	}
	return mean, len(c.Levels) > 2
}
