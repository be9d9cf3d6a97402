package main

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gorbm/data"
)

var long = flag.Bool("long", false, "try every cheat and every wrong version of the peers, not a third, and the peers themselves")

// cheats change a job to less work or to different work.
var cheats = map[string]func(j *job){
	"half the rate":            func(j *job) { j.Rate /= 2 },
	"half the batch":           func(j *job) { j.Batch, j.Chains = j.Batch/2, j.Chains/2 },
	"half the chains":          func(j *job) { j.Chains /= 2 },
	"other labels":             func(j *job) { j.Labels += "x" },
	"no temperatures":          func(j *job) { j.Kind, j.Betas = "pcd", nil },
	"few images":               func(j *job) { j.Rows = 1 },
	"another temperature's":    func(j *job) { j.Betas = append(j.Betas[:1:1], 0.9) },
	"another model":            func(j *job) { j.Model += "x" },
	"few units":                func(j *job) { j.Hidden-- },
	"fewer rungs, same chains": func(j *job) { j.Betas = j.Betas[:1] },
	diesInATurn:                func(*job) {},
}

// small returns files for a race with small models.
func small(t *testing.T) *files {
	t.Helper()
	set, _, err := data.Load(context.Background(), "fontdigits:1000", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newFiles(context.Background(), t.TempDir(), set, true)
}

// smallItem returns a race of this kind with models of 784 × 32 units.
func (f *files) smallItem(t *testing.T, kind string) item {
	t.Helper()
	it := item{section: updateSection, name: kind, operation: "run"}
	switch kind {
	case "pcd", "pt", "ins":
		it = f.update(kind, inputs, 32, 10)
		it.section, it.name, it.checkSteps = updateSection, kind, 50
		if kind != "pcd" {
			it.job.Betas = []float64{1, 0.5}
		}
	case "discriminative":
		it = f.discriminative(32, 10)
		it.section, it.name, it.checkSteps = updateSection, kind, 50
	case "classify":
		it.job = f.job(kind, inputs+len(f.set.Classes), 32, len(f.set.Classes))
	case "ais":
		it.job = f.job(kind, inputs, 32, 0)
		it.job.Chains, it.job.Temperatures, it.job.Base = 100, 100, f.base(inputs)
	case "exact":
		it.job = f.job(kind, inputs, 10, 0)
	}
	if f.err != nil {
		t.Fatal(f.err)
	}
	return it
}

// newRace returns a race of two rounds of a millisecond between gorbm with one
// thread and others.
func newRace(t *testing.T, others ...contestant) *race {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &race{
		contestants: append(gorbms(self, 1), others...), turn: time.Millisecond, most: time.Second, rounds: 2,
		progress: func(string, float64) {}, children: map[string]*child{}, versions: map[string]string{},
	}
	t.Cleanup(r.close)
	return r
}

// cheat returns a contestant that does the jobs as changed by a cheat.
func cheat(t *testing.T, name string) contestant {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := goContestant(name, self, 1, "pcd", "pt", "ins", "discriminative", "classify", "ais", "exact")
	c.env = []string{childVariable + "=" + name, "GOMAXPROCS=1"}
	return c
}

// gorbm with another number of threads passes the checks.
func TestHonest(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := small(t)
	for _, kind := range []string{"pcd", "pt", "ins", "discriminative", "classify", "ais", "exact"} {
		r := newRace(t, goContestant("another gorbm", self, 2, kind))
		it := f.smallItem(t, kind)
		if kind == "ins" {
			continue // gorbm does not say its weights
		}
		out, err := r.run(context.Background(), it)
		if err != nil || len(out.Warnings) > 0 {
			t.Errorf("%s: %v, warnings %q, want none", kind, err, out.Warnings)
		}
		if want := len(r.contestants); len(out.Entries) != want || len(out.Ratios) != want-1 {
			t.Errorf("%s: %d entries and %d ratios of %d contestants", kind, len(out.Entries), len(out.Ratios), want)
		}
	}
}

// Contestants that do different work are detected and left out.
func TestCheats(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	f := small(t)
	for i, c := range []struct{ kind, cheat string }{
		{"pcd", "half the rate"},
		{"pcd", "half the batch"},
		{"pcd", "half the chains"},
		{"pcd", "another model"},
		{"pt", "half the rate"},
		{"pt", "half the chains"},
		{"ins", "half the chains"},
		{"ins", "no temperatures"},
		{"discriminative", "half the rate"},
		{"discriminative", "half the batch"},
		{"discriminative", "other labels"},
		{"classify", "another model"},
		{"classify", "few images"},
		{"exact", "few units"},
		{"exact", "another model"},
		{"ais", "few units"},
	} {
		if i%3 != 0 && !*long {
			continue
		}
		r := newRace(t, cheat(t, c.cheat))
		it := f.smallItem(t, c.kind)
		if c.cheat == "another model" { // one that was trained for less
			m := f.model(it.job.Visible, it.job.Hidden, it.job.Classes, 50)
			if err := os.Rename(m, it.job.Model+"x"); err != nil {
				t.Fatal(err)
			}
		}
		if c.cheat == "other labels" {
			other := *f
			other.set = f.set.Take(data.RowNumbers(0, f.set.Len()))
			slices.Reverse(other.set.Y)
			other.dir = t.TempDir()
			if err := os.Rename(other.labels(), it.job.Labels+"x"); err != nil {
				t.Fatal(err)
			}
		}
		out, err := r.run(context.Background(), it)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], c.cheat+" is left out") || len(out.Entries) != 1 {
			t.Errorf("%s by %s: %d entries, warnings %q", c.kind, c.cheat, len(out.Entries), out.Warnings)
		} else {
			t.Log(out.Warnings[0])
		}
	}
}

// The peers do the work of gorbm, and versions of NumPy's loops that do not are
// detected.
func TestPeers(t *testing.T) {
	python := findPython()
	if python == "" {
		t.Skip("no Python with NumPy here")
	}
	if !*long {
		t.Skip("imports of PyTorch take seconds; with -long")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	f := small(t)
	list, _ := peers(python, write("peers.py", string(peersScript)), 1)
	r := newRace(t, list...)
	for _, kind := range []string{"pcd", "pt", "ins", "discriminative", "classify", "ais", "exact"} {
		it := f.smallItem(t, kind)
		out, err := r.run(context.Background(), it)
		if err != nil || len(out.Warnings) > 0 {
			t.Errorf("%s: %v, warnings %q, want none", kind, err, out.Warnings)
		}
		if want := len(r.field(it)); len(out.Entries) != want {
			t.Errorf("%s: %d entries of %d contestants", kind, len(out.Entries), want)
		}
	}
	for i, c := range []struct {
		kind, what, from, to string
		steps                int // of the check, if others than usual
	}{
		{kind: "pcd", what: "means for draws of v", from: "np.less(self.Uv, 1, out=A)", to: "np.reciprocal(A, out=A)"},
		{kind: "pcd", what: "no negative phase", from: "self.ascend(V, P)", to: "self.ascend(V[:B], P[:B])"},
		// Their error is proportional to the number of steps, and the noise to its square root:
		// z is 4 to 6 after 100 steps, 20 to 30 after 200.
		{kind: "pcd", what: "chains that stand still", from: "self.Uh *= P[B:]\n            np.less(self.Uh, 1, out=H)", to: "pass", steps: 200},
		{kind: "pt", what: "swaps of all that are tried", from: "yes = u < ", to: "yes = u > -1 + 0 * "},
		{kind: "ins", what: "weights of the coldest alone", from: "(sigma == 0)", to: "(sigma == 1)"},
		{kind: "discriminative", what: "the likeliest class left alone", from: "K -= L", to: "K -= L * (L < 0.5)"},
		{kind: "discriminative", what: "labels' weights that stand still", from: "self.Wy += self.G", to: "pass"},
		{kind: "classify", what: "no biases", from: "L += self.by", to: "pass"},
		{kind: "exact", what: "no hidden biases", from: "logs += self.linear[lo:hi]", to: "pass"},
	} {
		text := strings.Replace(string(peersScript), c.from, c.to, 1)
		if text == string(peersScript) {
			t.Errorf("peers.py has no %q any more", c.from)
		}
		if i%3 != 0 && !*long {
			continue
		}
		mutants, _ := peers(python, write(strings.Repeat("m", i+1)+".py", text), 1)
		r := newRace(t, mutants[0])
		it := f.smallItem(t, c.kind)
		if c.steps > 0 {
			it.checkSteps = c.steps
		}
		out, err := r.run(context.Background(), it)
		if err != nil || len(out.Entries) != 1 || len(out.Warnings) != 1 {
			t.Errorf("%s: %s is not noticed: %v, %d entries, warnings %q", c.kind, c.what, err, len(out.Entries), out.Warnings)
		} else {
			t.Log(c.what, out.Warnings[0])
		}
	}
}

// If a peer dies or cannot start there is a warning. If gorbm does, the run fails.
func TestDeaths(t *testing.T) {
	f := small(t)
	it := f.smallItem(t, "exact")
	dying, absent := cheat(t, "dies"), cheat(t, "absent")
	absent.command = []string{filepath.Join(t.TempDir(), "absent")}
	out, err := newRace(t, dying, absent).run(context.Background(), it)
	if err != nil || len(out.Entries) != 1 || len(out.Warnings) != 2 ||
		!strings.Contains(out.Warnings[0], "dies has ended: the last words") || !strings.Contains(out.Warnings[1], "cannot start absent") {
		t.Errorf("%v, %d entries, warnings %q", err, len(out.Entries), out.Warnings)
	}

	// It dies in the middle of a race, and is started again for the next race.
	r := newRace(t, cheat(t, diesInATurn))
	r.rounds = 2 * turnsOfLife
	for range 2 {
		out, err = r.run(context.Background(), it)
		if err != nil || len(out.Entries) != 1 || len(out.Entries[0].Seconds) != r.rounds || len(out.Warnings) != 1 ||
			!strings.Contains(out.Warnings[0], diesInATurn+" has ended: the last turn; it is left out") {
			t.Errorf("%v, entries %v, warnings %q", err, out.Entries, out.Warnings)
		}
	}

	dead := newRace(t)
	dead.contestants[0].env[0] = childVariable + "=dies"
	if _, err := dead.run(context.Background(), it); err == nil || !strings.Contains(err.Error(), "the last words") {
		t.Errorf("gorbm has died: %v, want %q in it", err, "the last words")
	}
}

// The rounds before the end of the context are returned.
func TestStopped(t *testing.T) {
	f := small(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r := newRace(t)
	r.rounds = 1000
	r.progress = func(_ string, done float64) {
		if done > 0 {
			cancel()
		}
	}
	out, err := r.run(ctx, f.smallItem(t, "exact"))
	if !errors.Is(err, context.Canceled) || len(out.Entries) != 1 {
		t.Fatalf("%v, %d entries", err, len(out.Entries))
	}
	if n := len(out.Entries[0].Seconds); n < 1 || n >= 1000 {
		t.Errorf("%d rounds, want 1 to 1000", n)
	}
}

// A closed child process ends.
func TestClose(t *testing.T) {
	r := newRace(t)
	p, err := r.contestants[0].start(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p.close()
	if p.process.ProcessState == nil || !p.process.ProcessState.Exited() {
		t.Error("the child lives on")
	}
	var exit *exec.ExitError
	if _, err := p.ask(request{Do: "hello"}); err == nil || errors.As(err, &exit) {
		t.Errorf("a closed child answers: %v", err)
	}
}

// Children ignore Ctrl-C, which a terminal sends to all processes.
func TestChildrenOutliveInterrupts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there one cannot send it")
	}
	r := newRace(t)
	if python := findPython(); python != "" {
		script := filepath.Join(t.TempDir(), "peers.py")
		if err := os.WriteFile(script, peersScript, 0o600); err != nil {
			t.Fatal(err)
		}
		list, _ := peers(python, script, 1)
		r.contestants = append(r.contestants, list[0])
	}
	for _, c := range r.contestants {
		p, err := c.start(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.process.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if _, err := p.ask(request{Do: "hello"}); err != nil {
			t.Error(err)
		}
		p.close()
		if !p.process.ProcessState.Success() {
			t.Errorf("%s: %v", c.program, p.process.ProcessState)
		}
	}
}

func TestSwapWeights(t *testing.T) {
	// Of two particles the first is at β₀ with the odds exp(−(β₀−β₁)(E₀−E₁)).
	e, beta := []float64{-3, -5}, []float64{1, 0.25}
	want := 1 / (1 + math.Exp(0.75*2))
	if got := swapWeights(e, beta); math.Abs(got[0]-want) > 1e-15 || math.Abs(got[1]-(1-want)) > 1e-15 { // rounding
		t.Errorf("weights %v, want %v", got, want)
	}
}

func TestCompare(t *testing.T) {
	it := Item{Entries: []Entry{
		{Program: gorbm, Threads: "1", Count: 1, Seconds: []float64{4, 2, 3}},
		{Program: gorbm, Threads: "2", Count: 2, Seconds: []float64{2, 1, 4}},
		{Program: numPy, Threads: "1", Count: 1, Seconds: []float64{12, 9, 10}},
		{Program: numPy, Threads: "2 of the BLAS", Count: 2, Seconds: []float64{6, 8, 8}},
	}}
	for i := range it.Entries {
		it.Entries[i].sum()
	}
	if e := it.Entries[0]; e.Median != 3 || e.Least != 2 || e.Most != 4 {
		t.Errorf("median %v of %v to %v, want 3 of 2 to 4", e.Median, e.Least, e.Most)
	}
	it.compare(gorbm)
	want := Ratio{Program: numPy, Threads: "2 of the BLAS", Ratio: 4, Low: 2, High: 8, OneThread: 10. / 3, Least: 6}
	if len(it.Ratios) != 1 || it.Ratios[0] != want {
		t.Errorf("%+v, want %+v", it.Ratios, want)
	}
	even := Entry{Seconds: []float64{1, 4, 2, 3}}
	if even.sum(); even.Median != 2.5 {
		t.Errorf("median %v, want 2.5", even.Median)
	}
}
