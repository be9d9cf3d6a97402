package data

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fashion returns the files of a small set with MNIST's names.
func fashion() map[string][]byte {
	return map[string][]byte{
		"train-images-idx3-ubyte":    idxBuild([]byte{0, 200, 100, 255, 255, 100, 200, 0, 9, 9, 9, 129}, 3, 2, 2),
		"train-labels-idx1-ubyte":    idxBuild([]byte{10, 2, 10}, 3),
		"t10k-images-idx3-ubyte":     idxBuild([]byte{0, 0, 0, 255}, 1, 2, 2),
		"t10k-labels-idx1-ubyte":     idxBuild([]byte{7}, 1),
		"train-images.idx3-ubyte":    idxBuild([]byte{1, 1}, 1, 1, 2), // must not be read in place of the file above
		"other-images-idx3-ubyte.gz": gzipped(idxBuild([]byte{200, 100}, 1, 1, 2)),
	}
}

func TestIDXPair(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, fashion())
	spec := filepath.Join(dir, "train-images-idx3-ubyte")
	check := func(spec string, opt Options, classes []string, y, yTest []int32) {
		t.Helper()
		train, test, err := Load(context.Background(), spec, opt)
		if err != nil {
			t.Error(err)
			return
		}
		checkSet(t, train)
		checkSet(t, test)
		if train.Name != spec || test.Name != spec+" test" || train.Len() != 3 || test.Len() != 1 || train.Height != 2 || train.Width != 2 || train.Binarize != Threshold {
			t.Errorf("%q with %d rows and %q with %d", train.Name, train.Len(), test.Name, test.Len())
		}
		if rowText(train.X, 0) != "0101" || rowText(train.X, 2) != "0001" || rowText(test.X, 0) != "0001" {
			t.Errorf("%s: rows %s, %s, %s, want %s, %s, %s", spec, rowText(train.X, 0), rowText(train.X, 2), rowText(test.X, 0), "0101", "0001", "0001")
		}
		if !slices.Equal(train.Classes, classes) || !slices.Equal(test.Classes, classes) || !slices.Equal(train.Y, y) || !slices.Equal(test.Y, yTest) {
			t.Errorf("%s: classes %q, labels %v and %v", spec, train.Classes, train.Y, test.Y)
		}
	}
	all := []string{"2", "7", "10"}
	check(spec, Options{}, all, []int32{2, 0, 2}, []int32{1})
	check(spec, Options{LabelColumn: "last"}, all, []int32{2, 0, 2}, []int32{1})
	check(spec, Options{LabelColumn: "none"}, nil, nil, nil)
	check(spec+","+filepath.Join(dir, "train-labels-idx1-ubyte"), Options{}, all, []int32{2, 0, 2}, []int32{1})

	// Gzipped files, with dots in place of dashes, with another word for the test set, and with labels
	// under another name.
	other := t.TempDir()
	for name, b := range fashion() {
		if strings.Contains(name, "-idx") && !strings.HasPrefix(name, "other") {
			name = "a,b-" + strings.NewReplacer("t10k", "test", "-idx", ".idx").Replace(name) + ".gz"
			writeFiles(t, other, map[string][]byte{name: gzipped(b)})
		}
	}
	spec = filepath.Join(other, "a,b-train-images.idx3-ubyte.gz")
	check(spec, Options{}, all, []int32{2, 0, 2}, []int32{1})
	lab := filepath.Join(other, "train-classes.IDX")
	writeFiles(t, other, map[string][]byte{"train-classes.IDX": idxBuild([]byte{3, 4, 3}, 3)})
	check(spec+","+lab, Options{}, []string{"3", "4", "7"}, []int32{0, 1, 0}, []int32{2})

	// A file of images alone.
	s, test := mustLoad(t, filepath.Join(dir, "other-images-idx3-ubyte.gz"))
	if test != nil || s.Y != nil || rowText(s.X, 0) != "10" {
		t.Errorf("%+v", s)
	}
	s, test = mustLoad(t, filepath.Join(dir, "t10k-images-idx3-ubyte"))
	if test != nil || !slices.Equal(s.Classes, []string{"7"}) {
		t.Errorf("%+v", s)
	}
	flat := filepath.Join(dir, "flat.idx")
	writeFiles(t, dir, map[string][]byte{"flat.idx": idxBuild(make([]byte, 24), 2, 12)})
	if s, _ = mustLoad(t, flat); s.Height != 3 || s.Width != 4 || s.Len() != 2 || s.Binarize != Binary {
		t.Errorf("%+v", s)
	}
}

func TestAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	in := func(path string) string { return filepath.Join(dir, path) }
	writeFiles(t, dir, map[string][]byte{"a-ubyte,b.csv": nil})
	for _, c := range []struct{ spec, want string }{
		{"mnist:100", "mnist:100"},
		{"toy:4,4,2500,0.2:seed=1", "toy:4,4,2500,0.2:seed=1"},
		{"rows.csv", in("rows.csv")},
		{"a-ubyte,b.csv", in("a-ubyte,b.csv")}, // a file with a comma in its name
		{"a,b/images-ubyte,a,b/labels-ubyte", in("a,b/images-ubyte") + "," + in("a,b/labels-ubyte")},
		{"a,b/images.idx.gz,/c/labels", in("a,b/images.idx.gz") + ",/c/labels"},
		{"a,b/images-ubyte", in("a,b/images-ubyte")},
	} {
		if got := Absolute(c.spec); got != c.want {
			t.Errorf("%s: %s, want %s", c.spec, got, c.want)
		}
	}
}

func TestIDXPairErrors(t *testing.T) {
	const images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
	good := fashion()[images]
	for _, c := range []struct {
		name   string
		change func(f map[string][]byte)
		spec   string // "": images
		label  string
		want   []string
	}{
		{"cut", func(f map[string][]byte) { f[images] = good[:20] }, "", "", []string{images, "cut short"}},
		{"cut gzip", func(f map[string][]byte) { f[images] = gzipped(good)[:20] }, "", "", []string{images, "cut short"}},
		{"empty", func(f map[string][]byte) { f[labels] = nil }, "", "", []string{labels, "cut short"}},
		{"web page", func(f map[string][]byte) { f[images] = []byte("<html>") }, "", "", []string{images, "not an IDX file"}},
		{"type", func(f map[string][]byte) { f[images] = append([]byte{0, 0, 0x0a}, good[3:]...) }, "", "", []string{images, "kind 0x0a"}},
		{"huge", func(f map[string][]byte) { f[images] = idxBuild(nil, 1<<31, 1<<10, 1<<10) }, "", "", []string{images, "more than 1073741824 bytes"}},
		{"false header", func(f map[string][]byte) { f[images] = gzipped(idxBuild([]byte{1}, 1<<20, 28, 28)) }, "", "", []string{images, "out of a file of 36"}},
		{"endless", func(f map[string][]byte) { f[images] = gzipped(append(good[:16:16], make([]byte, 1<<24)...)) }, "", "", []string{images, "more data than the header says"}},
		{"wide", func(f map[string][]byte) { f["flat.idx"] = idxBuild(make([]byte, 1<<21), 1, 1<<21) }, "flat.idx", "", []string{"flat.idx", "columns"}},
		{"exchanged", nil, "train-labels-idx1-ubyte,train-images-idx3-ubyte", "", []string{labels, "1 dimensions, as of labels"}},
		{"labels only", nil, labels, "", []string{labels, "1 dimensions, as of labels"}},
		{"four dimensions", func(f map[string][]byte) { f[images] = idxBuild(make([]byte, 24), 3, 2, 2, 2) }, "", "", []string{"4 dimensions", "several channels"}},
		{"counts", func(f map[string][]byte) { f[labels] = idxBuild([]byte{1, 2}, 2) }, "", "", []string{labels, "labels of shape [2] for 3 examples of"}},
		{"test counts", func(f map[string][]byte) { f["t10k-labels-idx1-ubyte"] = idxBuild([]byte{1, 2}, 2) }, "", "", []string{"t10k-labels", "labels of shape [2] for 1 examples of"}},
		{"test shape", func(f map[string][]byte) { f["t10k-images-idx3-ubyte"] = idxBuild([]byte{1, 2}, 1, 1, 2) }, "", "", []string{"t10k-images", "give both the same shape"}},
		{"test without labels", func(f map[string][]byte) { delete(f, "t10k-labels-idx1-ubyte") }, "", "", []string{"t10k-images", "no file of labels next to it"}},
		{"no labels", nil, "other-images-idx3-ubyte.gz", "last", []string{"no file of labels next to it; name both"}},
		{"dark", func(f map[string][]byte) { f["flat.idx"] = idxBuild([]byte{16, 1}, 2, 1) }, "flat.idx", "", []string{"bytes up to 16 only"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files := fashion()
			if c.change != nil {
				c.change(files)
			}
			writeFiles(t, dir, files)
			spec := images
			if c.spec != "" {
				spec = c.spec
			}
			first, second, pair := strings.Cut(spec, ",")
			spec = filepath.Join(dir, first)
			if pair {
				spec += "," + filepath.Join(dir, second)
			}
			_, _, err := Load(context.Background(), spec, Options{LabelColumn: c.label})
			checkFormat(t, err, append(c.want, dir)...)
			if errors.Is(err, ErrSpec) {
				t.Errorf("%v is ErrSpec", err)
			}
		})
	}
	dir := t.TempDir()
	writeFiles(t, dir, fashion())
	for _, spec := range []string{
		filepath.Join(dir, "train-image-idx3-ubyte"),
		filepath.Join(dir, images) + "," + filepath.Join(dir, "train-label-idx1-ubyte"),
	} {
		_, _, err := Load(context.Background(), spec, Options{})
		if checkError(t, err, "did you mean", dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v is not fs.ErrNotExist", err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.idx"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, _, err := Load(context.Background(), filepath.Join(dir, "folder.idx"), Options{})
	checkFormat(t, err, "not a regular file")
}

func FuzzIDXPair(f *testing.F) {
	f.Add(idxBuild([]byte{0, 200, 100, 255}, 1, 2, 2), idxBuild([]byte{3}, 1), uint8(0))
	f.Add(gzipped(idxBuild([]byte{0, 200, 100, 255}, 2, 2)), gzipped(idxBuild([]byte{3, 1}, 2)), uint8(1))
	f.Add(idxBuild([]byte{0, 1, 1}, 3, 1), idxBuild([]byte{3}, 1), uint8(2))
	f.Add(idxBuild([]byte{9, 17}, 1, 1, 2), []byte{}, uint8(2))
	f.Fuzz(func(t *testing.T, images, labels []byte, mode uint8) {
		dir := t.TempDir()
		writeFiles(t, dir, map[string][]byte{"t-images.idx": images})
		im, err := unpackIDX(images)
		if err != nil {
			return
		}
		if lab, err := unpackIDX(labels); err == nil && len(lab.dims) == 1 && lab.dims[0] == im.dims[0] {
			writeFiles(t, dir, map[string][]byte{"t-labels.idx": labels})
		}
		opt := Options{Binarize: []string{Threshold, Sample, None}[mode%3]}
		s, test, err := Load(context.Background(), filepath.Join(dir, "t-images.idx"), opt)
		if err != nil {
			checkFormat(t, err, "t-images.idx")
			return
		}
		if test != nil {
			t.Error("one part makes two sets")
		}
		checkSet(t, s)
	})
}
