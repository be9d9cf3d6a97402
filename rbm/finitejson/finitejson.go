// Package finitejson writes numbers that may be NaN or infinite, which JSON cannot express. In results a
// float64 of this kind becomes null: see Marshal. In states that are read back it is a Number, which keeps
// its value.
package finitejson

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// A Number is a float64 of a saved state. JSON has NaN and infinities as the texts "NaN", "+Inf" and "-Inf".
type Number float64

// MarshalJSON writes x with as many digits as its value needs.
func (x Number) MarshalJSON() ([]byte, error) {
	if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte(`"` + strconv.FormatFloat(f, 'g', -1, 64) + `"`), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON reads a number, or the text of one. null and "" are NaN.
func (x *Number) UnmarshalJSON(b []byte) error {
	text := strings.Trim(string(b), `"`)
	if text == "null" || text == "" {
		*x = Number(math.NaN())
		return nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%.40q is not a number", text)
	}
	*x = Number(f)
	return nil
}

// Marshal returns v as JSON. v must not have cycles.
func Marshal(v any) (text []byte, err error) {
	err = retry(v, func(v any) error {
		text, err = json.Marshal(v)
		return err
	})
	return text, err
}

// Write writes v as JSON and a newline. If indent is not empty, each element is on a separate line.
// The characters <, > and & are not escaped. v must not have cycles.
func Write(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	return retry(v, e.Encode) // Encode writes nothing before all of v is encoded
}

// Writer returns a function that calls Write, for atomicfile.Write.
func Writer(v any, indent string) func(w io.Writer) error {
	return func(w io.Writer) error { return Write(w, v, indent) }
}

// retry calls encode with v. If v has a number that is not finite, it calls encode again with a copy
// in which such numbers are null.
func retry(v any, encode func(v any) error) error {
	err := encode(v)
	var unsupported *json.UnsupportedValueError
	if !errors.As(err, &unsupported) || !isFloat(unsupported.Value.Kind()) {
		return err
	}
	if finite, changed := replace(reflect.ValueOf(v)); changed {
		return encode(finite)
	}
	return err // the number is in a type with a method for JSON or text
}

func isFloat(k reflect.Kind) bool { return k == reflect.Float32 || k == reflect.Float64 }

var (
	null    = json.RawMessage("null")
	anyType = reflect.TypeFor[any]()
	byJSON  = reflect.TypeFor[json.Marshaler]()
	byText  = reflect.TypeFor[encoding.TextMarshaler]()
)

// replace returns a copy of v that encoding/json writes like v, but with null
// for numbers that are not finite. changed reports whether there are any.
func replace(v reflect.Value) (copied any, changed bool) {
	if !v.IsValid() {
		return nil, false
	}
	for _, t := range []reflect.Type{v.Type(), reflect.PointerTo(v.Type())} {
		if t.Implements(byJSON) || t.Implements(byText) { // it determines its JSON
			return nil, false
		}
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return null, math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	case reflect.Pointer, reflect.Interface:
		return replace(v.Elem())
	case reflect.Slice, reflect.Array:
		var list []any
		for i := range v.Len() {
			x, replaced := replace(v.Index(i))
			if replaced && list == nil {
				list = make([]any, v.Len())
				for k := range list {
					list[k] = original(v.Index(k))
				}
			}
			if replaced {
				list[i] = x
			}
		}
		return list, list != nil
	case reflect.Map:
		m := reflect.MakeMap(reflect.MapOf(v.Type().Key(), anyType))
		for it := v.MapRange(); it.Next(); {
			x, replaced := replace(it.Value())
			if !replaced {
				x = it.Value().Interface()
			}
			value := reflect.New(anyType).Elem() // an any, which can be nil
			if x != nil {
				value.Set(reflect.ValueOf(x))
			}
			m.SetMapIndex(it.Key(), value)
			changed = changed || replaced
		}
		return m.Interface(), changed
	case reflect.Struct:
		return replaceFields(v)
	}
	return nil, false
}

// replaceFields is replace for a struct. The copy is a struct, or a pointer to one, with the same
// fields, including those of embedded structs. Changed fields have type any.
func replaceFields(v reflect.Value) (copied any, changed bool) {
	var fields []reflect.StructField
	var values []reflect.Value
	var named [][]int // embedded structs that have a name in JSON
	for _, f := range reflect.VisibleFields(v.Type()) {
		inside := func(index []int) bool {
			return len(f.Index) > len(index) && reflect.DeepEqual(f.Index[:len(index)], index)
		}
		skip := false
		for _, index := range named {
			skip = skip || inside(index)
		}
		inlined := f.Anonymous && f.Tag.Get("json") == "" // VisibleFields also lists its fields
		if skip || inlined || !f.IsExported() {
			continue
		}
		if f.Anonymous {
			named = append(named, f.Index)
		}
		value, err := v.FieldByIndexErr(f.Index)
		if err != nil { // the field is in a nil embedded pointer
			continue
		}
		field := reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag}
		if x, replaced := replace(value); replaced {
			field.Type, value, changed = anyType, reflect.ValueOf(x), true
		}
		fields, values = append(fields, field), append(values, value)
	}
	if !changed {
		return nil, false
	}
	s := reflect.New(reflect.StructOf(fields))
	for i, value := range values {
		s.Elem().Field(i).Set(value)
	}
	if v.CanAddr() {
		return s.Interface(), true
	}
	return s.Elem().Interface(), true
}

// original returns v for use in a copy: as a pointer if v is addressable, so that encoding/json
// calls the same methods.
func original(v reflect.Value) any {
	if v.CanAddr() {
		return v.Addr().Interface()
	}
	return v.Interface()
}
