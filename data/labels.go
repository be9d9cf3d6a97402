package data

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A labeller numbers the classes of labels that come one by one.
type labeller struct {
	number map[string]int32 // by first appearance
	names  []string
	y      []int32 // so far, by that numbering
}

// add takes the next label. It returns a message if there are too many
// different ones, else "".
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
		name = strings.Clone(name) // it may be a part of something large
		l.number[name] = c
		l.names = append(l.names, name)
	}
	l.y = append(l.y, c)
	return ""
}

// classes returns the class of each label and the names of the classes, which
// are in numerical order if all are integers, else in lexical order.
func (l *labeller) classes() (y []int32, names []string) {
	integers := !slices.ContainsFunc(l.names, func(s string) bool {
		_, err := strconv.ParseInt(s, 10, 64)
		return err != nil
	})
	names = slices.Clone(l.names)
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
	y = make([]int32, len(l.y))
	for i, n := range l.y {
		y[i] = class[n]
	}
	return y, names
}

// give hands all labels out to sets, whose rows they were added for in this
// order; their classes are those of all together.
func (l *labeller) give(sets []*Set) {
	y, classes := l.classes()
	for _, s := range sets {
		s.Y, s.Classes = y[:s.Len():s.Len()], classes
		y = y[s.Len():]
	}
}
