package data

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A labeller collects labels and numbers their classes.
type labeller struct {
	number map[string]int32 // number of each class, by first appearance
	names  []string         // names of the classes, in that order
	y      []int32          // numbers of the labels so far
	partly bool             // labels may be missing
	none   string           // a text that, like the empty one, means that a row has no label
}

// missing reports whether name stands for a missing label. It is false if labels may not be missing.
func (l *labeller) missing(name string) bool { return l.partly && (name == "" || name == l.none) }

// add adds a label. It returns a message if there are too many different labels or the label is too long,
// and "" otherwise.
func (l *labeller) add(name string) string {
	if l.missing(name) {
		l.y = append(l.y, NoClass)
		return ""
	}
	c, ok := l.number[name]
	if !ok {
		if len(name) > maxLabel {
			return fmt.Sprintf("a label of %d bytes", len(name))
		}
		if len(l.names) == maxClasses {
			return fmt.Sprintf("more than %d different labels", maxClasses)
		}
		if l.number == nil {
			l.number = map[string]int32{}
		}
		c = int32(len(l.names))
		name = strings.Clone(name) // name may be a part of a long row
		l.number[name] = c
		l.names = append(l.names, name)
	}
	l.y = append(l.y, c)
	return ""
}

// give sets the labels and classes of sets, whose labels were added in the order of their rows. If no row
// has a label it changes nothing. All sets get the same classes, in numerical order if all their names are
// integers, and in lexical order otherwise.
func (l *labeller) give(sets ...*Set) {
	if len(l.names) == 0 {
		return
	}
	names := sortedNames(l.names)
	if a, b, ok := caseTwins(names); ok {
		sets[0].Notes = append(sets[0].Notes, fmt.Sprintf("the labels %s and %s differ in case alone and are two classes; write them alike if they are one", quote(a), quote(b)))
	}
	class := make([]int32, len(names))
	for c, name := range names {
		class[l.number[name]] = int32(c)
	}
	next := 0 // index in l.y
	for _, s := range sets {
		s.Y, s.Classes = make([]int32, s.Len()), names
		for i := range s.Y {
			if s.Y[i] = l.y[next+i]; s.Y[i] != NoClass {
				s.Y[i] = class[s.Y[i]]
			}
		}
		next += s.Len()
	}
}

// caseTwins returns two of the names that differ in case alone, and whether there are any.
func caseTwins(names []string) (a, b string, ok bool) {
	first := map[string]string{}
	for _, b := range names {
		folded := strings.ToLower(b)
		if a, ok := first[folded]; ok {
			return a, b, true
		}
		first[folded] = b
	}
	return "", "", false
}

// sortedNames returns names in numerical order if all are integers, else in lexical order.
func sortedNames(names []string) []string {
	integers := !slices.ContainsFunc(names, func(s string) bool {
		_, err := strconv.ParseInt(s, 10, 64)
		return err != nil
	})
	names = slices.Clone(names)
	slices.SortFunc(names, func(a, b string) int {
		if integers {
			m, _ := strconv.ParseInt(a, 10, 64)
			n, _ := strconv.ParseInt(b, 10, 64)
			if m != n {
				return cmp.Compare(m, n)
			}
		}
		return cmp.Compare(a, b)
	})
	return names
}
