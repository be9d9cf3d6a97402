package grammar

import "strings"

// Nearest returns the name in known that is nearest to name, for suggestions in messages, or "" if none is
// near. The distance is the number of letters to insert, delete, replace or exchange with their neighbour,
// without regard to case. It may be up to a third of the letters, and up to two in any name of three
// letters or more. If several names are equally near, the first is returned.
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

// DidYouMean returns "; did you mean …?" with the nearest known name, or "" if none is near. It is for the
// end of a message.
func DidYouMean(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// DidYouMeanOr is DidYouMean followed by there, a list of all names: "; did you mean red? (it is red or
// green)". Without a near name it is "; it is red or green".
func DidYouMeanOr(name string, known []string, there string) string {
	if near := DidYouMean(name, known); near != "" {
		return near + " (" + there + ")"
	}
	return "; " + there
}

// editDistance returns the optimal string alignment distance: Levenshtein's
// with exchanges of neighbouring letters, a common slip in typing.
func editDistance(a, b string) int {
	s, t := []rune(a), []rune(b)
	d := make([][]int, len(s)+1) // d[i][j] is the distance of s[:i] and t[:j]
	for i := range d {
		d[i] = make([]int, len(t)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(s)][len(t)]
}
