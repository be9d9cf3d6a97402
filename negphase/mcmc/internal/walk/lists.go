package walk

// A Node is what walks read of a site most often. It has 8 bytes, so that a few
// thousand sites fit the first-level cache.
type Node struct {
	Pos  int32 // where in Site the site is listed; negative if it is in no list
	List uint8 // the list that the site is in, or that Add would put it in
	Spin int8  // ±1
}

// A List is one of the lists of Lists, with what its sites have in common.
type List struct {
	Start  int32 // its sites are Site[Start:End]
	End    int32
	Half   int32     // half of what a flip costs, in quanta
	Weight [2]uint64 // under each of two biases
}

// N returns the number of sites.
func (l *List) N() int32 { return l.End - l.Start }

// MaxLists is the largest number of lists, which Node.List has room for.
const MaxLists = 256

// Lists keep sites of equal weight in one list (the n-fold way of Bortz, Kalos &
// Lebowitz 1975). Moving a site to another list takes one swap.
type Lists struct {
	Node []Node
	Site []int32
	List [MaxLists]List
}

// NewLists returns empty lists, each with room for all sites.
func NewLists(lists, sites int) *Lists {
	l := &Lists{Node: make([]Node, sites), Site: make([]int32, lists*sites)}
	for c := range lists {
		l.List[c].Start, l.List[c].End = int32(c*sites), int32(c*sites)
	}
	return l
}

// Clear empties all lists and sets the Pos of all sites to pos, which is
// negative.
func (l *Lists) Clear(pos int32) {
	for c := range l.List {
		l.List[c].End = l.List[c].Start
	}
	for i := range l.Node {
		l.Node[i].Pos = pos
	}
}

// Add puts site i, which is in no list, into the list of its Node.
func (l *Lists) Add(i int32) {
	n := &l.Node[i]
	c := &l.List[n.List]
	l.Site[c.End] = i
	n.Pos = c.End
	c.End++
}

// Remove takes site i out of its list. The caller sets its Pos.
func (l *Lists) Remove(i int32) {
	n := &l.Node[i]
	c := &l.List[n.List]
	c.End--
	last := l.Site[c.End]
	l.Site[n.Pos] = last
	l.Node[last].Pos = n.Pos
}

// Move takes site i from its list to another.
func (l *Lists) Move(i int32, to uint8) {
	l.Remove(i)
	l.Node[i].List = to
	l.Add(i)
}

// Find returns the site into whose share x falls. x is less than the sum of the
// weights, under the given bias, of all sites from the given list on.
func (l *Lists) Find(x uint64, first uint8, bias int) int32 {
	for c := first; ; c++ {
		list := &l.List[c]
		weight := list.Weight[bias&1]
		share := uint64(list.N()) * weight
		if x < share {
			return l.Site[list.Start+int32(x/weight)]
		}
		x -= share
	}
}
