package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/train/rundir"
)

// forge replaces the command's part of a checkpoint and corrects the checksum. The format
// of the file is that of train.Save.
func forge(t *testing.T, path string, change func(extra string) string) {
	t.Helper()
	const magic, parts = 8, 4
	b := []byte(clitest.Read(t, path))
	start := magic + 8*parts
	for i := range parts - 1 {
		start += int(binary.LittleEndian.Uint64(b[magic+8*i:]))
	}
	extra := change(string(b[start : len(b)-sha256.Size]))
	b = append(b[:start:start], extra...)
	binary.LittleEndian.PutUint64(b[magic+8*(parts-1):], uint64(len(extra)))
	sum := sha256.Sum256(b)
	clitest.Write(t, path, string(append(b, sum[:]...)))
}

// set returns the JSON object with a member, found by the names that lead to it, set
// to a value in JSON.
func set(t *testing.T, object, value string, names ...string) string {
	t.Helper()
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		t.Fatal(err)
	}
	if len(names) > 1 {
		value = set(t, string(members[names[0]]), value, names[1:]...)
	}
	members[names[0]] = json.RawMessage(value)
	b, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestForgedCheckpoint checks that a checkpoint whose checksum is right, and whose
// content is not, is refused in one line.
func TestForgedCheckpoint(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	const checkpoint = "run/" + rundir.CheckpointFile
	for _, kind := range []string{"pt:tau=auto", "ptt"} {
		stoppedAt(t, interrupt(90, small("-steps", "200", "-out", "run", "-force", "-negphase", kind, "-metrics", "none", "-snapshots", "0")...), "run")
		good := clitest.Read(t, checkpoint)
		for _, c := range []struct{ value, at string }{
			{`{"name":"x"}`, "first_ladder"},
			{`{"name":"x","Beta":[1,0.5],"Rejection":[0.1],"Association":[[1,0],[0,1]],"Moves":[[1]]}`, "first_ladder"},
			{`{"name":"x","Beta":[1,0.5],"Rejection":[0.1],"Association":[[1,0],[0,1]],"Moves":[[1,0],[0,1]],"Rounds":1,"Trajectory":["AAk="]}`, "first_ladder"},
			{`[]`, "since.SwapTries"},
			{`[1]`, "since.Swaps"},
			{`{"SwapTries":[1],"Swaps":[1],"Tuned":1}`, "since"},
			{`{"SwapTries":[1,2,3,4,5,6,7,8,9],"Swaps":[1,2,3,4,5,6,7,8,9],"Tuned":1}`, "before"},
			{`-1000000000000000000`, "since.RoundTrips"},
			{`9000000000000000000`, "before.Updates"},
			{`-5`, "measured"},
			{`100000`, "measured"},
			{`"text"`, "still"},
			{`{"value":1,"step":1000000}`, "best"},
		} {
			if kind == "ptt" && c.value == `[1]` {
				continue // it is valid
			}
			clitest.Write(t, checkpoint, good)
			forge(t, checkpoint, func(extra string) string { return set(t, extra, c.value, strings.Split(c.at, ".")...) })
			r := rbmtrain.Call("-resume", "run", "-quiet")
			if r.Status != cli.Failed {
				t.Errorf("%s: %s = %s: exits with %d, want %d", kind, c.at, c.value, r.Status, cli.Failed)
			}
			rbmtrain.OneLine(t, r.Stderr, "-resume: the checkpoint of run", "bad format")
		}
		clitest.Write(t, checkpoint, good)
		forge(t, checkpoint, func(extra string) string { return extra })
		rbmtrain.OK(t, "-resume", "run", "-quiet")
	}
}
