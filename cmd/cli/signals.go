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
)

const (
	// leaveAfter is how long a command may take to end after a signal, where it
	// has nothing to save.
	leaveAfter = 800 * time.Millisecond
	// bounce is the time after a signal in which further signals are ignored, as
	// of a key that was pressed twice.
	bounce = time.Second
)

// A guard knows whether a command may be ended from outside. Its zero value says
// yes.
type guard struct {
	mutex sync.Mutex
	busy  int       // calls of Protect that have not ended
	since time.Time // when the last one ended
	lost  func() string
}

// guardKey is the key of the guard in the context of a command.
type guardKey struct{}

// Protect keeps a signal from ending the process until release is called: the
// command saves something, or will soon look at ctx. An unprotected command that
// does not end within a second of a signal is ended. lost, if it is
// not nil, then returns a message about what was lost.
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

// stuck reports whether the command has been unprotected for at least
// leaveAfter, and what is lost if it is ended.
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

// watchSignals returns a context that Ctrl-C, SIGTERM and SIGHUP cancel. A second
// signal, later than bounce, ends the process at once; so does the first if the
// command is stuck. Writing to a closed pipe returns an error and raises no
// signal. SIGQUIT is left to Go, which prints all stacks.
func watchSignals(name string, stderr io.Writer) context.Context {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if s != syscall.SIGHUP || !signal.Ignored(s) { // nohup
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
					fmt.Fprintf(stderr, "%s: a second signal ends it at once; what was not saved by now is lost\n", name)
					os.Exit(exitStatus(again))
				}
			case <-time.After(50 * time.Millisecond):
				if lost, ok := g.stuck(); ok {
					fmt.Fprintf(stderr, "%s: interrupted%s\n", name, lost)
					os.Exit(exitStatus(first))
				}
			}
		}
	}()
	return ctx
}
