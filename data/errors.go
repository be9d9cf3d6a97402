package data

import (
	"errors"
	"fmt"
	"gorbm/rbm/memory"
	"gorbm/rbm/npz"
)

var (
	// ErrFormat is wrapped by every error about a malformed file or spec. Errors
	// about a missing file, the network or a cancelled context do not wrap it.
	ErrFormat = errors.New("malformed data")
	// ErrSpec is also wrapped if the error is about a spec or an option, such as an unknown name or a bad
	// setting, and not about a file's content.
	ErrSpec = errors.New("malformed data spec")
)

// A kindError wraps its error and the errors in kinds, such as ErrFormat. The texts of kinds are not in the
// message, because they would add nothing.
type kindError struct {
	error
	kinds []error
}

func (e *kindError) Unwrap() []error { return append(e.kinds, e.error) }

// formatErrorf returns an error that wraps ErrFormat.
func formatErrorf(format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), []error{ErrFormat}}
}

// specErrorf returns an error that wraps ErrSpec and ErrFormat.
func specErrorf(format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), []error{ErrSpec, ErrFormat}}
}

// Limits on the size of a set. A false header in a file cannot make the program
// allocate more.
const (
	maxWords   = 1 << 27 // 1 GiB of bits
	maxCols    = 1 << 20
	maxRows    = 1 << 26
	maxClasses = 4096
	maxLabel   = 1000 // bytes of a label
)

// checkShape returns why rows × cols examples are too many, or "".
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
	// Each row has words of 64 bits and a label.
	if err := memory.Check(fmt.Sprintf("a set of %d rows of %d columns", rows, cols), float64(rows)*(float64(8*float64((cols+63)/64))+8)); err != nil {
		return err.Error()
	}
	return ""
}

// quote returns text quoted and shortened for a message.
var quote = npz.Quote
