package rundir

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/units"
	"gorbm/train"
)

func TestSnapshotSteps(t *testing.T) {
	for _, c := range []struct {
		total, n int
		want     []int
	}{
		{1000, 4, []int{1, 10, 100, 1000}},
		{120, 6, []int{1, 3, 7, 18, 46, 120}},
		{10, 0, nil},
		{10, 1, []int{10}},
		{10, 2, []int{1, 10}},
		{1, 20, []int{1}},
		{3, 20, []int{1, 2, 3}},
	} {
		if got := SnapshotSteps(c.total, c.n); !slices.Equal(got, c.want) {
			t.Errorf("SnapshotSteps(%d, %d) = %v, want %v", c.total, c.n, got, c.want)
		}
	}
	for _, total := range []int{1, 2, 7, 10000, 12345, train.MaxSteps} {
		for _, n := range []int{2, 3, 20, 10000} {
			s := SnapshotSteps(total, n)
			if len(s) > n || s[0] != 1 || s[len(s)-1] != total {
				t.Errorf("SnapshotSteps(%d, %d): %d steps from %d to %d", total, n, len(s), s[0], s[len(s)-1])
			}
			for i := 1; i < len(s); i++ {
				if s[i] <= s[i-1] {
					t.Fatalf("SnapshotSteps(%d, %d): %d follows %d", total, n, s[i], s[i-1])
				}
			}
		}
	}
}

// TestSnapshots checks that models are written at the given steps, except for models with parameters that
// are not finite.
func TestSnapshots(t *testing.T) {
	f := folder(t)
	observe, err := f.Snapshots([]int{2, 5}, modelfile.About{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	tr := trainerAt(t, 0)
	for step := 1; step <= 6; step++ {
		run(t, tr, step)
		if err := observe(train.Event{Step: step, Model: tr.Model()}); err != nil {
			t.Fatal(err)
		}
		path := f.Path(SnapshotFile(step))
		m, about, err := modelfile.Read(path)
		switch due := step == 2 || step == 5; {
		case due && (err != nil || !m.Equal(tr.Model()) || about.Seed != 9):
			t.Errorf("step %d: %v", step, err)
		case !due && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("step %d was not due: %v", step, err)
		}
	}
	tr.Model().HiddenBias[0] = float32(math.NaN())
	drop(t, f.Path(SnapshotFile(5)))
	if err := observe(train.Event{Step: 5, Model: tr.Model()}); err == nil || content(t, f.Path(SnapshotFile(5))) != nil {
		t.Errorf("a model that is not finite is kept: %v", err)
	}
	m := rbm.NewLayers(rbm.Group{Kind: units.Gaussian, Units: 1}, rbm.Group{Kind: units.Gaussian, Units: 1})
	m.SetWeights(rbm.Matrix{Rows: 1, Cols: 1, Data: []float32{2}})
	if err := observe(train.Event{Step: 5, Model: m}); !errors.Is(err, rbm.ErrDiverged) || content(t, f.Path(SnapshotFile(5))) != nil {
		t.Errorf("a model without a Z, whose file could not be read, is kept: %v", err)
	}

	f = folder(t)
	if _, err := f.Snapshots(nil, modelfile.About{}); err != nil || content(t, f.Path("x")) != nil {
		t.Error(err)
	}
	if _, err := os.Stat(f.Path(SnapshotsDir)); err == nil {
		t.Error("a folder is made for no snapshots")
	}
	put(t, f.Path(SnapshotsDir), nil)
	if _, err := f.Snapshots([]int{1}, modelfile.About{}); err == nil || !strings.Contains(err.Error(), "snapshots") {
		t.Errorf("a file in the place of the folder: %v, want %q in it", err, "snapshots")
	}
}

// Of many snapshots, the last one is read, and of those before it every second, fourth, ….
func TestReadSnapshots(t *testing.T) {
	f := folder(t)
	observe, err := f.Snapshots([]int{1, 2, 3, 4, 5}, modelfile.About{})
	if err != nil {
		t.Fatal(err)
	}
	tr := trainerAt(t, 0)
	for step := 1; step <= 5; step++ {
		run(t, tr, step)
		if err := observe(train.Event{Step: step, Model: tr.Model()}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		most int
		want []int
	}{{0, []int{1, 2, 3, 4, 5}}, {5, []int{1, 2, 3, 4, 5}}, {4, []int{1, 3, 5}}, {2, []int{1, 5}}, {1, []int{5}}} {
		all, err := ReadSnapshots(f.Dir, c.most)
		var got []int
		for _, s := range all {
			got = append(got, s.Step)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("at most %d: steps %v, %v, want %v", c.most, got, err, c.want)
		}
	}
}
