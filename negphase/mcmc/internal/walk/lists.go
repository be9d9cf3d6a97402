package walk

// A Node has the data of a site that walks read most often. It has 8 bytes, so that a few
// thousand sites fit into the first-level cache.
type Node struct {
	Pos  int32 // index in Lists.Site; negative if the site is in no list
	List uint8 // the list of the site, also when Pos is negative
	Spin int8  // ±1
}

// A List is a list of sites with equal costs.
type List struct {
	Start  int32 // the sites are Lists.Site[Start:End]
	End    int32
	Half   int32     // half the cost of a flip, in quanta
	Weight [2]uint64 // weight of a flip under each of two biases
}

// N returns the number of sites.
func (l *List) N() int32 { return l.End - l.Start }

// MaxLists is the largest number of lists. Node.List is one byte.
const MaxLists = 256

// Lists keeps sites with equal weights in one list (the n-fold way of Bortz, Kalos &
// Lebowitz 1975). Moving a site to another list takes constant time.
type Lists struct {
	Node []Node
	Site []int32
	List [MaxLists]List
}

// NewLists returns empty lists, each with memory for all sites.
func NewLists(lists, sites int) *Lists {
	l := &Lists{Node: make([]Node, sites), Site: make([]int32, lists*sites)}
	for c := range lists {
		l.List[c].Start, l.List[c].End = int32(c*sites), int32(c*sites)
	}
	return l
}

// Clear empties all lists and sets the Pos of all sites to pos, which must be
// negative.
func (l *Lists) Clear(pos int32) {
	for c := range l.List {
		l.List[c].End = l.List[c].Start
	}
	for i := range l.Node {
		l.Node[i].Pos = pos
	}
}

// Add puts site i, which is in no list, into the list Node[i].List.
func (l *Lists) Add(i int32) {
	n := &l.Node[i]
	c := &l.List[n.List]
	l.Site[c.End] = i
	n.Pos = c.End
	c.End++
}

// Remove removes site i from its list. The caller sets Node[i].Pos.
func (l *Lists) Remove(i int32) {
	n := &l.Node[i]
	c := &l.List[n.List]
	c.End--
	last := l.Site[c.End]
	l.Site[n.Pos] = last
	l.Node[last].Pos = n.Pos
}

// Move moves site i from its list to another.
func (l *Lists) Move(i int32, to uint8) {
	l.Remove(i)
	l.Node[i].List = to
	l.Add(i)
}

// Find maps x to a site in list first or a later list. x must be less than the sum of their weights under
// the given bias. If x is uniform, the probability of a site is proportional to its weight.
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
