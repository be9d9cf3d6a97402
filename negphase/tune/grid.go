package tune

import (
	"gorbm/negphase/mcmc"
)

// Grid tries the settings that one would try by hand: walks of 1 to K flips at
// bias γ, for five K and five γ. What is not tuned stays as before tuning, and so
// does all else. Each gets an equal part of so many seconds of computing. It returns
// the settings with the largest Rate.
func (p *Problem) Grid(seconds float64, room int) (best mcmc.Mover, err error) {
	grid := p.grid(room)
	t := &tuner{Problem: p, Options: Options{Seconds: seconds}, result: new(Result)}
	each := (1 - burnShare) * seconds / float64(len(grid))
	if err := t.start(each); err != nil {
		return nil, err
	}
	done, err := p.trials(t.lanes, grid, each/values, each)
	if err != nil {
		return nil, err
	}
	at := 0
	for i, trial := range done {
		if trial.Reward > done[at].Reward {
			at = i
		}
	}
	return grid[at], nil
}

// grid returns the settings that Grid tries.
func (p *Problem) grid(room int) (grid []mcmc.Mover) {
	lengths, biases := []int{5, 10, 25, 50, 100}, []float64{0.95, 1, 1.02, 1.05, 1.1}
	if !p.Space.free("k") {
		lengths = lengths[:1]
	}
	if !p.Space.free("gamma") {
		biases = biases[:1]
	}
	for _, k := range lengths {
		for _, gamma := range biases {
			switch m := p.Space.Base.(type) {
			case mcmc.Sardonics:
				if p.Space.free("k") {
					m.MinLength, m.MaxLength = 1, min(k, room)
				}
				if p.Space.free("gamma") {
					m.Gamma1 = gamma * match(m.Weights)
				}
				grid = append(grid, m)
			case mcmc.Intracluster:
				if p.Space.free("k") {
					m.MinLength, m.MaxLength = 1, min(k, room)
				}
				if p.Space.free("gamma") {
					m.GammaDown = gamma * match(m.Weights)
					m.GammaUp = m.GammaDown
				}
				grid = append(grid, m)
			}
		}
	}
	return grid
}
