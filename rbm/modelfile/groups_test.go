package modelfile

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"gorbm/rbm"
)

// Files store the groups of the visible layer. Groups that do not fit are refused. Files of models
// with Bernoulli inputs and a label have not changed since groups were introduced.
func TestGroupsFiles(t *testing.T) {
	m := rbm.NewGroups(4, rbm.Group{Kind: rbm.Softmax, Units: 3}, rbm.Group{Kind: rbm.Bernoulli, Units: 2}, rbm.Group{Kind: rbm.Softmax, Units: 2, Label: true})
	m.Randomize(1, rbm.NewKey(1))
	var tensors, arrays, plain bytes.Buffer
	if err := errors.Join(WriteSafetensors(&tensors, m, About{}), WriteNPZ(&arrays, m, About{}), WriteSafetensors(&plain, rbm.New(5, 4, 2, rbm.Softmax), About{})); err != nil {
		t.Fatal(err)
	}
	a, _, err := ReadSafetensors(bytes.NewReader(tensors.Bytes()), int64(tensors.Len()))
	if err != nil || !a.Equal(m) {
		t.Errorf("safetensors: %v", err)
	}
	b, _, err := ReadNPZ(bytes.NewReader(arrays.Bytes()), int64(arrays.Len()))
	if err != nil || !b.Equal(m) {
		t.Errorf("npz: %v", err)
	}
	if err := WriteSklearnNPZ(new(bytes.Buffer), m, About{}); !errors.Is(err, rbm.ErrUnits) || !strings.Contains(err.Error(), "scikit-learn's BernoulliRBM: units are not binary: visible units") {
		t.Errorf("scikit-learn's names for softmax inputs: %v", err)
	}
	if !bytes.Contains(plain.Bytes(), []byte(`"version":"1"`)) || bytes.Contains(plain.Bytes(), []byte("groups")) {
		t.Errorf("inputs and a label are not written as version 1: %.300s", plain.Bytes())
	}
	const groups = `"softmax:3 bernoulli:2 softmax:2:label"`
	for _, c := range [][2]string{
		{groups, `"softmax:4 bernoulli:2 softmax:1:label"`},
		{groups, `"softmax:3 bernoulli:9 softmax:2:label"`},
		{groups, `"softmax:3 bernoulli:2 softmax:2:table"`},
		{groups, `"bernoulli:3 softmax:2 softmax:2:label"`}, // consistent
		{`"version":"3"`, `"version":"1"`},
		{`"groups":`, `"troops":`},
	} {
		if len(c[0]) != len(c[1]) || !bytes.Contains(tensors.Bytes(), []byte(c[0])) {
			t.Fatalf("%s cannot be replaced by %s", c[0], c[1])
		}
		file := bytes.Replace(tensors.Bytes(), []byte(c[0]), []byte(c[1]), 1)
		switch m, _, err := ReadSafetensors(bytes.NewReader(file), int64(len(file))); {
		case strings.HasPrefix(c[1], `"bernoulli:3 softmax:2 soft`):
			if err != nil || m.GroupsText() != strings.Trim(c[1], `"`) {
				t.Errorf("%s: error %v", c[1], err)
			}
		case !errors.Is(err, rbm.ErrFormat):
			t.Errorf("%s: error %v", c[1], err)
		}
	}
}
