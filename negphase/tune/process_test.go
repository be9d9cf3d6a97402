package tune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"gorbm/rbm"
)

// sample returns noisy values of a smooth function of two coordinates.
func sample(n int) (data []Observation) {
	r := rbm.NewKey(3).Rand()
	for _, x := range LatinHypercube(n, 2, rbm.NewKey(1)) {
		value := 5 + 2*math.Sin(6*x[0]) + x[1] + 0.2*r.NormFloat64()
		data = append(data, Observation{x, value})
	}
	return data
}

var sampleHyper = Hyper{Signal: 1.3, Noise: 0.2, Length: []float64{0.3, 1.5}}

// textbook returns mean and standard deviation at x, and the log marginal
// likelihood of the standardised values, by the formulas of section 4.1 with an explicit inverse and
// determinant.
func textbook(h Hyper, data []Observation, x []float64) (mean, sd, likelihood float64) {
	n := len(data)
	y, k, full := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil), mat.NewDense(n, n, nil)
	values := make([]float64, n)
	kernel := func(a, b []float64) float64 {
		return h.Signal * h.Signal * math.Exp(-(math.Pow((a[0]-b[0])/h.Length[0], 2)+math.Pow((a[1]-b[1])/h.Length[1], 2))/2)
	}
	for i, o := range data {
		values[i] = o.Value
	}
	center, scale := stat.PopMeanStdDev(values, nil)
	for i, a := range data {
		y.SetVec(i, (a.Value-center)/scale)
		k.SetVec(i, kernel(x, a.At))
		for j, b := range data {
			full.Set(i, j, kernel(a.At, b.At))
		}
		full.Set(i, i, full.At(i, i)+h.Noise*h.Noise)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(full); err != nil {
		panic(err)
	}
	variance := h.Signal*h.Signal - mat.Inner(k, &inverse, k)
	logDet, _ := mat.LogDet(full)
	return center + scale*mat.Inner(k, &inverse, y), scale * math.Sqrt(variance),
		-mat.Inner(y, &inverse, y)/2 - logDet/2 - float64(n)/2*math.Log(2*math.Pi)
}

// rounding is the largest difference between two ways to compute numbers of
// order 10 from a covariance with a condition number below 1e4 (30 points,
// Signal/Noise = 1.3/0.1): 1e4·2⁻⁵³·10, times a margin of 10.
const rounding = 1e-10

func TestProcessIsTheTextbooks(t *testing.T) {
	data := sample(30)
	p, err := Condition(sampleHyper, data)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := logLikelihood(sampleHyper, data)
	for _, x := range [][]float64{{0.2, 0.9}, {0.5, 0.5}, {1, 0}, data[4].At} {
		mean, sd, likelihood := textbook(sampleHyper, data, x)
		m, s := p.Predict(x)
		if math.Abs(m-mean) > rounding || math.Abs(s-sd) > rounding || math.Abs(p.Mean(x)-mean) > rounding {
			t.Errorf("at %v: %v ± %v, want %v ± %v", x, m, s, mean, sd)
		}
		if math.Abs(got-likelihood) > rounding*30 {
			t.Errorf("log likelihood %v, want %v", got, likelihood)
		}
	}
}

// Add gives the same result as Condition, for the same mean and scale of values.
func TestAddIsCondition(t *testing.T) {
	data := sample(30)
	all, _ := Condition(sampleHyper, data)
	p, _ := Condition(sampleHyper, data[:12])
	mean, scale := p.mean, p.scale
	for _, o := range data[12:] {
		if !p.Add(o) {
			t.Fatal("refused")
		}
	}
	for i := range all.z {
		all.z[i] = (data[i].Value - mean) / scale
	}
	all.mean, all.scale = mean, scale
	all.solve()
	x := []float64{0.3, 0.6}
	m1, s1 := p.Predict(x)
	m2, s2 := all.Predict(x)
	if math.Abs(m1-m2) > rounding || math.Abs(s1-s2) > rounding {
		t.Errorf("%v ± %v, want %v ± %v", m1, s1, m2, s2)
	}
	p.Noise = 1e-10
	exact := Observation{At: []float64{3, 3}, Value: 1} // far from the others, with hardly any noise
	if !p.Add(exact) || p.Add(exact) {
		t.Error("a second exact observation at one point must be refused")
	}
}

func TestGradientOfLikelihood(t *testing.T) {
	data := sample(20)
	_, gradient := logLikelihood(sampleHyper, data)
	const step = 1e-5
	for i, got := range gradient {
		at := func(by float64) float64 {
			h := Hyper{sampleHyper.Signal, sampleHyper.Noise, append([]float64(nil), sampleHyper.Length...)}
			*[]*float64{&h.Signal, &h.Noise, &h.Length[0], &h.Length[1]}[i] *= math.Exp(by)
			v, _ := logLikelihood(h, data)
			return v
		}
		// The difference quotient has an error of step²/6 times third derivatives of order 100,
		// and a rounding error of 1e-12 divided by the step.
		if want := (at(step) - at(-step)) / (2 * step); math.Abs(got-want) > 1e-6 {
			t.Errorf("derivative %d is %v, want %v", i, got, want)
		}
	}
}

// The result of Fit is at least as good as the best point of a fine grid of all four hyper-parameters.
func TestFitFindsTheMaximum(t *testing.T) {
	data := sample(40)
	h, value := Fit(data, 100, initial(2), Hyper{Signal: 0.3, Noise: 1, Length: []float64{3, 0.1}})
	if again, _ := logLikelihood(h, data); math.Abs(again-value) > 1e-9 {
		t.Errorf("says %v, is %v", value, again)
	}
	best := math.Inf(-1)
	grid := func(b [2]float64, n int) []float64 { return floats.LogSpan(make([]float64, n), b[0], b[1]) }
	for _, signal := range grid(signalBounds, 7) {
		for _, noise := range grid(noiseBounds, 7) {
			for _, a := range grid(lengthBounds, 9) {
				for _, b := range grid(lengthBounds, 9) {
					v, _ := logLikelihood(Hyper{signal, noise, []float64{a, b}}, data)
					best = max(best, v)
				}
			}
		}
	}
	if value < best {
		t.Errorf("likelihood %v at %+v, a grid has %v", value, h, best)
	}
	// The data have noise of 0.2. From 40 values the noise has a relative error of 1/√80; the
	// tolerance is four times this.
	_, sd := stat.PopMeanStdDev(valuesOf(data), nil)
	if noise := h.Noise * sd; math.Abs(noise/0.2-1) > 4/math.Sqrt(80) {
		t.Errorf("noise %v, want 0.2", noise)
	}
	if h.Length[0] >= h.Length[1] {
		t.Errorf("lengths %v: the first coordinate matters more, got %v, want less than %v", h.Length, h.Length[0], h.Length[1])
	}
}

func valuesOf(data []Observation) (v []float64) {
	for _, o := range data {
		v = append(v, o.Value)
	}
	return v
}

// Observations at one point, with hardly any noise, need jitter; values that are
// not finite are an error.
func TestJitter(t *testing.T) {
	x := []float64{0.5, 0.5}
	data := []Observation{{x, 1}, {x, 2}, {[]float64{0, 1}, 4}}
	p, err := Condition(Hyper{Signal: 1.3, Noise: 1e-10, Length: []float64{0.3, 1.5}}, data)
	if err != nil {
		t.Fatal(err)
	}
	if m, s := p.Predict(x); math.Abs(m-1.5) > 1e-3 || !(s < 0.01) {
		t.Errorf("%v ± %v, want the mean 1.5 of both", m, s)
	}
	if _, err := Condition(Hyper{Signal: math.NaN(), Noise: 1, Length: []float64{1, 1}}, data); err == nil {
		t.Error("no error for a covariance of NaN")
	}
}

// sklearn is a Python program that prints mean, standard deviation and log marginal likelihood by
// scikit-learn's Gaussian process for the points on its input.
const sklearn = `
import json, sys
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
d = json.load(sys.stdin)
k = ConstantKernel(d["signal"]**2, "fixed") * RBF(d["length"], "fixed")
g = GaussianProcessRegressor(k, alpha=d["sd"]**2, optimizer=None).fit(d["at"], d["z"])
m, s = g.predict(d["x"], return_std=True)
print(json.dumps([list(m), list(s), g.log_marginal_likelihood_value_]))`

func TestProcessIsScikitLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	program := ""
	var missing []string
	for _, p := range []string{"python3", "/usr/bin/python3"} { // the first in $PATH may lack scikit-learn
		out, err := exec.Command(p, "-c", "import sklearn").CombinedOutput()
		if err == nil {
			program = p
			break
		}
		missing = append(missing, fmt.Sprintf("%s: %v %s", p, err, bytes.TrimSpace(out)))
	}
	if program == "" {
		t.Skipf("needs python3 with scikit-learn: %s", strings.Join(missing, "; "))
	}
	data := sample(30)
	p, _ := Condition(sampleHyper, data)
	x := [][]float64{{0.2, 0.9}, {0.5, 0.5}, {1, 0}}
	input, _ := json.Marshal(map[string]any{"signal": sampleHyper.Signal, "length": sampleHyper.Length, "sd": sampleHyper.Noise, "at": p.at, "z": p.z, "x": x})
	python := exec.Command(program, "-c", sklearn)
	python.Stdin = bytes.NewReader(input)
	out, err := python.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mean, sd []float64
	var likelihood float64
	if err := json.Unmarshal(out, &[]any{&mean, &sd, &likelihood}); err != nil {
		t.Fatal(err)
	}
	for i, x := range x {
		m, s := p.Predict(x)
		if math.Abs((m-p.mean)/p.scale-mean[i]) > rounding || math.Abs(s/p.scale-sd[i]) > rounding {
			t.Errorf("at %v: %v ± %v, want %v ± %v", x, m, s, mean[i], sd[i])
		}
	}
	if got, _ := logLikelihood(sampleHyper, data); math.Abs(got-likelihood) > rounding*30 {
		t.Errorf("log likelihood %v, want %v", got, likelihood)
	}
}

func logLikelihood(h Hyper, data []Observation) (value float64, gradient []float64) {
	p := newProcess(data)
	p.Hyper = h
	return p.likelihood()
}
