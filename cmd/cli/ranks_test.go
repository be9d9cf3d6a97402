package cli

import (
	"errors"
	"strings"
	"testing"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/ranks"
)

// Models and rows that differ between ranks are found even if their file names are equal.
func TestAgreeOn(t *testing.T) {
	model := func(bias float32, kind rbm.Kind) *rbm.RBM {
		m := rbm.New(8, 5, 4, kind)
		m.HiddenBias[4] = bias
		return m
	}
	set := func(spec string) *data.Set {
		s, _, err := data.Load(t.Context(), spec, data.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	bad := errors.New("no such file")
	for _, c := range []struct {
		name  string
		spec  string // of the rows of rank 1
		m     *rbm.RBM
		fails error
		want  string
	}{
		{"all alike", "toy:4,4,50,0.2:seed=1", model(1, rbm.Softmax), nil, ""},
		{"other rows", "toy:4,4,50,0.2:seed=2", model(1, rbm.Softmax), nil, "another data set than rank 0"},
		{"another bias", "toy:4,4,50,0.2:seed=1", model(2, rbm.Softmax), nil, "another model than rank 0"},
		{"other labels", "toy:4,4,50,0.2:seed=1", model(1, rbm.Bernoulli), nil, "another model than rank 0"},
		{"no file", "toy:4,4,50,0.2:seed=1", model(1, rbm.Softmax), bad, "no such file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var of0 error
			err := ranks.Each(3, func(g *ranks.Group) error {
				spec, m, failed := "toy:4,4,50,0.2:seed=1", model(1, rbm.Softmax), error(nil)
				if g.Rank() == 1 {
					spec, m, failed = c.spec, c.m, c.fails
				}
				err := AgreeOn(g, failed, func() ([]*data.Set, []*rbm.RBM) { return []*data.Set{set(spec), nil}, []*rbm.RBM{m} })
				if g.Rank() == 0 {
					of0 = err
				}
				return unreported(g, err)
			})
			if (of0 == nil) != (c.want == "") || of0 != nil && (!strings.Contains(of0.Error(), c.want) || !strings.HasPrefix(of0.Error(), "rank 1 on ")) {
				t.Errorf("rank 0 says %v", of0)
			}
			if (err == nil) != (c.want == "") {
				t.Errorf("the ranks say %v", err)
			}
		})
	}
}
