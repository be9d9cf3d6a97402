package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/npz"
)

// pythonCheck runs after the code blocks of the page and compares their results with gorbm's.
const pythonCheck = `
want = np.load("want.npz")
v = want["v"].astype("float32")
def check(what, got, to):
    assert got.shape == to.shape and abs(got - to).max() < 1e-4, (what, got, to)
check("free energy", free_energy(v), want["free"])
x = v[:, :-2]
check("log p(y|x)", log_proba(x, 2), want["log_proba"])
try:
    check("PyTorch's log p(y|x)", torch_log_proba(torch.from_numpy(x), 2).detach().numpy(), want["log_proba"])
except NameError:
    pass
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

// TestPython runs the Python code of the page with the installed packages and compares free energies
// and means of hidden units with gorbm's.
func TestPython(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	blocks := pythonBlocks(t)
	isolate(t)
	if err := os.Mkdir("runs", 0o777); err != nil {
		t.Fatal(err)
	}
	rbmexport.OK(t, "-model", "m.safetensors", "-out", "runs/model.npz")
	rbmexport.OK(t, "-model", "m.safetensors", "-sklearn", "-out", "runs/sklearn.npz")
	writeTruth(t)
	for _, packages := range []string{"numpy, sklearn, torch", "numpy, sklearn", "numpy"} { // most packages first
		python := findPython(packages)
		if python == "" {
			t.Logf("no python3 has %s", packages)
			continue
		}
		program := ""
		for _, b := range blocks[:1+strings.Count(packages, ",")] {
			program += b
		}
		if out, err := exec.Command(python, "-c", program+pythonCheck).CombinedOutput(); err != nil || !strings.Contains(string(out), "checked") {
			t.Errorf("%s: %v: %s, want %q in it", packages, err, out, "checked")
		}
		return
	}
	t.Skip("there is no python3 with numpy (Debian: apt-get install python3-numpy python3-sklearn python3-torch)")
}

// pythonBlocks returns the Python code blocks of the page: for NumPy, scikit-learn, PyTorch and files
// of rbms.
func pythonBlocks(t *testing.T) (blocks []string) {
	t.Helper()
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```python\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) != 4 {
		t.Fatalf("the page has %d blocks of Python; want 4, for NumPy, scikit-learn, PyTorch and rbms", len(blocks))
	}
	return blocks
}

// rbmsFile defines write, which writes the arrays of a model, with groups or without, to a file in the
// format of rbms with several updates.
const rbmsFile = `
def write(path, W, b, c, kind):
    with h5py.File(path, "w") as f:
        for update, scale in ((10, 3.0), (9, 2.0), (100, 1.0)):
            g = f.create_group(f"update_{update}")
            p = g.create_group("params")
            for name, x in ("weight_matrix", W), ("vbias", b), ("hbias", c):
                p[name] = scale * x
                g[name] = p[name]
            g["time"] = 1.5
        f["parallel_chains"] = np.zeros((2, len(b)))
        f["model_type"] = kind
        f["hyperparameters/batch_size"] = 2
m = np.load("groups.npz")
write("groups.h5", m["weights"].reshape(4, 3, -1), m["visible_bias"].reshape(4, 3), m["hidden_bias"], "PBRBM")
m = np.load("bits.npz")
write("bits.h5", m["weights"], m["visible_bias"], m["hidden_bias"], "BBRBM")
from_rbms("groups.h5", "groups-back.npz", "-AC")
from_rbms("bits.h5", "bits-back.npz")
to_rbms("groups.npz", "groups-out.h5")
to_rbms("bits.npz", "bits-out.h5")
for name in "groups", "bits":
    with h5py.File(name + ".h5") as a, h5py.File(name + "-out.h5") as b:
        assert a["model_type"][()].decode() == b["model_type"][()].decode()
        for k in a["update_100/params"]:
            x, y = a["update_100/params"][k][()], b["update_1/params"][k][()]
            assert x.shape == y.shape and (x == y).all(), (name, k)
write("gaussian.h5", m["weights"], m["visible_bias"], m["hidden_bias"], "BGRBM")
for path, alphabet, word in ("gaussian.h5", "-AC", "BGRBM"), ("groups.h5", "-ACGU", "3 states"):
    try:
        from_rbms(path, "bad.npz", alphabet)
        assert False, path
    except ValueError as e:
        assert word in str(e), e
print("checked")
`

// Models are converted to files of rbms and back by the functions of the page.
func TestRBMsFiles(t *testing.T) {
	program := pythonBlocks(t)[3] + rbmsFile
	python := findPython("numpy, h5py")
	if python == "" {
		t.Skip("there is no python3 with numpy and h5py (Debian: apt-get install python3-h5py)")
	}
	clitest.Isolate(t)
	three := rbm.Group{Kind: rbm.Softmax, Units: 3}
	groups := rbm.NewGroups(5, three, three, three, three)
	groups.Randomize(1, rbm.NewKey(1))
	clitest.Save(t, "groups.safetensors", groups, modelfile.About{Schema: data.NewSequenceSchema("-AC", 4).Text()})
	clitest.Save(t, "bits.safetensors", clitest.Model(12, 7, 0, rbm.Softmax), modelfile.About{})
	for _, name := range []string{"groups", "bits"} {
		rbmexport.OK(t, "-model", name+".safetensors", "-out", name+".npz")
	}
	if out, err := exec.Command(python, "-c", program).CombinedOutput(); err != nil || !strings.Contains(string(out), "checked") {
		t.Fatalf("%v: %s, want %q in it", err, out, "checked")
	}
	for _, name := range []string{"groups", "bits"} {
		want, about := clitest.Load(t, name+".safetensors")
		got, aboutBack := clitest.Load(t, name+"-back.npz")
		if !got.Equal(want) || got.GroupsText() != want.GroupsText() || aboutBack.Schema != about.Schema {
			t.Errorf("%s comes back as another model: %q, %q", name, got.GroupsText(), aboutBack.Schema)
		}
	}
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

// writeTruth writes rows, their free energies and the means of the hidden units.
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
	logp := make([]float64, rows*m.Classes())
	m.ClassLogProb(logp, v)
	f, err := os.Create("want.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := npz.Write(f, []npz.Named{
		{Name: "v", Shape: []int{rows, m.Visible()}, Data: bits}, {Name: "free", Shape: []int{rows}, Data: free},
		{Name: "hidden", Shape: []int{rows, m.Hidden()}, Data: hidden.Data},
		{Name: "log_proba", Shape: []int{rows, m.Classes()}, Data: logp},
	}); err != nil {
		t.Fatal(fmt.Errorf("want.npz: %w", err))
	}
}
