package main

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"gorbm/experiments/internal/chains"
	"gorbm/experiments/internal/figures"
	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/negphase/diag"
	"gorbm/negphase/mcmc"
	"gorbm/rbm"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment(new(string)), run) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment(new(string))) }

// τ in each unit is τ in moves times the cost of a move.
func TestClocks(t *testing.T) {
	const sites, n = 5, 3000
	energies := make([]float64, n)
	r := rbm.NewKey(1).Rand()
	for i := range energies {
		energies[i] = r.Float64()
	}
	s := system{moves: 10, attempts: 200} // an IM move is worth 20 attempts
	tau := diag.Summarize(energies[n/3:]).Time.Tau
	for name, want := range map[string]struct {
		info                  mcmc.Info
		seconds, flips, moves float64
	}{
		im:       {mcmc.Info{Updates: 99, Flips: 7 * n}, 2e-3, 7, 1},
		exchange: {mcmc.Info{Updates: sites * n, Flips: 99}, 2e-3, 2 * sites, sites / 20.},
	} {
		got := map[string]float64{}
		s.measure(chains.Run{Name: name, Energies: energies, Info: want.info, Seconds: 2e-3 * n}, sites, func(panel, _ string, _, y float64) { got[panel] = y })
		for unit, worth := range map[string]float64{"seconds": want.seconds, "flips": want.flips, "moves": want.moves} {
			if x := got[chains.Tau+unit]; math.Abs(x-tau*worth) > 1e-12 {
				t.Errorf("%s: τ is %g %s, want %g", name, x, unit, tau*worth)
			}
		}
	}
}

// All filters have the root mean square of the authors' weights, and successive filters differ.
func TestGabor(t *testing.T) {
	const side, hidden = 12, 30
	m := gabor(side, hidden, rbm.NewKey(1))
	var all []float64
	for j := range hidden {
		var w []float64
		for i := range side * side {
			w = append(w, float64(m.Weight(i, j)))
		}
		if rms := math.Sqrt(stat.Mean(squares(w), nil)); math.Abs(rms-weightSD) > 1e-6 {
			t.Errorf("filter %d has root mean square %g, want %g ± 1e-6", j, rms, weightSD)
		}
		if j > 0 && stat.Correlation(w, all[len(all)-len(w):], nil) > 0.9 {
			t.Errorf("filters %d and %d are alike", j-1, j)
		}
		all = append(all, w...)
	}
}

func squares(x []float64) (y []float64) {
	for _, v := range x {
		y = append(y, v*v)
	}
	return y
}

// The page warns of samplers whose mean energies differ.
func TestApart(t *testing.T) {
	s := cube
	for _, c := range []struct {
		name string
		gap  float64
		want bool
	}{{"together", 0, false}, {"apart", 5, true}} {
		var points []figures.Point
		for repeat := 1; repeat <= 4; repeat++ {
			for i, curve := range curves {
				y := float64(repeat%2) * float64(i+1)
				if curve == exchange {
					y += c.gap
				}
				points = append(points, figures.Point{Panel: s.Panel(chains.Mean), Curve: curve, Repeat: repeat, Y: y})
			}
		}
		var b strings.Builder
		s.table(&b, figures.TableOf(points...))
		if got := strings.Contains(b.String(), `the mean energies of "IM" and "exchange" differ`); got != c.want {
			t.Errorf("%s: the page says that means differ: got %v, want %v", c.name, got, c.want)
		}
	}
}
