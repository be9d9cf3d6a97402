// Package npz reads and writes NumPy archives. It checks the sizes in a file before it allocates
// memory, and no content of a file makes it panic.
//
// # Where to begin
//
// Read Write and Open. Example writes an archive and reads it back.
package npz

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrFormat says that an archive is damaged or has content that cannot be used.
var ErrFormat = errors.New("bad npz file")

// formatError is ErrFormat with another message.
type formatError struct{ err error }

func (e *formatError) Error() string   { return e.err.Error() }
func (e *formatError) Unwrap() []error { return []error{ErrFormat, e.err} }

func errorf(format string, args ...any) error {
	return &formatError{fmt.Errorf(format, args...)}
}

// readError converts an error of reading an array to a format error.
func readError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errorf("cut short; save it again")
	}
	return errorf("cannot be read (%w); save it again", err)
}

// Quote returns s, which may be any text, quoted and shortened for a message.
func Quote(s string) string {
	const most = 40
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strconv.Quote(s)
}

// Named is an array to write, with its name in the archive.
type Named struct {
	Name  string
	Shape []int // length of each dimension; nil means one dimension
	Data  any   // the elements in row-major order: []uint8, []int8, []int32, []float32, []float64 or []string
}

// Write writes an archive of the arrays, in order. It panics if the elements have a type that
// Named.Data does not list, or if their number differs from the shape.
func Write(w io.Writer, arrays []Named) error {
	z := zip.NewWriter(w)
	for _, a := range arrays {
		var descr string
		data, n := a.Data, binary.Size(a.Data)
		switch elements := data.(type) {
		case []uint8:
			descr = "|u1"
		case []int8:
			descr = "|i1"
		case []int32:
			descr, n = "<i4", n/4
		case []float32:
			descr, n = "<f4", n/4
		case []float64:
			descr, n = "<f8", n/8
		case []string:
			letters, width := text(elements)
			descr, n, data = "<U"+strconv.Itoa(width), len(elements), letters
		default:
			panic("npz: elements must be uint8, int8, int32, float32, float64 or string")
		}
		shape, elements := a.Shape, 1
		if shape == nil {
			shape = []int{n}
		}
		for _, d := range shape {
			elements *= d
		}
		if elements != n {
			panic("npz: the shape asks for another number of elements")
		}
		entry, err := z.Create(a.Name + ".npy")
		if err == nil {
			_, err = entry.Write(appendHeader(nil, descr, shape))
		}
		if err == nil {
			err = binary.Write(entry, binary.LittleEndian, data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// text returns the code points of words, each word padded with zeros to the width of the longest.
func text(words []string) (letters []int32, width int) {
	width = 1
	for _, w := range words {
		width = max(width, utf8.RuneCountInString(w))
	}
	letters = make([]int32, len(words)*width)
	for i, w := range words {
		copy(letters[i*width:], []rune(w))
	}
	return letters, width
}

// An Archive is an npz file, which is a zip of npy files, or a single npy file.
type Archive struct {
	size  int64
	files []*zip.File

	npy  io.ReaderAt // the single file; nil for a zip
	name string      // name of its array
}

// Open opens an archive of size bytes. Errors wrap ErrFormat.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errorf("not an npz archive (%w); save it by numpy.savez", err)
	}
	return &Archive{size: size, files: z.File}, nil
}

// Single opens an npy file of size bytes as an archive with one array of the given name.
func Single(r io.ReaderAt, size int64, name string) *Archive {
	return &Archive{size: size, npy: r, name: name}
}

// index returns the index in files of the array of this name, or −1. twice reports that there are
// several: NumPy reads the last, other readers the first.
func (a *Archive) index(name string) (at int, twice bool) {
	named := func(f *zip.File) bool { return f.Name == name+".npy" || f.Name == name }
	at = slices.IndexFunc(a.files, named)
	return at, at >= 0 && slices.ContainsFunc(a.files[at+1:], named)
}

// Has reports whether there is an array of this name.
func (a *Archive) Has(name string) bool {
	if name == Sparse {
		return a.hasSparse()
	}
	at, _ := a.index(name)
	return at >= 0 || a.npy != nil && name == a.name
}

// All returns the names of the arrays, in the order of the archive.
func (a *Archive) All() []string {
	if a.npy != nil {
		return []string{a.name}
	}
	names := make([]string, len(a.files))
	for i, f := range a.files {
		names[i] = strings.TrimSuffix(f.Name, ".npy")
	}
	return names
}

// Names returns the names of the arrays, for a message.
func (a *Archive) Names() string {
	var s []string
	for _, name := range a.All() {
		if len(s) == 8 {
			s = append(s, "…")
			break
		}
		s = append(s, Quote(name))
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

	sparse *sparse // set if the array is part of a sparse matrix
}

// maxDeflate is the largest compression factor of deflate. A zip entry with a larger one has a
// false size.
const maxDeflate = 1032

const (
	// bombFactor is the largest accepted compression factor of data that unpacks to more than
	// bombFree bytes. Sparse pictures with one byte for each bit have a factor of 50.
	bombFactor = 200
	bombFree   = 1 << 26
)

// Bomb reports whether a file of packed bytes that unpacks to full bytes is probably meant to
// exhaust the memory.
func Bomb(full, packed float64) bool { return full > bombFree && full > bombFactor*packed }

// Array opens an array. It checks that the sizes in the header of the array and in the directory of the
// archive agree with each other and with the size of the file. Errors name the array and wrap ErrFormat.
func (a *Archive) Array(name string) (*Array, error) {
	if !a.Has(name) {
		return nil, errorf("no array %s, only %s; save that array too", name, a.Names())
	}
	if a.npy != nil {
		return newArray(name, io.NopCloser(io.NewSectionReader(a.npy, 0, a.size)), uint64(a.size))
	}
	if name == Sparse {
		return a.openSparse()
	}
	at, twice := a.index(name)
	if twice {
		return nil, errorf("%s: two arrays of this name; save it again", name)
	}
	f := a.files[at]
	packed, full := f.CompressedSize64, f.UncompressedSize64
	impossible := packed > uint64(a.size)
	switch f.Method {
	case zip.Store:
		impossible = impossible || full != packed
	case zip.Deflate:
		impossible = impossible || full/maxDeflate > packed
	}
	if impossible {
		return nil, errorf("%s: %d bytes from %d in a file of %d are impossible; save it again", name, full, packed, a.size)
	}
	if Bomb(float64(f.UncompressedSize64), float64(a.size)) {
		return nil, errorf("%s: it unpacks to %d bytes out of a file of %d; save it uncompressed, by numpy.savez, if it is right", name, f.UncompressedSize64, a.size)
	}
	rc, err := f.Open()
	if err != nil {
		return nil, errorf("%s: %w", name, readError(err))
	}
	return newArray(name, rc, full)
}

// newArray opens the array of an npy file of full bytes. It closes rc if there is an error.
func newArray(name string, rc io.ReadCloser, full uint64) (*Array, error) {
	h, err := readHeader(rc)
	rest := full - uint64(h.length)
	switch {
	case err != nil:
		err = errorf("%s: %w", name, err)
	case uint64(h.length) > full:
		err = errorf("%s: %d bytes cannot hold the header; save it again", name, full)
	case rest%uint64(h.Size) != 0 || rest/uint64(h.Size) != uint64(h.Elements()):
		err = errorf("%s: shape %v needs %d elements of %d bytes, but %d bytes are there; save it again", name, h.Shape, h.Elements(), h.Size, rest)
	default:
		return &Array{header: h, name: name, in: bufio.NewReaderSize(rc, 1<<16), c: rc}, nil
	}
	rc.Close()
	return nil, err
}

// NewArray returns an array in another format than NumPy's, whose big-endian elements follow in rc, row by
// row. kind and size are those of an Array.
func NewArray(name string, kind byte, size int, shape []int64, rc io.ReadCloser) *Array {
	return &Array{header: header{Kind: kind, Size: size, Shape: shape, order: binary.BigEndian}, name: name, in: bufio.NewReaderSize(rc, 1<<16), c: rc}
}

// Errorf returns an error about the content of the array. The error names the array and wraps ErrFormat.
func (r *Array) Errorf(format string, args ...any) error {
	return errorf("%s: %w", r.name, fmt.Errorf(format, args...))
}

// Close closes the array.
func (r *Array) Close() error {
	if r.sparse != nil {
		r.sparse.columns.Close()
	}
	return r.c.Close()
}

// Next returns the bytes of the next n elements, valid until the next call.
func (r *Array) Next(n int) ([]byte, error) {
	if n*r.Size > cap(r.buf) {
		r.buf = make([]byte, n*r.Size)
	}
	b := r.buf[:n*r.Size]
	if _, err := io.ReadFull(r.in, b); err != nil {
		return nil, r.Errorf("%w", readError(err))
	}
	return b, nil
}

// End checks that there are no more elements, and that the checksum of the archive is right.
func (r *Array) End() error {
	_, err := r.in.ReadByte()
	if err == nil {
		return r.Errorf("more data than the header says; save it again")
	}
	if err != io.EOF {
		return r.Errorf("%w", readError(err))
	}
	return nil
}

// Rows reads rows × cols elements and calls do for each row, whose values are valid until do returns. It
// stops at the first error of do. It reads an array in Fortran order into memory first.
func (r *Array) Rows(rows, cols int, do func(i int, values []float64) error) error {
	values := make([]float64, cols)
	switch {
	case r.sparse != nil:
		return r.SparseRows(func(i int, columns []int, some []float64) error {
			clear(values)
			for k, j := range columns {
				values[j] = some[k]
			}
			return do(i, values)
		})
	case r.Fortran && len(r.Shape) > 1:
		return r.fortranRows(rows, cols, do)
	}
	for i := range rows {
		b, err := r.Next(cols)
		if err != nil {
			return err
		}
		r.numbers(values, b)
		if err := do(i, values); err != nil {
			return err
		}
	}
	return r.End()
}
