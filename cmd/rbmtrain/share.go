package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"gorbm/rbm"
	"gorbm/rbm/ranks"
	"gorbm/train"
	"gorbm/train/rundir"
)

// facts returns the hash of the data, which must be equal in all ranks.
func facts(t *train.Trainer) []ranks.Fact {
	if t == nil {
		return nil
	}
	return []ranks.Fact{{Name: "data set", Sum: sha256.Sum256([]byte(t.Hash()))}}
}

// readConfig returns config.json of a run. Rank 0 reads it and broadcasts it.
func (o *options) readConfig(folder *rundir.Folder) (text []byte, err error) {
	if o.group.Rank() == 0 {
		text, err = folder.Read(rundir.ConfigFile, rundir.MaxConfig)
	}
	return o.group.Broadcast(text, err)
}

// trains reports whether there are steps left. If not, only the final results are missing.
func (r *runner) trains() bool { return r.trainer.Steps() < r.plan.steps && !r.stopped }

// handOut broadcasts the trainer's state from rank 0, or failed, the error with which rank 0 could not open
// the run. In the second case all ranks return an error.
func (r *runner) handOut(failed error) error {
	if r.plan.group.Size() == 1 {
		return failed
	}
	var state bytes.Buffer
	if failed == nil && r.trains() {
		failed = r.trainer.Save(&state, nil)
	}
	_, err := r.plan.group.Broadcast(state.Bytes(), failed)
	return err
}

// follow takes the steps of the run on a rank other than 0.
func (p *plan) follow(ctx context.Context, trainer *train.Trainer) error {
	if p.opts.dryRun {
		return nil
	}
	state, err := p.group.Broadcast(nil, nil)
	if err != nil || len(state) == 0 {
		return err
	}
	if _, err := trainer.Load(bytes.NewReader(state)); err != nil {
		return err
	}
	err = trainer.Run(ctx, p.steps)
	if errors.Is(err, rbm.ErrDiverged) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", err, ranks.ErrAgreed) // rank 0 has the same error
	}
	return err
}
