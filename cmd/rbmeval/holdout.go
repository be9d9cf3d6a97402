package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"gorbm/data"
	"gorbm/train"
	"gorbm/train/rundir"
)

// trainedOn is the part of a run's config.json about the training rows and the work of training.
type trainedOn struct {
	Data struct {
		Rows        int    `json:"rows"`
		HoldoutRows int    `json:"holdout_rows"`
		Hash        string `json:"hash"` // hash of the training rows, without those held out
	} `json:"data"`
	Flags    map[string]string `json:"flags"`
	Training train.Settings    `json:"training"`
	Steps    int               `json:"steps"`
}

// readTrainedOn reads the config.json in the folder path, or in the folder of the model file path. It returns
// zeros if there is no such file.
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

// holdOut divides the rows of all as the run that wrote path did. It returns the training rows and sets
// o.held to the rows held out, if there are any. It warns if the rows have changed since training.
func (o *options) holdOut(ctx context.Context, all *data.Set, path string) *data.Set {
	c := readTrainedOn(path)
	changed := func() {
		o.flags.Warn(fmt.Sprintf("the rows of %s have changed since the model was trained on them", all.Name))
	}
	set := all
	file := c.Flags["holdout"]
	if _, err := strconv.ParseFloat(file, 64); err == nil {
		file = ""
	}
	switch n := c.Data.HoldoutRows; {
	case file != "":
		held, err := o.data.LoadLike(ctx, "holdout", file, all)
		if err != nil {
			o.flags.Warn(fmt.Sprintf("the rows that the run held out are not available: %v", err))
			break
		}
		o.held = held
	case n > 0:
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
	if c.Data.Hash != "" && others == "" && c.Flags["redraw"] == "" && set.Hash() != c.Data.Hash { // with -redraw the hash includes grey values, which set lacks
		changed()
	}
	return set
}
