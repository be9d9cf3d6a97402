package exact

import (
	"fmt"
	"testing"

	"gorbm/rbm"
)

func BenchmarkLogZ(b *testing.B) {
	for _, hidden := range []int{14, 20} {
		b.Run(fmt.Sprintf("visible=784/hidden=%d", hidden), func(b *testing.B) {
			m := rbm.New(784, hidden, 0, rbm.Softmax)
			m.Randomize(0.05, rbm.NewKey(1))
			for i := range m.VisibleBias {
				m.VisibleBias[i] -= 1.45
			}
			for b.Loop() {
				if _, err := LogZ(b.Context(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMomentsExact(b *testing.B) {
	for _, s := range []shape{{16, 4, 0, rbm.Softmax}, {784, 14, 0, rbm.Softmax}} {
		b.Run(fmt.Sprintf("visible=%d/hidden=%d", s.visible, s.hidden), func(b *testing.B) {
			m := s.random(1, 0.05)
			e, err := New(m, GradientLimit)
			if err != nil {
				b.Fatal(err)
			}
			dst := rbm.NewMoments(m)
			b.ReportAllocs()
			for b.Loop() {
				e.Set(m)
				e.Moments(dst)
			}
		})
	}
}
