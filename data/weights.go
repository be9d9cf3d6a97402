package data

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"gorbm/data/grammar"
)

// TotalWeight returns the sum of the weights of the rows, or their number if they have no weights. A row of
// weight w counts as w rows everywhere. For sequences with Options.Reweight this sum is known as M_eff.
func (s *Set) TotalWeight() float64 {
	if s.Weights == nil {
		return float64(s.Len())
	}
	sum := 0.0
	for _, w := range s.Weights {
		sum += w
	}
	return sum
}

// EqualRows returns (Σw)²/Σw² (Kish, Survey Sampling, 1965): the number of rows of equal weights whose
// means are as precise. It does not depend on the scale of the weights.
func (s *Set) EqualRows() float64 {
	if s.Weights == nil {
		return float64(s.Len())
	}
	total, squares := s.TotalWeight(), 0.0
	for _, w := range s.Weights {
		share := w / total // w·w might overflow
		squares += float64(share * share)
	}
	return 1 / squares
}

// DescribeWeights returns a text with TotalWeight and EqualRows, or "" if rows have no weights.
func (s *Set) DescribeWeights() string {
	if s.Weights == nil {
		return ""
	}
	equal := fmt.Sprintf("%.4g", s.EqualRows())
	if s.EqualRows() >= 1000 {
		equal = fmt.Sprintf("%.0f", s.EqualRows())
	}
	return fmt.Sprintf("weighted, of sum %.6g, as precise as %s equal rows", s.TotalWeight(), equal)
}

// Weight returns the weight of a row.
func (s *Set) Weight(row int32) float64 {
	if s.Weights == nil {
		return 1
	}
	return s.Weights[row]
}

// WeightsOf returns the weights of the given rows, or nil if the set has no weights.
func (s *Set) WeightsOf(rows []int32) []float64 { return pick(s.Weights, rows) }

// Mean returns the weighted mean of x, where x[i] belongs to row rows[i]. It adds in index order, so that
// the result is identical with SIMD and without.
func (s *Set) Mean(rows []int32, x []float64) float64 {
	sum, total := 0.0, float64(len(x))
	if s.Weights == nil {
		for _, v := range x {
			sum += v
		}
		return sum / total
	}
	total = 0
	for i, v := range x {
		w := s.Weights[rows[i]]
		total += w
		sum += float64(w * v)
	}
	return sum / total
}

// parseWeight reads a weight. It returns a message if the text is not a weight, and "" otherwise.
func parseWeight(text string) (w float64, why string) {
	text = strings.TrimSpace(text)
	w, err := ParseNumber(text)
	switch {
	case text == "":
		return 0, "the weight is missing; write a number from 0 up"
	case err != nil, math.IsNaN(w), math.IsInf(w, 0), w < 0:
		return 0, fmt.Sprintf("the weight is %s; it must be a finite number from 0 up", quote(text))
	}
	return w, ""
}

// readWeights reads a file with one weight in each line.
func readWeights(ctx context.Context, path string) ([]float64, error) {
	f, _, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("weights: %w", err)
	}
	defer f.Close()
	var w []float64
	lines := bufio.NewScanner(reading{ctx, nil, f})
	for n := 1; lines.Scan(); n++ {
		x, why := parseWeight(lines.Text())
		if why != "" {
			return nil, formatErrorf("%s:%d: %s", path, n, why)
		}
		if w = append(w, x); len(w) > maxRows {
			return nil, formatErrorf("%s: more than the %d rows that are allowed", path, maxRows)
		}
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return nil, formatErrorf("%s:%d: a line that is not a weight; write one number a line", path, len(w)+1)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// noWeights returns the error for a name of weights that is neither a column nor a file. columns are the
// names of the columns of the data, or nil.
func noWeights(name, path string, columns []string) error {
	if columns == nil {
		return fmt.Errorf("-weights %s: %w; name a file that has a line with a number for each row", quote(name), fs.ErrNotExist)
	}
	return fmt.Errorf("-weights %s: %w, and %s has no column of this name%s", quote(name), fs.ErrNotExist, path, grammar.DidYouMeanOr(name, columns, "its columns are "+someNames(columns)))
}

// noWeight returns the error about weights of rows that do not sum to a positive, finite number.
func noWeight(name string, rows int, sum float64) error {
	return formatErrorf("%s: the weights of the %d rows sum to %v; some must be above 0, and the sum finite", name, rows, sum)
}

// weigh sets the weights of the sets as the options say, and leaves out rows of weight zero.
func (o Options) weigh(ctx context.Context, sets []*Set) error {
	if o.Reweight > 0 {
		for _, s := range sets {
			if s.Schema == nil || s.Schema.Alphabet == "" {
				return specErrorf("%s has no aligned sequences; only these can be weighted by neighbours", s.Name)
			}
			if s.Len() == 0 {
				continue
			}
			var err error
			if s.Weights, err = s.neighbourWeights(ctx, o.Reweight, o.progress("neighbours", "rows", int64(s.Len()))); err != nil {
				return err
			}
		}
		return nil
	}
	if o.Weights != "" && sets[0].Weights == nil {
		w, err := o.rowWeights()
		if errors.Is(err, fs.ErrNotExist) {
			return noWeights(o.Weights, sets[0].Name, nil)
		}
		if err != nil {
			return err
		}
		if len(w) != sets[0].Len() {
			return formatErrorf("%s holds %d weights, and %s %d rows; give one a row", o.Weights, len(w), sets[0].Name, sets[0].Len())
		}
		sets[0].Weights = w
	}
	for i, s := range sets {
		if s.Weights == nil {
			continue
		}
		var kept []int32
		for r, w := range s.Weights {
			if w > 0 {
				kept = append(kept, int32(r))
			}
		}
		if sum := s.TotalWeight(); len(kept) == 0 || math.IsInf(sum, 0) {
			return noWeight(s.Name, s.Len(), sum)
		}
		if n := s.Len() - len(kept); n > 0 {
			s.Numbers = RowNumbers(0, s.Len())
			s = s.Take(kept)
			sets[i] = s
			s.Notes = append(s.Notes, fmt.Sprintf("%d of %d rows have weight 0 and are left out", n, n+s.Len()))
		}
		if total, equal := s.TotalWeight(), s.EqualRows(); total < equal/2 {
			s.Notes = append(s.Notes, fmt.Sprintf("the weights sum to %.3g, so that the initial biases are those of that many rows, although the rows are as precise as %.3g equal rows; multiply the weights by %.3g", total, equal, equal/total))
		}
	}
	return nil
}

// planeWords is the number of words for 64 sites of a sequence: word k has bit k of their states.
const planeWords = 5

// neighbourWeights returns 1/n for each row of sequences, where n is the number of rows, itself included,
// that agree with it at the fraction identity of the sites or more. It compares all pairs of rows, on all
// processors.
func (s *Set) neighbourWeights(ctx context.Context, identity float64, progress io.Writer) ([]float64, error) {
	n, sites := s.Len(), len(s.Schema.Columns)
	least := 0 // two rows are neighbours if they agree at this number of sites or more
	for float64(least)/float64(sites) < identity {
		least++
	}
	most := sites - least // largest number of sites at which neighbours differ
	blocks := (sites + 63) / 64
	planes := make([][planeWords]uint64, n*blocks)
	low := make([][2]uint64, n*blocks) // the first two words of planes, in which most pairs of rows already differ enough
	levels := make([]int32, sites)
	for r := range n {
		s.Schema.Levels(levels, s.X, r)
		for i, c := range levels {
			p := &planes[r*blocks+i/64]
			for k := range planeWords {
				p[k] |= uint64(c>>k&1) << (i % 64)
			}
			low[r*blocks+i/64] = [2]uint64(p[:2])
		}
	}
	counts := make([]atomic.Int32, n)
	const size = 64 // rows of a block
	ones := make([]byte, size)
	var written sync.Mutex
	err := forBlocks(ctx, n, size, func(lo, hi int) {
		for j := lo; j < n; j++ {
			b, bLow := planes[j*blocks:(j+1)*blocks], low[j*blocks:(j+1)*blocks]
			for i := lo; i < min(hi, j); i++ {
				differ := 0
				for k, y := range bLow {
					x := &low[i*blocks+k]
					differ += bits.OnesCount64((x[0] ^ y[0]) | (x[1] ^ y[1]))
				}
				if differ > most {
					continue
				}
				differ = 0
				for k := range b {
					x, y := &planes[i*blocks+k], &b[k]
					differ += bits.OnesCount64((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]))
					if differ > most {
						break
					}
				}
				if differ <= most {
					counts[i].Add(1)
					counts[j].Add(1)
				}
			}
		}
		written.Lock()
		progress.Write(ones[:hi-lo])
		written.Unlock()
	})
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = 1 / float64(1+counts[i].Load())
	}
	return weights, err
}
