package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// An output is a standard stream of a command. What it prints may come from foreign
// files: see clean. The first error of writing is kept, and what follows is lost in
// silence, so that a closed pipe or a full disk does not end work that is under
// way; Run reports the error at the end.
type output struct {
	io.Writer
	mutex sync.Mutex
	err   error
}

func (o *output) Write(p []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.err == nil {
		_, o.err = o.Writer.Write(clean(p))
	}
	return len(p), nil
}

// failed returns the first error of writing.
func (o *output) failed() error {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.err
}

// terminal returns the terminal that w writes to, and whether there is one.
func terminal(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	file, ok := w.(*os.File)
	return file, ok && term.IsTerminal(int(file.Fd()))
}

// clean returns text with its control characters, except for tabs and ends of lines,
// written as in JSON, \u001b: a terminal would obey them.
func clean(text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if bad := r == utf8.RuneError && n == 1; bad || r != '\n' && r != '\t' && !unicode.IsGraphic(r) {
			if out == nil {
				out = append(make([]byte, 0, len(text)+16), text[:i]...)
			}
			if bad || r > 0xffff {
				r = utf8.RuneError
				out = utf8.AppendRune(out, r)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
		} else if out != nil {
			out = append(out, text[i:i+n]...)
		}
		i += n
	}
	if out == nil {
		return text
	}
	return out
}
