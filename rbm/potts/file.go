package potts

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Write writes p in the text format of adabmDCA: a line "J i j a b value" for each coupling of the pairs
// i < j, then a line "h i a value" for each field, with sites from 0 and states as letters.
func (p *Model) Write(w io.Writer, letters string) error {
	out := bufio.NewWriter(w)
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }
	for i := range p.Sites {
		for j := i + 1; j < p.Sites; j++ {
			for k, x := range p.Pair(i, j) {
				fmt.Fprintf(out, "J %d %d %c %c %s\n", i, j, letters[k/p.States], letters[k%p.States], number(x))
			}
		}
	}
	for k, x := range p.Fields {
		fmt.Fprintf(out, "h %d %c %s\n", k/p.States, letters[k%p.States], number(x))
	}
	return out.Flush()
}

// Read reads a Potts model from a text file of adabmDCA: see Write. sites is the number of sites, and
// letters has one letter for each state. States may also be numbers from 0, as in files of adabmDCA before
// 2.0. A coupling may name its sites in either order. Missing couplings and fields are zero. The error
// names path and line.
func Read(r io.Reader, path string, sites int, letters string) (*Model, error) {
	p, err := New(sites, len(letters))
	if err != nil {
		return nil, err
	}
	q := p.States
	for i := range p.Fields {
		p.Fields[i] = math.NaN()
	}
	for _, c := range p.Couplings {
		for k := range c {
			c[k] = math.NaN()
		}
	}
	in := bufio.NewScanner(r)
	line := 0
	wrong := func(format string, v ...any) error {
		return fmt.Errorf("%s:%d: "+format, append([]any{path, line}, v...)...)
	}
	state := func(text string) int {
		if len(text) == 1 {
			if k := strings.IndexByte(letters, text[0]); k >= 0 {
				return k
			}
		}
		if k, err := strconv.Atoi(text); err == nil && k >= 0 && k < q {
			return k
		}
		return -1
	}
	given := 0
	for in.Scan() {
		line++
		f := strings.Fields(in.Text())
		if len(f) == 0 {
			continue
		}
		n := map[string]int{"J": 2, "h": 1}[f[0]] // number of sites in the line
		if n == 0 || len(f) != 2+2*n {
			return nil, wrong("%.40q is not a line of adabmDCA, J i j a b value or h i a value", in.Text())
		}
		var site, letter [2]int
		for k := range n {
			i, err := strconv.Atoi(f[1+k])
			if err != nil || i < 0 || i >= sites {
				return nil, wrong("site %.20q; the model has sites 0 to %d", f[1+k], sites-1)
			}
			a := state(f[1+n+k])
			if a < 0 {
				return nil, wrong("state %.20q; it is a letter of %s, or a number from 0 to %d", f[1+n+k], letters, q-1)
			}
			site[k], letter[k] = i, a
		}
		x, err := strconv.ParseFloat(f[1+2*n], 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, wrong("%.20q is not a finite number", f[1+2*n])
		}
		at := &p.Fields[site[0]*q+letter[0]]
		switch {
		case n == 2 && site[0] == site[1]:
			return nil, wrong("a coupling of site %d with itself", site[0])
		case n == 2 && site[0] < site[1]:
			at = &p.Pair(site[0], site[1])[letter[0]*q+letter[1]]
		case n == 2:
			at = &p.Pair(site[1], site[0])[letter[1]*q+letter[0]]
		}
		if !math.IsNaN(*at) && *at != x {
			return nil, wrong("%s has another value above", strings.Join(f[:len(f)-1], " "))
		}
		*at = x
		given++
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, line+1, err)
	}
	if given == 0 {
		return nil, fmt.Errorf("%s: no lines J i j a b value or h i a value, as adabmDCA writes them", path)
	}
	zero := func(x []float64) {
		for k, v := range x {
			if math.IsNaN(v) {
				x[k] = 0
			}
		}
	}
	zero(p.Fields)
	for _, c := range p.Couplings {
		zero(c)
	}
	return p, nil
}
