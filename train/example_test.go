package train_test

import (
	"context"
	"fmt"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
)

// An RBM with a label layer learns the toy data of the infinite-swapping
// paper with parallel tempering.
func Example() {
	ctx := context.Background()
	set, _, err := data.Load(ctx, "toy:4,4,100,0.2", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	preset := train.PresetFor(set, true) // the defaults of rbmtrain for these data
	settings := preset.Settings("pt")
	settings.Horizon = 2000
	model := preset.NewModel(set, 8, true, settings.Seed)
	trainer, err := train.New(settings, set, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	metrics, err := train.NewMetrics([]string{"log_likelihood"}, model, train.Sets{Train: set}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	evaluator := &train.Evaluator{Metrics: metrics, Every: 1000, Report: func(e train.Evaluation) error {
		x, _ := e.Value("log_likelihood_train")
		fmt.Printf("step %d: %.1f nats\n", e.Step, x)
		return nil
	}}
	if err := trainer.Run(ctx, settings.Horizon, evaluator.Observe); err != nil {
		fmt.Println(err)
		return
	}
	truth, _ := train.TrueLikelihood(set, true)
	fmt.Printf("the distribution of the data: %.1f nats\n", truth)
	// Output:
	// step 1000: -5.7 nats
	// step 2000: -5.6 nats
	// the distribution of the data: -5.5 nats
}

// An observer ends training when it has seen enough.
func ExampleTrainer_Run() {
	set, _, err := data.Load(context.Background(), "toy:4,4,100,0.2", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := train.NewModel(set, 8, true, rbm.Softmax, 1)
	trainer, err := train.New(train.DefaultSettings("ins"), set, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = trainer.Run(context.Background(), 1_000_000, func(_ context.Context, e train.Event) error {
		if e.Step == 25 {
			return train.ErrStop
		}
		return nil
	})
	fmt.Println(trainer.Steps(), err)
	// Output: 25 <nil>
}
