package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train/rundir"
)

func TestBadConstraints(t *testing.T) {
	clitest.Isolate(t)
	m := clitest.Model(9, 6, 0, rbm.Softmax)
	m.Constraint = &rbm.Constraint{On: rbm.HiddenUnits, Active: 2}
	clitest.Save(t, "two.safetensors", m, modelfile.About{})
	const bars = "-data bars:3 -labels none -hidden 6 "
	for _, c := range []struct {
		args   string
		status int
		want   []string
	}{
		{bars + "-constraint hidden=7", 2, []string{"-constraint", "hidden=7", "0 … 6"}},
		{bars + "-constraint hidden=0", 2, []string{"-constraint", `"hidden=0"`, "from 1 on"}},
		{bars + "-constraint all=-2", 2, []string{"-constraint", `"all=-2"`, "whole number"}},
		{bars + "-constraint most=2", 2, []string{"-constraint", `"most=2"`, "hidden=20", "all=120"}},
		{bars + "-constraint all=16 -negphase exact", 2, []string{"-constraint", "all=16", "0 … 15"}},
		{bars + "-constraint hidden=3 -negphase sardonics", 2, []string{"-negphase", "sardonics", "hidden=3", "use cd, pcd"}},
		{bars + "-constraint all=6 -negphase pcd", 2, []string{"-negphase", "pcd", "all=6", "use im, walk:exchange, exact"}},
		{bars + "-constraint all=6", 2, []string{"-negphase", "ins", "all=6", "use im, walk:exchange, exact"}},
		{bars + "-constraint all=8 -negphase exact", 1, []string{"row ", "bars:3", "probability zero", "all=8", "0 to 9 such units, it takes 9 hidden units"}},
		{"-data bars:3 -labels none -hidden 10 -constraint all=8 -negphase exact", 1, []string{"row ", "probability zero", "all=9 to all=10 allow every row"}},
		{"-data bars:3 -labels none -init two.safetensors -constraint hidden=3 -negphase pcd", 2, []string{"-constraint is hidden=3", "two.safetensors", "hidden=2", "leave -constraint out"}},
		{"-data bars:3 -labels none -init two.safetensors -negphase sardonics", 2, []string{"-negphase", "sardonics", "hidden=2"}},
	} {
		t.Run(c.args, func(t *testing.T) { rbmtrain.Fails(t, c.status, strings.Fields(c.args+" -dry-run"), c.want...) })
	}
}

// A row of probability zero is named by its number in the data, also if others
// are held out.
func TestImpossibleRow(t *testing.T) {
	clitest.Isolate(t)
	rows := strings.Repeat("0,1,1\n", 30) + "1,1,1\n" + strings.Repeat("1,1,0\n", 30)
	clitest.Write(t, "rows.csv", rows)
	for _, args := range []string{"", " -holdout 0.5", " -holdout 0.5 -seed 2", " -holdout 0.5 -seed 3"} {
		want := []string{"row 30 of", "rows.csv", "probability zero", "all=2", "3 of its units are on"}
		rbmtrain.Fails(t, 1, strings.Fields("-data rows.csv -label-column none -hidden 2 -batch 5 -negphase exact -constraint all=2 -dry-run"+args), want...)
	}
}

// A run keeps its constraint: in the model, in all snapshots, in config.json, after an
// interruption, and in runs that start from its model. Training raises the likelihood
// among the allowed states.
func TestConstrainedRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	undrawn(t)
	for _, c := range []struct{ name, args string }{
		{"pcd", "-constraint hidden=4 -negphase pcd -momentum 0.5 -center 0.01 -average 0.9"},
		{"pt", "-constraint hidden=4 -negphase pt"},
		{"auto", "-constraint hidden=4 -negphase pins -temperatures auto"},
		{"cd", "-constraint hidden=4 -negphase cd"},
		{"all", "-constraint all=11 -negphase exact"},
	} {
		if testing.Short() && c.name != "auto" && c.name != "all" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			pictures = c.name == "auto" || c.name == "all" // in the first run of each
			args := append(strings.Fields("-preset ins-paper -data bars:3 -hidden 12 -seed 3 -eval-every 100 "+c.args), "-json")
			var result jsonResult
			if err := json.Unmarshal([]byte(rbmtrain.OK(t, append(args, "-steps", "600", "-out", c.name)...)), &result); err != nil {
				t.Fatal(err)
			}
			m, _ := clitest.Load(t, filepath.Join(c.name, rundir.ModelFile))
			if m.Constraint == nil || m.Constraint.String() != args[slices.Index(args, "-constraint")+1] {
				t.Fatalf("the model has the constraint %+v", m.Constraint)
			}
			if config := clitest.Read(t, filepath.Join(c.name, rundir.ConfigFile)); strings.Count(config, m.Constraint.String()) < 2 {
				t.Errorf("config.json does not tell of the constraint: %s", config)
			}
			if on := result.Metrics["active_hidden_train"]; m.Constraint.On == rbm.HiddenUnits && math.Abs(on-4) > 1e-5 {
				t.Errorf("%v hidden units are on", on)
			}
			rows := metrics(t, c.name)
			at := slices.Index(rows[0], "log_likelihood_train")
			first, err1 := strconv.ParseFloat(rows[1][at], 64)
			last, err2 := strconv.ParseFloat(rows[len(rows)-1][at], 64)
			if err := errors.Join(err1, err2); err != nil || !(last > first+0.3) {
				t.Errorf("the likelihood goes from %v to %v: %v, want more than %v", first, last, err, first+0.3)
			}
			for _, f := range []string{rundir.FiltersFile, rundir.SamplesFile} {
				if _, err := os.Stat(filepath.Join(c.name, f)); pictures && err != nil {
					t.Error(err)
				}
			}
			pictures = false
			// Interrupted and resumed.
			interrupt(350, append(args, "-steps", "600", "-out", c.name+"2")...)
			rbmtrain.OK(t, "-resume", c.name+"2", "-quiet")
			if other, _ := clitest.Load(t, filepath.Join(c.name+"2", rundir.ModelFile)); !other.Equal(m) {
				t.Error("interrupted and resumed, the run ends with another model")
			}
			// A run that starts from the model has its constraint.
			kind := "pcd"
			if m.Constraint.On == rbm.AllUnits {
				kind = "exact"
			}
			rbmtrain.OK(t, "-data", "bars:3", "-init", c.name, "-negphase", kind, "-steps", "10", "-out", c.name+"3", "-quiet")
			if other, _ := clitest.Load(t, filepath.Join(c.name+"3", rundir.ModelFile)); !other.Constraint.Equal(m.Constraint) {
				t.Errorf("started from the model, a run has the constraint %v", other.Constraint)
			}
		})
	}
}
