package data

import "strings"

// Nearest returns the name in known that is nearest to name, or "" if none is
// near. The distance is the number of letters to insert, delete, replace or
// exchange with their neighbour, without regard to case. It may be up to a third
// of the letters, and two in any name of three letters or more. Of equally near
// names the first is returned. It is for suggestions in messages, here of data
// sets, elsewhere of flags and samplers.
func Nearest(name string, known []string) string {
	best, least := "", 0
	for _, k := range known {
		most := len([]rune(k)) / 3
		if len([]rune(k)) >= 3 {
			most = max(most, 2)
		}
		d := editDistance(strings.ToLower(name), strings.ToLower(k))
		// A name is not near if every letter would change.
		if d > most || d >= len([]rune(k)) {
			continue
		}
		if best == "" || d < least {
			best, least = k, d
		}
	}
	return best
}

// editDistance returns the optimal string alignment distance: Levenshtein's
// with exchanges of neighbouring letters, a common slip in typing.
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before := make([]int, len(t)+1) // row i−2
	prev := make([]int, len(t)+1)   // row i−1
	cur := make([]int, len(t)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(s); i++ {
		cur[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			d := min(prev[j]+1, cur[j-1]+1, prev[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d = min(d, before[j-2]+1)
			}
			cur[j] = d
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(t)]
}
