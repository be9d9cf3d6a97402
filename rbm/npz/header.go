package npz

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"strconv"
	"strings"
)

// A header describes the array of a NumPy file, whose elements follow the
// header. The format is NEP 1, "A Simple File Format for NumPy Arrays". The
// reader is our own because the input is anyone's: the library that writes
// these files for us panics at a bad header and trusts the sizes in it.
type header struct {
	Kind    byte // b bool, i signed, u unsigned, f float, U text
	Size    int  // bytes of an element
	order   binary.ByteOrder
	fortran bool
	Shape   []int64
}

// maxHeader caps the header's text: NumPy's own reader has the same limit.
const maxHeader = 10000

// readHeader reads the start of a NumPy file up to the first element. Its
// errors are messages without the file's name.
func readHeader(r io.Reader) (header, error) {
	var h header
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return h, readError(err)
	}
	if string(start[:6]) != "\x93NUMPY" {
		return h, errorf("not a NumPy array; save it by numpy.savez")
	}
	var n uint32
	switch start[6] {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return h, readError(err)
		}
		n = uint32(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return h, readError(err)
		}
		n = binary.LittleEndian.Uint32(b[:])
	default:
		return h, errorf("NumPy file format %d is not known; save it by numpy.savez", start[6])
	}
	if n > maxHeader {
		return h, errorf("a header of %d bytes; save plain arrays by numpy.savez", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, readError(err)
	}
	if err := h.parse(text); err != nil {
		return h, err
	}
	return h, nil
}

// parse reads the header's text, a Python dictionary of three keys as NumPy
// writes it.
func (h *header) parse(text []byte) error {
	bad := func() error {
		return errorf("the header %s cannot be read; save plain arrays by numpy.savez", quote(string(text)))
	}
	var seen [3]bool
	t := bytes.TrimSpace(text)
	t, ok := bytes.CutPrefix(t, []byte("{"))
	if !ok {
		return bad()
	}
	for {
		t = bytes.TrimLeft(t, " ,")
		if bytes.HasPrefix(t, []byte("}")) {
			break
		}
		switch {
		case cutPrefix(&t, "'descr': ") && !seen[0]:
			seen[0] = true
			if !cutPrefix(&t, "'") {
				return errorf("an array of records cannot be read; save the columns as plain arrays")
			}
			end := bytes.IndexByte(t, '\'')
			if end < 0 {
				return bad()
			}
			if err := h.setType(string(t[:end])); err != nil {
				return err
			}
			t = t[end+1:]
		case cutPrefix(&t, "'fortran_order': ") && !seen[1]:
			seen[1] = true
			if h.fortran = cutPrefix(&t, "True"); !h.fortran && !cutPrefix(&t, "False") {
				return bad()
			}
		case cutPrefix(&t, "'shape': (") && !seen[2]:
			seen[2] = true
			end := bytes.IndexByte(t, ')')
			if end < 0 || !h.setShape(string(t[:end])) {
				return bad()
			}
			t = t[end+1:]
		default:
			return bad()
		}
	}
	if seen != [3]bool{true, true, true} {
		return bad()
	}
	return nil
}

// cutPrefix removes a prefix from t and reports whether it was there.
func cutPrefix(t *[]byte, prefix string) bool {
	rest, ok := bytes.CutPrefix(*t, []byte(prefix))
	*t = rest
	return ok
}

// setType reads an element type, such as <f4.
func (h *header) setType(s string) error {
	refused := errorf("elements of type %s cannot be read; save bool, integers or floats", quote(s))
	if len(s) > 0 && s[len(s)-1] == 'O' {
		return errorf("an array of Python objects cannot be read; save numbers, or text by astype(str)")
	}
	if len(s) < 3 {
		return refused
	}
	h.order = binary.LittleEndian
	switch s[0] {
	case '<', '|':
	case '>':
		h.order = binary.BigEndian
	default:
		return refused
	}
	n, err := strconv.Atoi(s[2:])
	if err != nil {
		return refused
	}
	h.Kind, h.Size = s[1], n
	switch h.Kind {
	case 'b':
		if n == 1 {
			return nil
		}
	case 'i', 'u':
		if n == 1 || n == 2 || n == 4 || n == 8 {
			return nil
		}
	case 'f':
		if n == 4 || n == 8 {
			return nil
		}
	case 'U':
		// NumPy counts letters, of four bytes each.
		if n >= 1 && n <= 256 {
			h.Size = 4 * n
			return nil
		}
	}
	return refused
}

// setShape reads the inside of a tuple of sizes, and reports whether it is one
// whose number of elements fits into 62 bits.
func (h *header) setShape(s string) bool {
	h.Shape = nil
	total := int64(1)
	for f := range strings.SplitSeq(s, ",") {
		f = strings.TrimSuffix(strings.TrimSpace(f), "L") // Python 2's long integers
		if f == "" {
			continue
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || n < 0 || len(h.Shape) == 32 || n > 0 && total > 1<<62/n {
			return false
		}
		total *= max(n, 1)
		h.Shape = append(h.Shape, n)
	}
	return true
}

// Elements returns the number of elements.
func (h *header) Elements() int64 {
	n := int64(1)
	for _, d := range h.Shape {
		n *= d
	}
	return n
}

// Number returns the element in b, of h.Size bytes, as a float64. Integers
// beyond 2⁵³ are rounded, which only matters to labels: see Text.
func (h *header) Number(b []byte) float64 {
	switch h.Kind {
	case 'f':
		if h.Size == 4 {
			return float64(math.Float32frombits(h.order.Uint32(b)))
		}
		return math.Float64frombits(h.order.Uint64(b))
	case 'i':
		return float64(h.signed(b))
	case 'b':
		// NumPy takes any byte but zero as true.
		if b[0] != 0 {
			return 1
		}
		return 0
	}
	return float64(h.unsigned(b))
}

func (h *header) unsigned(b []byte) uint64 {
	switch h.Size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(h.order.Uint16(b))
	case 4:
		return uint64(h.order.Uint32(b))
	}
	return h.order.Uint64(b)
}

func (h *header) signed(b []byte) int64 {
	unused := 64 - 8*h.Size
	return int64(h.unsigned(b)) << unused >> unused
}

// Text returns the element in b as the name of a class, or false if it
// cannot be one.
func (h *header) Text(b []byte) (string, bool) {
	switch h.Kind {
	case 'f':
		v := h.Number(b)
		return strconv.FormatFloat(v, 'f', -1, 64), v == math.Trunc(v) && math.Abs(v) <= 1<<53
	case 'i':
		return strconv.FormatInt(h.signed(b), 10), true
	case 'U':
		var s strings.Builder
		for ; len(b) > 0; b = b[4:] {
			// Text ends in zeros up to the longest of the array.
			if c := h.order.Uint32(b); c != 0 {
				s.WriteRune(rune(c))
			}
		}
		return s.String(), s.Len() > 0
	case 'b':
		return strconv.Itoa(int(h.Number(b))), true
	}
	return strconv.FormatUint(h.unsigned(b), 10), true
}

// readError is the error for an array that ends too soon or that the archive
// cannot deliver.
func readError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errorf("cut short; save it again")
	}
	return errorf("cannot be read (%w); save it again", err)
}
