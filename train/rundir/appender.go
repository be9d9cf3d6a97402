package rundir

import (
	"bytes"
	"fmt"
	"os"
)

// An appender appends to a file. If a flush fails, the appender keeps the bytes for the next flush, which
// overwrites what the failed flush wrote.
type appender struct {
	file    *os.File
	what    string       // name of the contents, for errors
	size    int64        // bytes in the file, not counting a failed flush
	pending bytes.Buffer // bytes to write
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

func (a *appender) Close() error { return a.file.Close() }
