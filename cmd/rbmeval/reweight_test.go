package main

import (
	"fmt"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// The training rows of a model are weighted as in training, also if -data names them. Other rows have equal
// weights, and a note says so.
func TestReweightedRows(t *testing.T) {
	clitest.Isolate(t)
	text := ""
	for i := range 12 {
		text += fmt.Sprintf(">%d\nAC%cD\n", i, "AAAAAAAACDEF"[i])
	}
	clitest.Write(t, "family.fasta", text)
	clitest.Write(t, "other.fasta", text)
	set, _, err := data.Load(t.Context(), "family.fasta", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := rbm.NewGroups(3, set.Groups...)
	m.Randomize(0.5, rbm.NewKey(1))
	about := modelfile.About{Described: true, Data: data.Absolute("family.fasta"), Schema: set.Schema.Text(), Reweight: 0.9}
	if err := modelfile.Write("m.safetensors", m, about); err != nil {
		t.Fatal(err)
	}
	likelihood := func(r clitest.Result) string {
		if r.Status != cli.OK {
			t.Fatalf("status %d: %s", r.Status, r.Stderr)
		}
		_, text, _ := strings.Cut(r.Stdout, "mean log-likelihood")
		text, _, _ = strings.Cut(text, "\n")
		return text
	}
	alone := rbmeval.Call("-model", "m.safetensors")
	same := rbmeval.Call("-model", "m.safetensors", "-data", "family.fasta")
	other := rbmeval.Call("-model", "m.safetensors", "-data", "other.fasta")
	if likelihood(same) != likelihood(alone) || likelihood(alone) == "" {
		t.Errorf("with -data %q, without %q", likelihood(same), likelihood(alone))
	}
	if likelihood(other) == likelihood(alone) || !strings.Contains(other.Stderr, "other.fasta: its rows have equal weights; the model's training rows were weighted by -reweight 0.9") {
		t.Errorf("other rows: %q, %s", likelihood(other), other.Stderr)
	}
}
