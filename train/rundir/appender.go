package rundir

import (
	"bytes"
	"fmt"
	"os"
)

// An appender is a growing file. What could not be written is kept, and written with
// what follows; what was written in part is overwritten.
type appender struct {
	file    *os.File
	what    string       // it holds, for errors
	size    int64        // of what is written as a whole
	pending bytes.Buffer // what is not
}

// flush writes what is to be written.
func (a *appender) flush() error {
	if a.pending.Len() == 0 {
		return nil
	}
	n, err := a.file.WriteAt(a.pending.Bytes(), a.size)
	if err != nil {
		return fmt.Errorf("cannot write the %s: %w", a.what, err)
	}
	a.size += int64(n)
	a.pending.Reset()
	return nil
}

// Close closes the file.
func (a *appender) Close() error { return a.file.Close() }
