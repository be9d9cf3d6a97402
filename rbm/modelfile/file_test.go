package modelfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gorbm/rbm"
	"gorbm/rbm/internal/rbmtest"
	"gorbm/rbm/npz"
)

var testAbout = About{
	ClassNames: []string{"a", "b", `c "quoted"`}, Data: "toy:4,4,2500,0.2", Binarize: "binary", LabelColumn: "last", Header: "no", Unlabelled: "?",
	Height: 1, Width: 4, Seed: 1 << 63, Described: true,
}

func TestModelFilesRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for _, m := range []*rbm.RBM{
		rbmtest.Random(1, 1, 0, rbm.Softmax, 1, 3), rbmtest.Random(7, 65, 3, rbm.Softmax, 1, 3), rbmtest.Random(7, 5, 3, rbm.Bernoulli, 1, 3),
	} {
		s := fmt.Sprintf("%d × %d", m.Visible(), m.Hidden())
		about := About{Described: true}
		if m.Classes() > 0 {
			about = testAbout
		}
		for _, ext := range []string{".safetensors", ".npz"} {
			path := filepath.Join(dir, "model"+ext)
			if err := Write(path, m, about); err != nil {
				t.Fatal(err)
			}
			if file, err := os.ReadFile(path); err != nil || ext == ".safetensors" && binary.LittleEndian.Uint64(file)%8 != 0 {
				t.Errorf("%v: the tensors do not begin at a multiple of eight bytes, as the format asks: %v", s, err)
			}
			got, gotAbout, err := Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(m) {
				t.Errorf("%v %s: the model changed", s, ext)
			}
			if diff := cmp.Diff(about, gotAbout); diff != "" {
				t.Errorf("%v %s: %s, want nothing", s, ext, diff)
			}
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(left) > 0 {
		t.Errorf("temporary files are left: %v, want none", left)
	}
}

// The names and the order of axes are those of scikit-learn.
func TestSklearnNPZ(t *testing.T) {
	m := rbmtest.Random(7, 5, 3, rbm.Softmax, 1, 3)
	var b bytes.Buffer
	if err := WriteSklearnNPZ(&b, m, testAbout); err != nil {
		t.Fatal(err)
	}
	archive, err := npz.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	components, err := archive.Array("components_")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{5, 7}, components.Shape); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	err = components.Rows(5, 7, func(j int, values []float64) error {
		for i, v := range values {
			if float32(v) != m.Weight(i, j) {
				t.Errorf("components_[%d,%d] is %v, want %v", j, i, v, m.Weight(i, j))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	got, about, err := ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || !got.Equal(m) {
		t.Errorf("read back: another model, %v", err)
	}
	if diff := cmp.Diff(testAbout, about); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// A file with only three tensors, as other tools write it, is a model without a label.
func TestBareSafetensors(t *testing.T) {
	const header = `{"weights":{"dtype":"F64","shape":[2,1],"data_offsets":[0,16]},` +
		`"visible_bias":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},` +
		`"hidden_bias":{"dtype":"F32","shape":[1],"data_offsets":[24,28]},` +
		`"extra":{"dtype":"I64","shape":[1],"data_offsets":[28,36]}}`
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(file, header...)
	file = binary.LittleEndian.AppendUint64(file, 0x3ff8000000000000) // 1.5
	file = append(file, make([]byte, 28)...)
	m, about, err := ReadSafetensors(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if m.Weight(0, 0) != 1.5 || m.Weight(1, 0) != 0 || m.Classes() != 0 || about.Described {
		t.Errorf("got %v, %+v", m, about)
	}
}

func TestDamagedModels(t *testing.T) {
	m := rbmtest.Random(7, 5, 3, rbm.Softmax, 1, 1)
	var good bytes.Buffer
	if err := WriteSafetensors(&good, m, testAbout); err != nil {
		t.Fatal(err)
	}
	replace := func(old, new string) []byte {
		if len(old) != len(new) || !bytes.Contains(good.Bytes(), []byte(old)) {
			t.Fatalf("%q cannot be replaced by %q", old, new)
		}
		return bytes.Replace(good.Bytes(), []byte(old), []byte(new), 1)
	}
	huge := bytes.Clone(good.Bytes())
	binary.LittleEndian.PutUint64(huge, 1<<62)
	nan := bytes.Clone(good.Bytes())
	binary.LittleEndian.PutUint32(nan[len(nan)-4:], 0x7fc00000)
	for _, c := range []struct {
		name, want string
		file       []byte
	}{
		{"empty", "cut short", nil},
		{"cut header", "header", good.Bytes()[:20]},
		{"cut tensors", "cut short or damaged", good.Bytes()[:good.Len()-1]},
		{"huge header", "header would take", huge},
		{"not JSON", "not JSON", replace(`{"__meta`, `["__meta`)},
		{"no weights", "no tensor weights", replace(`"weights"`, `"weighty"`)},
		{"shape", "do not fit together", replace(`"shape":[7,5]`, `"shape":[5,7]`)},
		{"offsets", "lies at bytes", replace(`"data_offsets":[48,188]`, `"data_offsets":[48,184]`)},
		{"dtype", "dtype", replace(`"F32","shape":[7,5]`, `"F16","shape":[7,5]`)},
		{"version", "this program reads 1", replace(`"version":"1"`, `"version":"9"`)},
		{"classes", "classes but", replace(`"classes":"3"`, `"classes":"8"`)},
		{"class names", "class names are not a list of 2 names", replace(`"classes":"3"`, `"classes":"2"`)},
		{"labels", "unknown kind of units", replace(`softmax`, `hardmax`)},
		{"picture", "shape", replace(`"shape":"1x4"`, `"shape":"2x4"`)},
		{"NaN", "weights holds NaN", nan},
	} {
		_, _, err := ReadSafetensors(bytes.NewReader(c.file), int64(len(c.file)))
		switch {
		case !errors.Is(err, rbm.ErrFormat):
			t.Errorf("%s: got %v, want ErrFormat", c.name, err)
		case !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: message %q", c.name, err)
		case errors.Is(err, rbm.ErrDiverged) != (c.name == "NaN"):
			t.Errorf("%s: got %v, which is ErrDiverged or not", c.name, err)
		}
	}
}

// A file that claims a model far larger than itself is refused.
func TestAbsurdModels(t *testing.T) {
	header := `{"weights":{"dtype":"F32","shape":[16777216,65],"data_offsets":[0,4362076160]},` +
		`"visible_bias":{"dtype":"F32","shape":[16777216],"data_offsets":[4362076160,4429185024]},` +
		`"hidden_bias":{"dtype":"F32","shape":[65],"data_offsets":[4429185024,4429185284]}}`
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(file, header...)
	// The claimed size of the file includes the tensors.
	_, _, err := ReadSafetensors(bytes.NewReader(file), int64(len(file))+4429185284)
	if !errors.Is(err, rbm.ErrFormat) {
		t.Errorf("got %v, want ErrFormat", err)
	}
	// Hidden units are stored in panels of 64, so 65 units need as much memory as 128.
	if _, _, err := checkShapes([]int64{1 << 24, 1}, []int64{1 << 24}, []int64{1}); err != nil {
		t.Error(err)
	}
	if _, _, err := checkShapes([]int64{1 << 24, 65}, []int64{1 << 24}, []int64{65}); !errors.Is(err, rbm.ErrFormat) {
		t.Errorf("got %v, want ErrFormat", err)
	}
}

func TestReadFileNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "model.txt")
	broken := filepath.Join(dir, "broken.npz")
	for _, p := range []string{text, broken} {
		if err := os.WriteFile(p, []byte("hello"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "absent.npz"), text, broken, dir} {
		_, _, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

// A failed write leaves the old file and no other file.
func TestReplaceFileKeepsTheOld(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.npz")
	m := rbmtest.Random(3, 2, 0, rbm.Softmax, 1, 1)
	if err := Write(path, m, About{}); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "model.txt"), m, About{}); err == nil {
		t.Error("a model was written as .txt")
	}
	if err := Write(filepath.Join(dir, "none", "model.npz"), m, About{}); err == nil {
		t.Error("a model was written to a folder that does not exist")
	}
	if _, _, err := Read(path); err != nil {
		t.Error(err)
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 {
		t.Errorf("%d files, want 1", len(files))
	}
}

func FuzzReadSafetensors(f *testing.F) {
	var b bytes.Buffer
	if err := WriteSafetensors(&b, rbmtest.Random(3, 2, 2, rbm.Softmax, 1, 1), About{Height: 1, Width: 1}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-3])
	f.Fuzz(func(t *testing.T, file []byte) {
		m, _, err := ReadSafetensors(bytes.NewReader(file), int64(len(file)))
		if err == nil && m.CheckFinite() != nil && !errors.Is(m.CheckFinite(), rbm.ErrDiverged) {
			t.Error("a model that cannot be checked")
		}
		if err != nil && !errors.Is(err, rbm.ErrFormat) {
			t.Errorf("got %v, want ErrFormat", err)
		}
	})
}

func FuzzReadNPZ(f *testing.F) {
	var b bytes.Buffer
	if err := WriteNPZ(&b, rbmtest.Random(3, 2, 2, rbm.Softmax, 1, 1), About{Height: 1, Width: 1}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-3])
	f.Fuzz(func(t *testing.T, file []byte) {
		if _, _, err := ReadNPZ(bytes.NewReader(file), int64(len(file))); err != nil && !errors.Is(err, rbm.ErrFormat) {
			t.Errorf("got %v, want ErrFormat", err)
		}
	})
}

// TestSafetensorsStrict checks that files are refused if two readers could interpret them
// differently.
func TestSafetensorsStrict(t *testing.T) {
	const (
		three = `"weights":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"visible_bias":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"hidden_bias":{"dtype":"F32","shape":[1],"data_offsets":[16,20]}`
		meta  = `"__metadata__":{"format":"gorbm","version":"1","classes":"0"}`
	)
	name := strings.Repeat("x", 1001)
	for _, c := range []struct{ what, header, body, want string }{
		{"whole", `{` + three + `}`, strings.Repeat("\x00", 20), ""},
		{"padded", `{` + meta + `,` + three + `}   `, strings.Repeat("\x00", 20), ""},
		{"with another tensor", `{"step":{"dtype":"I64","shape":[1],"data_offsets":[20,28]},` + three + `}`, strings.Repeat("\x00", 28), ""},
		{"trailing bytes", `{` + three + `}`, strings.Repeat("\x00", 21), "end at byte 20, but the file at 21"},
		{"a hole", `{` + strings.Replace(three, "[16,20]", "[20,24]", 1) + `}`, strings.Repeat("\x00", 24), "the one before it ends at 16"},
		{"an overlap", `{` + strings.Replace(three, "[8,16]", "[4,12]", 1) + `}`, strings.Repeat("\x00", 20), "the one before it ends at 8"},
		{"a tensor twice", `{"weights":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},` + three + `}`, strings.Repeat("\x00", 20), `"weights" comes twice`},
		{"metadata twice", `{"__metadata__":{"format":"gorbm","version":"1","classes":"0","classes":"1"},` + three + `}`, strings.Repeat("\x00", 20), `"classes" comes twice`},
		{"two headers", `{` + three + `}{}`, strings.Repeat("\x00", 20), "something follows"},
		{"a long name", `{"__metadata__":{"format":"gorbm","version":"1","classes":"1","labels":"softmax","class_names":"[\"` + name + `\"]"},` + three + `}`, strings.Repeat("\x00", 20), "the name of class 0 has 1001 bytes"},
	} {
		file := binary.LittleEndian.AppendUint64(nil, uint64(len(c.header)))
		file = append(append(file, c.header...), c.body...)
		_, _, err := ReadSafetensors(bytes.NewReader(file), int64(len(file)))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.want != "" && (!errors.Is(err, rbm.ErrFormat) || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
	}
}
