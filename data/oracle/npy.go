package oracle

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Members returns the arrays x and y of an archive, nil if they are missing. A name that occurs twice is an
// error, because NumPy reads the last.
func Members(file []byte) (x, y []byte, err error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		if name != "x" && name != "y" {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, nil, err
		}
		b, err := io.ReadAll(r)
		switch {
		case err != nil:
			return nil, nil, err
		case name == "x" && x == nil:
			x = b
		case name == "y" && y == nil:
			y = b
		default:
			return nil, nil, fmt.Errorf("%s is there twice", name)
		}
	}
	return x, y, nil
}

var npyHeader = regexp.MustCompile(`^\{(?: *'(descr|fortran_order|shape)' *: *('[<>|][biufU][1-9][0-9]*'|True|False|\((?: *[0-9]+L? *,?)*\s*\)) *,){2} *'(descr|fortran_order|shape)' *: *('[<>|][biufU][1-9][0-9]*'|True|False|\((?: *[0-9]+L? *,?)*\s*\)) *,? *\}\s*$`)

// An Array is the content of a NumPy file.
type Array struct {
	Type  string // such as <f4
	Shape []int
	Data  []byte // bytes of the elements
	Size  int    // bytes of an element
}

// NPY parses a NumPy file.
func NPY(b []byte) (a Array, err error) {
	if len(b) < 12 || string(b[:6]) != "\x93NUMPY" || b[6] < 1 || b[6] > 3 {
		return a, errors.New("no array")
	}
	n, at := int(b[8])|int(b[9])<<8, 10
	if b[6] > 1 {
		n, at = n|int(b[10])<<16|int(b[11])<<24, 12
	}
	if n < 0 || at+n > len(b) {
		return a, errors.New("a long header")
	}
	text := strings.NewReplacer("\n", " ", "\f", " ", "\r", " ", "\t", " ").Replace(string(b[at : at+n])) // white space is equivalent within braces
	if !npyHeader.MatchString(text) {
		return a, fmt.Errorf("a header %q", text)
	}
	value := func(key string) string {
		if strings.Count(text, "'"+key+"'") != 1 {
			return ""
		}
		_, v, _ := strings.Cut(text, "'"+key+"'")
		v = strings.TrimLeft(v, " :")
		end := map[byte]string{'\'': "'", '(': ")", 'T': "e", 'F': "e"}[v[0]]
		return v[:1+strings.Index(v[1:], end)+1]
	}
	a.Type, a.Data = strings.Trim(value("descr"), "'"), b[at+n:]
	shape := value("shape")
	if len(a.Type) < 3 || value("fortran_order") != "False" || !strings.HasPrefix(shape, "(") {
		return a, fmt.Errorf("a header %q", text)
	}
	inside := strings.TrimSpace(shape[1 : len(shape)-1])
	full := 1
	for k, f := range strings.Split(strings.TrimSpace(strings.TrimSuffix(inside, ",")), ",") {
		f = strings.TrimSuffix(strings.TrimSpace(f), "L")
		d, err := strconv.Atoi(f)
		if err != nil || len(f) > 1 && f[0] == '0' || k == 0 && !strings.Contains(inside, ",") {
			return a, fmt.Errorf("shape %q", shape) // Python reads (3) as a number, and a number does not begin with 0
		}
		a.Shape, full = append(a.Shape, d), full*d
	}
	a.Size, _ = strconv.Atoi(a.Type[2:])
	if a.Type[1] == 'U' {
		a.Size *= 4
	}
	if full*a.Size != len(a.Data) {
		return a, fmt.Errorf("%d bytes for shape %v of %s", len(a.Data), a.Shape, a.Type)
	}
	return a, nil
}

// element returns element i as a big-endian integer.
func (a Array) element(i int) *big.Int {
	b := slices.Clone(a.Data[i*a.Size : (i+1)*a.Size])
	if a.Type[0] != '>' {
		slices.Reverse(b)
	}
	return new(big.Int).SetBytes(b)
}

// Number returns the value of element i.
func (a Array) Number(i int) float64 {
	n := a.element(i)
	v, _ := new(big.Float).SetInt(n).Float64()
	switch kind := a.Type[1]; {
	case kind == 'b' && v != 0:
		return 1
	case kind == 'i' && n.Bit(8*a.Size-1) == 1:
		v, _ = new(big.Float).SetInt(new(big.Int).Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*a.Size)))).Float64()
	case kind == 'f':
		fraction := map[int]uint{2: 10, 4: 23, 8: 52}[a.Size]
		bits := n.Uint64()
		exponent := int(bits >> fraction & (1<<(uint(8*a.Size)-1-fraction) - 1))
		bias := 1<<(uint(8*a.Size)-2-fraction) - 1
		m := float64(bits & (1<<fraction - 1))
		switch {
		case exponent == 2*bias+1 && m != 0:
			return math.NaN()
		case exponent == 2*bias+1:
			v = math.Inf(1)
		case exponent == 0:
			v = math.Ldexp(m, 1-bias-int(fraction))
		default:
			v = math.Ldexp(m+math.Ldexp(1, int(fraction)), exponent-bias-int(fraction))
		}
		if n.Bit(8*a.Size-1) == 1 {
			v = -v
		}
	}
	return v
}

// Label returns element i as the name of a class.
func (a Array) Label(i int) (string, error) {
	if a.Type[1] == 'U' {
		var name []rune
		for k := range a.Size / 4 {
			c := (Array{Type: a.Type, Data: a.Data[i*a.Size:], Size: 4}).element(k).Int64()
			if c > unicode.MaxRune || c >= 0xd800 && c < 0xe000 {
				return "", errors.New("no letter")
			}
			name = append(name, rune(c))
		}
		text := strings.TrimRight(string(name), "\x00")
		if strings.Contains(text, "\x00") {
			return "", errors.New("a zero within a text")
		}
		return text, nil
	}
	if a.Type[1] == 'i' || a.Type[1] == 'u' {
		n := a.element(i)
		if a.Type[1] == 'i' && n.Bit(8*a.Size-1) == 1 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*a.Size)))
		}
		return n.String(), nil
	}
	v := a.Number(i)
	if v != math.Floor(v) || math.Abs(v) > 1<<53 {
		return "", errors.New("no class")
	}
	return strconv.FormatInt(int64(v), 10), nil
}
