package sample

import (
	"context"
	"fmt"
	"slices"

	"gorbm/data"
	"gorbm/rbm"
)

// A Sheet has samples of one model for several queries, query by query. A sample has a value for each input of
// the model; given units have their given values.
type Sheet struct {
	Means  rbm.Matrix // p(x=1|h) of each input x
	Values rbm.Values // inputs x: bits, or standardised values of real units
	Class  []int32    // the given class, or the class of the sampled label; rbm.Free without labels
	Asked  []int32    // the given class, or rbm.Free
	Start  []int32    // row of the data at which the chain started; rbm.Free for random states
	Draws  []Draw     // for each query
}

// DrawEach draws samples of m for each query, by Target.Draw with
// settings s. set, from which chains may start, may be nil. The samples for a query depend on key, the query and
// its index, but not on the other queries. An error names the query.
func DrawEach(ctx context.Context, m *rbm.RBM, set *data.Set, queries []Query, s Settings, key rbm.Key, progress func(done float64)) (Sheet, error) {
	n := len(queries) * s.Samples
	sheet := Sheet{Means: rbm.NewMatrix(n, m.Inputs()), Values: rbm.NewValues(n, m.Inputs(), m.Real()),
		Class: make([]int32, n), Asked: make([]int32, n), Start: make([]int32, n)}
	for i, q := range queries {
		fail := func(err error) (Sheet, error) {
			if ctx.Err() != nil || len(queries) == 1 {
				return Sheet{}, err
			}
			return Sheet{}, fmt.Errorf("%v: %w", q, err)
		}
		target, err := q.Target(m, set)
		if err != nil {
			return fail(err)
		}
		d, err := target.Draw(ctx, s, key.Child(uint64(i)), func(done float64) {
			if progress != nil {
				progress((float64(i) + done) / float64(len(queries)))
			}
		})
		if err != nil {
			return fail(err)
		}
		sheet.Draws = append(sheet.Draws, d)
		for r := range s.Samples {
			sheet.put(i*s.Samples+r, target, d, r)
		}
	}
	return sheet, nil
}

// put writes sample r of a draw to a row of the sheet.
func (s *Sheet) put(to int, target Target, d Draw, r int) {
	target.Fill(s.Means.Row(to), d.Mean.Row(r))
	bits := make([]float32, d.V.Cols)
	d.V.Nonzero(r, func(i int, x float32) { bits[i] = x })
	x := make([]float32, s.Values.Cols)
	target.Fill(x, bits)
	if s.Values.IsReal() {
		copy(s.Values.Matrix().Row(to), x)
	} else {
		for i, v := range x {
			s.Values.Set(to, i, v == 1)
		}
	}
	class := target.Class
	if label, ok := target.Model.Label(); ok { // several Bernoulli units may be on, or none
		class = 0
		mean := d.Mean.Row(r)[label.First:]
		for y := range mean {
			on, best := bits[label.First+y] == 1, bits[label.First+class] == 1
			if on && !best || on == best && mean[y] > mean[class] {
				class = y
			}
		}
	}
	s.Class[to], s.Asked[to], s.Start[to] = int32(class), int32(target.Class), rbm.Free
	if d.Row != nil {
		s.Start[to] = target.Row[d.Row[r]]
	}
}

// MixedQueries returns the number of queries whose chains have mixed.
func (s Sheet) MixedQueries() (n int) {
	for _, d := range s.Draws {
		if d.Mixed {
			n++
		}
	}
	return n
}

// Mixed reports whether the chains of all queries have mixed.
func (s Sheet) Mixed() bool { return s.MixedQueries() == len(s.Draws) }

// FromData reports whether any samples come from chains that started at rows of data.
func (s Sheet) FromData() bool {
	return slices.ContainsFunc(s.Draws, func(d Draw) bool { return d.Start == FromData })
}
