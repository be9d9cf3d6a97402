package negphase_test

import (
	"fmt"

	"gorbm/negphase"
	"gorbm/rbm"
)

// The settings of an estimator are parsed from text. The estimator returns weighted particles.
func Example() {
	settings, err := negphase.Parse("ins:chains=2:tau=1/2/4", negphase.DefaultSettings(""))
	if err != nil {
		fmt.Println(err)
		return
	}
	estimator, err := negphase.New(settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := rbm.New(6, 4, 0, rbm.Softmax)
	model.Randomize(1, rbm.NewKey(1))
	negative, info, err := estimator.Estimate(model, rbm.Batch{}, rbm.NewKey(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	sum := float32(0)
	for _, w := range negative.Weight {
		sum += w
	}
	fmt.Println(settings)
	fmt.Printf("%d particles, weights add up to %.3f, %d Gibbs steps\n", negative.V.Rows, sum, info.Updates)
	// Output:
	// ins:k=1:swaps=1:chains=2:start=uniform:tau=1/2/4
	// 6 particles, weights add up to 1.000, 6 Gibbs steps
}

func ExampleParse() {
	_, err := negphase.Parse("pcd:chain=20", negphase.DefaultSettings(""))
	fmt.Println(err)
	_, err = negphase.Parse("pt:tau=1/3/2", negphase.DefaultSettings(""))
	fmt.Println(err)
	// Output:
	// pcd has no setting "chain"; did you mean chains? (it has k, chains, start)
	// pt: temperatures 1/3/2: they must rise, but 2 follows 3
}

// The counts of many calls are added, and rates are computed from the sums.
func ExampleInfo() {
	settings := negphase.DefaultSettings("pt")
	if err := settings.Set("tau", "1/1.5/2"); err != nil {
		fmt.Println(err)
		return
	}
	estimator, err := negphase.New(settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := rbm.New(6, 4, 0, rbm.Softmax)
	model.Randomize(1, rbm.NewKey(1))
	var total negphase.Info
	for n := range uint64(1000) {
		_, info, err := estimator.Estimate(model, rbm.Batch{}, rbm.NewKey(2).Child(n))
		if err != nil {
			fmt.Println(err)
			return
		}
		total.Add(info)
	}
	fmt.Printf("swap rates %.2f, %d round trips\n", total.SwapRates(), int64(total.Get(negphase.RoundTrips)))
	// Output: swap rates [0.63 0.77], 5054 round trips
}

// Self-avoiding walks flip units of both layers. By default the lengths of walks are
// limited by the number of units.
func Example_walks() {
	settings, err := negphase.Parse("sardonics:gamma=1:chains=20:moves=2", negphase.DefaultSettings(""))
	if err != nil {
		fmt.Println(err)
		return
	}
	model := rbm.New(6, 4, 0, rbm.Softmax)
	model.Randomize(1, rbm.NewKey(1))
	fmt.Println(settings.Fitted(model))
	estimator, err := negphase.New(settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	var total negphase.Info
	for n := range uint64(100) {
		_, info, err := estimator.Estimate(model, rbm.Batch{}, rbm.NewKey(2).Child(n))
		if err != nil {
			fmt.Println(err)
			return
		}
		total.Add(info)
	}
	moves := total.Moves()
	acceptance, _ := moves.Acceptance()
	fmt.Printf("%d moves of %d flips, %.0f %% accepted\n", moves.Moves, moves.Flips/moves.Moves, 100*acceptance)
	// Output:
	// sardonics:k=1-9:gamma=1:weights=heatbath:walks=1:chains=20:start=uniform:moves=2
	// 4000 moves of 10 flips, 33 % accepted
}
