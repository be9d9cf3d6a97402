package data

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A scale maps the values of a source to [0,1]: low becomes 0 and high 1.
type scale struct{ low, high float64 }

// asIs leaves values in [0,1] as they are, white is that of grey bytes, and spins is
// that of spins, −1 and +1.
var asIs, white, spins = scale{0, 1}, scale{0, 255}, scale{-1, 1}

func (s scale) of(v float64) float64 { return (v - s.low) / (s.high - s.low) }

func (s scale) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	return number(s.low) + ":" + number(s.high)
}

// A scaling is how the scale of a source is found: Options.Scale.
type scaling struct {
	rule  string // auto, max, minmax or spins; "": it is given
	scale        // if it is given
}

// parseScaling reads Options.Scale.
func parseScaling(text string) (scaling, error) {
	switch text {
	case "", "auto":
		return scaling{rule: "auto"}, nil
	case "max", "minmax":
		return scaling{rule: text}, nil
	case "spins":
		return scaling{text, spins}, nil
	}
	low, high, both := strings.Cut(text, ":")
	if !both {
		low, high = "0", text
	}
	a, err := strconv.ParseFloat(low, 64)
	b, err2 := strconv.ParseFloat(high, 64)
	if err != nil || err2 != nil || !(a < b) || math.IsInf(b-a, 0) {
		return scaling{}, specErrorf("scale %s: it must be auto, max, minmax, spins, the value that is white, such as 255, or LOW:HIGH with LOW below HIGH", quote(text))
	}
	return scaling{scale: scale{a, b}}, nil
}

// CheckScale returns an [ErrSpec] unless text is a value of Options.Scale.
func CheckScale(text string) error {
	_, err := parseScaling(text)
	return err
}

// scaling is that of Options whose Scale parseScaling takes.
func (o Options) scaling() scaling {
	if o.Binarize == Standard {
		return raw
	}
	g, _ := parseScaling(o.Scale) // Load has looked at the error
	return g
}

// describe returns Set.Scale for values of this scale.
func (o Options) describe(s scale) string {
	switch rule := o.scaling().rule; rule {
	case "auto", "raw":
		return ""
	case "spins":
		return rule
	}
	return s.String()
}

// known returns the scale if it is known before the values are read. bytes says
// whether they are bytes, which may be grey up to 255.
func (g scaling) known(bytes bool) (scale, bool) {
	if g.rule == "auto" {
		return asIs, !bytes
	}
	return g.scale, g.rule == "" || g.rule == "raw" || g.rule == "spins"
}

// fit returns the scale of a source with these values, or a message that says
// why there is none.
func (g scaling) fit(e extent, bytes bool) (s scale, why string) {
	if s, ok := g.known(bytes); ok {
		return s, ""
	}
	switch g.rule {
	case "minmax":
		s.low = e.least
	case "auto":
		return byteScale(e.most)
	default:
		if e.least < 0 {
			return s, fmt.Sprintf("-scale max is for values from 0 up, and there is %g; take -scale minmax", e.least)
		}
	}
	s.high = e.most
	switch {
	case s.low == s.high:
		return s, fmt.Sprintf("all values are %g, which -scale %s cannot spread over [0,1]; give the range they may have, such as -scale 255", s.high, g.rule)
	case math.IsInf(s.high-s.low, 0):
		return s, fmt.Sprintf("values from %g to %g are too far apart to scale", s.low, s.high)
	}
	return s, ""
}

// wrong returns a message if v is no value to scale, else "".
func (g scaling) wrong(v float64, bytes bool) string {
	s, known := g.known(bytes)
	switch {
	case math.IsNaN(v):
		return "is not a number; fill in missing values first"
	case (!known || g.rule == "raw") && math.IsInf(v, 0):
		return "is not finite; fill it in first"
	case g.rule == "spins" && v != -1 && v != 1:
		return "is no spin, −1 or 1"
	case !known || g.rule == "raw" || v >= s.low && v <= s.high:
		return ""
	case g.rule == "":
		return fmt.Sprintf("is outside the scale %v; give all of the range by -scale LOW:HIGH", s)
	case v < 0:
		return "is outside [0,1]; scale the values to it by -scale minmax, or take -units gaussian"
	}
	return "is outside [0,1]; scale the values to it by -scale max, or -scale 255 if that is white, or take -units gaussian"
}

// byteScale returns the scale of bytes of which the largest is most: 255 is white
// in grey bytes, 1 in bytes that are 0 and 1. If neither can be meant, it
// returns a message.
func byteScale(most float64) (s scale, why string) {
	switch {
	case most > 1 && most < 128:
		return s, fmt.Sprintf("bytes up to %g only, so none is white or nearly so; say which is, by -scale max or -scale 255", most)
	case most > 1:
		return white, ""
	}
	return asIs, ""
}

// An extent is what is known of values after reading them once.
type extent struct {
	least, most float64
	some        [2]float64 // the first two different ones
	n           int        // of these
	more        bool       // there are others
}

func (e *extent) add(v float64) {
	for i := range e.n {
		if e.some[i] == v {
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
		e.some[e.n] = v
		e.n++
	}
}

// join adds the values of f.
func (e *extent) join(f extent) {
	for _, v := range f.some[:f.n] {
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
	for _, v := range e.some[:e.n] {
		if v != s.low && v != s.high {
			return true
		}
	}
	return e.more
}

// levels are what grey bytes stand for.
type levels struct {
	value [256]float64
	on    [256]uint64 // 1 from ½ up
}

func (s scale) levels() *levels {
	l := new(levels)
	for g := range l.value {
		if l.value[g] = s.of(float64(g)); l.value[g] >= 0.5 {
			l.on[g] = 1
		}
	}
	return l
}

var whiteLevels = white.levels()
