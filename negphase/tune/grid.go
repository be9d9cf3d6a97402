package tune

import (
	"gorbm/negphase/mcmc"
)

// Grid tries the settings that one would try by hand: walks of 1 to K flips at
// bias γ, all else as before tuning, for five K and five γ. Each gets an equal part
// of so many seconds of computing. It returns the settings with the largest Rate.
func (p *Problem) Grid(seconds float64, room int) (best mcmc.Mover, err error) {
	var grid []mcmc.Mover
	for _, k := range []int{5, 10, 25, 50, 100} {
		for _, gamma := range []float64{0.95, 1, 1.02, 1.05, 1.1} {
			switch m := p.Space.Base.(type) {
			case mcmc.Sardonics:
				m.MinLength, m.MaxLength = 1, min(k, room)
				m.Gamma1 = gamma * match(m.Weights)
				grid = append(grid, m)
			case mcmc.Intracluster:
				m.MinLength, m.MaxLength = 1, min(k, room)
				m.GammaDown = gamma * match(m.Weights)
				m.GammaUp = m.GammaDown
				grid = append(grid, m)
			}
		}
	}
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
