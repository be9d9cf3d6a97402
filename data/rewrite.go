package data

import (
	"bytes"
	"context"
	"io"
	"strings"
)

// A Cell is a place in a text file: the index of the record, of which the first is perhaps a header, and
// that of the column.
type Cell struct{ Record, Column int }

// Rewrite returns the bytes of the text file at path, unpacked, with other words in some cells. All other
// bytes are those of the file: quotes, blanks, ends of lines and comments. A new word is in quotes if it
// needs them. It fails if a cell is not in the file.
func Rewrite(ctx context.Context, path string, words map[Cell]string) ([]byte, error) {
	f, _, err := open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := decompress(reading{ctx, nil, f})
	if err != nil {
		return nil, idxRead(path, err)
	}
	raw, err := io.ReadAll(in)
	if err != nil {
		return nil, idxRead(path, err)
	}
	t, err := newText(bytes.NewReader(raw), path)
	if err != nil {
		return nil, err
	}
	d, err := t.findDialect(Options{})
	if err != nil {
		return nil, err
	}
	s := scanner{text: raw, comma: byte(d.comma), quote: '"', end: '\n'}
	if d.single {
		s.quote = '\''
	}
	if bytes.IndexByte(raw, '\n') < 0 {
		s.end = '\r'
	}
	s.at = len(raw) - len(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	for range d.skipped {
		s.at += bytes.IndexByte(raw[s.at:], s.end) + 1
	}
	var out bytes.Buffer
	written, replaced := 0, 0
	for record := 0; s.nextRecord(); record++ {
		for column := 0; ; column++ {
			from, to, more := s.nextCell()
			if word, ok := words[Cell{record, column}]; ok {
				out.Write(raw[written:from])
				out.WriteString(s.quoted(word))
				written = to
				replaced++
			}
			if !more {
				break
			}
		}
	}
	out.Write(raw[written:])
	if replaced != len(words) {
		return nil, formatErrorf("%s has changed while it was read; try again", path)
	}
	return out.Bytes(), nil
}

// A scanner finds the cells of a text that has been read without an error.
type scanner struct {
	text              []byte
	comma, quote, end byte
	at                int // next byte
}

// nextRecord goes to the next line that is not empty. It returns false at the end of the text.
func (s *scanner) nextRecord() bool {
	for s.at < len(s.text) && (s.text[s.at] == s.end || s.text[s.at] == '\r') {
		s.at++
	}
	return s.at < len(s.text)
}

// nextCell returns the bytes from … to−1 of the next cell of a record, quotes included, and whether more
// cells follow. It leaves out the blanks before the cell.
func (s *scanner) nextCell() (from, to int, more bool) {
	for s.at < len(s.text) && s.text[s.at] == ' ' && s.comma != '\t' {
		s.at++
	}
	from = s.at
	if s.at < len(s.text) && s.text[s.at] == s.quote {
		for s.at++; s.at < len(s.text); s.at++ {
			if s.text[s.at] != s.quote {
				continue
			}
			if s.at++; s.at == len(s.text) || s.text[s.at] != s.quote {
				break
			}
		}
	}
	for s.at < len(s.text) && s.text[s.at] != s.comma && s.text[s.at] != s.end {
		s.at++
	}
	to = s.at
	if more = s.at < len(s.text) && s.text[s.at] == s.comma; s.at < len(s.text) {
		s.at++
	}
	if s.comma == blank && more { // blanks at the end of the line
		for s.at < len(s.text) && s.text[s.at] == ' ' {
			s.at++
		}
		more = s.at < len(s.text) && s.text[s.at] != s.end && s.text[s.at] != '\r'
	}
	if to > from && !more && s.text[to-1] == '\r' {
		to--
	}
	return from, to, more
}

// quoted returns a word as a cell, in quotes if it needs them.
func (s *scanner) quoted(word string) string {
	quote := string(s.quote)
	if word == "" || strings.ContainsAny(word, quote+string(s.comma)+"\r\n\"") || strings.TrimSpace(word) != word {
		return quote + strings.ReplaceAll(word, quote, quote+quote) + quote
	}
	return word
}
