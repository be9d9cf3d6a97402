package walk

// Lists keep sites by class, for draws among sites of equal weight (the
// n-fold way of Bortz, Kalos & Lebowitz 1975). Moving a site costs one swap.
type Lists struct {
	Sites int     // number of sites; the room of each list
	Site  []int32 // list c is Site[c·Sites : c·Sites + N[c]]
	N     []int32 // sites in each class
	Pos   []int32 // place of each site in its list; negative: in none
}

// NewLists returns empty lists.
func NewLists(classes, sites int) *Lists {
	l := &Lists{Sites: sites, Site: make([]int32, classes*sites), N: make([]int32, classes), Pos: make([]int32, sites)}
	l.Clear()
	return l
}

// Clear empties all lists.
func (l *Lists) Clear() {
	clear(l.N)
	for i := range l.Pos {
		l.Pos[i] = -1
	}
}

// Add puts site i, which is in no list, into class c.
func (l *Lists) Add(i, c int32) {
	n := l.N[c]
	l.Site[int(c)*l.Sites+int(n)] = i
	l.Pos[i] = n
	l.N[c] = n + 1
}

// Remove takes site i out of class c, where it is; its Pos is left to the
// caller to set.
func (l *Lists) Remove(i, c int32) {
	n := l.N[c] - 1
	l.N[c] = n
	base := int(c) * l.Sites
	last := l.Site[base+int(n)]
	p := l.Pos[i]
	l.Site[base+int(p)] = last
	l.Pos[last] = p
}
