package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"gorbm/train/plots"
	"gorbm/train/rundir"
)

// FuzzState checks that what passes the checks of a checkpoint's state can be added
// to and drawn.
func FuzzState(f *testing.F) {
	f.Add(`{"seconds":1,"before":{"Swaps":[1],"SwapTries":[2]},"since":{"Updates":3},"measured":5}`)
	f.Add(`{"first_ladder":{"name":"x","Beta":[1,0.5],"Rejection":[0.1],"Association":[[1,0],[0,1]],"Moves":[[1,0],[0,1]],"Rounds":1,"Trajectory":["AAE="]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := readState([]byte(text))
		if err != nil || s.Before.Check(1, 0) != nil || s.Since.Check(1, 0) != nil {
			return
		}
		s.Before.Add(s.Since)
		if l := s.FirstLadder; l != nil && l.Check() == nil {
			_ = plots.Ladders(*l).Write(io.Discard, plots.PNG) // an error is right, a panic is not
		}
	})
}

// FuzzConfig checks that no config.json makes -resume panic or sets what is no setting of
// a run.
func FuzzConfig(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, rundir.ConfigFile)
	f.Add(`{"flags":{"data":"toy","hidden":"4","epochs":"3"},"steps":10,"preset":{"name":"ins-paper","flags":{"rate":"0.1"}},"model":{"hidden":4,"classes":2,"labels":"softmax","class_names":["a","b"],"visible":10,"constraint":"hidden=2"}}`)
	f.Add(`{"flags":{"cpuprofile":"x"},"rates":[{"step":3,"rate":0.1}],"metrics":["none"],"command":["rbmtrain"]}`)
	f.Add(`{"preset":{"flags":{"out":"x"}},"model":{"visible":8,"hidden":4,"constraint":"all=3"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		o := newOptions()
		if err := o.flags.Parse([]string{"-resume", dir}, io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
		if o.adopt() != nil || o.choosePreset() != nil {
			return
		}
		for _, name := range o.flags.Tagged(tagCall) {
			if name != "resume" && o.flags.Given(name) {
				t.Errorf("it sets -%s", name)
			}
		}
		if o.began == nil || o.began.Hidden > 1000 {
			return
		}
		if m, err := o.began.model(8); err == nil && m.Constraint != nil && m.Constraint.Check(m) != nil {
			t.Errorf("a constraint %v that the model cannot have", m.Constraint)
		}
	})
}
