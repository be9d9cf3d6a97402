package chains

import (
	"context"
	"fmt"

	"gorbm/data"
	"gorbm/negphase"
	"gorbm/rbm"
	"gorbm/train"
)

// TrainedOnDigits trains an RBM on rows of the built-in digits, by 50 persistent chains.
func TrainedOnDigits(ctx context.Context, hidden, rows, steps int) (*rbm.RBM, error) {
	set, _, err := data.Load(ctx, fmt.Sprintf("fontdigits:%d", rows), data.Options{})
	if err != nil {
		return nil, err
	}
	s := train.PaperSettings("pcd")
	if s.Negative, err = negphase.Parse("pcd:chains=50", negphase.Settings{}); err != nil {
		return nil, err
	}
	s.Batch, s.Rate, s.Seed = 50, 0.05, 1
	m := train.NewModel(set, hidden, false, rbm.Softmax, 1)
	train.SetLogOdds(m, set)
	t, err := train.New(s, set, m)
	for err == nil && t.Steps() < steps {
		if err = ctx.Err(); err == nil {
			_, err = t.Step()
		}
	}
	return m, err
}
