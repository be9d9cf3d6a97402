package data

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A scale maps the values of a source to [0,1]: low becomes 0 and high 1. If they are equal, as in a
// constant column, all values become 0.
type scale struct{ low, high float64 }

// present is the scale of the rule presence: everything above 0 becomes 1.
var present = scale{0, math.SmallestNonzeroFloat64}

// asIs is the scale of values in [0,1], white the scale of grey bytes, and spins the scale of −1 and +1.
var asIs, white, spins = scale{0, 1}, scale{0, 255}, scale{-1, 1}

func (s scale) apply(v float64) float64 {
	switch {
	case s.low == s.high || s == present && v <= 0:
		return 0
	case s == present:
		return 1
	}
	return (v - s.low) / (s.high - s.low)
}

// clip returns the value on the scale that is nearest to v.
func (s scale) clip(v float64) float64 { return min(max(v, s.low), s.high) }

// holds reports whether v lies on the scale.
func (s scale) holds(v float64) bool { return v >= s.low && (v <= s.high || s == present) }

func (s scale) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return number(s.low) + ":" + number(s.high)
}

// scales has the scales of the columns of a source, or a single one for all.
type scales []scale

// at returns the scale of column j.
func (s scales) at(j int) scale {
	if len(s) == 1 {
		return s[0]
	}
	return s[j]
}

func (s scales) String() string {
	texts := make([]string, len(s))
	for j := range s {
		texts[j] = s[j].String()
	}
	return strings.Join(texts, ",")
}

// check returns a message if there is not one scale for each input, or one for all, and "" otherwise.
func (s scales) check(inputs int) string {
	if len(s) == 1 || len(s) == inputs {
		return ""
	}
	return fmt.Sprintf("rows of %d inputs, where -scale gives ranges of %d columns; give as many, or one range for all", inputs, len(s))
}

// A scaling is a parsed Options.Scale: a rule that finds the scales of a source, or given scales.
type scaling struct {
	rule  string // auto, max, minmax, spins, presence or raw; "": the scales are given
	given scales
	clip  bool // Options.Clip
}

// parseScaling reads Options.Scale.
func parseScaling(text string) (scaling, error) {
	switch text {
	case "", "auto":
		return scaling{rule: "auto"}, nil
	case "max", "minmax":
		return scaling{rule: text}, nil
	case "spins":
		return scaling{rule: text, given: scales{spins}}, nil
	case "presence":
		return scaling{rule: text, given: scales{present}}, nil
	}
	var given scales
	several := strings.Contains(text, ",")
	for part := range strings.SplitSeq(text, ",") {
		low, high, both := strings.Cut(part, ":")
		if !both && !several {
			low, high = "0", part
		}
		a, err := strconv.ParseFloat(low, 64)
		b, err2 := strconv.ParseFloat(high, 64)
		if err != nil || err2 != nil || !(a < b || several && a == b) || math.IsInf(b-a, 0) {
			return scaling{}, specErrorf("scale %s: it must be auto, max, minmax, spins, presence, the value that is white, such as 255, or LOW:HIGH with LOW below HIGH, or a LOW:HIGH for each column with commas between", quote(text))
		}
		given = append(given, scale{a, b})
	}
	return scaling{given: given}, nil
}

// CheckScale returns an [ErrSpec] unless text is a value of Options.Scale.
func CheckScale(text string) error {
	_, err := parseScaling(text)
	return err
}

// scaling returns how o scales the values of a source.
func (o Options) scaling() scaling {
	if o.Binarize == Standard {
		return raw
	}
	g, _ := parseScaling(o.Scale) // Load has checked the error
	g.clip = o.Clip && g.rule == ""
	return g
}

// describe returns the value of Set.Scale for the scales s.
func (o Options) describe(s scales) string {
	switch rule := o.scaling().rule; rule {
	case "auto", "raw":
		return ""
	case "spins", "presence":
		return rule
	}
	return s.String()
}

// known returns the scales, and whether they are known before the values are read. bytes is true if the
// values are bytes, which may be bits or grey values up to 255.
func (g scaling) known(bytes bool) (scales, bool) {
	if g.rule == "auto" {
		return scales{asIs}, !bytes
	}
	return g.given, g.rule == "" || g.rule == "raw" || g.rule == "spins" || g.rule == "presence"
}

// fit returns the common scale of all columns, given the extent e of their values, or a message that says
// why there is none.
func (g scaling) fit(e extent, bytes bool) (s scales, why string) {
	if s, ok := g.known(bytes); ok {
		return s, ""
	}
	var common scale
	if g.rule == "auto" {
		common, why = byteScale(e.most)
	} else if common, why = g.spread(e); why == "" && common.low == common.high {
		why = fmt.Sprintf("all values are %g, which -scale %s cannot spread over [0,1]; give the range they may have, such as -scale 255", common.high, g.rule)
	}
	return scales{common}, why
}

// spread returns the scale of values with the extent e under the rule max or minmax, or a message that says
// why there is none.
func (g scaling) spread(e extent) (s scale, why string) {
	s.high = e.most
	switch {
	case g.rule == "minmax":
		s.low = e.least
	case e.least < 0:
		return s, fmt.Sprintf("-scale max needs values from 0 up, but there is %g; use -scale minmax", e.least)
	}
	if math.IsInf(s.high-s.low, 0) {
		why = fmt.Sprintf("values from %g to %g are too far apart to scale", s.low, s.high)
	}
	return s, why
}

// wrong returns a message if v is not a valid value of column j, and "" otherwise.
func (g scaling) wrong(j int, v float64, bytes bool) string {
	s, known := g.known(bytes)
	switch {
	case math.IsNaN(v):
		return "is not a number; fill in missing values first"
	case (!known || g.rule == "raw" || g.clip) && math.IsInf(v, 0):
		return "is not finite; fill it in first"
	case g.rule == "presence" && v < 0:
		return "is below 0, which is neither present nor absent"
	case g.rule == "spins" && v != -1 && v != 1:
		return "is no spin, −1 or 1"
	case !known || g.rule == "raw" || g.clip || s.at(j).holds(v):
		return ""
	case g.rule == "":
		return fmt.Sprintf("is outside the scale %v; give all of the range by -scale LOW:HIGH", s.at(j))
	case v < 0:
		return "is outside [0,1]; scale the values to it by -scale minmax, or take -units gaussian"
	}
	return "is outside [0,1]; scale the values to it by -scale max, or -scale 255 if that is white, or take -units gaussian"
}

// clipped returns the note that n of total values were clipped.
func clipped(n, total int) string {
	return fmt.Sprintf("%d of %d values lie outside the range of the training rows and are clipped to it", n, total)
}

// byteScale returns the scale of bytes whose largest value is most: 0 to 255 for grey bytes, 0 to 1 for
// bits. It returns a message if they can be neither.
func byteScale(most float64) (s scale, why string) {
	switch {
	case most > 1 && most < 128:
		return s, fmt.Sprintf("bytes up to %g only, so none is white or nearly so; say which is, by -scale max or -scale 255", most)
	case most > 1:
		return white, ""
	}
	return asIs, ""
}

// An extent summarises values: the smallest, the largest, and the first two different ones.
type extent struct {
	least, most float64
	distinct    [2]float64 // first two different values
	n           int        // number of values in distinct
	more        bool       // there are further different values
}

func (e *extent) add(v float64) {
	for i := range e.n {
		if e.distinct[i] == v {
			return
		}
	}
	v += 0 // −0 and 0 are one value
	switch e.n {
	case 0:
		e.least, e.most = v, v
	case 2:
		e.more = true
	}
	e.least, e.most = min(e.least, v), max(e.most, v)
	if e.n < 2 {
		e.distinct[e.n] = v
		e.n++
	}
}

// join adds the values of f.
func (e *extent) join(f extent) {
	for _, v := range f.distinct[:f.n] {
		e.add(v)
	}
	if f.n > 0 {
		e.add(f.least)
		e.add(f.most)
	}
	e.more = e.more || f.more
}

// between reports whether some value lies between the ends of the scale.
func (e extent) between(s scale) bool {
	if s == present {
		return false
	}
	for _, v := range e.distinct[:e.n] {
		if v != s.low && v != s.high {
			return true
		}
	}
	return e.more
}

// levels has the meaning of each grey byte.
type levels struct {
	value [256]float64 // in [0,1]
	on    [256]uint64  // 1 if the value is ½ or more
}

func (s scale) levels() *levels {
	l := new(levels)
	for g := range l.value {
		if l.value[g] = s.apply(s.clip(float64(g))); l.value[g] >= 0.5 {
			l.on[g] = 1
		}
	}
	return l
}

var whiteLevels = white.levels()
