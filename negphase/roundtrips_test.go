package negphase

import (
	"testing"

	"gorbm/rbm"
)

// BenchmarkRoundTrips is an update of 4 groups on tuned and frozen ladders of sharp
// random models; round trips of a particle in a thousand updates say how well
// an order exchanges.
func BenchmarkRoundTrips(b *testing.B) {
	for _, c := range []struct {
		name string
		m    *rbm.RBM
	}{
		{"random-100x60", shape{100, 60, 0, 0}.random(7, 0.7)},
		{"random-784x100", shape{784, 100, 0, 0}.random(7, 0.3)},
		{"independent-300", independent(299, 1, 8)},
		{"independent-1500", independent(1499, 1, 8)},
	} {
		m := c.m
		for _, text := range []string{"pt:order=sweep", "pt:order=evenodd", "pins:block=4", "pins:block=6", "pins:block=8", "pins:block=10", "pins:block=12"} {
			b.Run("model="+c.name+"/negphase="+text, func(b *testing.B) {
				e := estimator(b, text+":tau=auto:chains=4").(Tempered)
				n := uint64(0)
				update := func() {
					n++
					if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(n)); err != nil {
						b.Fatal(err)
					}
				}
				for range 2000 {
					update()
				}
				e.Freeze()
				before := e.Ladder()
				b.ResetTimer()
				for range b.N {
					update()
				}
				l := e.Ladder()
				particles := float64(4 * len(l.Beta))
				b.ReportMetric(1000*float64(l.RoundTrips-before.RoundTrips)/float64(b.N)/particles, "trips/1000")
				b.ReportMetric(float64(len(l.Beta)), "rungs")
				b.ReportMetric(l.Barrier, "barrier")
			})
		}
	}
}
