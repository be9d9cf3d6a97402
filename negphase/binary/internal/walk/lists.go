package walk

// A Node is what the walks look up of a site again and again, in 8 bytes, so
// that a few thousand sites stay in the fastest cache.
type Node struct {
	Pos  int32 // place of the site in its list; negative: in none
	List uint8 // the list it is in, or would be in
	Spin int8  // ±1
}

// MaxLists is the number of lists there may be: all that a List can name.
const MaxLists = 256

// Lists keep sites by list, for draws among sites of equal weight (the n-fold
// way of Bortz, Kalos & Lebowitz 1975). Moving a site costs one swap.
type Lists struct {
	Node  []Node
	Site  []int32         // list c is Site[c·len(Node) : c·len(Node) + N[c]]
	N     [MaxLists]int32 // sites in each list
	lists int
}

// NewLists returns empty lists.
func NewLists(lists, sites int) *Lists {
	return &Lists{Node: make([]Node, sites), Site: make([]int32, lists*sites), lists: lists}
}

// Clear empties all lists and marks all sites by pos, which is negative.
func (l *Lists) Clear(pos int32) {
	clear(l.N[:])
	for i := range l.Node {
		l.Node[i].Pos = pos
	}
}

// Add puts site i, which is in no list, into the one of its Node.
func (l *Lists) Add(i int32) {
	c := l.Node[i].List
	n := l.N[c]
	l.Site[int(c)*len(l.Node)+int(n)] = i
	l.Node[i].Pos = n
	l.N[c] = n + 1
}

// Remove takes site i out of its list; its Pos is left to the caller to set.
func (l *Lists) Remove(i int32) {
	c := l.Node[i].List
	n := l.N[c] - 1
	l.N[c] = n
	base := int(c) * len(l.Node)
	last := l.Site[base+int(n)]
	p := l.Node[i].Pos
	l.Site[base+int(p)] = last
	l.Node[last].Pos = p
}

// Move takes site i from its list to another.
func (l *Lists) Move(i int32, to uint8) {
	l.Remove(i)
	l.Node[i].List = to
	l.Add(i)
}

// Find returns the list into whose share x falls, x below the sum of all
// shares from the given list on, and the site there: a list's share is the
// weight of its sites. weight is not zero.
func (l *Lists) Find(x uint64, first uint8, weight *[MaxLists]uint64) (list uint8, site int32) {
	for list = first; ; list++ {
		share := uint64(l.N[list]) * weight[list]
		if x < share {
			return list, l.Site[int(list)*len(l.Node)+int(x/weight[list])]
		}
		x -= share
	}
}
