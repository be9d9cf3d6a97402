package data

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrFormat is what [errors.Is] finds in every error about a malformed
	// file or spec, as opposed to a missing file, the network or a cancelled
	// context.
	ErrFormat = errors.New("malformed data")
	// ErrSpec is what it finds besides in the errors about what was asked for,
	// not about what is in a file: unknown names and bad settings.
	ErrSpec = errors.New("malformed data spec")
)

// formatError is ErrFormat with a message of its own: the sentinel's words
// would say nothing that the message does not.
type formatError struct{ err error }

func (e *formatError) Error() string   { return e.err.Error() }
func (e *formatError) Unwrap() []error { return []error{ErrFormat, e.err} }

// formatErrorf returns an ErrFormat with the given message.
func formatErrorf(format string, args ...any) error {
	return &formatError{fmt.Errorf(format, args...)}
}

// specErrorf returns an error that is both ErrSpec and ErrFormat.
func specErrorf(format string, args ...any) error {
	return &specError{formatError{fmt.Errorf(format, args...)}}
}

type specError struct{ formatError }

func (e *specError) Unwrap() []error { return []error{ErrSpec, ErrFormat, e.err} }

// quote returns s quoted and cut to a length that fits into a message: what is
// quoted comes from outside and may be anything.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// Limits on what a file or a spec may ask for, so that a header cannot make
// the program allocate more than a training set could sensibly need.
const (
	maxWords   = 1 << 27 // 1 GiB of bits
	maxCols    = 1 << 20
	maxRows    = 1 << 26
	maxClasses = 4096
)

// checkShape reports why rows × cols examples are too large to hold, or "".
func checkShape(rows, cols int64) string {
	switch {
	case rows < 0 || cols < 0:
		return "a size is negative"
	case rows > maxRows:
		return fmt.Sprintf("%d rows are more than the %d that are allowed", rows, maxRows)
	case cols > maxCols:
		return fmt.Sprintf("%d columns are more than the %d that are allowed", cols, maxCols)
	case rows*((cols+63)/64) > maxWords:
		return fmt.Sprintf("%d rows of %d columns need more than the 1 GiB that is allowed", rows, cols)
	}
	return ""
}
