package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/npz"
)

// pythonCheck follows the blocks of the page: what they define must give what gorbm
// computes.
const pythonCheck = `
want = np.load("want.npz")
v = want["v"].astype("float32")
def check(what, got, to):
    assert got.shape == to.shape and abs(got - to).max() < 1e-4, (what, got, to)
check("free energy", free_energy(v), want["free"])
try:
    check("scikit-learn", hidden_means(v), want["hidden"])
except NameError:
    pass
try:
    check("PyTorch", torch.sigmoid(layer(torch.from_numpy(v))).detach().numpy(), want["hidden"])
except NameError:
    pass
print("checked")
`

// TestPython runs the Python of the page, of the packages that are there, and compares
// free energies and the means of hidden units with gorbm's.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks of Python, for NumPy, scikit-learn and PyTorch", len(blocks))
	}
	isolate(t)
	if err := os.Mkdir("runs", 0o777); err != nil {
		t.Fatal(err)
	}
	rbmexport.OK(t, "-model", "m.safetensors", "-out", "runs/model.npz")
	rbmexport.OK(t, "-model", "m.safetensors", "-sklearn", "-out", "runs/sklearn.npz")
	writeTruth(t)
	for _, packages := range []string{"numpy, sklearn, torch", "numpy, sklearn", "numpy"} { // the most that are there
		python := findPython(packages)
		if python == "" {
			t.Logf("no python3 has %s", packages)
			continue
		}
		program := ""
		for _, b := range blocks[:1+strings.Count(packages, ",")] {
			program += b[1]
		}
		if out, err := exec.Command(python, "-c", program+pythonCheck).CombinedOutput(); err != nil || !strings.Contains(string(out), "checked") {
			t.Errorf("%s: %v: %s", packages, err, out)
		}
		return
	}
	t.Skip("there is no python3 with numpy (Debian: apt-get install python3-numpy python3-sklearn python3-torch)")
}

// findPython returns a python3 that has the packages, or "".
func findPython(packages string) string {
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import "+packages).Run() == nil {
			return p
		}
	}
	return ""
}

// writeTruth writes rows with their free energies and the means of the hidden units.
func writeTruth(t *testing.T) {
	t.Helper()
	m, _ := clitest.Load(t, "m.safetensors")
	const rows = 5
	v := rbm.NewBits(rows, m.Visible())
	bits := make([]uint8, rows*m.Visible())
	for i := range bits {
		if i*i%7 < 3 {
			bits[i] = 1
			v.Set(i/m.Visible(), i%m.Visible(), true)
		}
	}
	free, hidden := make([]float64, rows), rbm.NewMatrix(rows, m.Hidden())
	m.FreeEnergy(free, v)
	m.HiddenMean(hidden, v)
	f, err := os.Create("want.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := npz.Write(f, []npz.Named{
		{Name: "v", Shape: []int{rows, m.Visible()}, Data: bits}, {Name: "free", Shape: []int{rows}, Data: free},
		{Name: "hidden", Shape: []int{rows, m.Hidden()}, Data: hidden.Data},
	}); err != nil {
		t.Fatal(fmt.Errorf("want.npz: %w", err))
	}
}
