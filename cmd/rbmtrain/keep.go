package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"gorbm/cmd/cli"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/finitejson"
	"gorbm/rbm/modelfile"
	"gorbm/train/rundir"
)

// A saver decides when a checkpoint is due.
type saver struct {
	every    interval      // time or steps between checkpoints
	tried    time.Time     // time of the last attempt to save
	triedAt  int           // step of the last attempt
	cost     time.Duration // duration of the last attempt
	failing  bool          // the last write to the folder failed
	stepped  time.Time     // end of the last step and its observers
	took     time.Duration // duration of the last step
	at, kept atomic.Int64  // number of steps taken, and step of the last checkpoint; the signal goroutine reads both
	written  atomic.Bool   // the final model has been written
}

const (
	// firstCheckpoint is the longest time before the first checkpoint.
	firstCheckpoint = 30 * time.Second
	// A signal may end the process within a long step. So a checkpoint follows each step longer than
	// slowStep, if writing the checkpoint takes less than 1/slowShare of the step's time.
	slowStep, slowShare = time.Second, 10
	// tryAgain is the time after a failed checkpoint before the next attempt.
	tryAgain = 10 * time.Second
)

// begin starts the clock. step is the step of the last checkpoint, or 0 if there is none.
func (s *saver) begin(every interval, step int) {
	s.every, s.tried, s.triedAt = every, time.Now(), step
	if every.time > firstCheckpoint {
		s.tried = s.tried.Add(firstCheckpoint - every.time)
	}
	s.kept.Store(int64(step))
	s.next(step)
}

// next records that a step and its observers have ended.
func (s *saver) next(step int) {
	s.at.Store(int64(step))
	s.stepped = time.Now()
}

// due reports whether a checkpoint is due after this step.
func (s *saver) due(step int) bool {
	switch since := time.Since(s.tried); {
	case s.failing && since >= tryAgain, s.took > slowStep && s.took > slowShare*s.cost:
		return true
	case s.every.steps > 0:
		return step-s.triedAt >= s.every.steps
	default:
		return since >= s.every.time
	}
}

// lost returns a message about what is lost if the process ends now.
func (r *runner) lost() string {
	if r.folder.Gone() {
		return r.gone()
	}
	if r.saver.written.Load() {
		return fmt.Sprintf("the model is written, but not all other results; finish by: %s", r.resumption())
	}
	at, kept := r.saver.at.Load(), r.saver.kept.Load()
	if kept == 0 {
		return fmt.Sprintf("stopped within step %d, before the first checkpoint: nothing is kept", at+1)
	}
	return fmt.Sprintf("stopped within step %d; resume from the checkpoint, of step %d, by: %s", at+1, kept, r.resumption())
}

// gone returns a message that the folder of the run does not exist any more.
func (r *runner) gone() string {
	return fmt.Sprintf("the folder %s was removed or renamed during the run: nothing can be written to it", r.folder.Dir)
}

// tolerate returns nil for an error of the operating system, such as a full disk, and
// warns, so that training continues. It returns other errors.
func (r *runner) tolerate(err error) error {
	var system syscall.Errno
	if err == nil || !errors.As(err, &system) {
		return err
	}
	if !r.saver.failing {
		r.saver.failing = true
		if r.folder.Gone() {
			r.warn(r.gone() + "; training continues and tries again: put the folder back, or stop the run")
			return nil
		}
		have := "there is no checkpoint yet"
		if kept := r.saver.kept.Load(); kept > 0 {
			have = fmt.Sprintf("the last checkpoint is that of step %d", kept)
		}
		r.warn(fmt.Sprintf("%v; training continues and tries again; %s", err, have))
	}
	return nil
}

// savable returns an error if a parameter or Z is not finite, because the file of such a model could not be
// read.
func (r *runner) savable() error {
	return cmp.Or(r.plan.model.CheckFinite(), r.plan.model.CheckNormalisable())
}

// save writes a checkpoint.
func (r *runner) save() error {
	if err := r.savable(); err != nil {
		return err
	}
	state := r.state
	state.Seconds, state.All = r.seconds(), r.secondsInAll()
	state.Before, state.Since = r.evaluator.Counts()
	var err error
	state.Health = r.health.HealthState
	if state.Memory, err = r.evaluator.Memory(); err != nil {
		return err
	}
	begin := time.Now()
	r.saver.tried, r.saver.triedAt = begin, r.trainer.Steps()
	// A run resumed from this checkpoint needs all earlier rows of the tables.
	for _, t := range []*rundir.Table{r.table, r.pairs} {
		if t != nil {
			if err := t.Sync(); err != nil {
				return err
			}
		}
	}
	state.Rows = r.table.Rows()
	extra, err := finitejson.Marshal(state)
	if err != nil {
		return err
	}
	if err := r.folder.SaveCheckpoint(r.trainer, extra); err != nil {
		return err
	}
	r.saver.cost = time.Since(begin)
	r.saver.kept.Store(int64(r.trainer.Steps()))
	if r.saver.failing {
		r.saver.failing = false
		r.warn(fmt.Sprintf("the folder %s can be written again; the last checkpoint is that of step %d", r.folder.Dir, r.trainer.Steps()))
	}
	return nil
}

// write writes the checkpoint and the model.
func (r *runner) write(ctx context.Context) error {
	defer cli.Protect(ctx, r.lost)()
	if err := r.savable(); err != nil {
		return err
	}
	// Try to write the model even if the checkpoint fails.
	err := r.save()
	switch e := modelfile.Write(r.folder.Path(rundir.ModelFile), r.trainer.Model(), r.plan.about()); {
	case err == nil:
		err = e
	case e != nil:
		err = fmt.Errorf("%w; %w", err, e)
	}
	if err != nil && r.folder.Gone() {
		return fmt.Errorf("%s: %w", r.gone(), err)
	}
	if err != nil && r.saver.kept.Load() == 0 {
		return fmt.Errorf("%w; there is no checkpoint: make room, and begin again with -force", err)
	}
	if err != nil {
		return fmt.Errorf("%w; make room, and finish by: %s", err, r.resumption())
	}
	r.saver.written.Store(true)
	return nil
}

// keepBest writes the best model so far. It keeps the file of the previous best model
// while the checkpoint refers to it.
func (r *runner) keepBest(b bestState) error {
	path, previous := r.folder.Path(rundir.BestFile), r.folder.Path(rundir.PreviousBestFile)
	moved := false
	if old := r.state.Best; old != nil && old.Step <= int(r.saver.kept.Load()) {
		err := os.Rename(path, previous)
		if moved = err == nil; ignoreMissing(err) != nil {
			return r.tolerate(err)
		}
	}
	sum := sha256.New()
	if err := atomicfile.Write(path, func(w io.Writer) error {
		return modelfile.WriteSafetensors(io.MultiWriter(w, sum), r.trainer.Model(), r.plan.about())
	}); err != nil {
		if moved {
			err = errors.Join(err, os.Rename(previous, path)) // it is still the best on disk
		}
		return r.tolerate(err) // a later model may be better, and will be written
	}
	b.Sum = hex.EncodeToString(sum.Sum(nil))
	r.state.Best = &b
	return nil
}

// dropPrevious removes the previous best model at the end of a run. If the last best model
// could not be written, the previous one takes its place.
func (r *runner) dropPrevious() error {
	path, previous := r.folder.Path(rundir.BestFile), r.folder.Path(rundir.PreviousBestFile)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return ignoreMissing(os.Rename(previous, path))
	}
	return ignoreMissing(os.Remove(previous))
}

// restoreBest makes best.safetensors the best model that the checkpoint names. A killed run may have written
// a later model there.
func (r *runner) restoreBest() error {
	path, previous := r.folder.Path(rundir.BestFile), r.folder.Path(rundir.PreviousBestFile)
	best := r.state.Best
	sum, _ := r.sumOf(rundir.BestFile)
	if best != nil && sum == best.Sum {
		return nil
	}
	if best == nil {
		return ignoreMissing(os.Remove(path))
	}
	if sum, _ := r.sumOf(rundir.PreviousBestFile); sum == best.Sum {
		return os.Rename(previous, path)
	}
	r.plan.flags.Warn(fmt.Sprintf("%s is not the best model of the checkpoint, which was that of step %d and is lost; the next measured model replaces it", path, best.Step))
	r.state.Best = nil
	return cmp.Or(ignoreMissing(os.Remove(path)), ignoreMissing(os.Remove(previous)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// sumOf returns the SHA-256 of a file of the folder.
func (r *runner) sumOf(name string) (string, error) {
	b, err := r.folder.Read(name, math.MaxInt64-1)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// diverged writes err, which wraps rbm.ErrDiverged, to the folder, and returns it with advice. The advice
// is a smaller rate, unless the parameters were too large before the first step.
func (r *runner) diverged(err error) error {
	if !r.folder.Gone() {
		if err := atomicfile.WriteBytes(r.folder.Path(rundir.DivergedFile), fmt.Appendf(nil, "training %v\n", err)); err != nil {
			return err
		}
	}
	if kept := r.saver.kept.Load(); kept > 0 && !r.folder.Gone() {
		return fmt.Errorf("training %w; resume from the checkpoint, of step %d, with a smaller rate, by: rbmtrain %s -rate %.3g; metrics up to then are in %s", err, kept, r.resumeFlags(), r.plan.settings.Rate/10, r.folder.Dir)
	}
	if size, large := r.health.BeganLarge(); large {
		return fmt.Errorf("training %w; the run began with parameters up to %.3g, at which units no longer follow their inputs: start from another -init, a smaller rate will not help; metrics up to then are in %s", err, size, r.folder.Dir)
	}
	advice := "try a smaller -rate; "
	var rate *rbm.RateError
	if errors.As(err, &rate) { // the text of this error has the advice
		advice = ""
	}
	return fmt.Errorf("training %w; %smetrics up to then are in %s", err, advice, r.folder.Dir)
}
