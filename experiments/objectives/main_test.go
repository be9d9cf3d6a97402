package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/experiments/internal/training"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment(&training.Commands{}), run) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment(&training.Commands{})) }

// The commands on the page of rbmtrain train by the settings of rows of the table.
func TestPageHasTheCommands(t *testing.T) {
	commands := &training.Commands{}
	defer commands.Remove()
	config := func(args []string) map[string]json.RawMessage {
		var c map[string]json.RawMessage
		args = append(args, "-data", "fontdigits:60000", "-dry-run", "-json") // as many rows as MNIST, which need not be here
		if _, err := commands.Call(t.Context(), &c, "rbmtrain", args...); err != nil {
			t.Fatal(err)
		}
		return c
	}
	page := clitest.Read(t, "../../cmd/rbmtrain/README.md")
	for preset, r := range map[string]row{"discriminative": rows[1], "hybrid": rows[3]} {
		command := regexp.MustCompile(`(?m)^go run ./cmd/rbmtrain (-data mnist -preset ` + preset + ` .*)$`).FindStringSubmatch(page)
		if command == nil {
			t.Fatalf("the page has no command with -preset %s", preset)
		}
		got, want := config(strings.Fields(command[1])), config(strings.Fields(strings.Join([]string{always, common, r.flags}, " ")))
		for _, key := range []string{"data", "model", "training", "steps", "eval_every"} {
			if string(got[key]) != string(want[key]) || got[key] == nil {
				t.Errorf("%s: %s is %s on the page, and %s in the table", preset, key, got[key], want[key])
			}
		}
	}
}

// Claims about given test errors, by hand.
func TestClaims(t *testing.T) {
	text := "job,panel,curve,repeat,x,y\n"
	for _, run := range []struct {
		at, seed int
		percent  float64
	}{{0, 1, 3.4}, {1, 1, 1.7}, {1, 2, 1.9}, {2, 1, 2.5}} {
		job := fmt.Sprintf("\"%s, seed %d\"", rows[run.at].name, run.seed)
		for _, p := range []string{
			fmt.Sprintf("%s,here,%d,%d,%v", errorPanel, run.seed, run.at, run.percent), fmt.Sprintf("%s,here,%d,%d,10000", rowsPanel, run.seed, run.at),
			fmt.Sprintf("%s,here,%d,%d,5", timePanel, run.seed, run.at), "seconds,,0,0,5",
		} {
			text += job + "," + p + "\n"
		}
	}
	file := filepath.Join(t.TempDir(), "figure-mnist.csv")
	clitest.Write(t, file, text)
	numbers, err := figures.ReadTable(file)
	if err != nil {
		t.Fatal(err)
	}
	all := claims(numbers)
	// √(0.034·0.966/10000) = 0.18 % and √(0.018·0.982/10000) = 0.13 %.
	for i, want := range []struct {
		pass bool
		says string
	}{
		{false, "3.40 ± 0.18 %, mean of one seed: the published error plus 0.055 standard errors of the test rows, so above it, by at most three"},
		{true, "1.80 ± 0.13 %, mean of 2 seeds"},
		{false, "so above it, by more than three"},
		{true, "1.80 % against 3.40 %"},
		{false, "2.50 % against 1.80 %"},
	} {
		if len(all) != 5 || all[i].Pass != want.pass || !strings.Contains(all[i].Statistic, want.says) {
			t.Errorf("claims are %+v; want number %d to be %+v", all, i, want)
		}
	}
	if line := "| discriminative | 500 | 2 | 1.81 % | 1.90 ± 0.14 % |"; !strings.Contains(table(numbers), line) {
		t.Errorf("the table has no line %q:\n%s", line, table(numbers))
	}
}

// The error on the rows held out is that of the best step.
func TestHeldOutError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "metrics.csv")
	clitest.Write(t, file, "step,seconds,error_train,error_holdout\n0,0,0.1,0.9\n10,1,0,0.3\n20,2,0.5,0.2\n")
	if x, err := heldOutError(file, 20); x != 0.2 || err != nil {
		t.Errorf("%v, %v, want 0.2", x, err)
	}
	for _, broken := range []string{"step,error_holdout\n", "step,error_test\n20,0.1\n", "step,error_holdout\n10,0.1\n"} {
		clitest.Write(t, file, broken)
		if _, err := heldOutError(file, 20); err == nil || !strings.Contains(err.Error(), "metrics.csv") {
			t.Errorf("of %q: %v, want %q in it", broken, err, "metrics.csv")
		}
	}
}
