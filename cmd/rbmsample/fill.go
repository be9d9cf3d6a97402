package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

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
	byMode = "mode"
	byDraw = "draw"
	byMean = "mean"
)

// fillTable carries out -fill: it writes the table with its missing cells filled in, and their probabilities.
func (o *options) fillTable(ctx context.Context) error {
	if data.IsPipe(o.fill) {
		return cli.Usagef("-fill reads a table from a file, not from a pipe; write it to a .csv")
	}
	if o.out == "" || !strings.HasSuffix(strings.ToLower(o.out), ".csv") {
		return cli.Usagef("-out is %q; -fill writes a .csv", o.out)
	}
	if err := o.flags.CheckNew(); err != nil {
		return err
	}
	probabilitiesFile := o.out[:len(o.out)-len(".csv")] + ".probabilities.csv"
	if _, err := os.Lstat(probabilitiesFile); err == nil {
		return fmt.Errorf("-fill: %s is there already; remove it or choose another -out", probabilitiesFile)
	}
	m, about, err := o.model.Load()
	if err != nil {
		return err
	}
	schema, err := cli.SchemaOf(m, about)
	switch {
	case err != nil:
		return fmt.Errorf("model %s: %w", o.model.Path, err)
	case schema == nil || schema.Alphabet != "":
		return cli.Usagef("-fill is for models of tables, and %s is none; see -clamp", o.model.Path)
	case m.Constraint != nil:
		return cli.Usagef("-fill cannot be used with the constraint %v of the model", m.Constraint)
	}
	if err := m.CheckSites(); err != nil {
		return cli.Usagef("-fill: %v", err)
	}
	set, err := o.loadTable(ctx, o.fill, m, about, schema)
	if err != nil {
		return err
	}
	if m.Classes() > 0 && m.LabelKind() == rbm.Bernoulli && (set.Y == nil || set.Unlabelled() > 0) {
		return fmt.Errorf("%s has rows without a label, which cannot be summed out as the labels of %s are bernoulli; leave such rows out", o.fill, o.model.Path)
	}
	lines, notation, err := data.LinesAsWritten(ctx, o.fill)
	if err != nil {
		return err
	}
	first := 1 // record of row 0
	if set.Header == data.HeaderNo && len(lines) > 0 {
		first = 0
		var names []string // by which data calls the columns
		for i := range lines[0] {
			names = append(names, fmt.Sprintf("c%d", i+1))
		}
		lines = slices.Insert(lines, 0, names)
	}
	if len(lines) != set.Len()+1 {
		return fmt.Errorf("%s has changed while it was read; try again", o.fill)
	}
	column := func(name string) int {
		return slices.IndexFunc(lines[0], func(n string) bool { return strings.TrimSpace(n) == name })
	}
	label := column(schema.Label) // −1: the table has no labels
	noLabel := func(word string) bool { return data.IsMissing(word) || word == about.Unlabelled }
	probabilities := [][]string{{"row", "column", "level", "p"}}
	words := map[data.Cell]string{} // of the missing cells
	var likeliest []string          // columns of few numbers, which are levels, although -fill-by is mean
	estimated, worst := 0, 0.0
	bar := o.flags.NewProgress("filling", "rows", int64(set.Len()))
	defer bar.Done()
	err = sample.EachScored(ctx, m, set, false, rbm.NewKey(o.seed), bar, func(s *sample.ScoredRow) {
		r := s.Number
		if s.StdErr > 0 {
			estimated++
			worst = max(worst, s.StdErr)
		}
		fill := func(c *data.Column, cell int) {
			word := ""
			say := func(level string, p float64) {
				probabilities = append(probabilities, []string{strconv.Itoa(r), c.Name, level, notation.Number(strconv.FormatFloat(p, 'g', 6, 64))})
			}
			if c.Number != nil {
				word = c.Number.Text(s.Mean(cell))
				if o.fillBy == byDraw {
					word = c.Number.Text(float64(s.Values[cell]))
				}
				for _, p := range quantiles {
					say("<= "+notation.Number(c.Number.Text(s.Quantile(cell, p))), p)
				}
			} else {
				logp := s.LogP[cell]
				mean, wasCut := meanLevel(c, logp)
				switch {
				case o.fillBy == byDraw:
					word = c.Levels[s.Levels[cell]]
				case o.fillBy == byMean && wasCut:
					word = strconv.FormatFloat(mean, 'g', 6, 64)
				default:
					word = c.Levels[train.Likeliest(logp)]
					if o.fillBy == byMean && !slices.Contains(likeliest, c.Name) && isNumber(c.Levels[0]) {
						likeliest = append(likeliest, c.Name)
					}
				}
				for k, level := range c.Levels {
					say(notation.Number(level), rbm.Exp(logp[k]))
				}
			}
			words[data.Cell{Record: first + r, Column: column(c.Name)}] = notation.Number(word)
		}
		unit := 0
		for j := range schema.Columns {
			c := &schema.Columns[j]
			if set.Missing.Rows > 0 && set.Missing.Get(r, unit) {
				fill(c, j)
			}
			unit += c.Units()
		}
		if m.Classes() > 0 && label >= 0 && noLabel(strings.TrimSpace(lines[r+1][label])) {
			fill(&data.Column{Name: schema.Label, Levels: classNames(m, about)}, len(schema.Columns))
		}
	})
	if err != nil {
		return err
	}
	whole, err := data.Rewrite(ctx, o.fill, words)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(o.out, func(w io.Writer) error { _, err := w.Write(whole); return err }); err != nil {
		return err
	}
	if err := atomicfile.Write(probabilitiesFile, cli.WriteSeparated(probabilities, notation.Separator)); err != nil {
		return err
	}
	if estimated > 0 {
		o.flags.Warn(sample.GapDoubt(estimated, set.Len(), worst))
	}
	var rec cli.Record
	rec.Add("filled", len(words))
	rec.Add("rows", set.Len())
	rec.Add("out", o.out)
	rec.Add("probabilities", probabilitiesFile)
	return o.flags.Print(rec, func(w io.Writer) error {
		if o.flags.Quiet {
			return nil
		}
		how := o.fillBy
		if likeliest != nil {
			how += ", and the likeliest value in columns of few different numbers: " + strings.Join(likeliest, ", ")
		}
		_, err := fmt.Fprintf(w, "%d missing cells of %d rows are filled (%s) in %s; %s has the probabilities\n", len(words), set.Len(), how, o.out, probabilitiesFile)
		return err
	})
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

// meanLevel returns the mean of a column of numbers that was cut into levels with the log probabilities
// logp. wasCut is false for other columns.
func meanLevel(c *data.Column, logp []float64) (mean float64, wasCut bool) {
	if c.Edges == nil {
		return 0, false
	}
	for k, level := range c.Levels {
		x, err := strconv.ParseFloat(level, 64)
		if err != nil {
			return 0, false
		}
		mean += rbm.Exp(logp[k]) * x
	}
	return mean, true
}

func isNumber(word string) bool {
	_, err := data.ParseNumber(word)
	return err == nil
}
