package main

import (
	"math"
	"math/rand/v2"

	"gorbm/rbm"
)

// loops is PCD-1 as one writes it in an hour: plain loops over slices of float32,
// which skip units that are off. gorbm without assembly is compared with it.
type loops struct {
	job
	x          rbm.Values
	w          [][]float32 // a row a visible unit
	b, c       []float32
	h          [][]int     // active hidden units of each chain
	data, mean [][]float32 // hidden means of the data and of the chains
	rows, ons  [][]int     // active units of the data and of the chains
	random     *rand.Rand
	step       int
}

func newLoopsRunner(j job) (*runner, error) {
	m, set, err := j.load()
	if err != nil {
		return nil, err
	}
	return &runner{newLoops(j, m, set.X, j.Seed).update, func(ask request, out *reply) error {
		l := newLoops(j, m, set.X, ask.Seed)
		var err error
		out.change, err = changeOf(ask.Steps, j.Visible, j.Hidden, func(dst rbm.Matrix) {
			for i, row := range l.w {
				copy(dst.Row(i), row)
			}
		}, func() []float32 { return l.b }, l.update)
		return err
	}}, nil
}

func newLoops(j job, m *rbm.RBM, x rbm.Values, seed uint64) *loops {
	l := &loops{job: j, x: x, b: append([]float32(nil), m.VisibleBias...), c: append([]float32(nil), m.HiddenBias...), random: rbm.NewKey(seed).Rand()}
	for i := range j.Visible {
		row := make([]float32, j.Hidden)
		for k := range row {
			row[k] = m.Weight(i, k)
		}
		l.w = append(l.w, row)
	}
	for range j.Batch {
		l.data, l.rows = append(l.data, make([]float32, j.Hidden)), append(l.rows, nil)
	}
	for range j.Chains {
		var h []int
		for k := range j.Hidden {
			if l.random.Uint64()&1 != 0 {
				h = append(h, k)
			}
		}
		l.h, l.mean, l.ons = append(l.h, h), append(l.mean, make([]float32, j.Hidden)), append(l.ons, nil)
	}
	return l
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

// up overwrites mean with p(h=1|v) of the active visible units.
func (l *loops) up(mean []float32, on []int) {
	copy(mean, l.c)
	for _, i := range on {
		for k, w := range l.w[i] {
			mean[k] += w
		}
	}
	for k, x := range mean {
		mean[k] = sigmoid(x)
	}
}

// update takes one step.
func (l *loops) update() error {
	first := l.step % (l.x.Rows / l.Batch) * l.Batch
	l.step++
	for r := range l.rows {
		l.rows[r] = l.rows[r][:0]
		l.x.Each(first+r, func(i int) { l.rows[r] = append(l.rows[r], i) })
		l.up(l.data[r], l.rows[r])
	}
	for r, h := range l.h {
		l.ons[r] = l.ons[r][:0]
		for i, row := range l.w {
			a := l.b[i]
			for _, k := range h {
				a += row[k]
			}
			if l.random.Float32() < sigmoid(a) {
				l.ons[r] = append(l.ons[r], i)
			}
		}
		l.up(l.mean[r], l.ons[r])
		l.h[r] = h[:0]
		for k, p := range l.mean[r] {
			if l.random.Float32() < p {
				l.h[r] = append(l.h[r], k)
			}
		}
	}
	l.ascend(float32(l.Rate)/float32(l.Batch), l.rows, l.data)
	l.ascend(-float32(l.Rate)/float32(l.Chains), l.ons, l.mean)
	return nil
}

func (l *loops) ascend(rate float32, rows [][]int, means [][]float32) {
	for r, on := range rows {
		for _, i := range on {
			l.b[i] += rate
			row := l.w[i]
			for k, p := range means[r] {
				row[k] += rate * p
			}
		}
		for k, p := range means[r] {
			l.c[k] += rate * p
		}
	}
}
