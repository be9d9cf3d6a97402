package npz

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A header describes the array of a NumPy file. The format is NEP 1, "A Simple File Format for NumPy
// Arrays".
type header struct {
	Kind    byte    // type of the elements: b bool, i signed, u unsigned, f float, U and S text
	Size    int     // size of an element in bytes
	Shape   []int64 // length of each dimension
	Fortran bool    // elements are stored column by column
	order   binary.ByteOrder
	length  int // number of bytes before the first element
}

// magic begins every NumPy file.
const magic = "\x93NUMPY"

// maxHeader limits the text of the header, in bytes. NumPy's reader has the same limit.
const maxHeader = 10000

// appendHeader appends the header that NumPy writes for an array in row-major
// order. The elements start at a multiple of 64 bytes, as NEP 1 requires.
func appendHeader(b []byte, descr string, shape []int) []byte {
	tuple := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	if len(shape) == 1 {
		tuple += ","
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	const before = len(magic) + 4 // 4: the version and the length of the text
	text += strings.Repeat(" ", 63-(before+len(text))%64) + "\n"
	b = append(b, magic+"\x01\x00"...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(b, text...)
}

// readHeader reads the start of a NumPy file up to the first element. The caller adds the name of
// the file to errors.
func readHeader(r io.Reader) (h header, err error) {
	var start [8]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return h, readError(err)
	}
	if string(start[:6]) != magic {
		return h, errorf("not a NumPy array; save it by numpy.savez")
	}
	var size [4]byte
	digits := 4
	switch start[6] {
	case 1:
		digits = 2
	case 2, 3:
	default:
		return h, errorf("NumPy file format %d is not known; save it by numpy.savez", start[6])
	}
	if _, err := io.ReadFull(r, size[:digits]); err != nil {
		return h, readError(err)
	}
	n := binary.LittleEndian.Uint32(size[:])
	if n > maxHeader {
		return h, errorf("a header of %d bytes; save plain arrays by numpy.savez", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return h, readError(err)
	}
	h.length = len(start) + digits + len(text)
	return h, h.parse(string(text))
}

// The text of a header is a Python dictionary of three entries in any order.
const entry = `\s*'(descr|fortran_order|shape)'\s*:\s*(\[.*\]|'[^']*'|True|False|\([^)]*\))\s*`

var dictionary = regexp.MustCompile(`^\s*\{` + entry + `,` + entry + `,` + entry + `,?\s*\}\s*$`)

func (h *header) parse(text string) error {
	value := map[string]string{}
	if m := dictionary.FindStringSubmatch(text); m != nil {
		value = map[string]string{m[1]: m[2], m[3]: m[4], m[5]: m[6]}
	}
	descr, fortran, shape := value["descr"], value["fortran_order"], value["shape"]
	if strings.HasPrefix(descr, "[") {
		return errorf("an array of records cannot be read; save the columns as plain arrays")
	}
	h.Fortran = fortran == "True"
	if !strings.HasPrefix(descr, "'") || !h.Fortran && fortran != "False" || !strings.HasPrefix(shape, "(") || !h.setShape(shape[1:len(shape)-1]) {
		return errorf("the header %s cannot be read; save plain arrays by numpy.savez", Quote(text))
	}
	return h.setType(descr[1 : len(descr)-1])
}

// setType parses an element type, such as <f4.
func (h *header) setType(s string) error {
	refused := errorf("elements of type %s cannot be read; save bool, integers or floats", Quote(s))
	if strings.HasSuffix(s, "O") {
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
	if err != nil || strconv.Itoa(n) != s[2:] {
		return refused
	}
	h.Kind, h.Size = s[1], n
	ok := false
	switch h.Kind {
	case 'b':
		ok = n == 1
	case 'i', 'u':
		ok = n == 1 || n == 2 || n == 4 || n == 8
	case 'f':
		ok = n == 2 || n == 4 || n == 8
	case 'U':
		ok = n >= 1 && n <= 256
		h.Size = 4 * n // n counts code points of four bytes
	case 'S':
		ok = n >= 1 && n <= 1024
	}
	if !ok {
		return refused
	}
	return nil
}

// setShape parses the inside of a Python tuple of lengths. It reports whether s is valid and the
// number of elements fits into 62 bits.
func (h *header) setShape(s string) bool {
	h.Shape = nil
	if s = strings.TrimSpace(s); s == "" { // a single number
		return true
	}
	inside, ok := strings.CutSuffix(s, ",")
	if !ok && !strings.Contains(s, ",") { // not a tuple in Python
		return false
	}
	total := int64(1)
	for f := range strings.SplitSeq(inside, ",") {
		f = strings.TrimSuffix(strings.TrimSpace(f), "L") // Python 2's long integers
		n, err := strconv.ParseInt(f, 10, 64)
		// A sign or a leading zero, which is octal in Python 2, is refused.
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != f || len(h.Shape) == 32 || n > 0 && total > 1<<62/n {
			return false
		}
		total *= max(n, 1)
		h.Shape = append(h.Shape, n)
	}
	return true
}

func (h *header) Elements() int64 {
	n := int64(1)
	for _, d := range h.Shape {
		n *= d
	}
	return n
}

// IsText reports whether the elements are texts instead of numbers.
func (h *header) IsText() bool { return h.Kind == 'U' || h.Kind == 'S' }

// numbers overwrites dst with the elements in b. Integers beyond 2⁵³ are rounded; use Text for labels.
func (h *header) numbers(dst []float64, b []byte) {
	little := h.order == binary.LittleEndian
	switch {
	case h.Kind == 'u' && h.Size == 1:
		for i := range dst {
			dst[i] = float64(b[i])
		}
	case h.Kind == 'b':
		for i := range dst {
			dst[i] = 1
			if b[i] == 0 { // in NumPy any other byte is true
				dst[i] = 0
			}
		}
	case h.Kind == 'f' && h.Size == 4 && little:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case h.Kind == 'f' && h.Size == 8 && little:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	case h.Kind == 'f' && h.Size == 2:
		for i := range dst {
			dst[i] = half(h.order.Uint16(b[2*i:]))
		}
	case h.Kind == 'f' && h.Size == 4:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(h.order.Uint32(b[4*i:])))
		}
	case h.Kind == 'f':
		for i := range dst {
			dst[i] = math.Float64frombits(h.order.Uint64(b[8*i:]))
		}
	case h.Kind == 'i' && h.Size == 8 && little:
		for i := range dst {
			dst[i] = float64(int64(binary.LittleEndian.Uint64(b[8*i:])))
		}
	case h.Kind == 'i':
		for i := range dst {
			dst[i] = float64(h.signed(b[i*h.Size:]))
		}
	default:
		for i := range dst {
			dst[i] = float64(h.unsigned(b[i*h.Size:]))
		}
	}
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

// half converts IEEE 754 binary16 to float64. It has a sign, an exponent of 5 bits with bias 15, and
// a fraction of 10 bits.
func half(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	v := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 0: // subnormal
		v = math.Ldexp(fraction, -24)
	case exponent == 31 && fraction == 0:
		v = math.Inf(1)
	case exponent == 31:
		v = math.NaN()
	}
	if b>>15 != 0 {
		return -v
	}
	return v
}

// Text converts the element in b to the name of a class. It returns false if the element is a number
// that is not an integer, or a text that is empty or contains a zero or an invalid code point.
func (h *header) Text(b []byte) (string, bool) {
	switch h.Kind {
	case 'f':
		var v [1]float64
		h.numbers(v[:], b)
		v[0] += 0 // −0 is the class 0
		return strconv.FormatFloat(v[0], 'f', -1, 64), v[0] == math.Trunc(v[0]) && math.Abs(v[0]) <= 1<<53
	case 'i':
		return strconv.FormatInt(h.signed(b), 10), true
	case 'b':
		return strconv.Itoa(int(min(b[0], 1))), true
	case 'S':
		text := strings.TrimRight(string(b[:h.Size]), "\x00")
		return text, text != "" && utf8.ValidString(text) && !strings.Contains(text, "\x00")
	case 'U':
		var s strings.Builder
		ended := false
		for ; len(b) >= 4; b = b[4:] {
			c := h.order.Uint32(b)
			switch {
			case c == 0: // shorter texts are padded
				ended = true
			case ended || c > unicode.MaxRune || !utf8.ValidRune(rune(c)):
				return s.String() + "\ufffd", false // not empty, because an empty text may mean no label
			default:
				s.WriteRune(rune(c))
			}
		}
		return s.String(), s.Len() > 0
	}
	return strconv.FormatUint(h.unsigned(b), 10), true
}
