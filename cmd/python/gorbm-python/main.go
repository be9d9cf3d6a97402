// Gorbm-python is the program behind the Python package gorbm: it trains, samples and
// estimates log Z. It reads requests from standard input and answers each on standard
// output; see frame for the format. The operations are fit, partial_fit, log_z, sample and
// fill.
//
// An answer is any number of frames {"progress": …}, and then the result, or {"error": one line,
// "usage": whether a setting or the data are wrong}. The request {"op": "stop"} has no answer: it
// stops the current request, and a fit then returns the current model.
//
// The program ends when its standard input or its parent process ends.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	"gorbm/cmd/cli"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintln(os.Stderr, "gorbm-python "+cli.Version()+": the Python package gorbm starts this program; it has no flags")
		os.Exit(2)
	}
	// Ctrl-C at a terminal signals parent and child. The parent handles it and sends "stop".
	signal.Ignore(os.Interrupt)
	go endWithParent(os.Getppid())
	if err := serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gorbm-python: "+err.Error())
		os.Exit(1)
	}
}

// parentEvery is the time between checks of endWithParent.
const parentEvery = 500 * time.Millisecond

// endWithParent exits when the process parent is not the parent any more. Standard input need
// not end then: another child of the parent may have a copy of the pipe.
func endWithParent(parent int) {
	for os.Getppid() == parent {
		time.Sleep(parentEvery)
	}
	os.Exit(1)
}

// A request is a frame that was read, with the context of the work on it.
type request struct {
	frame
	ctx  context.Context
	stop context.CancelFunc
}

// serve answers requests until r ends. It returns an error of reading or writing.
func serve(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests := make(chan request)
	failed := make(chan error, 1)
	go func() {
		defer close(requests)
		defer cancel() // ends the current request
		stop := context.CancelFunc(func() {})
		in := bufio.NewReaderSize(r, 1<<16)
		for {
			f, err := readFrame(in)
			if err != nil {
				if !errors.Is(err, io.EOF) {
					failed <- err
				}
				return
			}
			if operation(f) == "stop" {
				stop()
				continue
			}
			work, cancel := context.WithCancel(ctx)
			stop = cancel
			select {
			case requests <- request{f, work, cancel}:
			case <-ctx.Done():
				cancel()
				return
			}
		}
	}()
	s := server{out: bufio.NewWriterSize(w, 1<<16)}
	for q := range requests {
		err := s.answer(q)
		q.stop()
		if ctx.Err() != nil {
			break // nobody reads the answer
		}
		if err == nil {
			err = s.out.Flush()
		}
		if err != nil {
			return err
		}
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func operation(f frame) string {
	var h struct {
		Op string `json:"op"`
	}
	_ = json.Unmarshal(f.header, &h) // readFrame has checked it
	return h.Op
}

// A server answers requests, one at a time.
type server struct {
	out    *bufio.Writer
	stream stream // state of partial_fit
}

// A usageError is an error in a setting or in the data.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// answer writes the answer to q. It returns an error of writing.
func (s *server) answer(q request) error {
	var header map[string]any
	var arrays []array
	var err error
	switch op := operation(q.frame); op {
	case "fit":
		header, arrays, err = s.fit(q)
	case "partial_fit":
		header, arrays, err = s.partialFit(q)
	case "log_z":
		header, arrays, err = logZ(q)
	case "sample":
		header, arrays, err = draw(q)
	case "fill":
		header, arrays, err = fill(q)
	default:
		err = usageError{fmt.Errorf("the operation %q is unknown; the versions of the Python package and of gorbm-python differ", op)}
	}
	if err != nil {
		var usage usageError
		return writeFrame(s.out, map[string]any{"error": strings.ReplaceAll(err.Error(), "\n", " "), "usage": errors.As(err, &usage)})
	}
	return writeFrame(s.out, header, arrays...)
}
