package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/exact"
	"gorbm/train"
)

// fastWork is the largest number of terms for which log Z is enumerated by default, as in rbmtrain. That many
// terms take less than a second.
const fastWork = 1 << 28

// logZ computes log Z of the model of a request: by enumeration if that is fast or "exact" is
// set, otherwise by logz.Estimate. The optional arrays base_visible and base_hidden are the biases
// of the distribution at β = 0.
func logZ(q request) (map[string]any, []array, error) {
	var o struct {
		Exact bool   `json:"exact"`
		Seed  uint64 `json:"seed"`
	}
	if err := json.Unmarshal(q.header, &o); err != nil {
		return nil, nil, usageError{err}
	}
	m, err := needModel(q.frame)
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
	b, hasBase, err := q.array("base_visible", "<f4", m.Visible())
	c, _, err2 := q.array("base_hidden", "<f4", m.Hidden())
	if err != nil || err2 != nil {
		return nil, nil, usageError{fmt.Errorf("the base of log Z does not fit the model: %v %v", err, err2)}
	}
	if hasBase {
		s.Annealing.Base = rbm.UniformBase(m)
		copy(s.Annealing.Base.VisibleBias, b.floats())
		copy(s.Annealing.Base.HiddenBias, c.floats())
	}
	est, err := logz.Estimate(q.ctx, m, s, rbm.NewKey(o.Seed), nil)
	if err != nil {
		return nil, nil, err
	}
	z, stdErr, by := est.Best()
	warnings := append([]string{}, cli.Sentences(est.Warnings)...)
	low, _ := est.By(logz.ByAIS)
	high, _ := est.By(logz.ByReverse)
	name := ""
	if by != "" {
		name = by.Name()
	}
	return map[string]any{"log_z": z, "std_err": stdErr, "low": low, "high": high, "by": name, "warnings": warnings}, nil, nil
}

// needModel returns the model of a request, or an error if the request has none.
func needModel(f frame) (*rbm.RBM, error) {
	m, err := readShape(f)
	if err != nil {
		return nil, usageError{err}
	}
	given, err := readModel(f, m)
	if err == nil && !given {
		err = errors.New("the request has no model")
	}
	if err != nil {
		return nil, usageError{err}
	}
	return m, nil
}

// drawSettings are the settings of the operations sample and fill.
type drawSettings struct {
	Samples int    `json:"samples"`
	Seed    uint64 `json:"seed"`
}

// needDraws returns the model and the settings of a request for sample or fill.
func needDraws(f frame) (m *rbm.RBM, s drawSettings, err error) {
	if m, err = needModel(f); err != nil {
		return m, s, err
	}
	if err := json.Unmarshal(f.header, &s); err != nil {
		return m, s, usageError{err}
	}
	if most := maxRows / max(1, m.Inputs()); s.Samples < 1 || s.Samples > most {
		err = usageError{fmt.Errorf("there are %d samples; the number must lie in 1 … %d", s.Samples, most)}
	}
	return m, s, err
}

func (s *drawSettings) settings() sample.Settings {
	return sample.Settings{Samples: s.Samples, Rounds: sample.DefaultRounds}
}

// draw answers the request sample: "samples" samples of a model, in the array x [samples, inputs].
// "mixed" is whether the chains have mixed, and "why" the reason if they have not. If the request has
// rows, half of the chains start at them.
func draw(q request) (map[string]any, []array, error) {
	m, s, err := needDraws(q.frame)
	if err != nil {
		return nil, nil, err
	}
	var set *data.Set
	if _, ok := q.arrays["x"]; ok {
		if set, err = readRows(q.frame, m); err == nil {
			err = train.Fits(m, set)
		}
		if err != nil {
			return nil, nil, usageError{err}
		}
	}
	queries := []sample.Query{{Class: rbm.Free}}
	sheet, err := sample.DrawEach(q.ctx, m, set, queries, s.settings(), rbm.NewKey(s.Seed), nil)
	if err != nil {
		return nil, nil, err
	}
	x := sheet.Values.Dense()
	d := sheet.Draws[0]
	return map[string]any{"mixed": d.Mixed, "why": cli.Sentence(d.Why)}, []array{floatArray("x", x.Data, x.Rows, x.Cols)}, nil
}

// fill answers the request fill. The array mean of the answer has the rows of the array given, where the mean
// given the known inputs of the row replaces each NaN: see sample.NewPosterior. "estimated" is the number of rows whose
// means are estimates, and "std_err" the largest standard error of a probability in these rows.
func fill(q request) (map[string]any, []array, error) {
	m, s, err := needDraws(q.frame)
	if err != nil {
		return nil, nil, err
	}
	given, ok, err := q.array("given", "<f4", -1, m.Inputs())
	if err == nil && !ok {
		err = errors.New("the request has no rows to fill")
	}
	if err != nil {
		return nil, nil, usageError{err}
	}
	x, key := rbm.Matrix{Rows: given.Shape[0], Cols: m.Inputs(), Data: given.floats()}, rbm.NewKey(s.Seed)
	if err := cmp.Or(m.CheckSites(), m.CheckFinite()); err != nil {
		return nil, nil, usageError{err}
	}
	estimated, worst := 0, 0.0
	for r := range x.Rows {
		row := x.Row(r)
		if !slices.ContainsFunc(row, isNaN) {
			continue
		}
		c, err := conditional(m, row)
		if err != nil {
			return nil, nil, usageError{fmt.Errorf("row %d: %w", r, err)}
		}
		if c == nil {
			continue
		}
		p, err := sample.NewPosterior(q.ctx, c, key.Child(uint64(r)))
		if err != nil {
			return nil, nil, err
		}
		if p.StdErr != nil {
			estimated, worst = estimated+1, max(worst, p.Worst())
		}
		mean := p.Means(c)
		at := 0
		for i, v := range row {
			if isNaN(v) {
				row[i] = mean[at]
				at++
			}
		}
	}
	return map[string]any{"estimated": estimated, "std_err": worst}, []array{floatArray("mean", x.Data, x.Rows, x.Cols)}, nil
}

func isNaN(x float32) bool { return x != x }

// conditional returns, as a model, the distribution of the inputs of m that are NaN in row, given the other
// inputs. Known bits are 1 from ½ up. If a missing input follows from other inputs of its softmax group,
// conditional sets it in row. The model is nil if no missing inputs are left.
func conditional(m *rbm.RBM, row []float32) (*rbm.RBM, error) {
	inputs := slices.Clone(row)
	for _, g := range m.Groups() {
		for i := g.First; i < g.First+g.Units && !g.Label; i++ {
			switch x := row[i]; {
			case isNaN(x):
				inputs[i] = rbm.FreeInput
			case g.Real():
			case x >= 0.5:
				inputs[i] = 1
			default:
				inputs[i] = 0
			}
		}
	}
	inputs, err := m.FillGroups(inputs)
	if err != nil {
		return nil, err
	}
	for i, x := range inputs {
		if x != rbm.FreeInput {
			row[i] = x
		}
	}
	if !slices.Contains(inputs, rbm.FreeInput) {
		return nil, nil
	}
	c, err := m.Given(inputs, rbm.Free)
	if err != nil {
		return nil, err
	}
	return c, c.CheckFinite()
}
