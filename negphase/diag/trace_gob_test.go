package diag

import (
	"bytes"
	"encoding/gob"
	"fmt"
	"math"
	"testing"
)

// A trace that was encoded and decoded by gob is identical to the original, including the sign of
// zeros, and continues identically.
func TestTraceTravels(t *testing.T) {
	for _, n := range []int{0, 1, 3, 100} {
		sent, got := NewTrace(16), new(Trace)
		zero := math.Copysign(0, -1)
		for i := range n {
			sent.Add(zero * float64(i/3))
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(sent); err != nil {
			t.Fatal(err)
		}
		if err := gob.NewDecoder(&b).Decode(got); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if a, b := fmt.Sprintf("%+v", *sent), fmt.Sprintf("%+v", *got); a != b {
				t.Errorf("%d values: %s arrives as %s", n, a, b)
			}
			sent.Add(0.3)
			got.Add(0.3)
		}
	}
}
