package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"

	"gorbm/rbm"
)

// Before a race the results of all programs are compared, because times of different
// work cannot be compared.

// changeOf makes the given number of steps, in which the chains forget their start. Then it makes
// the same number again, and returns how these change the parameters. weights overwrites
// its argument, visible × hidden, with the weights. biases returns the visible
// biases.
func changeOf(steps int, visible, hidden int, weights func(dst rbm.Matrix), biases func() []float32, step func() error) (change, error) {
	for range steps {
		if err := step(); err != nil {
			return change{}, err
		}
	}
	matrix := func() rbm.Matrix { return rbm.NewMatrix(visible, hidden) }
	start, before, now, last := matrix(), matrix(), matrix(), matrix()
	weights(start)
	weights(now)
	first := slices.Clone(biases())
	c := change{Weights: make([]float64, visible), Biases: make([]float64, visible)}
	for n := range steps {
		before, now = now, before
		if err := step(); err != nil {
			return c, err
		}
		weights(now)
		for i, w := range now.Data {
			d := w - before.Data[i]
			if n > 0 {
				jump := float64(d - last.Data[i])
				c.Jumps += jump * jump
			}
			last.Data[i] = d
		}
	}
	for i, b := range biases() {
		for j, w := range now.Row(i) {
			d := float64(w - start.Row(i)[j])
			c.Weights[i] += d / float64(hidden)
			c.Whole += d * d
		}
		c.Biases[i] = float64(b - first[i])
	}
	return c, nil
}

// maxZ is the largest allowed difference of a peer's result, in standard deviations. A normal
// deviate exceeds it in one of 10⁹ trials, and Student's t with 11 degrees of freedom, for 12
// replicates, in one of 20000.
const maxZ = 6

// sameChange returns an error if a peer's change is not one that gorbm could have
// made. It compares three numbers with those of replicates of gorbm, of which
// there are at least three. The first is the distance of the change, of every bias
// and of every unit's mean weight, from the mean over replicates; it tests the mean
// of the gradient. The second is the sum of squares of the differences between one
// step and the next; it depends on the number of draws in a gradient. The third is
// the sum of squares of the whole change; it depends on how fast the chains mix.
func sameChange(peer change, own []change) error {
	if len(peer.Weights) != len(own[0].Weights) || len(peer.Biases) != len(own[0].Biases) {
		return fmt.Errorf("it moves %d weights and %d biases of visible units, gorbm %d", len(peer.Weights), len(peer.Biases), len(own[0].Weights))
	}
	var distances, jumps, whole []float64
	for i, c := range own {
		distances = append(distances, distance(c, slices.Delete(slices.Clone(own), i, i+1)))
		jumps, whole = append(jumps, math.Log(c.Jumps)), append(whole, math.Log(c.Whole))
	}
	d := distance(peer, own)
	if z := deviation(d, distances); !(z < maxZ) {
		return fmt.Errorf("its updates change the parameters differently: by %.2g of the change, and gorbm's seeds differ by %.2g (z = %.1f)", d, stat.Mean(distances, nil), z)
	}
	if z := deviation(math.Log(peer.Jumps), jumps); !(math.Abs(z) < maxZ) {
		return fmt.Errorf("its steps differ by %.4g times as much as gorbm's (z = %.1f)", math.Sqrt(peer.Jumps/math.Exp(stat.Mean(jumps, nil))), z)
	}
	if z := deviation(math.Log(peer.Whole), whole); !(math.Abs(z) < maxZ) {
		return fmt.Errorf("its change is %.4g times as large as gorbm's (z = %.1f)", math.Sqrt(peer.Whole/math.Exp(stat.Mean(whole, nil))), z)
	}
	return nil
}

// deviation returns x minus the mean of draws, in standard deviations of a new draw about that mean.
func deviation(x float64, draws []float64) float64 {
	mean, sd := stat.MeanStdDev(draws, nil)
	return (x - mean) / (sd * math.Sqrt(1+1/float64(len(draws))))
}

// distance returns the distance of c from the mean of the others, relative to the
// norm of that mean. Weights and biases count equally.
func distance(c change, others []change) float64 {
	relative := func(of func(c change) []float64) float64 {
		mean := make([]float64, len(of(c)))
		for _, o := range others {
			floats.AddScaled(mean, 1/float64(len(others)), of(o))
		}
		return floats.Distance(of(c), mean, 2) / floats.Norm(mean, 2)
	}
	return math.Hypot(relative(func(c change) []float64 { return c.Weights }), relative(func(c change) []float64 { return c.Biases }))
}

// sameValues returns an error if values differ by more than tolerance.
func sameValues(what string, peer, own []float64, tolerance float64) error {
	if len(peer) != len(own) || len(own) == 0 {
		return fmt.Errorf("%d values of %s, gorbm has %d", len(peer), what, len(own))
	}
	for i := range own {
		if !(math.Abs(peer[i]-own[i]) <= tolerance) {
			return fmt.Errorf("its %s is %.7g, gorbm's %.7g", what, peer[i], own[i])
		}
	}
	return nil
}

// sameEstimate returns an error if two estimates (value, standard error) differ by
// more than maxZ standard errors.
func sameEstimate(peer, own []float64) error {
	if len(peer) != 2 || len(own) != 2 {
		return fmt.Errorf("%d numbers for an estimate and its error", len(peer))
	}
	if z := (peer[0] - own[0]) / math.Hypot(peer[1], own[1]); !(math.Abs(z) < maxZ) {
		return fmt.Errorf("its log Z is %.6g ± %.2g, gorbm's %.6g ± %.2g", peer[0], peer[1], own[0], own[1])
	}
	return nil
}

// swapWeights returns the weights of infinite swapping by its definition. The weight of a particle
// is the fraction of Σ_σ exp(−Σ_k β_k E_σ(k)) with the particle at β_0, for energies E and
// permutations σ (Hult, Nyquist & Ringqvist 2020, Proposition 2).
func swapWeights(energies, betas []float64) []float64 {
	weights := make([]float64, len(energies))
	least := floats.Min(energies) * floats.Sum(betas) // prevents overflow
	for _, sigma := range combin.Permutations(len(energies), len(energies)) {
		x := least
		for k, i := range sigma {
			x -= betas[k] * energies[i]
		}
		weights[sigma[0]] += math.Exp(x)
	}
	floats.Scale(1/floats.Sum(weights), weights)
	return weights
}

const (
	replicates = 12 // replicates of gorbm's change
	// Tolerances. Probabilities are from float32 sums over some hundred units. log Z is from
	// energies of some hundred nats, float32 sums whose rounding errors are mostly the same in all
	// states. Weights are from float32 energies of some hundred nats.
	maxProbability = 1e-4
	maxLogZ        = 1e-3
	maxWeight      = 1e-4
	checkedRows    = 500
)

// checkEnergies are energies of five particles that are near enough for all to swap.
var checkEnergies = []float64{-101, -100.3, -102.5, -101.4, -99}

// answers returns gorbm's answers for a first model.
func (it item) answers(reference *child, start string) (list []reply, err error) {
	j := it.job
	j.Model = start
	if _, err := reference.ask(request{Do: "prepare", Job: &j}); err != nil {
		return nil, err
	}
	for _, ask := range it.asks() {
		r, err := reference.ask(ask)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// check returns an error if the peer, which has the job, does not do the work of
// gorbm, whose answers are own.
func (it item) check(peer *child, own []reply) error {
	said, err := peer.ask(it.asks()[0])
	if err != nil {
		return err
	}
	mine := own[0]
	switch it.job.Kind {
	case "classify":
		return sameValues("p(y|x)", exps(said.Values), exps(mine.Values), maxProbability)
	case "exact":
		return sameValues("log Z", said.Values, mine.Values, maxLogZ)
	case "ais":
		return sameEstimate(said.Values, mine.Values)
	}
	var changes []change
	for _, r := range own {
		changes = append(changes, r.change)
	}
	if err := sameChange(said.change, changes); err != nil {
		return err
	}
	if it.job.Kind == "ins" {
		w, err := peer.ask(request{Do: "answer", Energies: checkEnergies[:len(it.job.Betas)]})
		if err != nil {
			return err
		}
		return sameValues("weight of a particle", w.Values, swapWeights(checkEnergies[:len(it.job.Betas)], it.job.Betas), maxWeight)
	}
	return nil
}

func exps(x []float64) []float64 {
	p := make([]float64, len(x))
	for i, v := range x {
		p[i] = math.Exp(v)
	}
	return p
}

// asks returns the requests to gorbm. A peer gets only the first one.
func (it item) asks() (list []request) {
	switch it.job.Kind {
	case "classify", "exact", "ais":
		return []request{{Do: "answer", Rows: checkedRows}}
	}
	for seed := range uint64(replicates) {
		list = append(list, request{Do: "answer", Steps: it.checkSteps, Seed: seed + 1})
	}
	return list
}
