package potts

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Scores has a symmetric score for each pair of sites, and zeros on the diagonal.
type Scores [][]float64

func newScores(sites int) Scores {
	s := make(Scores, sites)
	for i := range s {
		s[i] = make([]float64, sites)
	}
	return s
}

// Frobenius returns the Frobenius norm of the couplings of each pair, in the current gauge of p
// (Ekeberg et al. 2013, "Improved contact prediction in proteins", section II.G). It leaves out states
// below first; first = 1 leaves out the gap, state 0.
func (p *Model) Frobenius(first int) Scores {
	s := newScores(p.Sites)
	for i := range s {
		for j := i + 1; j < p.Sites; j++ {
			sum := 0.0
			for k, x := range p.Pair(i, j) {
				if k/p.States >= first && k%p.States >= first {
					sum += float64(x * x)
				}
			}
			s[i][j] = math.Sqrt(sum)
			s[j][i] = s[i][j]
		}
	}
	return s
}

// Corrected returns the scores with the average product correction of Dunn, Wahl and Gloor (2008),
//
//	S_ij − S̄_i·S̄_j / S̄, where S̄_i is the mean of S_ij over j ≠ i, and S̄ that over all pairs
func (s Scores) Corrected() Scores {
	c := newScores(len(s))
	mean, all := make([]float64, len(s)), 0.0
	for i := range s {
		for _, x := range s[i] {
			mean[i] += x / float64(len(s)-1)
		}
		all += mean[i] / float64(len(s))
	}
	if all == 0 {
		return c
	}
	for i := range s {
		for j := range s {
			if i != j {
				c[i][j] = s[i][j] - float64(mean[i]*mean[j]/all)
			}
		}
	}
	return c
}

// Ranked returns the pairs i < j with j − i ≥ apart, in descending order of their scores.
func (s Scores) Ranked(apart int) (pairs [][2]int) {
	for i := range s {
		for j := i + apart; j < len(s); j++ {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]int) int { return cmp.Compare(s[b[0]][b[1]], s[a[0]][a[1]]) })
	return pairs
}

// Upper returns the scores of all pairs i < j, row by row.
func (s Scores) Upper() (x []float64) {
	for i := range s {
		x = append(x, s[i][i+1:]...)
	}
	return x
}

// Distances has the distance of each pair of sites in ångström, or NaN if it is unknown.
type Distances [][]float64

// ReadDistances reads distances of pairs of sites. A line has two sites, counted from 1, and their distance
// in ångström, separated by spaces, tabs or commas. Text after # is ignored, and so is a first line of words.
// The error names path and line.
func ReadDistances(r io.Reader, path string, sites int) (Distances, error) {
	d := Distances(newScores(sites))
	for i := range d {
		for j := range d {
			d[i][j] = math.NaN()
		}
	}
	in := bufio.NewScanner(r)
	known, line := 0, 0
	for in.Scan() {
		line++
		text, _, _ := strings.Cut(in.Text(), "#")
		f := strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == '\t' || c == ',' || c == '\r' })
		if len(f) == 0 {
			continue
		}
		var number [3]float64
		bad := len(f) != 3
		for k := 0; k < 3 && !bad; k++ {
			x, err := strconv.ParseFloat(f[k], 64)
			number[k], bad = x, err != nil
		}
		if bad && known == 0 && line == 1 {
			continue
		}
		i, j := int(number[0]), int(number[1])
		switch {
		case bad:
			return nil, fmt.Errorf("%s:%d: %.40q is not a line of two sites and their distance, such as 3 17 6.2", path, line, in.Text())
		case float64(i) != number[0] || float64(j) != number[1] || i < 1 || j < 1 || i > sites || j > sites || i == j:
			return nil, fmt.Errorf("%s:%d: sites %s and %s; write two different sites from 1 to %d", path, line, f[0], f[1], sites)
		case !(number[2] >= 0) || math.IsInf(number[2], 0):
			return nil, fmt.Errorf("%s:%d: %s is not a distance; write ångström, zero or more", path, line, f[2])
		case !math.IsNaN(d[i-1][j-1]) && d[i-1][j-1] != number[2]:
			return nil, fmt.Errorf("%s:%d: the sites %d and %d have another distance on an earlier line", path, line, i, j)
		}
		d[i-1][j-1], d[j-1][i-1] = number[2], number[2]
		known++
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, line+1, err)
	}
	if known == 0 {
		return nil, fmt.Errorf("%s: no distances; write lines of two sites, counted from 1, and their distance in ångström", path)
	}
	return d, nil
}

// Beyond reports whether any pair of sites is at least threshold apart, in ångström.
func (d Distances) Beyond(threshold float64) bool {
	return slices.ContainsFunc(d, func(row []float64) bool {
		return slices.ContainsFunc(row, func(x float64) bool { return x >= threshold })
	})
}

// Precision returns the positive predictive value of contacts: of the first n ranked pairs of known distance,
// the fraction ppv[n−1] is nearer than threshold. Of all ranked pairs, total are nearer than threshold.
func (d Distances) Precision(ranked [][2]int, threshold float64) (ppv []float64, total int) {
	for _, pair := range ranked {
		at := d[pair[0]][pair[1]]
		if math.IsNaN(at) {
			continue
		}
		if at < threshold {
			total++
		}
		ppv = append(ppv, float64(total)/float64(len(ppv)+1))
	}
	return ppv, total
}
