package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/units"
)

// Real hidden units of each kind learn most of the structure of the rows. A resumed run with momentum, an average and
// centring has the parameters of an uninterrupted one, and config.json has the kind.
func TestRealHiddenUnits(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	for _, kind := range []string{"relu", "drelu", "gaussian"} {
		args := []string{"-data", "bars:2", "-hidden", "6", "-hidden-units", kind, "-rate", "0.3", "-batch", "8"}
		whole := rbmtrain.Call(append(args, "-negphase", "exact", "-steps", "3000", "-schedule", "linear", "-out", kind)...)
		if whole.Status != 0 || !strings.Contains(whole.Stdout, "6 "+kind+" hidden units") {
			t.Fatalf("status %d: %s%s", whole.Status, whole.Stdout, whole.Stderr)
		}
		values := column(t, kind, "log_likelihood_train")
		first, last := values[0], values[len(values)-1]
		// bars:2 has 6 pictures, of which two are twice as frequent: the distribution scores −1.73 nats, and
		// independent units −2.77.
		if !(first < -2.77 && last > -1.85) {
			t.Errorf("%s: the log-likelihood goes from %v to %v", kind, first, last)
		}
		args = append(args, "-negphase", "pcd", "-schedule", "constant", "-momentum", "0.5", "-average", "0.9", "-center", "0.01")
		one := rbmtrain.Call(append(args, "-steps", "300", "-out", kind+"-one")...)
		first1 := rbmtrain.Call(append(args, "-steps", "200", "-out", kind+"-two")...)
		second := rbmtrain.Call("-resume", kind+"-two", "-steps", "300")
		if one.Status+first1.Status+second.Status != 0 {
			t.Fatalf("%s%s%s: got %v, want 0", one.Stderr, first1.Stderr, second.Stderr, one.Status+first1.Status+second.Status)
		}
		a, _, err1 := modelfile.Read(kind + "-one/model.safetensors")
		b, _, err2 := modelfile.Read(kind + "-two/model.safetensors")
		if err1 != nil || err2 != nil || !a.Equal(b) || a.HiddenKind().String() != kind {
			t.Errorf("%s: a resumed run has other parameters: %v %v", kind, err1, err2)
		}
		for _, p := range a.Params() {
			learned := p.Name != "hidden_precision"
			if moved := p.Values[3] != 1 && p.Values[3] != 0; moved != learned {
				t.Errorf("%s: %s is %v, got %v, want %v", kind, p.Name, p.Values[3], moved, learned)
			}
		}
		var config struct{ Model map[string]any }
		text, err := os.ReadFile(kind + "/config.json")
		if err == nil {
			err = json.Unmarshal(text, &config)
		}
		if err != nil || config.Model["hidden_units"] != kind {
			t.Errorf("config.json has the model %v; %v", config.Model, err)
		}
	}
}

// Flags that exclude real hidden units are refused in one line. The rate is a tenth of the preset's. If a model with real
// units in both layers diverges, the error names the remedy.
func TestRealHiddenRefusals(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	realFile(t, "real.csv", 300, 1)
	clitest.Write(t, "labelled.csv", "a,b,label\n"+strings.Repeat("0,1,x\n1,0,y\n", 30))
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"-data bars:3 -hidden-units rellu", 2, "did you mean relu?"},
		{"-data bars:3 -hidden-units relu -constraint hidden=2", 2, "the hidden units are relu units"},
		{"-data bars:3 -hidden-units relu -init sparse", 2, "-init sparse needs hidden bits, and -hidden-units is relu; use -init log-odds"},
		{"-data bars:3 -hidden-units relu -negphase ptt", 2, "ptt keeps states as bits; use pcd, pt, ins or pins"},
		{"-data bars:3 -hidden-units relu -negphase sardonics", 2, "sardonics flips hidden units; use pcd, pt, ins or pins"},
		{"-data labelled.csv -label-column label -hidden-units drelu -labels softmax", 2, "-labels softmax needs binary hidden units, and -hidden-units is drelu"},
		{"-data labelled.csv -label-column label -hidden-units drelu -objective hybrid", 2, "needs labels, which -hidden-units drelu does not take"},
		{"-data real.csv -hidden-units gaussian -negphase exact -hidden 3", 2, "gaussian units, which take any real value; use hidden units of bits"},
		{"-data real.csv -hidden-units gaussian -hidden 3 -rate 30 -steps 2000 -negphase pcd -schedule constant", 1, "train at a lower rate"},
	} {
		r := rbmtrain.Call(append(strings.Fields(c.args), "-out", "refused", "-force")...)
		if strings.Contains(r.Stderr, "at a lower rate") && strings.Contains(r.Stderr, "a smaller -rate") {
			t.Errorf("%s: the advice is given twice: %s", c.args, r.Stderr)
		}
		if r.Status != c.status || !strings.Contains(r.Stderr, c.want) || c.status == 2 && strings.Count(r.Stderr, "\n") > 1+strings.Count(r.Stderr, "holds real numbers") {
			t.Errorf("%s: status %d: %s", c.args, r.Status, r.Stderr)
		}
	}
	rate := func(args string) float64 {
		r := rbmtrain.Call(append(strings.Fields(args), "-dry-run", "-json", "-negphase", "pcd")...)
		var config struct{ Training struct{ Rate float64 } }
		if err := json.Unmarshal([]byte(r.Stdout), &config); err != nil {
			t.Fatal(err, r.Stderr)
		}
		return config.Training.Rate
	}
	for _, data := range []string{"-data bars:3", "-data real.csv"} {
		if bits, real := rate(data), rate(data+" -hidden-units relu"); bits == 0 || math.Abs(real-bits/10) > 1e-9 {
			t.Errorf("%s: the rate is %v, of bits %v", data, real, bits)
		}
	}
	if out := rbmtrain.OK(t, "-data", "labelled.csv", "-label-column", "label", "-hidden-units", "relu", "-hidden", "3", "-steps", "10", "-out", "unlabelled"); !strings.Contains(out, "; labels are left out, as a model with relu hidden units has none\n") {
		t.Errorf("labelled rows: %s, want %q in it", out, "; labels are left out, as a model with relu hidden units has none\n")
	}
	if out := rbmtrain.OK(t, "-data", "labelled.csv", "-labels", "none", "-hidden-units", "relu", "-dry-run"); strings.Contains(out, "left out") {
		t.Errorf("without labels: %s, want no %q in it", out, "left out")
	}
	if r := rbmtrain.Call("-data", "labelled.csv", "-init", "unlabelled", "-dry-run"); r.Status != 2 || !strings.Contains(r.Stderr, "give -hidden-units relu\n") {
		t.Errorf("another start: status %d: %s", r.Status, r.Stderr)
	}
}

// A model whose weights between real units make Z infinite is not saved, because its file could not be read.
func TestNoZIsNotSaved(t *testing.T) {
	m := rbm.NewLayers(rbm.Group{Kind: units.Gaussian, Units: 1}, rbm.Group{Kind: units.Gaussian, Units: 1})
	r := &runner{plan: &plan{model: m}}
	if err := r.savable(); err != nil {
		t.Error(err)
	}
	m.SetWeights(rbm.Matrix{Rows: 1, Cols: 1, Data: []float32{2}})
	if err := r.save(); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("save: %v, want %v", err, rbm.ErrDiverged)
	}
	if err := r.write(t.Context()); !errors.Is(err, rbm.ErrDiverged) {
		t.Errorf("write: %v, want %v", err, rbm.ErrDiverged)
	}
}
