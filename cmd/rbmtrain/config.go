package main

import (
	"runtime"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// config is config.json: all settings of the run.
type config struct {
	Version   string            `json:"version"`
	Command   []string          `json:"command"`
	Flags     map[string]string `json:"flags"`  // those that were given; -resume reads them
	Preset    presetChoice      `json:"preset"` // and these
	Kernels   string            `json:"kernels"`
	Processor string            `json:"processor"`
	Workers   int               `json:"workers"` // processors; results do not depend on them
	Data      configData        `json:"data"`
	Model     configModel       `json:"model"`
	Training  train.Settings    `json:"training"`
	Steps     int               `json:"steps"`
	EvalEvery int               `json:"eval_every"`
	Metrics   []string          `json:"metrics"`
	Rates     []rateChange      `json:"rates,omitempty"`    // given with -resume
	Forecast  *forecast         `json:"forecast,omitempty"` // of -dry-run, which writes no file
}

type configData struct {
	Name        string  `json:"name"`
	Binarize    string  `json:"binarize"`
	Scale       string  `json:"scale,omitempty"`
	Header      string  `json:"header,omitempty"` // of a .csv file, as data.Set.Header
	Rows        int     `json:"rows"`
	Unlabelled  int     `json:"unlabelled_rows,omitempty"` // rows without a label, included in Rows
	WeightsSum  float64 `json:"weights_sum,omitempty"`     // of Rows, if they have weights
	EqualRows   float64 `json:"equal_rows,omitempty"`      // effective number of rows, (Σw)²/Σw²
	HoldoutRows int     `json:"holdout_rows"`
	TestRows    int     `json:"test_rows"`
	Inputs      int     `json:"inputs"`
	Density     float64 `json:"density"`
	Hash        string  `json:"hash"`
	Test        string  `json:"test,omitempty"`
	TestHash    string  `json:"test_hash,omitempty"`
}

type configModel struct {
	Visible int    `json:"visible"`
	Hidden  int    `json:"hidden"`
	Classes int    `json:"classes"`
	Labels  string `json:"labels,omitempty"`
	Groups  string `json:"groups,omitempty"`       // of the visible layer, as RBM.GroupsText
	Units   string `json:"hidden_units,omitempty"` // kind of the hidden ones, as RBM.HiddenText
	Init    string `json:"init"`

	// ClassNames are the class names of the file of -init, which order the labels.
	ClassNames []string `json:"class_names,omitempty"`

	Constraint *rbm.Constraint `json:"constraint,omitempty"`
}

// config returns the settings of a run on training rows with this hash.
func (p *plan) config(hash string) config {
	set := p.sets.Train
	c := config{
		Version: cli.Version(), Command: p.opts.command, Flags: p.given(), Preset: p.opts.chosen,
		Kernels: rbm.KernelLevel(), Processor: runtime.GOOS + "/" + runtime.GOARCH, Workers: runtime.GOMAXPROCS(0),
		Data: configData{Name: set.Name, Hash: hash, Rows: set.Len(), Unlabelled: set.Unlabelled(), Inputs: set.X.Cols,
			HoldoutRows: rows(p.sets.Holdout), TestRows: rows(p.sets.Test), Density: set.Density(), Binarize: set.Binarize, Scale: set.Scale, Header: set.Header},
		Model:    configModel{Visible: p.model.Visible(), Hidden: p.model.Hidden(), Classes: p.model.Classes(), Groups: p.model.GroupsText(), Units: p.model.HiddenText(), Init: p.opts.init, ClassNames: p.initNames, Constraint: p.model.Constraint},
		Training: p.settings, Steps: p.steps, EvalEvery: p.evalEvery, Metrics: []string{}, Rates: p.opts.rates,
	}
	if p.sets.Test != nil {
		c.Data.Test, c.Data.TestHash = p.sets.Test.Name, p.sets.Test.Hash()
	}
	if set.Weights != nil {
		c.Data.WeightsSum, c.Data.EqualRows = set.TotalWeight(), set.EqualRows()
	}
	if p.model.Classes() > 0 {
		c.Model.Labels = p.model.LabelKind().String()
	}
	for _, m := range p.metrics {
		c.Metrics = append(c.Metrics, m.Name)
	}
	return c
}

func rows(set *data.Set) int {
	if set == nil {
		return 0
	}
	return set.Len()
}

// about is the metadata of the model file.
func (p *plan) about() modelfile.About {
	a := modelfile.About{Seed: p.settings.Seed}
	p.opts.data.Describe(&a, p.sets.Train)
	if p.model.Classes() > 0 {
		a.ClassNames = p.sets.Train.Classes
	}
	return a
}
