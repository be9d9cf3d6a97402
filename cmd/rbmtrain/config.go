package main

import (
	"runtime"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// config is the content of config.json: all settings of the run.
type config struct {
	Version   string            `json:"version"`
	Command   []string          `json:"command"`
	Flags     map[string]string `json:"flags"`  // flags that were given; -resume reads them
	Preset    presetChoice      `json:"preset"` // -resume reads it
	Kernels   string            `json:"kernels"`
	Processor string            `json:"processor"`
	Workers   int               `json:"workers"` // number of processors, on which results do not depend
	Data      configData        `json:"data"`
	Model     configModel       `json:"model"`
	Training  train.Settings    `json:"training"`
	Steps     int               `json:"steps"`
	EvalEvery int               `json:"eval_every"`
	Metrics   []string          `json:"metrics"`
	Rates     []rateChange      `json:"rates,omitempty"`        // changes of the rate by -resume
	Memory    float64           `json:"memory_bytes,omitempty"` // bound on the memory of each rank besides the data; only in the output of -dry-run -json
}

type configData struct {
	Name        string  `json:"name"`
	Binarize    string  `json:"binarize"`
	Scale       string  `json:"scale,omitempty"`
	Header      string  `json:"header,omitempty"` // whether a .csv file names its columns: see data.Set.Header
	Rows        int     `json:"rows"`
	Unlabelled  int     `json:"unlabelled_rows,omitempty"` // number of rows without a label, included in Rows
	WeightsSum  float64 `json:"weights_sum,omitempty"`     // sum of the weights of the rows, if they have weights
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
	rbm.Shape
	Init string `json:"init"`

	// ClassNames are the names of the classes in the order of the label units, if -init names a model.
	ClassNames []string `json:"class_names,omitempty"`
}

// config returns the content of config.json. hash is the hash of the training rows.
func (p *plan) config(hash string) config {
	set := p.sets.Train
	c := config{
		Version: cli.Version(), Command: p.opts.command, Flags: p.given(), Preset: p.opts.chosen,
		Kernels: rbm.KernelLevel(), Processor: runtime.GOOS + "/" + runtime.GOARCH, Workers: runtime.GOMAXPROCS(0),
		Data: configData{Name: set.Name, Hash: hash, Rows: set.Len(), Unlabelled: set.Unlabelled(), Inputs: set.X.Cols,
			HoldoutRows: rows(p.sets.Holdout), TestRows: rows(p.sets.Test), Density: set.Density(), Binarize: set.Binarize, Scale: set.Scale, Header: set.Header},
		Model:    configModel{Shape: p.model.Shape(), Init: p.opts.init, ClassNames: p.initNames},
		Training: p.settings, Steps: p.steps, EvalEvery: p.evalEvery, Metrics: []string{}, Rates: p.opts.rates,
	}
	if p.sets.Test != nil {
		c.Data.Test, c.Data.TestHash = p.sets.Test.Name, p.sets.Test.Hash()
	}
	if set.Weights != nil {
		c.Data.WeightsSum, c.Data.EqualRows = set.TotalWeight(), set.EqualRows()
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

// about returns the metadata of the model file.
func (p *plan) about() modelfile.About {
	a := modelfile.About{Seed: p.settings.Seed}
	p.opts.data.Describe(&a, p.sets.Train)
	if p.model.Classes() > 0 {
		a.ClassNames = p.sets.Train.Classes
	}
	return a
}
