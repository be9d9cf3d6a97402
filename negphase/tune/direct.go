package tune

import (
	"cmp"
	"math"
	"slices"
)

// Direct maximises f over the unit cube of the given dimension by the DIRECT algorithm (Jones,
// Perttunen & Stuckman 1993). It makes about the given number of evaluations, but at least 1 + 2·dims,
// and returns the best point and its value. f must not keep or change
// its argument. The algorithm is deterministic.
//
// The cube is divided into rectangles, and the value of f at the centre of each is known. If f changes
// by at most K per unit of distance, a rectangle with value c and radius r has the upper bound c + K·r.
// A rectangle is divided into thirds along all of its longest sides if for some K > 0 it has the
// largest bound of all rectangles, and this bound exceeds the best value by at least ε times its
// magnitude (definition 3.1). Of rectangles with equal size and value, the first one is divided.
func Direct(f func(x []float64) float64, dims, evaluations int) (best []float64, value float64) {
	d := direct{f: f, dims: dims, bySize: map[int][]*rectangle{}}
	center := make([]float64, dims)
	for i := range center {
		center[i] = 0.5
	}
	d.add(d.evaluate(center), make([]int, dims))
	for d.count < evaluations || d.count == 1 {
		for _, r := range d.optimal() {
			d.divide(r)
			if d.count >= evaluations {
				break
			}
		}
	}
	return d.best.center, d.best.value
}

// epsilon is ε. Jones et al. found similar results for values from 1e-3 to 1e-7.
const epsilon = 1e-4

// A rectangle is a part of the cube, with the value of f at its centre.
type rectangle struct {
	center []float64
	value  float64 // f at the centre
	cuts   []int   // for each side: the number of times that it was divided by 3
}

// total returns the total number of cuts. The cuts of two sides differ by at most one, so
// rectangles with equal totals have equal size.
func (r *rectangle) total() (n int) {
	for _, c := range r.cuts {
		n += c
	}
	return n
}

type direct struct {
	f      func(x []float64) float64
	dims   int
	count  int
	bySize map[int][]*rectangle // [total] rectangles in descending order of value
	best   rectangle
}

func (d *direct) evaluate(center []float64) rectangle {
	r := rectangle{center: center, value: d.f(center)}
	if math.IsNaN(r.value) {
		r.value = math.Inf(-1)
	}
	if d.count++; d.count == 1 || r.value > d.best.value {
		d.best = r
	}
	return r
}

// add inserts a rectangle after those of its size that are not worse.
func (d *direct) add(r rectangle, cuts []int) {
	r.cuts = cuts
	size := r.total()
	list := d.bySize[size]
	at, _ := slices.BinarySearchFunc(list, r.value, func(o *rectangle, v float64) int {
		if o.value >= v {
			return -1
		}
		return 1
	})
	d.bySize[size] = slices.Insert(list, at, &r)
}

// radius returns the distance from the centre to a corner of a rectangle with the given total of cuts.
func (d *direct) radius(total int) float64 {
	each, extra := total/d.dims, total%d.dims
	side := math.Pow(3, -float64(each))
	return side / 2 * math.Sqrt(float64(d.dims-extra)+float64(extra)/9)
}

// optimal returns the rectangles to be divided, the largest first. These rectangles are on the upper
// right convex hull of the points (radius, best value at this radius).
func (d *direct) optimal() []*rectangle {
	var sizes []int
	for size, list := range d.bySize {
		if len(list) > 0 {
			sizes = append(sizes, size)
		}
	}
	slices.Sort(sizes) // largest rectangles first
	type corner struct {
		r      *rectangle
		radius float64
	}
	var hull []corner
	for _, size := range sizes {
		c := corner{d.bySize[size][0], d.radius(size)}
		// A smaller rectangle must be better than all larger ones.
		if len(hull) > 0 && !(c.r.value > hull[len(hull)-1].r.value) {
			continue
		}
		for len(hull) >= 2 {
			a, b := hull[len(hull)-2], hull[len(hull)-1]
			// b is below the line from a to c.
			if (b.r.value-a.r.value)*(a.radius-c.radius) > (c.r.value-a.r.value)*(a.radius-b.radius) {
				break
			}
			hull = hull[:len(hull)-1]
		}
		hull = append(hull, c)
	}
	least := d.best.value + epsilon*math.Abs(d.best.value)
	var chosen []*rectangle
	for i, c := range hull {
		// The largest K for which c has the largest bound is the slope of the hull to the next larger
		// rectangle a.
		if i > 0 {
			a := hull[i-1]
			rate := (c.r.value - a.r.value) / (a.radius - c.radius)
			if c.r.value+rate*c.radius < least && !math.IsInf(a.r.value, -1) {
				continue
			}
		}
		chosen = append(chosen, c.r)
	}
	return chosen
}

// divide divides r along its longest sides. It starts with the side that has the best new value,
// so that this value is in the largest new rectangle.
func (d *direct) divide(r *rectangle) {
	size := r.total()
	d.bySize[size] = slices.DeleteFunc(d.bySize[size], func(o *rectangle) bool { return o == r })
	least := slices.Min(r.cuts)
	delta := math.Pow(3, -float64(least+1))
	type pair struct {
		side     int
		down, up rectangle
	}
	var pairs []pair
	for side, c := range r.cuts {
		if c != least {
			continue
		}
		down, up := slices.Clone(r.center), slices.Clone(r.center)
		down[side] -= delta
		up[side] += delta
		pairs = append(pairs, pair{side, d.evaluate(down), d.evaluate(up)})
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Compare(max(b.down.value, b.up.value), max(a.down.value, a.up.value))
	})
	cuts := slices.Clone(r.cuts)
	for _, p := range pairs {
		cuts[p.side]++
		d.add(p.down, slices.Clone(cuts))
		d.add(p.up, slices.Clone(cuts))
	}
	d.add(*r, cuts)
}
