package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"gorbm/train/plots"
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

// FuzzReference checks that what is read of a file of a reference is 0 and 1.
func FuzzReference(f *testing.F) {
	path := filepath.Join(f.TempDir(), "reference")
	f.Add([]byte("0101, 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		bits, err := readReference(path)
		if err == nil && len(bits) > len(text) {
			t.Errorf("%d units of %d bytes", len(bits), len(text))
		}
		for _, b := range bits {
			if b > 1 {
				t.Errorf("a unit is %d", b)
			}
		}
	})
}
