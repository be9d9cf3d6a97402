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
	number map[string]int32 // of a class, by first appearance
	names  []string         // of classes, in that order
	y      []int32          // numbers of the labels so far
}

// add adds a label. It returns a message if there are too many different ones,
// else "".
func (l *labeller) add(name string) string {
	c, ok := l.number[name]
	if !ok {
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

// give sets the labels and classes of sets, whose labels were added in the order
// of their rows. The classes are those of all sets together. Their names are in
// numerical order if all are integers, else in lexical order.
func (l *labeller) give(sets ...*Set) {
	integers := !slices.ContainsFunc(l.names, func(s string) bool {
		_, err := strconv.ParseInt(s, 10, 64)
		return err != nil
	})
	names := slices.Clone(l.names)
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
	class := make([]int32, len(names))
	for c, name := range names {
		class[l.number[name]] = int32(c)
	}
	next := 0 // in l.y
	for _, s := range sets {
		s.Y, s.Classes = make([]int32, s.Len()), names
		for i := range s.Y {
			s.Y[i] = class[l.y[next+i]]
		}
		next += s.Len()
	}
}
