// Package npz reads NumPy archives that anyone may have written: sizes are
// checked before anything is allocated, and nothing in a file makes it panic.
// It writes them by way of github.com/sbinet/npyio.
package npz

import (
	"archive/zip"
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrFormat is wrapped by every error about a damaged or unfit archive.
var ErrFormat = errors.New("bad npz file")

// formatError is ErrFormat with a message of its own.
type formatError struct{ err error }

func (e *formatError) Error() string   { return e.err.Error() }
func (e *formatError) Unwrap() []error { return []error{ErrFormat, e.err} }

func errorf(format string, args ...any) error {
	return &formatError{fmt.Errorf(format, args...)}
}

// quote returns s quoted and cut to a length that fits into a message.
func quote(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// An Archive is an npz file, which is a zip of npy files.
type Archive struct {
	size  int64
	files []*zip.File
}

// Open opens an archive of size bytes. Errors wrap ErrFormat.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errorf("not an npz archive (%w); save it by numpy.savez", err)
	}
	return &Archive{size: size, files: z.File}, nil
}

func (a *Archive) file(name string) *zip.File {
	for _, f := range a.files {
		if f.Name == name+".npy" || f.Name == name {
			return f
		}
	}
	return nil
}

// Has reports whether there is an array of this name.
func (a *Archive) Has(name string) bool { return a.file(name) != nil }

// Names lists the arrays for a message.
func (a *Archive) Names() string {
	var s []string
	for _, f := range a.files {
		if len(s) == 8 {
			s = append(s, "…")
			break
		}
		s = append(s, quote(strings.TrimSuffix(f.Name, ".npy")))
	}
	if s == nil {
		return "an empty archive"
	}
	return strings.Join(s, ", ")
}

// An Array is an array of an archive, open for reading from front to back.
type Array struct {
	header
	name string
	in   *bufio.Reader
	c    io.Closer
	buf  []byte
}

// maxDeflate is how much deflate can shrink its input at best; a zip entry
// that claims more lies about its size.
const maxDeflate = 1032

// Array opens an array and checks that its header, the archive's directory and
// the file's size agree on how much there is. Errors name the array and wrap
// ErrFormat.
func (a *Archive) Array(name string) (*Array, error) {
	f := a.file(name)
	if f == nil {
		return nil, errorf("no array %s, only %s; save it along", name, a.Names())
	}
	packed, full := f.CompressedSize64, f.UncompressedSize64
	lies := packed > uint64(a.size)
	switch f.Method {
	case zip.Store:
		lies = lies || full != packed
	case zip.Deflate:
		lies = lies || full/maxDeflate > packed
	}
	if lies {
		return nil, errorf("%s: %d bytes from %d of a file of %d cannot be; save it again", name, full, packed, a.size)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, errorf("%s: %w", name, readError(err))
	}
	counted := &counter{r: rc}
	h, err := readHeader(counted)
	if err != nil {
		rc.Close()
		return nil, errorf("%s: %w", name, err)
	}
	if uint64(counted.n) > full {
		rc.Close()
		return nil, errorf("%s: %d bytes cannot hold the header; save it again", name, full)
	}
	rest := full - uint64(counted.n)
	if n := uint64(h.Elements()); rest%uint64(h.Size) != 0 || rest/uint64(h.Size) != n {
		rc.Close()
		return nil, errorf("%s: shape %v needs %d elements of %d bytes, but %d bytes are there; save it again", name, h.Shape, n, h.Size, rest)
	}
	return &Array{header: h, name: name, in: bufio.NewReaderSize(rc, 1<<16), c: rc}, nil
}

// Fortran reports whether the elements are stored column by column.
func (r *Array) Fortran() bool { return r.fortran }

// Close gives up the array.
func (r *Array) Close() error { return r.c.Close() }

// Next returns the bytes of the next n elements, valid until the next call.
func (r *Array) Next(n int) ([]byte, error) {
	if n*r.Size > cap(r.buf) {
		r.buf = make([]byte, n*r.Size)
	}
	b := r.buf[:n*r.Size]
	if _, err := io.ReadFull(r.in, b); err != nil {
		return nil, errorf("%s: %w", r.name, readError(err))
	}
	return b, nil
}

// End reads past the last element, where the archive's checksum is checked.
func (r *Array) End() error {
	if _, err := r.in.ReadByte(); err != io.EOF {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return errorf("%s: %w", r.name, readError(err))
	}
	return nil
}

// Rows calls do for every element of rows × cols, in order, and stops at its
// first error.
func (r *Array) Rows(rows, cols int, do func(i, j int, v float64) error) error {
	for i := range rows {
		b, err := r.Next(cols)
		if err != nil {
			return err
		}
		for j := range cols {
			if err := do(i, j, r.Number(b[j*r.Size:])); err != nil {
				return err
			}
		}
	}
	return r.End()
}

// counter counts the bytes that are read through it.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
