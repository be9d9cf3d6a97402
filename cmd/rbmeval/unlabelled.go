package main

import (
	"context"
	"fmt"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
)

// A labelSplit divides a data set by whether its rows have a label, for a model with
// labels.
type labelSplit struct {
	kept   []int32   // indices of the rows with a label; nil: all rows
	others []int32   // indices of the rows without a label
	bare   *data.Set // the rows without a label, as a set without labels, or nil
}

// labelledRows returns the rows of set that have a label, or set itself if m has no labels.
// It warns about the rows that it leaves out.
func (o *options) labelledRows(m *rbm.RBM, set *data.Set) (labelled *data.Set, split labelSplit) {
	if set == nil || m.Classes() == 0 || set.Unlabelled() == 0 {
		return set, labelSplit{}
	}
	but := ""
	if name := o.flags.FirstGiven("rows", "features"); name != "" {
		but = ", but for -" + name
		if name == "rows" && o.features != "" {
			but += " and -features"
		}
	}
	if !o.labelIn { // otherwise addBare returns an error
		o.flags.Warn(fmt.Sprintf("%d of %d rows of %s have no label and are left out%s", set.Unlabelled(), set.Len(), set.Name, but))
	}
	split.kept = set.Labelled()
	for r, y := range set.Y {
		if y == data.NoClass {
			split.others = append(split.others, int32(r))
		}
	}
	split.bare = set.Take(split.others)
	split.bare.Y = nil
	return set.Take(split.kept), split
}

// scored are examples with their scores. A nil score was not computed.
type scored struct {
	*examples
	free   []float64   // free energy of each row
	pseudo []float64   // pseudo-log-likelihood of each row
	cells  [][]float64 // rows × columns: log p of the cell given the rest of its row, NaN if it is missing
	logp   []float64   // rows × classes: log p(y|x)
}

// addBare sets bare to the rows without a label, if -rows or -features needs them.
func (e *evaluation) addBare(path string) error {
	if e.split.bare == nil || e.rows == "" && e.features == "" {
		return nil
	}
	if e.labelIn {
		return cli.Usagef("-label-in-features needs the label of every row; %d rows of %s have none", len(e.split.others), e.set.Name)
	}
	set, err := fitSet(e.m, e.split.bare, path, e.about)
	if err == nil {
		e.bare = &scored{examples: newExamples(e.flags, e.m, set, data.RowNumbers(0, set.Len()))}
	}
	return err
}

// scoreBare computes the scores of rows without a label for -rows.
func (e *evaluation) scoreBare(ctx context.Context) (err error) {
	if e.bare != nil && e.rows != "" {
		e.bare.logp = make([]float64, e.bare.n*e.m.Classes())
		e.bare.free, err = e.bare.summedEnergies(ctx, "rows without a label", e.bare.logp)
	}
	return err
}

// inOrder calls f for all evaluated rows in the order of the data. number is the index of the row in the data, and
// r its index in p.
func (e *evaluation) inOrder(f func(number int, p *scored, r int)) {
	if e.split.kept == nil || e.bare == nil {
		for r := range e.n {
			number := r
			if e.split.kept != nil {
				number = int(e.split.kept[r])
			}
			f(number, &e.scored, r)
		}
		return
	}
	kept, others := e.split.kept, e.split.others
	for i, j := 0, 0; i < len(kept) || j < len(others); {
		if j == len(others) || i < len(kept) && kept[i] < others[j] {
			f(int(kept[i]), &e.scored, i)
			i++
			continue
		}
		f(int(others[j]), e.bare, j)
		j++
	}
}
