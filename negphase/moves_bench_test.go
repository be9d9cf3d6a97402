package negphase

import (
	"testing"

	"gorbm/rbm"
)

// BenchmarkWalks measures an update of ten chains of 784 × 500 units, and separately its parts
// that are no moves: setting the parameters, and loading the states.
func BenchmarkWalks(b *testing.B) {
	m := shape{784, 500, 0, rbm.Softmax}.random(1, 0.1)
	for _, text := range []string{"pcd:k=1", "sardonics:k=19-20:walks=single", "sardonics:k=1-20", "im:k=1-20", "walk:gibbs", "pt:tau=1/1.5/2:sardonics:k=1-20"} {
		b.Run("negphase="+text, func(b *testing.B) {
			s := parse(b, text)
			e, err := New(s)
			if err != nil {
				b.Fatal(err)
			}
			n := uint64(0)
			estimate := func() {
				n++
				if _, _, err := e.Estimate(m, rbm.Batch{}, rbm.NewKey(n)); err != nil {
					b.Fatal(err)
				}
			}
			estimate()
			b.ReportAllocs()
			for b.Loop() {
				estimate()
			}
		})
	}
	b.Run("part=prepare", func(b *testing.B) {
		w := newMoves(*parse(b, "sardonics").sampler(), 1)
		for b.Loop() {
			if err := w.prepare(m, coldest, 10); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("part=load", func(b *testing.B) {
		w := newMoves(samplerSettings{mover: still{}}, 1)
		if err := w.prepare(m, coldest, 10); err != nil {
			b.Fatal(err)
		}
		s := rbm.NewStates(m, 10)
		s.H.Randomize(rbm.NewKey(1))
		s.V.Randomize(rbm.NewKey(2))
		at, info := make([]int32, 10), Info{}
		for i := range at {
			at[i] = int32(i)
		}
		for b.Loop() {
			w.run(m, s, at, nil, rbm.NewKey(3), &info, new(team))
		}
	})
}
