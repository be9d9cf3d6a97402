package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"gorbm/rbm/atomicfile"
)

const (
	// leaveAfter is the time that an unprotected command has to end after a signal.
	leaveAfter = 800 * time.Millisecond
	// bounce is the time after a signal in which further signals are ignored, such as
	// from a key pressed twice by mistake.
	bounce = time.Second
)

// A guard records whether a signal may end the process at once. With the zero value it may.
type guard struct {
	mutex sync.Mutex
	busy  int           // number of unreleased calls of Protect
	since time.Time     // time of the last release or of the first signal
	lost  func() string // argument of Protect
}

// guardKey is the key of the guard in a command's context.
type guardKey struct{}

// Protect keeps a first signal from ending the process until release is called. A
// command calls it while it saves something, or while it checks ctx often. An unprotected
// command that does not return within a second of a signal is killed; lost, if not nil,
// then returns a message about what was lost.
func Protect(ctx context.Context, lost func() string) (release func()) {
	g, ok := ctx.Value(guardKey{}).(*guard)
	if !ok {
		return func() {}
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.busy++
	if lost != nil {
		g.lost = lost
	}
	return sync.OnceFunc(func() {
		g.mutex.Lock()
		defer g.mutex.Unlock()
		g.busy--
		g.since = time.Now()
	})
}

// stuck reports whether the command has been unprotected for at least leaveAfter since the
// signal. lost is the end of the message about the loss.
func (g *guard) stuck() (lost string, ok bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.busy > 0 || time.Since(g.since) < leaveAfter {
		return "", false
	}
	if g.lost != nil {
		lost = "; " + g.lost()
	}
	return lost, true
}

// exitStatus returns 128 + the number of the signal.
func exitStatus(s os.Signal) int {
	switch s {
	case syscall.SIGTERM:
		return Terminated
	case syscall.SIGHUP:
		return HungUp
	}
	return Interrupted
}

// watchSignals returns a context that Ctrl-C, SIGTERM and SIGHUP cancel. A second signal, later than bounce,
// ends the process at once; so does the first if the command is stuck. After watchSignals, writing to a
// closed pipe returns an error and does not end the process. SIGQUIT prints all stacks, as in any Go program.
func watchSignals(name string, stderr io.Writer) context.Context {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if s != syscall.SIGHUP || !signal.Ignored(s) { // nohup ignores SIGHUP
			signal.Notify(signals, s)
		}
	}
	g := new(guard)
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), guardKey{}, g))
	go func() {
		first := <-signals
		cancel(signalled{exitStatus(first)})
		at := time.Now()
		g.mutex.Lock()
		g.since = at
		g.mutex.Unlock()
		for {
			select {
			case again := <-signals:
				if time.Since(at) > bounce {
					fmt.Fprintf(stderr, "%s: ended at once by a second signal; unsaved results are lost\n", name)
					atomicfile.Abandon()
					os.Exit(exitStatus(again))
				}
			case <-time.After(50 * time.Millisecond):
				if lost, ok := g.stuck(); ok {
					fmt.Fprintf(stderr, "%s: interrupted%s\n", name, lost)
					atomicfile.Abandon()
					os.Exit(exitStatus(first))
				}
			}
		}
	}()
	return ctx
}
