package rbm

import (
	"fmt"
	"math"
	"testing"
)

// A trace records the results of a computation as named values, in order. difference compares the
// traces of two runs that must be bit-identical.
type trace struct {
	step   int
	values []traced
}

type traced struct {
	step int
	name string
	bits []uint64
	show func(bits uint64) string
}

// add appends the bits of values, which are []float32, []float64 or []uint64.
func (t *trace) add(name string, values any) {
	v := traced{step: t.step, name: name}
	switch x := values.(type) {
	case []float32:
		v.show = func(b uint64) string { return fmt.Sprint(math.Float32frombits(uint32(b))) }
		for _, x := range x {
			v.bits = append(v.bits, uint64(math.Float32bits(x)))
		}
	case []float64:
		v.show = func(b uint64) string { return fmt.Sprint(math.Float64frombits(b)) }
		for _, x := range x {
			v.bits = append(v.bits, math.Float64bits(x))
		}
	case []uint64:
		v.show = func(b uint64) string { return fmt.Sprintf("%#x", b) }
		v.bits = append(v.bits, x...)
	default:
		panic(fmt.Sprintf("a trace of %T", values))
	}
	t.values = append(t.values, v)
}

// addModel appends the parameters of m.
func (t *trace) addModel(m *RBM) {
	t.add("weights in panels", m.w)
	t.add("visible biases", m.VisibleBias)
	t.add("hidden biases", m.HiddenBias)
}

// difference names the first value in which t differs from want, or returns "".
func (t *trace) difference(want *trace) string {
	for i, w := range want.values {
		if i == len(t.values) {
			return fmt.Sprintf("%d tensors, want %d", i, len(want.values))
		}
		got := t.values[i]
		if got.name != w.name || len(got.bits) != len(w.bits) {
			return fmt.Sprintf("tensor %d is %s of %d values, want %s of %d", i, got.name, len(got.bits), w.name, len(w.bits))
		}
		for j, b := range w.bits {
			if got.bits[j] != b {
				return fmt.Sprintf("step %d, %s: element %d is %s, want %s", w.step, w.name, j, got.show(got.bits[j]), w.show(b))
			}
		}
	}
	return ""
}

func TestTraceDifference(t *testing.T) {
	of := func(x float32, words ...uint64) *trace {
		tr := &trace{step: 2}
		tr.add("mean", []float32{1, x})
		tr.add("states", words)
		return tr
	}
	for _, c := range []struct {
		got, want *trace
		text      string
	}{
		{of(2, 7), of(2, 7), ""},
		{of(3, 7), of(2, 6), "step 2, mean: element 1 is 3, want 2"},
		{of(2, 7), of(2, 6), "step 2, states: element 0 is 0x7, want 0x6"},
		{of(2, 7, 7), of(2, 7), "tensor 1 is states of 2 values, want states of 1"},
	} {
		if got := c.got.difference(c.want); got != c.text {
			t.Errorf("got %q, want %q", got, c.text)
		}
	}
}
