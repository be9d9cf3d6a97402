package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/parallel"
	"gorbm/rbm/partition"
)

// scanGroups is the smallest number of segments of a run that reweighting computes errors from. With 32
// segments an error is known to about an eighth of its value.
const scanGroups = 32

// curvePoints is the number of temperatures of a curve.
const curvePoints = 81

// A figure is an observable at one temperature, as a function of the means of E, E², |m|, m² and m⁴, where E
// is the energy minus a constant.
type figure struct {
	key, label string
	spins      bool                 // only for systems whose magnetisation is measured
	measured   func(r row) estimate // the value from the run at that temperature
	// from returns the value at beta for a system of n units, and its derivatives with respect to
	// the means.
	from func(beta, n float64, mean []float64) (value float64, slopes [5]float64)
}

// figures are the observables of a scan, in the order of tables and charts.
var figures = []figure{
	{"energy_per_spin", "energy/spin", false,
		func(r row) estimate { n := float64(r.system.Len()); return estimate{r.Mean / n, r.StdErr / n} },
		func(_, n float64, mean []float64) (float64, [5]float64) { return mean[0] / n, [5]float64{1 / n} }},
	{"specific_heat", "specific heat", false, row.specificHeat,
		func(beta, n float64, mean []float64) (float64, [5]float64) {
			scale := beta * beta / n
			return scale * (mean[1] - float64(mean[0]*mean[0])), [5]float64{-2 * scale * mean[0], scale}
		}},
	{"abs_magnetisation", "|m|", true,
		func(r row) estimate { return r.abs(spins) },
		func(_, _ float64, mean []float64) (float64, [5]float64) { return mean[2], [5]float64{2: 1} }},
	{"susceptibility", "susceptibility", true, row.susceptibility,
		func(beta, n float64, mean []float64) (float64, [5]float64) {
			scale := beta * n
			return scale * (mean[3] - float64(mean[2]*mean[2])), [5]float64{2: -2 * scale * mean[2], 3: scale}
		}},
	{"binder_cumulant", "Binder cumulant", true,
		func(r row) estimate { return r.binder(spins) },
		func(_, _ float64, mean []float64) (float64, [5]float64) {
			norm := 1 / (3 * mean[3] * mean[3])
			return 1 - mean[4]*norm, [5]float64{3: 2 * mean[4] * norm / mean[3], 4: -norm}
		}},
}

// A curve has the results of reweighting between the temperatures of a scan.
type curve struct {
	beta     []float64
	logZ     []estimate
	values   [][]estimate // figures × points of beta
	scanned  [][]estimate // figures × temperatures of the scan
	absolute bool         // the hottest temperature has β = 0, where log Z is known; otherwise log Z is relative to that temperature
}

var errTooShort = errors.New("too few moves; run longer")

// reweigh returns the curve of contestant i from its states in all chains.
func (p *plan) reweigh(i int) (*curve, error) {
	temperatures := len(p.scan.betas)
	c := p.contestants[i]
	segments := max(2, (scanGroups+len(p.runs)-1)/len(p.runs))
	rounds := math.MaxInt
	for _, run := range p.runs {
		rounds = min(rounds, len(run[i].Scanned.Log.Energy)/temperatures)
	}
	rounds -= rounds % segments
	if rounds == 0 {
		return nil, errTooShort
	}
	const moments = 5 // see figure; the constant in E is centre
	n := float64(c.system.Len())
	centre := p.runs[0][i].Scanned.At[0].Energy.Summary().Mean
	d := make([][]float64, temperatures)
	values := make([][][]float64, moments)
	for o := range values {
		values[o] = make([][]float64, temperatures)
	}
	for k := range temperatures {
		for _, run := range p.runs {
			log := run[i].Scanned.Log
			for t := len(log.Energy)/temperatures - rounds; t < len(log.Energy)/temperatures; t++ {
				energy, m := log.Energy[t*temperatures+k], log.M[t*temperatures+k]
				d[k] = append(d[k], energy)
				energy -= centre
				square := float64(m * m)
				for o, x := range [moments]float64{energy, float64(energy * energy), math.Abs(m), square, float64(square * square)} {
					values[o][k] = append(values[o][k], x)
				}
			}
		}
	}
	q := p.scan.systems[p.scan.systemOf[i]]
	out := &curve{}
	lowest, logZ0 := p.scan.betas[temperatures-1], 0.0
	if lowest == 0 {
		out.absolute, logZ0 = true, q.logStates()
	}
	w, err := partition.NewReweighting(p.scan.betas, d, segments*len(p.runs), logZ0)
	if err != nil {
		return nil, err
	}
	out.beta = make([]float64, curvePoints)
	low, high := p.scan.span()
	for at := range out.beta {
		x := low + float64((high-low)*float64(at)/(curvePoints-1))
		if !p.scan.inBeta {
			x = 1 / x
		}
		out.beta[at] = min(max(x, lowest), p.scan.betas[0])
	}
	ends := []float64{p.scan.betas[0], lowest} // exact, without the rounding of 1/x
	if p.scan.inBeta {
		slices.Reverse(ends)
	}
	out.beta[0], out.beta[curvePoints-1] = ends[0], ends[1]
	out.logZ = make([]estimate, curvePoints)
	out.values, out.scanned = make([][]estimate, len(figures)), make([][]estimate, len(figures))
	for f := range figures {
		out.values[f], out.scanned[f] = make([]estimate, curvePoints), make([]estimate, temperatures)
	}
	parallel.Do(curvePoints+temperatures, func(at int) {
		scanned := at - curvePoints // index of a temperature of the scan, or negative for a point of the curve
		beta := p.scan.betas[max(0, scanned)]
		if scanned < 0 {
			beta = out.beta[at]
		}
		r := w.At(beta, values...)
		switch {
		case scanned >= 0:
		case beta == lowest: // log Z of the other points is relative to this one
			out.logZ[at] = estimate{logZ0, 0}
		default:
			out.logZ[at] = estimate{r.LogZ, partition.StdErr(r.LogZShift)}
		}
		for f, figure := range figures {
			value, slopes := figure.from(beta, n, r.Mean)
			if f == 0 {
				value += centre / n
			}
			shift := make([]float64, len(r.LogZShift))
			for o, slope := range slopes {
				if slope != 0 {
					floats.AddScaled(shift, slope, r.Shift[o])
				}
			}
			if e := (estimate{value, partition.StdErr(shift)}); scanned >= 0 {
				out.scanned[f][scanned] = e
			} else {
				out.values[f][at] = e
			}
		}
	})
	return out, nil
}

// logStates returns the logarithm of the number of states, which is log Z at β = 0.
func (p *plan) logStates() float64 {
	n := float64(p.units)
	if !p.keepsUp {
		return n * math.Ln2
	}
	k := float64(p.active)
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// A crossing is the point at which the Binder cumulants of two systems are equal.
type crossing struct {
	a, b string
	x    estimate // value of the variable of the scan
}

// moverOf returns the index of contestant i's sampler among the samplers of its system.
func (p *plan) moverOf(i int) int { return i % len(p.scan.systems[0].movers) }

// crossings returns the crossings of successive systems, for each sampler. It skips systems without a
// curve.
func (p *plan) crossings(curves []*curve) (all []crossing) {
	const binder = 4
	last := map[int]int{} // from a sampler to its last contestant with a curve
	for i, b := range curves {
		if b == nil || p.contestants[i].Scanned.At[0].Spins == nil {
			continue
		}
		if a, ok := last[p.moverOf(i)]; ok {
			if x, ok := p.cross(curves[a], b, binder); ok {
				all = append(all, crossing{p.contestants[a].name, p.contestants[i].name, x})
			}
		}
		last[p.moverOf(i)] = i
	}
	return all
}

// cross returns the point at which two curves of figure f cross. ok is true if they cross exactly once:
// their difference changes its sign once, between values at least two standard errors from 0.
func (p *plan) cross(a, b *curve, f int) (x estimate, ok bool) {
	sign, from, found := 0.0, 0, estimate{}
	times := 0
	for at := range a.beta {
		d := a.values[f][at].mean - b.values[f][at].mean
		if math.Abs(d) < 2*math.Hypot(a.values[f][at].err, b.values[f][at].err) {
			continue
		}
		if s := math.Copysign(1, d); sign != 0 && s != sign {
			times++
			found = p.crossBetween(a, b, f, from, at)
		}
		sign, from = math.Copysign(1, d), at
	}
	return found, times == 1
}

// crossBetween returns the first crossing of two curves between the points from and to, at which their
// difference has opposite signs. Its standard error is that of the difference, divided by the slope of the
// difference.
func (p *plan) crossBetween(a, b *curve, f, from, to int) estimate {
	diff := func(at int) float64 { return a.values[f][at].mean - b.values[f][at].mean }
	at := from
	for at+1 < to && diff(at)*diff(at+1) > 0 {
		at++
	}
	x0, x1 := p.scan.x(a.beta[at]), p.scan.x(a.beta[at+1])
	d0, d1 := diff(at), diff(at+1)
	slope := (diff(to) - diff(from)) / (p.scan.x(a.beta[to]) - p.scan.x(a.beta[from]))
	return estimate{x0 + (x1-x0)*d0/(d0-d1), math.Hypot(a.values[f][at].err, b.values[f][at].err) / math.Abs(slope)}
}

// rowAt returns the result of contestant i at temperature k, from all chains.
func (p *plan) rowAt(i, k int) row {
	c := *p.contestants[i]
	c.beta = p.scan.betas[k]
	var runs []*measured
	for _, run := range p.runs {
		m, o := run[i], run[i].Scanned.At[k]
		runs = append(runs, &measured{Info: m.Info, Elapsed: m.Elapsed, Observables: o, Trace: o.Energy, Exchanges: m.Exchanges, Within: m.Scanned.Within[k]})
	}
	return newRow(&c, runs)
}

// describeSystems returns a line for each system, and the temperatures of the scan.
func (p *plan) describeSystems() string {
	s := p.scan
	text := ""
	for i, q := range s.systems {
		if i > 0 {
			text += "\n"
		}
		text += fmt.Sprintf("%s: %d spins, %d bonds", q.model, q.units, q.pairs)
		if q.keepsUp {
			text += fmt.Sprintf("; %d spins up", q.active)
		}
	}
	low, high := s.span()
	text = fmt.Sprintf("%s; %d temperatures from %s = %.6g to %.6g", text, len(s.betas), s.name(), low, high)
	if s.auto {
		text += ", chosen for equal acceptance of swaps"
	}
	return text
}
