package figures

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"gorbm/rbm/atomicfile"
)

// A Point is the value y at x of a curve in a panel, in one repetition.
type Point struct {
	Panel, Curve string
	Repeat       int
	X, Y         float64
}

// A Table holds the points of a figure by the job that made them.
type Table struct {
	jobs   []string // complete jobs, in the order of their rows
	points map[string][]Point
}

// secondsPanel is the panel of a job's last point, whose y is the running time in seconds.
const secondsPanel = "seconds"

var columns = []string{"job", "panel", "curve", "repeat", "x", "y"}

// add adds the points of a job and its running time. It rounds points as a file does,
// so that pages and pictures do not depend on when a job was run.
func (t *Table) add(job string, points []Point, seconds float64) {
	for i := range points {
		points[i].X, points[i].Y = rounded(points[i].X), rounded(points[i].Y)
	}
	if t.points == nil {
		t.points = map[string][]Point{}
	}
	t.jobs = append(t.jobs, job)
	t.points[job] = append(points, Point{Panel: secondsPanel, Y: seconds})
}

// TableOf returns a table of one job with these points.
func TableOf(points ...Point) *Table {
	t := &Table{}
	t.add("", points, 0)
	return t
}

// has reports whether a job is complete.
func (t *Table) has(job string) bool { return t.points[job] != nil }

// only returns a table of the given jobs that are complete, in the order given.
func (t *Table) only(jobs []Job) *Table {
	o := &Table{points: map[string][]Point{}}
	for _, j := range jobs {
		if t.has(j.Name) {
			o.jobs = append(o.jobs, j.Name)
			o.points[j.Name] = t.points[j.Name]
		}
	}
	return o
}

// All yields the points of all complete jobs, without their times.
func (t *Table) All(yield func(p Point) bool) {
	for _, j := range t.jobs {
		for _, p := range t.points[j] {
			if p.Panel != secondsPanel && !yield(p) {
				return
			}
		}
	}
}

// seconds returns the sum of the running times of all complete jobs.
func (t *Table) seconds() (sum float64) {
	for _, j := range t.jobs {
		sum += t.points[j][len(t.points[j])-1].Y
	}
	return sum
}

// Curve returns the points of a curve, of all repetitions.
func (t *Table) Curve(panel, curve string) (points []Point) {
	for p := range t.All {
		if p.Panel == panel && p.Curve == curve {
			points = append(points, p)
		}
	}
	return points
}

// Has reports whether a panel has points.
func (t *Table) Has(panel string) bool { return len(t.Curves(panel)) > 0 }

// Curves returns the names of the curves of a panel, in order of appearance.
func (t *Table) Curves(panel string) (names []string) {
	for p := range t.All {
		if p.Panel == panel && !slices.Contains(names, p.Curve) {
			names = append(names, p.Curve)
		}
	}
	return names
}

// Xs returns the distinct x of the named curves of a panel, in order; of all its curves without names.
func (t *Table) Xs(panel string, curves ...string) []float64 {
	seen := map[float64]bool{}
	for p := range t.All {
		if p.Panel == panel && (len(curves) == 0 || slices.Contains(curves, p.Curve)) {
			seen[p.X] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// LastX returns the largest x of Xs, and 0 if there is none.
func (t *Table) LastX(panel string, curves ...string) float64 {
	xs := t.Xs(panel, curves...)
	if len(xs) == 0 {
		return 0
	}
	return xs[len(xs)-1]
}

// At returns the values of a curve at x by repetition.
func (t *Table) At(panel, curve string, x float64) Repeats {
	r := Repeats{}
	for _, p := range t.Curve(panel, curve) {
		if p.X == x {
			r[p.Repeat] = p.Y
		}
	}
	return r
}

// Last returns the values of a curve at its largest x by repetition.
func (t *Table) Last(panel, curve string) Repeats {
	return t.At(panel, curve, t.LastX(panel, curve))
}

// Mean returns the means of a curve's values over lo ≤ x ≤ hi by repetition.
func (t *Table) Mean(panel, curve string, lo, hi float64) Repeats {
	sum, n := Repeats{}, map[int]float64{}
	for _, p := range t.Curve(panel, curve) {
		if lo <= p.X && p.X <= hi {
			sum[p.Repeat] += p.Y
			n[p.Repeat]++
		}
	}
	for r := range sum {
		sum[r] /= n[r]
	}
	return sum
}

// After returns the means of a curve's values over x ≥ fraction·max(x), by repetition.
func (t *Table) After(panel, curve string, fraction float64) Repeats {
	return t.Mean(panel, curve, fraction*t.LastX(panel, curve), math.Inf(1))
}

// Repeats are numbers by repetition. Paired differences are between equal keys.
type Repeats map[int]float64

// Average returns the mean and the standard deviation over repetitions. The
// standard deviation of one repetition is 0.
func (r Repeats) Average() (mean, sd float64) {
	var x []float64
	for _, k := range slices.Sorted(maps.Keys(r)) {
		x = append(x, r[k])
	}
	if len(x) < 2 {
		return stat.Mean(x, nil), 0
	}
	return stat.MeanStdDev(x, nil)
}

// Mean returns the mean over repetitions.
func (r Repeats) Mean() float64 {
	mean, _ := r.Average()
	return mean
}

// Logs returns the natural logarithms.
func (r Repeats) Logs() Repeats {
	l := Repeats{}
	for k, x := range r {
		l[k] = math.Log(x)
	}
	return l
}

// ReadTable reads a table, which is empty if there is no file. Jobs without a running
// time are incomplete, and are left out.
func ReadTable(path string) (*Table, error) {
	t := &Table{points: map[string][]Point{}}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], columns) {
		return nil, fmt.Errorf("%s: the columns are not those of an experiment; choose another -out", path)
	}
	begun := map[string][]Point{}
	for i, line := range lines[1:] {
		p := Point{Panel: line[1], Curve: line[2]}
		var errs [3]error
		p.Repeat, errs[0] = strconv.Atoi(line[3])
		p.X, errs[1] = strconv.ParseFloat(line[4], 64)
		p.Y, errs[2] = strconv.ParseFloat(line[5], 64)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+2, err)
		}
		job := line[0]
		if p.Panel == secondsPanel {
			t.add(job, begun[job], p.Y)
			continue
		}
		begun[job] = append(begun[job], p)
	}
	return t, nil
}

// write replaces the file by the table, the jobs of plan first and in its order, so that a file does not
// depend on the order in which jobs end.
func (t *Table) write(path string, plan []Job) error {
	first := t.only(plan)
	return atomicfile.Write(path, func(w io.Writer) error {
		c := csv.NewWriter(w)
		c.Write(columns)
		rows := func(job string) {
			for _, p := range t.points[job] {
				c.Write([]string{job, p.Panel, p.Curve, strconv.Itoa(p.Repeat), number(p.X), number(p.Y)})
			}
		}
		for _, job := range first.jobs {
			rows(job)
		}
		for _, job := range t.jobs {
			if !first.has(job) {
				rows(job)
			}
		}
		c.Flush()
		return c.Error()
	})
}

// number formats x with seven digits, as many as a float32 has.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }

// rounded returns x with the digits of number.
func rounded(x float64) float64 {
	y, err := strconv.ParseFloat(number(x), 64)
	if err != nil {
		panic(err) // number writes what ParseFloat reads
	}
	return y
}
