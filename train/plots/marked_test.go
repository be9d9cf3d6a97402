package plots

import (
	"image/color"
	"testing"
)

// Given values are blue, holes are yellow, and Ink paints all others.
func TestMarkedInk(t *testing.T) {
	for _, p := range []float32{0, 0.3, 1} {
		if MarkedInk(p) != Ink(p) {
			t.Errorf("%v is %v, want %v", p, MarkedInk(p), Ink(p))
		}
		if c := MarkedInk(Given(p)); !(c.B > c.G && c.G > c.R) {
			t.Errorf("a given %v is %v, not blue", p, c)
		}
	}
	if light, dark := MarkedInk(Given(0)), MarkedInk(Given(1)); !(light.G > 2*dark.G) || dark != (color.RGBA{0x08, 0x30, 0x6B, 0xFF}) {
		t.Errorf("given 0 is %v and 1 is %v", light, dark)
	}
	if c := MarkedInk(Hole); !(c.R > c.B && c.G > c.B) {
		t.Errorf("a hole is %v, not yellow", c)
	}
}
