package modelfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"gorbm/rbm"
	"gorbm/rbm/units"
)

// Files store the kind and the parameters of real hidden units, with groups and without. Files with
// an unknown kind, without a parameter or of a model without Z are refused.
func TestHiddenFiles(t *testing.T) {
	for _, kind := range []rbm.Kind{units.Gaussian, units.ReLU, units.DReLU} {
		for _, visible := range [][]rbm.Group{{{Kind: rbm.Bernoulli, Units: 4}}, {{Kind: rbm.Softmax, Units: 3}, {Kind: rbm.Gaussian, Units: 2}}} {
			m := rbm.NewLayers(rbm.Group{Kind: kind, Units: 3}, visible...)
			m.Randomize(0.1, rbm.NewKey(1))
			for k, p := range m.HiddenParams() {
				for j := range p {
					p[j] = 0.5 + float32(k) + float32(j)/4
				}
			}
			var tensors, arrays bytes.Buffer
			if err := errors.Join(WriteSafetensors(&tensors, m, About{Described: true}), WriteNPZ(&arrays, m, About{Described: true})); err != nil {
				t.Fatal(err)
			}
			a, _, err := ReadSafetensors(bytes.NewReader(tensors.Bytes()), int64(tensors.Len()))
			if err != nil || !a.Equal(m) {
				t.Fatalf("safetensors of %v: %v", kind, err)
			}
			b, _, err := ReadNPZ(bytes.NewReader(arrays.Bytes()), int64(arrays.Len()))
			if err != nil || !b.Equal(m) {
				t.Fatalf("npz of %v: %v", kind, err)
			}
			if err := errors.Join(WriteSklearnNPZ(new(bytes.Buffer), m, About{})); !errors.Is(err, rbm.ErrUnits) {
				t.Errorf("scikit-learn: %v, want %v", err, rbm.ErrUnits)
			}
			if _, err := WriteSpinsNPZ(new(bytes.Buffer), m, About{}); !errors.Is(err, rbm.ErrUnits) {
				t.Errorf("spins: %v, want %v", err, rbm.ErrUnits)
			}
			name := kind.String()
			for _, c := range [][3]string{
				{`"hidden_units":"` + name + `"`, `"hidden_units":"` + strings.ToUpper(name) + `"`, "unknown kind of units"},
				{`"hidden_units"`, `"hidden_unity"`, "version 4 of a model and its units do not go together"},
				{`"version":"4"`, `"version":"3"`, "do not go together"},
				{`"hidden_precision"`, `"hidden_precisioN"`, "need a tensor hidden_precision of 3 elements"},
			} {
				if !bytes.Contains(tensors.Bytes(), []byte(c[0])) {
					t.Fatalf("%s is not there", c[0])
				}
				file := bytes.Replace(tensors.Bytes(), []byte(c[0]), []byte(c[1]), 1)
				if _, _, err := ReadSafetensors(bytes.NewReader(file), int64(len(file))); !errors.Is(err, rbm.ErrFormat) || !strings.Contains(err.Error(), c[2]) {
					t.Errorf("%v, %s: %v", kind, c[1], err)
				}
			}
			if !m.Real() {
				continue
			}
			w := rbm.NewMatrix(5, 3)
			w.Row(4)[1] = 10
			m.SetWeights(w)
			tensors.Reset()
			if err := WriteSafetensors(&tensors, m, About{Described: true}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := ReadSafetensors(bytes.NewReader(tensors.Bytes()), int64(tensors.Len())); !errors.Is(err, rbm.ErrFormat) || !strings.Contains(err.Error(), "no lower bound") {
				t.Errorf("a model without Z: %v", err)
			}
		}
	}
}
