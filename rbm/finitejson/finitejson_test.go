package finitejson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type inner struct {
	A float64   `json:"a,omitempty"`
	B []float64 `json:"b,omitempty"`
	C *float64  `json:"c"`
}

type Embedded struct {
	E float32 `json:"e"`
	F int     `json:"f,omitempty"`
}

// text has a method for text, on its pointer.
type text struct{ x float64 }

func (t *text) MarshalJSON() ([]byte, error) { return json.Marshal(t.x > 0) }

// outer has fields of all forms that occur in this module.
type outer struct {
	inner    // unexported, but its fields are written
	Embedded `json:"embedded"`
	*pointed
	Name   string  `json:"name"`
	Plain  float64 // no tag
	Hidden float64 `json:"-"`
	//lint:ignore U1000 an unexported field, which is never written
	private float64
	Map     map[string]float64 `json:"map,omitempty"`
	Numbers map[int]*float64   `json:"numbers"`
	List    []inner            `json:"list"`
	Pair    [2]float32         `json:"pair"`
	Any     any                `json:"any,omitempty"`
	Nil     any                `json:"nil"`
	Raw     json.RawMessage    `json:"raw,omitempty"`
	Bytes   []byte             `json:"bytes,omitempty"`
	Text    text               `json:"text"`
	Count   int64              `json:"count,omitempty"`
	Yes     bool               `json:"yes"`
	Next    *outer             `json:"next,omitempty"`
}

type pointed struct {
	P float64 `json:"p"`
}

// fill sets every float in v to the next number, and returns their number.
func fill(v reflect.Value, next func() float64) {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if v.CanSet() {
			v.SetFloat(next())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), next)
		}
	case reflect.Interface:
		if !v.IsNil() {
			x := reflect.New(v.Elem().Type()).Elem()
			x.Set(v.Elem())
			fill(x, next)
			v.Set(x)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			x := reflect.New(v.Type().Elem()).Elem()
			x.Set(v.MapIndex(k))
			fill(x, next)
			v.SetMapIndex(k, x)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[text]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
				fill(v.Field(i), next)
			}
		}
	}
}

// example returns a new value with a float in each possible position.
func example() *outer {
	x := func() *float64 { return new(float64) }
	return &outer{
		inner: inner{B: make([]float64, 2), C: x()}, pointed: &pointed{}, Name: "a <b> & \x1b \"c\"",
		Map: map[string]float64{"z": 0, "a": 0, "": 0}, Numbers: map[int]*float64{7: x(), -3: nil, 10: x()},
		List: []inner{{}, {B: make([]float64, 1)}, {C: x()}},
		Any:  map[string]any{"x": 0., "y": []any{0., "text", nil}, "w": nil}, Raw: json.RawMessage(`{"k":1e5}`), Bytes: []byte{1, 2}, Text: text{1},
		Next: &outer{Text: text{-1}},
	}
}

// numbers returns a source of numbers from bytes. One in four is not finite.
func numbers(b []byte) func() float64 {
	at := 0
	return func() float64 {
		c := byte(0)
		if len(b) > 0 {
			c = b[at%len(b)]
		}
		at++
		switch c % 8 {
		case 0:
			return math.Inf(int(c/8)%2*2 - 1)
		case 1:
			return math.NaN()
		case 2:
			return 0
		}
		return (float64(c) - 128) / 16
	}
}

// sentinel replaces numbers that are not finite. The expected text is that of encoding/json with
// null for the text of sentinel. No other number equals it.
const sentinel, sentinelText = 12345.5, "12345.5"

func check(t *testing.T, b []byte) {
	t.Helper()
	ours, twin := example(), example()
	fill(reflect.ValueOf(ours).Elem(), numbers(b))
	next, holes := numbers(b), 0
	fill(reflect.ValueOf(twin).Elem(), func() float64 {
		x := next()
		if math.IsNaN(x) || math.IsInf(x, 0) {
			holes++
			return sentinel
		}
		return x
	})
	for _, v := range [][2]any{{ours, twin}, {*ours, *twin}, {[]any{ours, "x"}, []any{twin, "x"}}, {map[string]outer{"k": *ours}, map[string]outer{"k": *twin}}} {
		want, err := json.Marshal(v[1])
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(want, []byte(sentinelText)); n != holes {
			t.Fatalf("%d sentinels are written for %d numbers that are not finite", n, holes)
		}
		want = bytes.ReplaceAll(want, []byte(sentinelText), []byte("null"))
		got, err := Marshal(v[0])
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("Marshal writes\n%s, want\n%s", got, want)
		}
		var indented, plain bytes.Buffer
		if err := errors.Join(Write(&indented, v[0], "  "), Write(&plain, v[0], "")); err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := json.Compact(&again, indented.Bytes()); err != nil {
			t.Fatal(err)
		}
		if again.String()+"\n" != plain.String() || !strings.Contains(plain.String(), "a <b> & ") {
			t.Fatalf("indented it is\n%s, and plain\n%s", indented.Bytes(), plain.Bytes())
		}
		var a, c any
		if err := errors.Join(json.Unmarshal(plain.Bytes(), &a), json.Unmarshal(want, &c)); err != nil || !reflect.DeepEqual(a, c) {
			t.Fatalf("%v: Write writes\n%s, want\n%s", err, plain.Bytes(), want)
		}
	}
}

// TestNull checks each kind of number that is not finite in each position, one at a time and all
// together.
func TestNull(t *testing.T) {
	places := 0
	fill(reflect.ValueOf(example()).Elem(), func() float64 { places++; return 0 })
	if places < 20 {
		t.Fatalf("the example holds %d numbers, want at least 20", places)
	}
	for at := range places {
		for _, c := range []byte{0, 8, 1} { // −Inf, +Inf, NaN
			b := bytes.Repeat([]byte{2}, places)
			b[at] = c
			check(t, b)
		}
	}
	check(t, []byte{0})
	check(t, []byte{1})
	check(t, []byte{8})
	check(t, []byte{200})
}

// TestErrors checks that values that encoding/json cannot write for other reasons still give an
// error.
func TestErrors(t *testing.T) {
	type holder struct{ X failing }
	var cycle []any
	cycle = append(cycle, &cycle)
	for _, v := range []any{func() {}, map[string]any{"x": make(chan int), "y": math.NaN()}, holder{}, &cycle} {
		if text, err := Marshal(v); err == nil {
			t.Errorf("%T becomes %s", v, text)
		}
		var b bytes.Buffer
		if err := Write(&b, v, ""); err == nil || b.Len() > 0 {
			t.Errorf("%T: %v; written is %s", v, err, &b)
		}
	}
}

// failing has a method for JSON that fails like a number that is not finite.
type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return json.Marshal(math.Inf(1)) }

// FuzzMarshal compares with encoding/json, for any numbers in any positions.
func FuzzMarshal(f *testing.F) {
	for _, b := range []string{"", "\x00", "\x08\x01", "\x20\x40\x01\x02\x50", "abcdefgh"} {
		f.Add([]byte(b))
	}
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}

// TestNumber checks that a Number comes back as it was, and that texts of earlier forms are read.
func TestNumber(t *testing.T) {
	for _, x := range []float64{0, -1.5, math.Pi, math.SmallestNonzeroFloat64, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)} {
		text, err := json.Marshal([]Number{Number(x)})
		var back []Number
		if err = errors.Join(err, json.Unmarshal(text, &back)); err != nil || len(back) != 1 || float64(back[0]) != x && !(math.IsNaN(x) && math.IsNaN(float64(back[0]))) {
			t.Errorf("%v is written as %s and comes back as %v: %v", x, text, back, err)
		}
	}
	for text, want := range map[string]float64{`"-3.25"`: -3.25, `"+Inf"`: math.Inf(1), "7e2": 700} {
		var x Number
		if err := json.Unmarshal([]byte(text), &x); err != nil || float64(x) != want {
			t.Errorf("%s is read as %v: %v", text, x, err)
		}
	}
	for _, text := range []string{"null", `""`, `"NaN"`} {
		var x Number
		if err := json.Unmarshal([]byte(text), &x); err != nil || !math.IsNaN(float64(x)) {
			t.Errorf("%s is read as %v: %v", text, x, err)
		}
	}
	for _, text := range []string{`"x"`, "true", "[]", "{}"} {
		if err := json.Unmarshal([]byte(text), new(Number)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
