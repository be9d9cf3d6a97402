package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/exact"
)

// fastWork is the number of terms up to which log Z is enumerated unless a request says
// otherwise, as in rbmtrain: less than a second.
const fastWork = 1 << 28

// logZ computes log Z of the model of a request: by enumeration where that is fast, or where
// "exact" is set, and else by logz.Estimate. The arrays base_visible and base_hidden are the base
// of its tempered paths.
func logZ(q request) (map[string]any, []array, error) {
	var o struct {
		shape
		Exact bool   `json:"exact"`
		Seed  uint64 `json:"seed"`
	}
	if err := json.Unmarshal(q.header, &o); err != nil {
		return nil, nil, usageError{err}
	}
	m, err := needModel(q.frame, o.shape)
	if err != nil {
		return nil, nil, err
	}
	enum, err := exact.New(m, exact.EvaluationLimit)
	if err != nil && o.Exact {
		return nil, nil, usageError{err}
	}
	if err == nil && (o.Exact || enum.Work() <= fastWork) {
		z, err := enum.LogZ(q.ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		return map[string]any{"log_z": z, "std_err": 0, "low": z, "high": z, "by": "enumeration", "warnings": []string{}}, nil, nil
	}
	s := logz.DefaultSettings()
	b, hasBase, err := q.of("base_visible", "<f4", m.Visible())
	c, _, err2 := q.of("base_hidden", "<f4", m.Hidden())
	if err != nil || err2 != nil {
		return nil, nil, usageError{fmt.Errorf("the base of log Z does not fit the model: %v %v", err, err2)}
	}
	if hasBase {
		s.Annealing.Base = &rbm.Base{VisibleBias: b.floats(), HiddenBias: c.floats()}
	}
	est, err := logz.Estimate(q.ctx, m, s, rbm.NewKey(o.Seed), nil)
	if err != nil {
		return nil, nil, err
	}
	z, stdErr, by := est.Best()
	warnings := []string{}
	for _, w := range est.Warnings {
		warnings = append(warnings, w.String())
	}
	low, _ := est.By(logz.ByAIS)
	high, _ := est.By(logz.ByReverse)
	name := ""
	if by != "" {
		name = by.Name()
	}
	return map[string]any{"log_z": z, "std_err": stdErr, "low": low, "high": high, "by": name, "warnings": warnings}, nil, nil
}

// needModel returns the model of a request, or an error if it has none.
func needModel(f frame, s shape) (*rbm.RBM, error) {
	m, given, err := readModel(f, s)
	if err == nil && !given {
		err = errors.New("the request has no model")
	}
	if err != nil {
		return nil, usageError{err}
	}
	return m, nil
}

// draw draws "samples" samples of each query: of the model, or given the inputs in a row of the
// array given, 0, 1 or −1 for free ones, or given a class of the array class. The answer has the
// arrays x [queries·samples, inputs], of 0 and 1, and mean, p(x=1|h); "mixed" is whether the
// chains of each query have mixed, and "why" is the reason if they have not. Rows of the request,
// if there are any, are where half of the chains start.
func draw(q request) (map[string]any, []array, error) {
	var o struct {
		shape
		Samples int    `json:"samples"`
		Seed    uint64 `json:"seed"`
	}
	if err := json.Unmarshal(q.header, &o); err != nil {
		return nil, nil, usageError{err}
	}
	m, err := needModel(q.frame, o.shape)
	if err != nil {
		return nil, nil, err
	}
	if o.Samples < 1 || o.Samples > maxRows/max(1, o.Inputs) {
		return nil, nil, usageError{fmt.Errorf("%d samples; it takes 1 to %d", o.Samples, maxRows/max(1, o.Inputs))}
	}
	var set *data.Set
	if _, ok := q.arrays["x"]; ok {
		if set, err = readRows(q.frame, o.Inputs, o.Classes); err != nil {
			return nil, nil, usageError{err}
		}
	}
	queries := []sample.Query{{Class: rbm.Free}}
	given, ok, err := q.of("given", "<i4", -1, o.Inputs)
	if err != nil {
		return nil, nil, usageError{err}
	}
	if ok {
		queries = queries[:0]
		values := given.ints()
		for r := range given.Shape[0] {
			query := sample.Query{Inputs: make([]int8, o.Inputs), Class: rbm.Free}
			for i := range query.Inputs {
				query.Inputs[i] = int8(min(max(values[r*o.Inputs+i], -1), 1))
			}
			queries = append(queries, query)
		}
	}
	if class, ok, err := q.of("class", "<i4", -1); err != nil {
		return nil, nil, usageError{err}
	} else if ok {
		queries = queries[:0]
		for _, y := range class.ints() {
			queries = append(queries, sample.Query{Class: int(y)})
		}
	}
	if m.Real() {
		return nil, nil, usageError{rbm.ErrUnits}
	}
	sheet, err := sample.DrawEach(q.ctx, m, set, queries, sample.Settings{Samples: o.Samples, Rounds: sample.DefaultRounds}, rbm.NewKey(o.Seed), nil)
	if err != nil {
		return nil, nil, err
	}
	mixed, why := []bool{}, []string{}
	for _, d := range sheet.Draws {
		mixed, why = append(mixed, d.Mixed), append(why, d.Why)
	}
	n := len(queries) * o.Samples
	x := make([]byte, n*o.Inputs)
	for r := range n {
		sheet.Values.Each(r, func(i int) { x[r*o.Inputs+i] = 1 })
	}
	return map[string]any{"mixed": mixed, "why": why},
		[]array{{Name: "x", Type: "|u1", Shape: []int{n, o.Inputs}, data: x}, floatArray("mean", sheet.Means.Data, n, o.Inputs)}, nil
}
