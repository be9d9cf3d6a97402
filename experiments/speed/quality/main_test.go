package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/rbm/modelfile"
)

func TestCommitted(t *testing.T) { claimstest.Committed(t, new(quality).experiment()) }

// A difference of 1 nat counts if it is above three standard errors of log Z: with 0.2
// and 0.2, 0.85 in all, but not with 0.3 and 0.2, 1.08. The worse peer does not count. While
// a peer has no run, nothing is decided.
func TestClaims(t *testing.T) {
	const fourth = "\"scikit-learn 60 s, seed 1\"," + secondsPanel + ",scikit-learn,1,60,60\n\"scikit-learn 60 s, seed 1\",seconds,,0,0,5\n"
	for _, c := range []struct {
		stdErr  float64
		more    string
		verdict string
	}{{0.2, fourth, "PASS"}, {0.3, fourth, "FAIL"}, {0.2, "", "OPEN"}} {
		dir := t.TempDir()
		clitest.Write(t, filepath.Join(dir, "figure-quality.csv"), fmt.Sprintf(`job,panel,curve,repeat,x,y
"gorbm 60 s, seed 1",%[1]s,gorbm,1,60,-70
"gorbm 60 s, seed 1",%[2]s,gorbm,1,60,%[3]v
"gorbm 60 s, seed 1",seconds,,0,0,5
"NumPy 60 s, seed 1",%[1]s,NumPy,1,60,-71
"NumPy 60 s, seed 1",%[2]s,NumPy,1,60,0.2
"NumPy 60 s, seed 1",%[4]s,NumPy,1,60,60
"NumPy 60 s, seed 1",seconds,,0,0,5
"PyTorch 60 s, seed 1",%[1]s,PyTorch,1,60,-80
"PyTorch 60 s, seed 1",%[2]s,PyTorch,1,60,0.2
"PyTorch 60 s, seed 1",%[4]s,PyTorch,1,60,60
"PyTorch 60 s, seed 1",seconds,,0,0,5
%[5]s`, testPanel, stdErrPanel, c.stdErr, secondsPanel, c.more))
		var result struct{ Claims []struct{ Verdict string } }
		command := clitest.Command{Name: "quality", Run: run}
		if err := json.Unmarshal([]byte(command.OK(t, "-redraw", "-json", "-out", dir)), &result); err != nil {
			t.Fatal(err)
		}
		if len(result.Claims) != 1 || result.Claims[0].Verdict != c.verdict {
			t.Errorf("standard error %v, more runs %q: %+v, want %s", c.stdErr, c.more, result.Claims, c.verdict)
		}
	}
}

// The loops stop in time and write models that gorbm reads.
func TestLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second a library")
	}
	for name, module := range map[string]string{numpy: "numpy", pytorch: "torch", sklearn: "sklearn"} {
		t.Run(name, func(t *testing.T) {
			if err := exec.Command("python3", "-c", "import numpy, "+module).Run(); err != nil {
				t.Skip("no python3 with " + module)
			}
			q := &quality{python: "python3"}
			model := filepath.Join(t.TempDir(), "model.npz")
			updates, used, err := q.peer(t.Context(), libraries[name], model, "fontdigits:300", 5, 0.2, 1)
			if err != nil {
				t.Fatal(err)
			}
			m, _, err := modelfile.Read(model)
			if err != nil {
				t.Fatal(err)
			}
			if updates < 1 || used < 0.2 || m.Hidden() != 5 {
				t.Errorf("%v updates in %v s, %d hidden units", updates, used, m.Hidden())
			}
		})
	}
}
