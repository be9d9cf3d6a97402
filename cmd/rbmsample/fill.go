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

// Values of -fill-by.
const (
	byMode = "mode"
	byDraw = "draw"
	byMean = "mean"
)

// schemaOf returns the schema of a model's inputs, nil if its file names none.
func schemaOf(m *rbm.RBM, about modelfile.About) (*data.Schema, error) {
	if about.Schema == "" {
		return nil, nil
	}
	s, err := data.ParseSchema(about.Schema)
	if err == nil && s.Units() != m.Inputs() {
		err = fmt.Errorf("the schema is of %d units, and there are %d inputs", s.Units(), m.Inputs())
	}
	return s, err
}

// fillTable writes the table of -fill with its missing cells filled, and their probabilities.
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
	schema, err := schemaOf(m, about)
	switch {
	case err != nil:
		return fmt.Errorf("model %s: %w", o.model.Path, err)
	case schema == nil || schema.Alphabet != "":
		return cli.Usagef("-fill is for models of tables, and %s is none; see -clamp", o.model.Path)
	case m.Constraint != nil:
		return cli.Usagef("-fill does not go with the constraint %v of the model", m.Constraint)
	}
	opt := data.Options{Schema: schema, LabelColumn: about.LabelColumn, Unlabelled: true, NoLabel: about.Unlabelled}
	set, _, err := data.Load(ctx, o.fill, opt)
	if err != nil && m.Classes() > 0 { // without the column of labels all of them are missing
		opt.LabelColumn = "none"
		if bare, _, e := data.Load(ctx, o.fill, opt); e == nil {
			set, err = bare, nil
		}
	}
	if err != nil {
		return err
	}
	if set.Y != nil {
		if set, err = set.WithClasses(about.ClassNames); err != nil {
			return fmt.Errorf("%s: %w", o.fill, err)
		}
	}
	if err := train.Fits(m, set); err != nil && !errors.Is(err, train.ErrNoLabels) {
		return fmt.Errorf("%s does not fit %s: %w", o.fill, o.model.Path, err)
	}
	if m.Classes() > 0 && m.LabelKind() == rbm.Bernoulli && (set.Y == nil || set.Unlabelled() > 0) {
		return fmt.Errorf("%s has rows without a label, which cannot be summed out as the labels of %s are bernoulli; leave such rows out", o.fill, o.model.Path)
	}
	lines, err := data.Lines(ctx, o.fill)
	if err != nil {
		return err
	}
	if len(lines) != set.Len()+1 {
		return fmt.Errorf("%s has changed while it was read; try again", o.fill)
	}
	probabilities := [][]string{{"row", "column", "level", "p"}}
	filled, estimated, worst := 0, 0, 0.0
	bar := o.flags.NewProgress("filling", "rows", int64(set.Len()))
	defer bar.Done()
	err = sample.EachScored(ctx, m, set, false, rbm.NewKey(o.seed), bar, func(r int, states rbm.Values, at int, logp [][]float64, stdErr float64) {
		if stdErr > 0 {
			estimated++
			worst = max(worst, stdErr)
		}
		fill := func(c *data.Column, word string, logp []float64) {
			mean, isNumber := meanLevel(c, logp)
			switch {
			case o.fillBy == byMean && isNumber:
				word = strconv.FormatFloat(mean, 'g', 6, 64)
			case o.fillBy != byDraw:
				word = c.Levels[train.Likeliest(logp)]
			}
			for k, level := range c.Levels {
				probabilities = append(probabilities, []string{strconv.Itoa(r), c.Name, level, strconv.FormatFloat(rbm.Exp(logp[k]), 'g', 6, 64)})
			}
			lines[r+1][slices.IndexFunc(lines[0], func(n string) bool { return strings.TrimSpace(n) == c.Name })] = word
			filled++
		}
		unit := 0
		words := schema.Words(states, at)
		for j := range schema.Columns {
			c := &schema.Columns[j]
			if set.Missing.Rows > 0 && set.Missing.Get(r, unit) {
				fill(c, words[j], logp[j])
			}
			unit += c.Units()
		}
		if set.Y != nil && set.Y[r] == data.NoClass && m.Classes() > 0 {
			class := sample.Cell{First: m.Inputs(), Units: m.Classes()}.Level(states, at)
			fill(&data.Column{Name: schema.Label, Levels: set.Classes}, set.Classes[class], logp[len(schema.Columns)])
		}
	})
	if err != nil {
		return err
	}
	if err := atomicfile.Write(o.out, cli.WriteCSV(lines)); err != nil {
		return err
	}
	if err := atomicfile.Write(probabilitiesFile, cli.WriteCSV(probabilities)); err != nil {
		return err
	}
	if estimated > 0 {
		o.flags.Warn(sample.GapDoubt(estimated, set.Len(), worst))
	}
	var rec cli.Record
	rec.Add("filled", filled)
	rec.Add("rows", set.Len())
	rec.Add("out", o.out)
	rec.Add("probabilities", probabilitiesFile)
	return o.flags.Print(rec, func(w io.Writer) error {
		if o.flags.Quiet {
			return nil
		}
		_, err := fmt.Fprintf(w, "%d missing cells of %d rows are filled (%s) in %s; %s has the probabilities\n", filled, set.Len(), o.fillBy, o.out, probabilitiesFile)
		return err
	})
}

// meanLevel returns the mean of the numbers of the levels of a column that was cut into levels, and
// false for other columns.
func meanLevel(c *data.Column, logp []float64) (mean float64, isNumber bool) {
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
