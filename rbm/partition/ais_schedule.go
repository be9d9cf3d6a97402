package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gorbm/rbm"
)

// placeEvenly is the fraction of the length of the path that is spread evenly over β. An interval
// in which the pilot run had no variance then has steps too: no step is larger than
// twenty times an even one.
const placeEvenly = 0.05

// place returns the inverse temperatures of s for m: the given path, or one placed
// by two pilot runs.
//
// Let p*_β(v) be the unnormalised probability of v at β, and U = ∂ log p*_β(v)/∂β. A step Δ of β
// multiplies weights by w = e^(ΔU) to first order. The conditional effective sample size (Zhou,
// Johansen & Aston 2016), as a fraction of the chains, is therefore
//
//	(E w)²/E w² = 1 − Δ²·Var U + O(Δ³).
//
// It is the same for all steps if Δ·√Var U is. place therefore divides the path into parts of equal
// length ∫ √Var U dβ. The pilot runs measure the length of each step as the standard deviation of
// the gains. The first pilot run has evenly spaced temperatures, the second those from the first.
func (s Annealing) place(ctx context.Context, m *rbm.RBM, key rbm.Key, progress func(done float64)) ([]float64, error) {
	if s.Path != nil {
		return onFloat32(slices.Clone(s.Path)), nil
	}
	if s.Pilot == 0 || s.Temperatures == 2 {
		return evenPath(s.Temperatures), nil
	}
	// The pilot runs have a twentieth and a tenth of the temperatures, but at least 11 and 21.
	path := evenPath(max(11, s.Temperatures/20))
	rounds := []int{max(21, s.Temperatures/10), s.Temperatures}
	for i, next := range rounds {
		v, h := m.NewVisible(s.Pilot), m.NewHidden(s.Pilot)
		s.Base.Draw(m, v, h, key.Child(uint64(2*i)))
		length := make([]float64, len(path)-1)
		err := rbm.AnnealRanks(ctx, s.Group, m, s.Base, path, v, key.Child(uint64(2*i+1)), func(k int, gains []float64) { length[k] = deviation(gains) }, nil)
		if err != nil {
			return nil, err
		}
		if progress != nil {
			progress(float64(i+1) / float64(len(rounds)))
		}
		path = equalParts(path, smooth(length, path), next)
	}
	return path, nil
}

// deviation returns the standard deviation of at least two values. It avoids fused multiply-adds, like
// all functions that place temperatures, because the draws of the run depend on the temperatures.
func deviation(x []float64) float64 {
	mean, sum, n := 0.0, 0.0, float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		sum += float64((v - mean) * (v - mean))
	}
	return math.Sqrt(sum / (n - 1))
}

// smooth returns smoothed lengths of the steps of path, because variances of few chains are uncertain.
// The speed of a step is its length divided by Δβ. smooth replaces it by the root mean square of
// the speeds of the step and of two neighbours on each side.
func smooth(length, path []float64) []float64 {
	out := make([]float64, len(length))
	for k := range out {
		sum, n := 0.0, 0.0
		for i := max(0, k-2); i <= min(len(length)-1, k+2); i++ {
			if d := path[i+1] - path[i]; d > 0 {
				sum += float64((length[i] / d) * (length[i] / d))
				n++
			}
		}
		if n > 0 {
			out[k] = (path[k+1] - path[k]) * math.Sqrt(sum/n)
		}
	}
	return out
}

// equalParts returns n inverse temperatures from 0 to 1, or fewer if some are equal
// in float32. The temperatures divide path into parts of equal length. length has the length of each step of
// path; the fraction placeEvenly of the total is spread evenly over β.
func equalParts(path, length []float64, n int) []float64 {
	total := 0.0
	for _, l := range length {
		total += l
	}
	if total == 0 {
		return evenPath(n)
	}
	place := make([]float64, n)
	at, k := 0.0, 0 // at is the length up to path[k]
	step := func(k int) float64 {
		return float64((1-placeEvenly)*length[k]/total) + float64(placeEvenly*(path[k+1]-path[k]))
	}
	for i := 1; i < n-1; i++ {
		want := float64(i) / float64(n-1)
		for k < len(length)-1 && at+step(k) < want {
			at += step(k)
			k++
		}
		part := min(1, (want-at)/step(k))
		place[i] = path[k] + float64(part*(path[k+1]-path[k]))
	}
	place[n-1] = 1
	return onFloat32(place)
}

// evenPath returns n ≥ 2 evenly spaced inverse temperatures from 0 to 1.
func evenPath(n int) []float64 {
	path := make([]float64, n)
	for i := range path {
		path[i] = float64(i) / float64(n-1)
	}
	return onFloat32(path)
}

// onFloat32 rounds path to float32, the precision of inverse temperatures in Gibbs steps. It removes
// duplicates, which occur from about 10⁵ temperatures on.
func onFloat32(path []float64) []float64 {
	for i, b := range path {
		path[i] = float64(float32(b))
	}
	return slices.Compact(path)
}

// checkPath returns an error unless path is nil or ascends from 0 to 1.
func checkPath(path []float64) error {
	if path == nil {
		return nil
	}
	if len(path) < 2 || path[0] != 0 || path[len(path)-1] != 1 {
		return errors.New("a path of inverse temperatures begins with 0 and ends with 1")
	}
	for i, b := range path[1:] {
		if !(b > path[i]) {
			return fmt.Errorf("a path of inverse temperatures ascends; %v follows %v", b, path[i])
		}
	}
	return nil
}
