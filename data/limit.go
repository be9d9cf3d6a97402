package data

import (
	"bytes"
	"context"
	"io"
)

// A reading reads a file or a stream until its context ends. It then returns the error of the context.
type reading struct {
	ctx  context.Context
	file io.ReaderAt // for ReadAt
	r    io.Reader   // for Read
}

func (r reading) ReadAt(b []byte, at int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.ReadAt(b, at)
}

func (r reading) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// maxRow limits the bytes of a row of a CSV file. It allows maxCols numbers in full precision, which take
// up to 24 bytes (-2.2250738585072014e-308) and a comma each.
const maxRow = 32 * maxCols

// LimitRows returns a reader of the CSV text in r. It fails with an [ErrFormat] within a row of more than
// 2²⁰ columns or 32 MiB, before it reads the rest of that row, so that a parser never needs more memory. It
// checks nothing else.
func LimitRows(r io.Reader) io.Reader { return &rowLimit{r: r, comma: ','} }

type rowLimit struct {
	r      io.Reader
	err    error // error in the text, not that of r
	line   int   // line in which the row begins, from 0
	lines  int   // number of lines that have ended
	bytes  int   // bytes of the row so far
	comma  byte  // separator of columns
	commas int   // separators of the row so far
	quoted bool  // the row has an odd number of quotes so far, so that it does not end with the line
}

func (l *rowLimit) Read(b []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.r.Read(b[:min(len(b), 1<<16)]) // reads at most 64 KiB beyond the limit
	if l.err = l.add(b[:n]); l.err != nil {
		return 0, l.err
	}
	return n, err
}

// add counts the next bytes of the text.
func (l *rowLimit) add(b []byte) error {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n') + 1
		head := b
		if end > 0 {
			head = b[:end]
		}
		b = b[len(head):]
		l.bytes += len(head)
		l.commas += bytes.Count(head, []byte{l.comma})
		l.quoted = l.quoted != (bytes.Count(head, []byte(`"`))%2 == 1)
		switch {
		case l.commas >= maxCols:
			return formatErrorf("line %d: a row of more than the %d columns that are allowed; write one example a line", l.line+1, maxCols)
		case l.bytes > maxRow && l.quoted:
			return formatErrorf("line %d: a quote that does not end within %d MiB; quotes must enclose a whole field", l.line+1, maxRow>>20)
		case l.bytes > maxRow:
			return formatErrorf("line %d: a row that does not end within %d MiB; write one example a line", l.line+1, maxRow>>20)
		}
		if end > 0 {
			l.lines++
		}
		if end > 0 && !l.quoted {
			l.line, l.bytes, l.commas = l.lines, 0, 0
		}
	}
	return nil
}
