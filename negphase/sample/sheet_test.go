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

// The verdict counts the queries whose chains have mixed, and the caption ends with it.
func TestVerdict(t *testing.T) {
	mixed, stuck := Draw{Start: FromRandom, Proof: Proof{Mixed: true}}, Draw{Start: FromData}
	for _, c := range []struct {
		draws           []Draw
		want            string
		mixed, fromData bool
	}{
		{[]Draw{mixed, mixed}, "their chains have mixed", true, false},
		{[]Draw{mixed, stuck}, "their chains have mixed in 1 of 2 lines", false, true},
		{[]Draw{stuck}, "their chains have not mixed", false, true},
		{[]Draw{{Start: FromRandom}}, "their chains have not mixed", false, false},
	} {
		s := Sheet{Draws: c.draws}
		if s.Verdict() != c.want || s.Caption(nil) != c.want || s.Mixed() != c.mixed || s.FromData() != c.fromData {
			t.Errorf("%q, %q, %v, %v; want %+v", s.Verdict(), s.Caption(nil), s.Mixed(), s.FromData(), c)
		}
		if got, want := s.Caption(&Agreement{Same: 3, Of: 4}), "of 4 samples, 3 are nearest to a row of their class; "+c.want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
