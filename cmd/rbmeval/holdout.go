package main

import (
	"fmt"
	"os"
	"path/filepath"

	"gorbm/data"
	"gorbm/train/rundir"
)

// trainedOn has what the config.json of a run says about its rows.
type trainedOn struct {
	Data struct {
		Rows        int    `json:"rows"`
		HoldoutRows int    `json:"holdout_rows"`
		Hash        string `json:"hash"` // of the rows without those held out
	} `json:"data"`
	Flags    map[string]string `json:"flags"`
	Training struct {
		Seed uint64 `json:"seed"`
	} `json:"training"`
}

// readTrainedOn reads the config.json of the run of a model: of the folder path, or of the one that the
// model file is in. All is 0 without one.
func readTrainedOn(path string) (c trainedOn) {
	dir := path
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		dir = filepath.Dir(path)
	}
	if rundir.ReadConfig(dir, &c) != nil {
		return trainedOn{}
	}
	return c
}

// holdOut returns the rows that the run of the model of path was trained on, and sets o.held to those that it
// held out, if any. It warns if the rows are others than at the time of training.
func (o *options) holdOut(all *data.Set, path string) *data.Set {
	c := readTrainedOn(path)
	changed := func() {
		o.flags.Warn(fmt.Sprintf("the rows of %s are others than those that the model was trained on", all.Name))
	}
	set := all
	if n := c.Data.HoldoutRows; n > 0 {
		if all.Len() != c.Data.Rows+n {
			changed()
			return all
		}
		numbered := *all
		if numbered.Numbers == nil {
			numbered.Numbers = data.RowNumbers(0, all.Len())
		}
		trained, held, err := numbered.Split(float64(n), data.HoldoutKey(c.Training.Seed))
		if err != nil {
			return all
		}
		set, o.held = trained, held
	}
	others := o.flags.FirstGiven("data", "scale", "binarize", "label-column", "header", "unlabelled", "categorical", "levels", "ignore", "weights", "reweight", "shape")
	if c.Data.Hash != "" && others == "" && c.Flags["redraw"] == "" && set.Hash() != c.Data.Hash { // of -redraw the grey values count too
		changed()
	}
	return set
}
