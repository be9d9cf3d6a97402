package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

var speed = clitest.Command{Name: "speed", Run: run}

// TestMain makes the test program a contestant if it is its own child process: gorbm, or one
// that cheats.
func TestMain(m *testing.M) {
	mode := os.Getenv(childVariable)
	switch {
	case mode == "":
		os.Exit(m.Run())
	case mode == "1":
		if err := serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
	case mode == "dies":
		fmt.Fprintln(os.Stderr, "some words\nthe last words")
		os.Exit(1)
	default:
		if err := serveCheat(mode, os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
	}
}

// Number of runs after which a cheat dies; less than half of them prepare it.
const (
	diesInATurn = "dies in a turn"
	turnsOfLife = 30
)

// serveCheat serves other jobs than the requested ones.
func serveCheat(mode string, in io.Reader, out io.Writer) error {
	r, w := io.Pipe()
	go func() {
		from, to, turns := json.NewDecoder(in), json.NewEncoder(w), 0
		for {
			var ask request
			if from.Decode(&ask) != nil {
				w.Close()
				return
			}
			if ask.Job != nil {
				cheats[mode](ask.Job)
			}
			if ask.Do == "run" {
				turns++
			}
			if mode == diesInATurn && turns == turnsOfLife {
				fmt.Fprintln(os.Stderr, "the last turn")
				os.Exit(1)
			}
			if to.Encode(ask) != nil {
				return
			}
		}
	}()
	return serve(r, out)
}

func TestHelp(t *testing.T) {
	speed.Help(t, "data", "data-dir", "json", "only", "out", "python", "quick", "quiet", "rounds", "seconds")
}

// The text of -h, except for the kernels of this machine.
func TestHelpGolden(t *testing.T) {
	help, _, _ := strings.Cut(speed.OK(t, "-h", "all"), "\nKernels on this machine")
	clitest.Golden(t, "help.txt", help)
}

func TestUsage(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		args string
		want string
	}{
		{"-only updates", "did you mean update?"},
		{"-rounds 0", "-rounds is 0; it must lie in 1 … 10000"},
		{"-seconds 0", "-seconds is 0; it must lie in 0.001 … 60"},
		{"-seconds NaN", "-seconds is NaN"},
		{"-data toy:4,4,50,0.2", "rows of 8 inputs; at least 1000 rows of 784 inputs"},
		{"-data fontdigits:100", "has 100 rows"},
		{"-python absent", "-python: absent cannot be run"},
	} {
		speed.Fails(t, cli.Usage, strings.Fields(c.args), c.want)
	}
}

// A small run of everything that needs no Python and no compiler prints and writes what it should.
// Times are not checked.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	only := "update,pt,gaussian,exact,recipes"
	if runtime.GOOS == "linux" {
		only += ",memory"
	}
	args := []string{"-data", "fontdigits:1000", "-quick", "-rounds", "2", "-seconds", "0.001", "-python", "none", "-out", "race", "-only", only}
	text := speed.OK(t, args...)
	for _, want := range []string{"fontdigits:1000:seed=1: 1000 rows of 784 inputs", "PCD-1, 784 × 500, batch 10: ", "parallel tempering, 5 temperatures", "PCD-1, 784 Gaussian units × 500, batch 10", "exact log Z, 784 × 16", "centred, batch 10", "results in race\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	var r Result
	if err := json.Unmarshal([]byte(clitest.Read(t, "race/speed.json")), &r); err != nil {
		t.Fatal(err)
	}
	threads := len(counts(runtime.GOMAXPROCS(0)))
	if want := 6 + len(recipes); len(r.Items) != want {
		t.Fatalf("%d items, want %d: PCD-1 twice, of Gaussian units twice, pt, exact, and the recipes", len(r.Items), want)
	}
	for _, it := range r.Items {
		if len(it.Entries) != threads || len(it.Entries[0].Seconds) != 2 || len(it.Ratios) != 0 {
			t.Errorf("%s: entries %v and ratios %v; want %d entries of two rounds, and no peers", it.Name, it.Entries, it.Ratios, threads)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(clitest.Read(t, "race/speed.csv"))).ReadAll()
	if err != nil || len(rows) != 1+len(r.Items)*threads*2 {
		t.Errorf("%d rows of CSV, %v; want a header and %d × %d × 2", len(rows), err, len(r.Items), threads)
	}
	if _, err := os.Stat("race/speed.png"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a picture without peers has nothing to show, and is there")
	}
	if runtime.GOOS == "linux" && (len(r.Memory) != 1 || r.Memory[0].Bytes < 1<<20) {
		t.Errorf("memory %v", r.Memory)
	}
	speed.Fails(t, cli.Failed, args, "race is in use")
}
