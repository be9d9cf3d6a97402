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

// An output is a standard stream of a command. It cleans text, which may come from
// foreign files: see clean. After its first error it discards all further text, so that
// a closed pipe or a full disk does not stop the work. Run reports the error at the
// end.
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

// failed returns the first write error.
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

// clean returns text with control characters written as in JSON, such as \u001b, so that
// a terminal does not execute them. Tabs and newlines stay.
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
