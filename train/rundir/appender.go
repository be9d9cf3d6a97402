package rundir

import (
	"bytes"
	"fmt"
	"os"
)

// An appender is a growing file. Bytes that could not be written are kept for the next flush, which
// overwrites what an earlier one wrote in part.
type appender struct {
	file    *os.File
	what    string       // name of the contents, for errors
	size    int64        // bytes that are written whole
	pending bytes.Buffer // bytes that are not written yet
}

// flush writes the pending bytes.
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
