package data

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The message for a file of a known format is a command that converts this file.
func TestConversions(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const before = `import numpy, scipy.io, scipy.sparse, pandas, pickle, gzip
x = numpy.array([[0, 1, 1], [1, 0, 0]]); y = [3, 5]
scipy.io.savemat("it's.mat", {"x": x, "other": [1]})
scipy.io.mmwrite("d.mtx", scipy.sparse.coo_matrix(x))
pandas.DataFrame(x, columns=list("abc")).to_pickle("d.pkl")
pickle.dump(((x, y), (x, y), (x, y)), gzip.open("e.pkl.gz", "wb"))
open("d.arff", "w").write("@relation d\n@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n0,1,1\n1,0,0\n")
open("f.svm", "w").write("+1 2:1 3:1\n-1 1:1\n")
`
	files := []string{"it's.mat", "d.mtx", "d.pkl", "e.pkl.gz", "d.arff", "f.svm"}
	python := *long && exec.Command("/usr/bin/python3", "-c", "import scipy, pandas, sklearn").Run() == nil
	if python {
		if out, err := exec.Command("/usr/bin/python3", "-c", before).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for _, name := range files {
		if !python {
			writeFiles(t, dir, map[string][]byte{name: nil})
		}
		_, _, err := Load(t.Context(), name, Options{})
		if err == nil || !strings.Contains(err.Error(), "python3 -c") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want a command", name, err)
			continue
		}
		_, command, _ := strings.Cut(err.Error(), "python3 -c")
		if !python {
			continue
		}
		if out, err := exec.Command("sh", "-c", "/usr/bin/python3 -c"+command).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
			continue
		}
		stem, _, _ := strings.Cut(name, ".")
		var s *Set
		for _, ending := range []string{".npz", ".csv"} {
			if _, err := os.Stat(filepath.Join(dir, stem+ending)); err == nil {
				s, _ = mustLoad(t, stem+ending)
				os.Remove(stem + ending)
			}
		}
		if s == nil || s.Len() != 2 || rowText(s.X, 0) != "011" {
			t.Errorf("%s: converted to %+v", name, s)
		}
	}
}
