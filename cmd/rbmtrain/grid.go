package main

import (
	"fmt"
	"strconv"
	"strings"
)

// maxGrid is the largest number of runs of one line of an array.
const maxGrid = 100_000

var errGrid = fmt.Errorf("more than %d runs in one line; use fewer alternatives in braces", maxGrid)

// expandGrid returns the flags of each run of a line. Braces list alternatives as in
// shells: -rate {0.1,0.05} is two runs, and -seed {1..20} twenty. Several braces make a
// grid, in which the last brace varies fastest. Braces with neither a comma nor two dots
// are kept; alternatives within alternatives are an error.
func expandGrid(words []string) (runs [][]string, err error) {
	runs = [][]string{nil}
	for _, word := range words {
		values, err := expandWord(word)
		if err != nil {
			return nil, err
		}
		if len(runs)*len(values) > maxGrid {
			return nil, errGrid
		}
		var longer [][]string
		for _, run := range runs {
			for _, v := range values {
				longer = append(longer, append(run[:len(run):len(run)], v))
			}
		}
		runs = longer
	}
	return runs, nil
}

// expandWord returns the words that the braces of word make.
func expandWord(word string) ([]string, error) {
	from := 0
	for {
		open := strings.IndexByte(word[from:], '{')
		if open < 0 {
			return []string{word}, nil
		}
		open += from
		end := strings.IndexByte(word[open:], '}')
		if end < 0 {
			return []string{word}, nil
		}
		end += open
		inside := word[open+1 : end]
		values := strings.Split(inside, ",")
		if strings.Contains(inside, "{") && len(values) > 1 {
			return nil, fmt.Errorf("braces within braces; write alternatives side by side, as in {1,2}{3,4}")
		}
		if first, last, ok := strings.Cut(inside, ".."); ok && len(values) == 1 {
			var err error
			if values, err = integers(first, last); err != nil {
				return nil, err
			}
		} else if len(values) == 1 {
			from = end + 1
			continue
		}
		rest, err := expandWord(word[end+1:])
		if err != nil {
			return nil, err
		}
		if len(values)*len(rest) > maxGrid {
			return nil, errGrid
		}
		var all []string
		for _, v := range values {
			for _, r := range rest {
				all = append(all, word[:open]+v+r)
			}
		}
		return all, nil
	}
}

// integers returns the integers from first to last.
func integers(first, last string) (all []string, err error) {
	a, err1 := strconv.Atoi(first)
	b, err2 := strconv.Atoi(last)
	switch {
	case err1 != nil || err2 != nil || a > b:
		return nil, fmt.Errorf("{%s..%s} is no range; write integers, the smaller first, as in {1..20}", first, last)
	case uint64(b)-uint64(a) >= maxGrid: // b-a may overflow an int
		return nil, fmt.Errorf("{%s..%s} has more than %d numbers", first, last, maxGrid)
	}
	for i := a; i <= b; i++ {
		all = append(all, strconv.Itoa(i))
	}
	return all, nil
}
