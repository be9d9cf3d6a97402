package train_test

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// Your own data are a Set: rows of bits, with or without a class each. Here they are the numbers from 0 to
// 15 that have an even number of ones.
func Example_ownData() {
	set := &data.Set{Name: "even", X: rbm.NewBits(8, 4), Y: make([]int32, 8), Classes: []string{"low", "high"}, Height: 1, Width: 4}
	row := 0
	for n := range 16 {
		ones := 0
		for bit := range 4 {
			ones += n >> bit & 1
		}
		if ones%2 == 1 {
			continue
		}
		for bit := range 4 {
			set.X.Set(row, bit, n>>bit&1 == 1)
		}
		set.Y[row] = int32(n / 8)
		row++
	}
	model := train.NewModel(set, 8, true, rbm.Softmax, 1)
	settings := train.PresetFor(set, false).Settings("exact")
	settings.Batch, settings.Rate = set.Len(), 0.5
	trainer, err := train.New(settings, set, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := trainer.Run(context.Background(), 5000); err != nil {
		fmt.Println(err)
		return
	}
	score := train.Classify(model, set, data.RowNumbers(0, set.Len()))
	fmt.Printf("%d rows, %.0f %% wrong\n", score.N, 100*score.Error)
	// Output: 8 rows, 0 % wrong
}

// Your own metric is a Metric: names of values, and a function that measures them.
func ExampleMetric() {
	set, _, err := data.Load(context.Background(), "bars:3", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := train.NewModel(set, 6, false, rbm.Softmax, 1)
	trainer, err := train.New(train.PresetFor(set, false).Settings("pcd"), set, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	largest := train.Metric{
		Name:   "largest_weight",
		Values: []string{"largest_weight"},
		Measure: func(_ context.Context, m *rbm.RBM, _ bool) ([]float64, error) {
			most := 0.0
			for i := range m.Visible() {
				for j := range m.Hidden() {
					most = max(most, math.Abs(float64(m.Weight(i, j))))
				}
			}
			return []float64{most}, nil
		},
	}
	evaluator := &train.Evaluator{Metrics: []train.Metric{largest}, Every: 500, Report: func(e train.Evaluation) error {
		x, _ := e.Value("largest_weight")
		fmt.Printf("step %d: %.1f\n", e.Step, x)
		return nil
	}}
	if err := trainer.Run(context.Background(), 1000, evaluator.Observe); err != nil {
		fmt.Println(err)
	}
	// Output:
	// step 500: 0.5
	// step 1000: 1.0
}

// meanReconstruction is contrastive divergence of one step whose particles are
// means of the visible units, not draws (Hinton, A practical guide to training
// RBMs, 2010, section 3.2).
type meanReconstruction struct{}

func (meanReconstruction) Estimate(m *rbm.RBM, pos rbm.Batch, key rbm.Key) (rbm.Phase, negphase.Info, error) {
	rows := pos.Rows()
	on, v, h := rbm.NewBits(rows, m.Hidden()), rbm.NewMatrix(rows, m.Visible()), rbm.NewMatrix(rows, m.Hidden())
	m.HiddenSample(on, pos, key)
	m.VisibleMean(v, on)
	m.HiddenMean(h, v.Values())
	return rbm.Phase{Batch: rbm.Batch{V: v.Values(), H: h}}, negphase.Info{Updates: int64(rows)}, nil
}

// It has no state.
func (meanReconstruction) MarshalBinary() ([]byte, error) { return nil, nil }
func (meanReconstruction) UnmarshalBinary([]byte) error   { return nil }

// Your own estimator is an Estimator. It returns particles, or moments, of the model's distribution.
func ExampleNewWith() {
	set, _, err := data.Load(context.Background(), "bars:3", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := train.NewModel(set, 6, false, rbm.Softmax, 1)
	settings := train.PresetFor(set, false).Settings("mean-reconstruction") // the name that Save writes to files
	trainer, err := train.NewWith(meanReconstruction{}, settings, set, model)
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
	if err := trainer.Run(context.Background(), 2000, evaluator.Observe); err != nil {
		fmt.Println(err)
	}
	// Output:
	// step 1000: -4.9 nats
	// step 2000: -4.0 nats
}

// rootMeanSquares is a rule that divides each parameter's gradient by the root of the mean square of
// its gradients (Tieleman & Hinton, lecture 6.5 of Neural networks for machine learning, 2012).
type rootMeanSquares struct{}

func (rootMeanSquares) Slots() int { return 1 } // the mean square

func (rootMeanSquares) Apply(b *rbm.Block) {
	square := b.Slots[0]
	for i, x := range b.Step { // the rate times the gradient
		g := float64(x / b.Rate)
		square[i] += float32(0.1 * (float64(g*g) - float64(square[i])))
		b.Step[i] = float32(float64(b.Rate) * g / (math.Sqrt(float64(square[i])) + 1e-3))
	}
	b.Advance(b.Step)
}

// Your own optimizer is a Rule. It says how many numbers it has for each parameter, and how a block of
// parameters moves along the gradient.
func ExampleSettings_rule() {
	set, _, err := data.Load(context.Background(), "bars:3", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	model := train.NewModel(set, 6, false, rbm.Softmax, 1)
	settings := train.PresetFor(set, false).Settings("exact")
	settings.Batch, settings.Rate, settings.Schedule, settings.Horizon = set.Len(), 0.02, "linear", 3000
	settings.Rule = rootMeanSquares{}
	trainer, err := train.New(settings, set, model)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := trainer.Run(context.Background(), 3000); err != nil {
		fmt.Println(err)
		return
	}
	metrics, err := train.NewMetrics([]string{"log_likelihood"}, model, train.Sets{Train: set}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := metrics[0].Measure(context.Background(), model, true)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f nats\n", x[0])
	// Output:
	// -3.0 nats
}
