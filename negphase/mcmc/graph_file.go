package mcmc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm/atomicfile"
)

// maxLine is the length of the longest line of a file of couplings, in bytes. Two spins and
// a number need 40 bytes; the rest is for comments.
const maxLine = 1 << 16

// ReadGraph reads a graph from text. A line has either a coupling as three numbers `i j J`,
// or a field as two numbers `i h`. Spins are numbered from 0, or from 1 if none is 0, and every
// number up to the largest must occur on some line. The first line may have the number of spins
// instead, alone or before the number of couplings, as in the files of Gset; then there may be
// spins that no other line names. A comment starts with #. Errors name the line.
func ReadGraph(r io.Reader) (*Graph, error) {
	read := graphReader{given: map[[2]int32]int{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		read.line++
		if err := read.item(lines.Text()); err != nil {
			return nil, fmt.Errorf("line %d: %w", read.line, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: longer than %d bytes", read.line+1, maxLine)
	} else if err != nil {
		return nil, err
	}
	return read.graph()
}

// ReadGraphFile is ReadGraph on the file of the given name. Errors name the file.
func ReadGraphFile(name string) (*Graph, error) {
	f, _, err := atomicfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g, err := ReadGraph(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

// A graphReader collects the couplings and fields of a file.
type graphReader struct {
	line   int
	spins  int    // number of spins that the first line gives; 0: none
	first  string // the first line, if it has two numbers: the numbers of spins and couplings, or a field
	lines  int    // number of lines that are not empty
	edges  []Edge
	fields []Edge           // edges from a spin to noSpin
	given  map[[2]int32]int // line of each edge; the key is its lower spin and its higher one
}

// noSpin is the second spin of an edge that represents a field.
const noSpin = MaxSpins

// item reads one line.
func (r *graphReader) item(text string) error {
	text, _, _ = strings.Cut(text, "#")
	words := strings.Fields(text)
	if len(words) == 0 {
		return nil
	}
	r.lines++
	n, err := strconv.Atoi(words[0])
	switch header := r.lines == 1 && err == nil && n > 0 && n <= MaxSpins; {
	case header && len(words) == 1:
		r.spins = n
		return nil
	case header && len(words) == 2:
		r.first = text
		return nil
	case len(words) != 2 && len(words) != 3:
		return fmt.Errorf("%d items: want `i j J` for a coupling or `i h` for a field", len(words))
	}
	e := Edge{J: noSpin}
	if e.I, err = parseSpin(words[0]); err != nil {
		return err
	}
	last := words[len(words)-1]
	if e.Coupling, err = strconv.ParseFloat(last, 64); err != nil || !finite(e.Coupling) {
		return fmt.Errorf("%q: want a finite number", clip(last))
	}
	if len(words) == 3 {
		if e.J, err = parseSpin(words[1]); err != nil {
			return err
		}
	}
	pair := [2]int32{min(e.I, e.J), max(e.I, e.J)}
	before, repeated := r.given[pair]
	switch {
	case repeated && e.J == noSpin:
		return fmt.Errorf("the field of spin %d was given on line %d", e.I, before)
	case e.I == e.J:
		return fmt.Errorf("edge %d %d couples a spin to itself: leave it out, it adds a constant to the energy", e.I, e.J)
	case repeated:
		return fmt.Errorf("edge %d %d was given on line %d: add the couplings up", e.I, e.J, before)
	case e.J != noSpin && len(r.edges) == MaxEdges:
		return fmt.Errorf("more than %d edges", MaxEdges)
	case e.J == noSpin:
		r.fields = append(r.fields, e)
	default:
		r.edges = append(r.edges, e)
	}
	r.given[pair] = r.line
	return nil
}

func parseSpin(word string) (int32, error) {
	i, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("spin %q: want a whole number from 0", clip(word))
	case i < 0:
		return 0, fmt.Errorf("spin %s: spins are numbered from 0", clip(word))
	case i >= MaxSpins:
		return 0, fmt.Errorf("spin %s: at most %d", clip(word), MaxSpins-1)
	}
	return int32(i), nil
}

// clip shortens a word for an error message.
func clip(word string) string {
	const most = 30
	if len(word) > most {
		return word[:most] + "…"
	}
	return word
}

// header decides what the first line is, if it has two numbers. It has the numbers of spins and couplings if
// the second number is that of couplings, and if as a field the line would be that of a spin without
// couplings, or of the last spin, counted from 1. Otherwise it is a field.
func (r *graphReader) header(least, most int32) error {
	if r.first == "" {
		return nil
	}
	words := strings.Fields(r.first)
	n, _ := strconv.Atoi(words[0])
	if words[1] == strconv.Itoa(len(r.edges)) && (n > int(most) || n == int(most) && least > 0) {
		r.spins = n
		return nil
	}
	r.line, r.lines = 1, 1 // no longer the first line
	return r.item(r.first)
}

// graph returns the graph with the couplings and fields that were read.
func (r *graphReader) graph() (*Graph, error) {
	named := r.named()
	if len(named) > 0 {
		if err := r.header(named[0], named[len(named)-1]); err != nil {
			return nil, err
		}
	} else if r.first != "" { // a single field
		r.lines = 1
		if err := r.item(r.first); err != nil {
			return nil, err
		}
	}
	if named = r.named(); len(named) == 0 {
		return nil, fmt.Errorf("no couplings: give lines of `i j J`, and `i h` for fields")
	}
	from := min(named[0], 1) // the number of the first spin
	for k := range named {
		named[k] -= from
	}
	n := int(named[len(named)-1]) + 1
	switch {
	case r.spins > 0 && n > r.spins:
		return nil, fmt.Errorf("spin %d is there, but the first line gives %d spins, numbered from %d: correct one of them", int(named[len(named)-1]+from), r.spins, from)
	case r.spins > 0:
		n = r.spins
	case n > len(named):
		for k, i := range named {
			if int(i) != k {
				return nil, fmt.Errorf("no line names spin %d, but spin %d is there: number the spins from 0 or 1 without gaps, or write their number in a first line", k+int(from), i+from)
			}
		}
	}
	field := make([]float64, n)
	for _, f := range r.fields {
		field[f.I-from] = f.Coupling
	}
	for k := range r.edges {
		r.edges[k].I, r.edges[k].J = r.edges[k].I-from, r.edges[k].J-from
	}
	return NewGraph(field, r.edges)
}

// named returns the numbers of the spins that lines name, in order.
func (r *graphReader) named() []int32 {
	named := make([]int32, 0, 2*len(r.edges)+len(r.fields))
	for _, e := range r.edges {
		named = append(named, e.I, e.J)
	}
	for _, f := range r.fields {
		named = append(named, f.I)
	}
	slices.Sort(named)
	return slices.Compact(named)
}
