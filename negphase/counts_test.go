package negphase

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gorbm/rbm"
)

// Counts that were written to JSON are read as the same counts.
func TestInfoInJSON(t *testing.T) {
	want := Info{Updates: 7, SwapTries: []int64{4, 5}, Swaps: []int64{1, 0}, Tuned: 2,
		Counts: []Count{{"Groups", 12}, {"Moves.Flips", 1<<53 - 1}, {"Off", 0.1}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Info
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
	}
	if err := got.Check(2, 2); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`[]`, `{"Updates":0.5}`, `{"Off":"1"}`, `{"Moves":{"Flips":[1]}}`, `{"Off":null}`} {
		got := Info{Updates: 3}
		if err := json.Unmarshal([]byte(bad), &got); err == nil || got.Updates != 3 {
			t.Errorf("%s: got %+v, %v; want an error that leaves it as it is", bad, got, err)
		}
	}
	for _, bad := range []Info{{Updates: -1}, {Tuned: maxCount + 1}, {SwapTries: []int64{1}, Swaps: []int64{-1}}} {
		if bad.Check(1, 2*maxCount) == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	for _, bad := range []float64{-1, math.NaN(), maxCount * 2} {
		if (Info{Counts: []Count{{"Off", bad}}}).Check(0, 0) == nil {
			t.Errorf("a count of %v is accepted", bad)
		}
	}
}

// The figures of each kind have the same distinct keys for any counts. The names of counts differ from
// the fields of Info in JSON, and stay after a reset.
func TestFiguresOfEachKind(t *testing.T) {
	fields := reflect.TypeFor[Info]()
	eachKind(t, func(t *testing.T, settings string) {
		s, err := Parse(settings, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		keys := func(i Info, updates int) (keys []string) {
			for _, f := range s.Figures(i, updates) {
				keys = append(keys, f.Key)
			}
			return keys
		}
		m := shape{9, 7, 0, rbm.Softmax}.random(3, 0.7)
		_, info, err := estimator(t, settings).Estimate(m, positive(m, 6, 4), rbm.NewKey(1))
		if err != nil {
			t.Fatal(err)
		}
		none, some := keys(Info{}, 0), keys(info, 1)
		if !slices.Equal(none, some) {
			t.Errorf("the figures of no counts are %q, of some %q", none, some)
		}
		slices.Sort(some)
		if len(slices.Compact(slices.Clone(some))) != len(none) || slices.Contains(none, "") {
			t.Errorf("figures %q: want a key for each, and none twice", none)
		}
		if w := s.Warnings(Info{}, Info{}, 0); w != nil {
			t.Errorf("without counts there are the warnings %v", w)
		}
		for _, c := range info.Counts {
			if _, ok := fields.FieldByName(c.Name); ok {
				t.Errorf("the count %s has the name of a field", c.Name)
			}
		}
		before := len(info.Counts)
		info.Reset()
		if len(info.Counts) != before || info.Updates != 0 || slices.ContainsFunc(info.Counts, func(c Count) bool { return c.Value != 0 }) {
			t.Errorf("after Reset: %+v", info)
		}
	})
}

// The texts of the kinds' figures, and the sampler's warning, for given counts.
func TestTextsOfFigures(t *testing.T) {
	moves := func(proposals, accepted, flips float64) Info {
		return Info{Counts: []Count{{"Moves.Proposals", proposals}, {"Moves.Accepted", accepted}, {"Moves.Flips", flips}}}
	}
	for _, c := range []struct {
		settings string
		info     Info
		updates  int
		want     string // known values of the figures, then the texts
	}{
		{"pcd", moves(4, 1, 8), 2, ""},
		{"pt", Info{Counts: []Count{{RoundTrips, 1}}}, 2, "round_trips=1|1 round trip"},
		{"pins", Info{Counts: []Count{{RoundTrips, 2}, {"Off", 3}, {"Groups", 4}}}, 2,
			"round_trips=2 off_weight=0.75|2 round trips|75 % of the estimate's weight on hotter particles"},
		{"ptt", Info{Counts: []Count{{"Ages", 3}, {"Aged", 2}, {"Vetoes", 5}}}, 2, "mean_age=1.5 vetoes=5"},
		{"ptt", Info{Counts: []Count{{"Ages", 3}, {"Aged", 2}}}, 2, "mean_age=1.5"},
		{"sardonics", moves(0, 0, 0), 0, "flips_per_update=0|sardonics: 0 flips an update"},
		{"sardonics", moves(8, 3, 40), 4, "acceptance=0.375 flips_per_update=10|sardonics: 37.5 % of proposals accepted, 10 flips an update"},
		{"pt:im:gibbs=1", moves(8, 3, 40), 4, "round_trips=0 acceptance=0.375 flips_per_update=10|0 round trips|im: 37.5 % of proposals accepted, 10 flips an update"},
	} {
		s, err := Parse(c.settings, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		var values, texts []string
		for _, f := range s.Figures(c.info, c.updates) {
			if text, err := json.Marshal(f.Value); err == nil {
				values = append(values, f.Key+"="+string(text))
			}
			if f.Text != "" {
				texts = append(texts, f.Text)
			}
		}
		if got := strings.Join(append([]string{strings.Join(values, " ")}, texts...), "|"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.settings, got, c.want)
		}
	}
	walks, err := Parse("sardonics", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		settings            Settings
		proposals, accepted float64
		want                bool
	}{{walks, 1000, 9, true}, {walks, 1000, 10, false}, {walks, 99, 0, false}, {DefaultSettings("walk"), 1000, 0, false}, {DefaultSettings("pcd"), 1000, 0, false}} {
		recent := moves(c.proposals, c.accepted, 1)
		if got := c.settings.Warnings(Info{}, recent, 1); (len(got) > 0) != c.want {
			t.Errorf("%v: %v of %v walks are accepted; the warnings are %v", c.settings, c.accepted, c.proposals, got)
		}
	}
}
