package sample

import (
	"context"
	"strings"
	"testing"

	"gorbm/rbm"
)

// Zero rounds of chains are an error that names the setting; enumeration of the states needs no rounds.
func TestRoundsAreNeeded(t *testing.T) {
	for kind, want := range map[string]string{"pcd": "Settings.Rounds is 0", "exact": ""} {
		s := Settings{Samples: 2, Sampler: Defaults(kind, 2)}
		_, err := DrawEach(context.Background(), rbm.New(4, 3, 0, rbm.Softmax), nil, []Query{{Class: rbm.Free}}, s, rbm.NewKey(1), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "DefaultRounds")) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// MixedQueries counts the queries whose chains have mixed.
func TestMixedQueries(t *testing.T) {
	mixed, stuck := Draw{Start: FromRandom, Proof: Proof{Mixed: true}}, Draw{Start: FromData}
	for _, c := range []struct {
		draws           []Draw
		n               int
		mixed, fromData bool
	}{
		{[]Draw{mixed, mixed}, 2, true, false},
		{[]Draw{mixed, stuck}, 1, false, true},
		{[]Draw{stuck}, 0, false, true},
		{[]Draw{{Start: FromRandom}}, 0, false, false},
	} {
		s := Sheet{Draws: c.draws}
		if s.MixedQueries() != c.n || s.Mixed() != c.mixed || s.FromData() != c.fromData {
			t.Errorf("got %d, %v, %v; want %+v", s.MixedQueries(), s.Mixed(), s.FromData(), c)
		}
	}
}
