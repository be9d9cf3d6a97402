package data

import (
	"strconv"
	"strings"
)

// A spec is the name of a data set with its settings, taken apart:
// name[:setting]…[:seed=N].
type spec struct {
	text    string
	name    string
	args    []string // the settings but the seed, in order
	seed    uint64   // 1 if none is given
	hasSeed bool
}

func parseSpec(text string) (spec, error) {
	parts := strings.Split(text, ":")
	sp := spec{text: text, name: parts[0], seed: 1}
	for _, p := range parts[1:] {
		value, ok := strings.CutPrefix(p, "seed=")
		switch {
		case !ok && p == "":
			return sp, specErrorf("%s: an empty setting; remove the spare colon", text)
		case !ok:
			sp.args = append(sp.args, p)
		case sp.hasSeed:
			return sp, specErrorf("%s: two seeds; give one", text)
		default:
			seed, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return sp, specErrorf("%s: seed %s is not a whole number from 0 to 2^64-1", text, quote(value))
			}
			sp.seed, sp.hasSeed = seed, true
		}
	}
	return sp, nil
}

// rows reads the only setting of a set of which the user may want a part: the
// number of rows, from 1 to most. Without it the answer is most.
func (sp spec) rows(most int) (int, error) {
	switch len(sp.args) {
	case 0:
		return most, nil
	case 1:
		n, err := strconv.Atoi(sp.args[0])
		if err != nil || n < 1 || n > most {
			return 0, specErrorf("%s: %s is not a number of rows from 1 to %d", sp.text, quote(sp.args[0]), most)
		}
		return n, nil
	}
	return 0, specErrorf("%s: too many settings; write %s:N for N rows", sp.text, sp.name)
}

// withSeed returns s with the seed as the canonical last setting.
func (sp spec) withSeed(s string) string {
	return s + ":seed=" + strconv.FormatUint(sp.seed, 10)
}

// noSeed returns an error if a seed is given to a set that is not drawn.
func (sp spec) noSeed() error {
	if sp.hasSeed {
		return specErrorf("%s: %s is not generated at random; leave the seed away", sp.text, sp.name)
	}
	return nil
}

// probability reads the probability of a flip.
func (sp spec) probability(text string) (float64, error) {
	p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, specErrorf("%s: the flip probability, %s, must be a number from 0 to 1", sp.text, quote(text))
	}
	return p + 0, nil // −0 becomes 0: one name for one set
}

// formatFloat returns the shortest text that stands for v in a name.
func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
