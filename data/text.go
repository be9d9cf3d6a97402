package data

import (
	"bufio"
	"bytes"
	"context"
	"io"

	"strings"
)

// Text files are read in four steps, in one pass over the bytes:
//
//  1. bytes (text.go): compression, encoding, ends of lines, limits
//  2. records (dialect.go, header.go, records.go): separator, quotes, decimal mark, names, from a sample of the rows
//  3. facts about each column (facts.go): different words, numbers, missing cells, range
//  4. a decision (decide.go): what each column is, from the facts and the options
//
// rows.go and table.go then make the set.

// sampleBytes is the size of the sample of a text from which its dialect is found.
const sampleBytes = 1 << 16

// A text delivers the characters of a text file, in UTF-8 with lines that end in \n or \r\n.
type text struct {
	path  string
	in    *bufio.Reader
	start string // first bytes, at most sampleBytes
	all   bool   // start is the whole text
}

// newText returns the text that r delivers, gzipped or not, without a byte order mark. Errors name path.
func newText(r io.Reader, path string) (*text, error) {
	r, err := decompress(r)
	if err != nil {
		return nil, idxRead(path, err)
	}
	t := &text{path: path, in: bufio.NewReaderSize(r, sampleBytes)}
	start, err := t.in.Peek(sampleBytes)
	if err != nil && err != io.EOF {
		return nil, idxRead(path, err)
	}
	t.all = err == io.EOF
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(start, []byte(mark)) {
			return nil, formatErrorf("%s: the text is UTF-16; save it as UTF-8, such as by iconv -f utf-16 -t utf-8", path)
		}
	}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(start, mark) {
		t.in.Discard(len(mark))
		start = start[len(mark):]
	}
	t.start = string(start)
	if bytes.IndexByte(start, '\n') < 0 && bytes.IndexByte(start, '\r') >= 0 {
		t.in = bufio.NewReaderSize(newlines{t.in}, sampleBytes)
		t.start = string(bytes.ReplaceAll(start, []byte("\r"), []byte("\n")))
	}
	return t, nil
}

// newlines replaces \r, which ended the lines of some old systems, by \n.
type newlines struct{ r io.Reader }

func (n newlines) Read(b []byte) (int, error) {
	k, err := n.r.Read(b)
	for i, c := range b[:k] {
		if c == '\r' {
			b[i] = '\n'
		}
	}
	return k, err
}

// skip goes past the next line, of which the text must have one.
func (t *text) skip() {
	line, err := t.in.ReadString('\n')
	if err == nil || err == io.EOF {
		t.start = t.start[min(len(line), len(t.start)):]
	}
}

// streamed returns a reader of r that also fails when ctx ends, even while r blocks. A goroutine then stays
// that waits for r.
func streamed(ctx context.Context, r io.Reader) (in io.Reader, done func()) {
	from, to := io.Pipe()
	stop := context.AfterFunc(ctx, func() { to.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(to, struct{ io.Reader }{r})
		to.CloseWithError(err)
	}()
	return from, func() {
		stop()
		from.Close()
	}
}

// loadText returns the load function's reading of a text file of rows.
func loadText(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	f, _, err := open(ctx, sp.text)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readText(reading{ctx, nil, f}, sp.text, opt)
}

// readText reads the rows of a text. Errors name path.
func readText(in io.Reader, path string, opt Options) ([]*Set, error) {
	t, err := newText(in, path)
	if err != nil {
		return nil, err
	}
	f, err := readFrame(t, opt)
	if err != nil {
		return nil, err
	}
	s, err := f.set(opt)
	if err != nil {
		return nil, err
	}
	return []*Set{s}, nil
}

// Lines returns all cells of a CSV file, including a header, as Load reads them. In a file with semicolons,
// decimal commas become points.
func Lines(ctx context.Context, path string) (lines [][]string, err error) {
	lines, _, err = textLines(ctx, path, false)
	return lines, err
}

// A Notation is how a CSV file is written.
type Notation struct {
	Separator    rune // of columns
	DecimalComma bool // numbers have commas
}

// Number returns word with the decimal mark of the file if it is a number with a decimal point.
func (n Notation) Number(word string) string {
	if _, err := ParseNumber(word); err != nil || !n.DecimalComma {
		return word
	}
	return strings.Replace(word, ".", ",", 1)
}

// LinesAsWritten returns all cells of a CSV file as they are written, including a header, and its notation.
func LinesAsWritten(ctx context.Context, path string) (lines [][]string, n Notation, err error) {
	return textLines(ctx, path, true)
}

func textLines(ctx context.Context, path string, asWritten bool) (lines [][]string, n Notation, err error) {
	f, _, err := open(ctx, path)
	if err != nil {
		return nil, n, err
	}
	defer f.Close()
	t, err := newText(reading{ctx, nil, f}, path)
	if err != nil {
		return nil, n, err
	}
	r, err := newRecords(t, Options{})
	if err != nil {
		return nil, n, err
	}
	n = Notation{Separator: r.comma, DecimalComma: r.decimal}
	r.decimal, r.ragged = r.decimal && !asWritten, true
	for {
		row, _, err := r.next()
		if err == io.EOF {
			return lines, n, nil
		}
		if err != nil {
			return nil, n, err
		}
		lines = append(lines, append([]string(nil), row...))
	}
}
