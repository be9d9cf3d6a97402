package modelfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gorbm/rbm"
)

// Files store the precisions of Gaussian units and the scale of the inputs. Files without them, or
// with invalid values, are refused.
func TestRealFiles(t *testing.T) {
	m := rbm.NewGroups(3, rbm.Group{Kind: rbm.Bernoulli, Units: 2}, rbm.Group{Kind: rbm.Gaussian, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 2, Label: true})
	m.Randomize(1, rbm.NewKey(1))
	copy(m.VisibleParams()[0][2:], []float32{0.5, 2})
	about := About{Described: true, Means: []float64{0, 0, 3.5, -1e-3}, Deviations: []float64{1, 1, 0.25, 8}}
	var tensors, arrays bytes.Buffer
	if err := errors.Join(WriteSafetensors(&tensors, m, about), WriteNPZ(&arrays, m, about)); err != nil {
		t.Fatal(err)
	}
	a, got, err := ReadSafetensors(bytes.NewReader(tensors.Bytes()), int64(tensors.Len()))
	if err != nil || !a.Equal(m) {
		t.Fatalf("safetensors: %v", err)
	}
	if diff := cmp.Diff(about, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	b, got, err := ReadNPZ(bytes.NewReader(arrays.Bytes()), int64(arrays.Len()))
	if err != nil || !b.Equal(m) {
		t.Fatalf("npz: %v", err)
	}
	if diff := cmp.Diff(about, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if err := WriteSklearnNPZ(new(bytes.Buffer), m, about); !errors.Is(err, rbm.ErrUnits) {
		t.Errorf("scikit-learn: %v, want %v", err, rbm.ErrUnits)
	}
	for _, c := range [][3]string{
		{`"visible_precision"`, `"visible_pressision"`[:17] + `"`, "need a tensor visible_precision of 6 elements"},
		{`"deviations":"[1,1,0.25,8]"`, `"deviations":"[1,1,0.2,-8]"`, "a deviation is below 0"},
		{`"deviations":"[1,1,0.25,8]"`, `"deviations":"[1,11,0.258]"`, "not a list of 4 numbers"},
		{`"means":`, `"moans":`, "do not go together"},
		{`softmax:2:label`, `softmax:2:table`, "groups"},
	} {
		if !bytes.Contains(tensors.Bytes(), []byte(c[0])) || len(c[0]) != len(c[1]) && c[0] != `"visible_precision"` {
			t.Fatalf("%s cannot be replaced", c[0])
		}
		file := bytes.Replace(tensors.Bytes(), []byte(c[0]), []byte((c[1] + strings.Repeat(" ", 20))[:len(c[0])]), 1)
		_, _, err := ReadSafetensors(bytes.NewReader(file), int64(len(file)))
		if !errors.Is(err, rbm.ErrFormat) || !strings.Contains(err.Error(), c[2]) && c[2] != "groups" {
			t.Errorf("%s: error %v, want %q", c[1], err, c[2])
		}
	}
	m.VisibleParams()[0][3] = -1
	tensors.Reset()
	if err := WriteSafetensors(&tensors, m, about); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ReadSafetensors(bytes.NewReader(tensors.Bytes()), int64(tensors.Len())); !errors.Is(err, rbm.ErrFormat) || !strings.Contains(err.Error(), "visible_precision[3] is -1, not above 0") {
		t.Errorf("a precision of -1: %v", err)
	}
}
