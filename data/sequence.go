package data

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"gorbm/data/grammar"
	"gorbm/rbm"
)

// alphabets are the alphabets of aligned sequences by name. State 0 is the gap.
var alphabets = map[string]string{
	"protein": "-ACDEFGHIKLMNPQRSTVWY",
	"rna":     "-ACGU",
	"dna":     "-ACGT",
}

// sequenceFiles is the name of the source of aligned sequences in files.
const sequenceFiles = "FASTA"

// sequenceEndings are the endings of files of aligned sequences; .gz may follow them.
var sequenceEndings = []string{".fasta", ".fa", ".faa", ".fna", ".afa", ".a2m", ".a3m", ".sto", ".stk", ".stockholm"}

// IsSequenceFile reports whether path has the ending of a file of aligned sequences.
func IsSequenceFile(path string) bool {
	return hasEnding(strings.TrimSuffix(strings.ToLower(path), ".gz"), sequenceEndings)
}

const (
	maxSites    = 1 << 16
	maxAlphabet = 1 << planeWords
	maxLine     = 1 << 24 // bytes of a line of a file of sequences
)

// An alphabet numbers the letters of aligned sequences.
type alphabet struct {
	name    string
	letters string
	state   [256]int16 // state of each byte; −1: not in the alphabet
}

// newAlphabet returns the alphabet with this name in alphabets, or else the alphabet whose letters are in
// the file of this name.
func newAlphabet(name string) (*alphabet, error) {
	letters, ok := alphabets[name]
	if !ok {
		b, err := os.ReadFile(name)
		if err != nil {
			known := slices.Sorted(maps.Keys(alphabets))
			return nil, specErrorf("unknown alphabet %s%s", quote(name), grammar.DidYouMeanOr(name, known, "there are "+strings.Join(known, ", ")+", or name a file that holds its letters, the gap first"))
		}
		letters = strings.TrimSpace(string(b))
		if at := strings.IndexByte(letters, '-'); at > 0 { // the gap comes first
			letters = "-" + letters[:at] + letters[at+1:]
		}
	}
	return alphabetOf(name, letters)
}

// alphabetOf returns the alphabet of the given letters, the gap first.
func alphabetOf(name, letters string) (*alphabet, error) {
	a := &alphabet{name: name, letters: letters}
	if n := len(letters); n < 2 || n > maxAlphabet {
		return nil, formatErrorf("alphabet %s: %d letters; write 2 to %d of them in one line, the gap first", name, n, maxAlphabet)
	}
	for i := range a.state {
		a.state[i] = -1
	}
	if at := strings.IndexByte(letters, '-'); at > 0 {
		return nil, formatErrorf("alphabet %s: the gap, -, is letter %d; write it first", name, at+1)
	}
	for i, c := range []byte(letters) {
		if c <= ' ' || c > '~' || c == '.' || c >= 'a' && c <= 'z' || a.state[c] >= 0 {
			return nil, formatErrorf("alphabet %s: letter %d is %s; letters are different characters of ASCII, no points and no lower case, which mark insertions", name, i+1, quote(string(rune(c))))
		}
		a.state[c] = int16(i)
	}
	switch letters {
	case alphabets["rna"]:
		a.state['T'] = a.state['U']
	case alphabets["dna"]:
		a.state['U'] = a.state['T']
	}
	return a, nil
}

// NewSequenceSchema returns the schema of sequences with the given number of sites. letters is the
// alphabet, which begins with the gap. The name of a column is the number of its site, from 1.
func NewSequenceSchema(letters string, sites int) *Schema {
	s := &Schema{Alphabet: letters, Columns: make([]Column, sites)}
	levels := strings.Split(letters, "")
	for i := range s.Columns {
		s.Columns[i] = Column{Name: fmt.Sprint(i + 1), Levels: levels}
	}
	return s
}

// A sequenceReader reads aligned sequences.
type sequenceReader struct {
	path     string
	alphabet *alphabet
	in       *bufio.Reader
	line     int
	sites    int
	raw      []byte    // the sequences so far, one after another, without white space
	ends     []int     // the end of each in raw
	begins   []int     // the line in which each begins
	names    []string  // names of the rows so far
	states   []uint8   // states of the rows
	rows     int       // number of rows so far
	used     [256]bool // letters that occur, except for insertions
	unknown  [256]int  // counts of the letters that are not in the alphabet
	inserted int       // number of letters and points dropped
	points   int       // number of points read as gaps
	chosen   bool      // the alphabet was chosen by its letters
	raised   int       // number of lower-case letters read as capitals
	after    int       // first line with text after the end of a Stockholm alignment; 0: there is none
}

// loadSequences reads a file of aligned sequences, FASTA or Stockholm, gzipped or not. Each site becomes a
// group with one unit for each letter of the alphabet. align says what lower-case letters and points are.
// Letters that are not in the alphabet are read as gaps, which Notes counts. Rows have no labels. If the spec
// names no alphabet it is that of Options.Schema, or dna or rna if all letters are nucleotides, or protein.
func loadSequences(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	path, name, err := sequenceSettings(sp.text)
	if err != nil {
		return nil, specErrorf("%w", err)
	}
	var a *alphabet
	switch {
	case name != "":
		a, err = newAlphabet(name)
	case opt.Schema != nil && opt.Schema.Alphabet != "":
		a, err = alphabetOf("of the model", opt.Schema.Alphabet)
	}
	if err != nil {
		return nil, err
	}
	r := &sequenceReader{path: path, alphabet: a}
	if err := r.file(ctx, r.add); err != nil {
		return nil, err
	}
	if err := r.align(); err != nil {
		return nil, err
	}
	return r.set(sp.text)
}

// file reads all sequences of the file at r.path, gzipped or not, and calls each with the name, the first
// line and the letters of every sequence.
func (r *sequenceReader) file(ctx context.Context, each func(name string, line int, letters []byte) error) error {
	f, _, err := open(ctx, r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	r.in = bufio.NewReaderSize(reading{ctx, nil, f}, 1<<16)
	if start, _ := r.in.Peek(len(string(gzipMagic[:]))); string(start) == string(gzipMagic[:]) {
		z, err := gzip.NewReader(r.in)
		if err != nil {
			return r.wrong(fmt.Sprintf("damaged gzip: %v", err))
		}
		r.in = bufio.NewReaderSize(z, 1<<16)
	}
	return r.read(each)
}

// A Sequence is a sequence as it is written in a file.
type Sequence struct {
	Name    string // first word of the line that names it
	Line    int    // line in which it begins, from 1
	Letters string // with insertions
}

// Sequences yields the sequences of a FASTA or Stockholm file, gzipped or not. spec is one of Load. It ends
// after the first error.
func Sequences(ctx context.Context, spec string) iter.Seq2[Sequence, error] {
	return func(yield func(Sequence, error) bool) {
		path, _ := splitSettings(spec)
		stop := errors.New("stop")
		err := (&sequenceReader{path: path}).file(ctx, func(name string, line int, letters []byte) error {
			if !yield(Sequence{firstWord(name), line, string(letters)}, nil) {
				return stop
			}
			return nil
		})
		if err != nil && err != stop {
			yield(Sequence{}, err)
		}
	}
}

// firstWord returns the name of a sequence from the line that begins it.
func firstWord(line string) string {
	if words := strings.Fields(line); len(words) > 0 {
		return words[0]
	}
	return ""
}

// Letter returns the level of a letter of aligned sequences, or −1 if it is not in the alphabet.
func (s *Schema) Letter(c byte) int32 {
	a, err := alphabetOf("of the model", s.Alphabet)
	if err != nil {
		return -1
	}
	return int32(a.state[c])
}

// An Aligned is a sequence placed at the sites of a Schema.
type Aligned struct {
	Levels   []int32 // level at each site; 0: a gap
	Residues []int   // number in the sequence of the letter at each site, from 1, counting insertions; 0: a gap
	Length   int     // number of letters, counting insertions
}

// Align places the letters of a sequence. The error says which letter is not in the alphabet, or that the
// number of sites is wrong.
func (s *Schema) Align(letters string) (q Aligned, err error) {
	a, err := alphabetOf("of the model", s.Alphabet)
	if err != nil {
		return q, err
	}
	for i, c := range []byte(letters) {
		switch state := int32(a.state[c]); {
		case c == '.' || c == ' ' || c == '\t' || c == '*' && state < 0:
		case c >= 'a' && c <= 'z':
			q.Length++
		case state < 0:
			return q, formatErrorf("letter %d is %s, which is not of the alphabet %s; write - for an unknown one", i+1, quote(letters[i:i+1]), s.Alphabet)
		case state == 0:
			q.Levels, q.Residues = append(q.Levels, 0), append(q.Residues, 0)
		default:
			q.Length++
			q.Levels, q.Residues = append(q.Levels, state), append(q.Residues, q.Length)
		}
	}
	if len(q.Levels) != len(s.Columns) {
		return q, formatErrorf("%d sites where the model has %d; align it as the family is (insertions are lower-case letters and points)", len(q.Levels), len(s.Columns))
	}
	return q, nil
}

// sequenceSettings returns the path and the alphabet in the spec of a file of sequences. The alphabet is ""
// if none is named.
func sequenceSettings(text string) (path, alphabet string, err error) {
	path, settings := splitSettings(text)
	table := grammar.Keys{{Name: "alphabet", Set: func(text string) error { alphabet = text; return nil }, Text: func() string { return alphabet }}}
	table.Initialize()
	return path, alphabet, table.Parse(path, settings)
}

// splitSettings splits a spec into the path of a file and its settings, key=value after colons.
func splitSettings(text string) (path string, settings []string) {
	for {
		at := strings.LastIndexByte(text, ':')
		if at < 0 || !strings.Contains(text[at:], "=") {
			return text, settings
		}
		text, settings = text[:at], append([]string{text[at+1:]}, settings...)
	}
}

// wrong returns an error at the current line.
func (r *sequenceReader) wrong(why string) error {
	return formatErrorf("%s:%d: %s", r.path, r.line, why)
}

// next returns the next line, without white space at its end, or io.EOF. The line is valid until the next
// call.
func (r *sequenceReader) next() ([]byte, error) {
	var whole []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if len(part) > 0 && whole == nil {
			r.line++
		}
		switch {
		case err == bufio.ErrBufferFull && len(whole) > maxLine:
			return nil, r.wrong(fmt.Sprintf("a line of more than %d MiB; is it a file of sequences?", maxLine>>20))
		case err == bufio.ErrBufferFull:
			whole = append(whole, part...)
			continue
		case err == io.EOF && len(part)+len(whole) > 0:
		case err != nil && err != io.EOF:
			if errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "flate:") {
				return nil, r.wrong(fmt.Sprintf("damaged gzip: %v", err))
			}
			return nil, fmt.Errorf("%s: %w", r.path, err)
		case err != nil:
			return nil, err
		}
		if whole != nil {
			part = append(whole, part...)
		}
		return bytes.TrimRight(part, " \t\r\n"), nil
	}
}

// read reads all sequences and calls each with the name, the number of the first line and the letters of
// every sequence.
func (r *sequenceReader) read(each func(name string, line int, letters []byte) error) error {
	line, err := r.next()
	for err == nil && len(line) == 0 {
		line, err = r.next()
	}
	switch {
	case err == io.EOF:
		return formatErrorf("%s: no sequences; begin each with a line >NAME", r.path)
	case err != nil:
		return err
	case bytes.HasPrefix(line, []byte(stockholmMagic)):
		return r.stockholm(each)
	case bytes.IndexByte(line, '\r') >= 0:
		return r.wrong(fmt.Sprintf("lines end with carriage returns alone; convert them, as by: tr '\\r' '\\n' < %s", r.path))
	case line[0] != '>':
		return r.wrong(fmt.Sprintf("%s is no line >NAME of a FASTA file, and no # STOCKHOLM 1.0", quote(string(line))))
	}
	var letters []byte
	name, at := string(line[1:]), r.line
	for {
		line, err = r.next()
		if err != nil && err != io.EOF {
			return err
		}
		if err == io.EOF || len(line) > 0 && line[0] == '>' {
			if e := each(name, at, letters); e != nil {
				return e
			}
			if err == io.EOF {
				return nil
			}
			name, at, letters = string(line[1:]), r.line, letters[:0]
			continue
		}
		if letters = append(letters, line...); len(letters) > maxLine {
			return r.wrong(fmt.Sprintf("a sequence of more than %d MiB of letters", maxLine>>20))
		}
	}
}

// stockholm reads the rest of a Stockholm file. Each line has a name and letters. Later blocks may continue
// a sequence.
func (r *sequenceReader) stockholm(each func(name string, line int, letters []byte) error) error {
	type sequence struct {
		name    string
		line    int
		letters []byte
	}
	var all []*sequence
	byName := map[string]*sequence{}
	total := 0
	ended := false // after a line //
	for {
		line, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case ended && len(line) > 0:
			r.after = r.line
		case string(line) == "//":
			ended = true
		}
		if r.after > 0 {
			break
		}
		if ended || len(line) == 0 || line[0] == '#' {
			continue
		}
		fields := bytes.Fields(line)
		if len(fields) != 2 {
			return r.wrong(fmt.Sprintf("%d words where a line of a Stockholm file has a name and letters", len(fields)))
		}
		s := byName[string(fields[0])]
		if s == nil {
			s = &sequence{name: string(fields[0]), line: r.line}
			byName[s.name], all = s, append(all, s)
		}
		s.letters = append(s.letters, fields[1]...)
		if total += len(fields[1]); total > maxWords*8 {
			return r.wrong("more than the 1 GiB of letters that is allowed; split the file")
		}
	}
	for _, s := range all {
		if err := each(s.name, s.line, s.letters); err != nil {
			return err
		}
	}
	return nil
}

// add stores a sequence, which begins in the given line.
func (r *sequenceReader) add(name string, line int, letters []byte) error {
	for _, c := range letters {
		switch {
		case c == ' ' || c == '\t':
			continue
		case c <= ' ' || c > '~':
			return formatErrorf("%s:%d: sequence %d, %s, has the byte %#x, which is not a letter", r.path, line, r.rows+1, quote(name), c)
		}
		r.raw = append(r.raw, c)
	}
	r.rows++
	r.names, r.begins, r.ends = append(r.names, firstWord(name)), append(r.begins, line), append(r.ends, len(r.raw))
	if len(r.raw) > maxWords*8 {
		return formatErrorf("%s: more than the 1 GiB of letters that is allowed; split the file", r.path)
	}
	return nil
}

// row returns sequence i, without a final *, which ends a translated sequence.
func (r *sequenceReader) row(i int) []byte {
	from := 0
	if i > 0 {
		from = r.ends[i-1]
	}
	row := r.raw[from:r.ends[i]]
	if r.alphabet == nil || r.alphabet.state['*'] < 0 {
		row = bytes.TrimSuffix(row, []byte("*"))
	}
	return row
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// align sets the states of the rows. In a file without capitals, lower-case letters count as capitals.
// Lower-case letters and points are then insertions, which are dropped, as in the formats A2M and A3M. There
// is another rule for files whose rows are equally long: an inserted column has lower-case letters and points
// alone, and in all other columns a point is a gap, as in Pfam's files, and a lower-case letter is read as a
// capital. If columns have both capitals and lower-case letters, the first rule has precedence if it gives
// all rows the same number of sites.
func (r *sequenceReader) align() error {
	const (
		hasLower = 1 << iota
		hasUpper
		hasGap
	)
	if r.rows == 0 {
		return formatErrorf("%s: no sequences", r.path)
	}
	lower, upper := 0, 0
	for _, c := range r.raw {
		if isLower(c) {
			lower++
		} else if c >= 'A' && c <= 'Z' {
			upper++
		}
	}
	if upper == 0 && lower > 0 {
		r.raised, r.raw = lower, bytes.ToUpper(r.raw)
	} else if lower > mostInserted*upper {
		return formatErrorf("%s: %d of %d letters are lower-case, which marks insertions that are dropped; write the aligned letters in upper case", r.path, lower, lower+upper)
	}
	columns := make([]uint8, len(r.row(0))) // what occurs in each, if all rows have this length
	long, mixed, sites, even := true, false, -1, true
	for i := range r.rows {
		row, n := r.row(i), 0
		long = long && len(row) == len(columns)
		for j, c := range row {
			kind := uint8(0)
			switch {
			case isLower(c):
				kind = hasLower
			case c != '.':
				if n++; c != '-' {
					kind = hasUpper
				} else {
					kind = hasGap
				}
			}
			if long {
				columns[j] |= kind
			}
		}
		if sites < 0 {
			sites = n
		}
		even = even && n == sites
	}
	for _, c := range columns {
		mixed = mixed || c&hasLower > 0 && c&hasUpper > 0
	}
	aligned := long && !(mixed && even) // by columns
	if aligned {
		sites = 0
		for _, c := range columns {
			if c&(hasUpper|hasGap) > 0 {
				sites++
			}
		}
	}
	if sites == 0 {
		return formatErrorf("%s:%d: sequence 1, %s, has no letters in upper case and no gaps; lower-case letters are insertions and are dropped", r.path, r.begins[0], quote(r.names[0]))
	}
	if sites > maxSites {
		return formatErrorf("%s:%d: %d sites are more than the %d that are allowed", r.path, r.begins[0], sites, maxSites)
	}
	kept := r.raw[:0] // behind the rows that are still to be read
	for i := range r.rows {
		row := r.row(i)
		from := len(kept)
		end := 0
		if i > 0 {
			end = r.ends[i-1]
		}
		r.inserted += r.ends[i] - end - len(row) // a final *
		for j, c := range row {
			switch {
			case aligned && columns[j]&(hasUpper|hasGap) == 0, !aligned && (c == '.' || isLower(c)):
				r.inserted++
				continue
			case c == '.':
				r.points++
				c = '-'
			case isLower(c):
				r.raised++
				c -= 'a' - 'A'
			}
			r.used[c] = true
			kept = append(kept, c)
		}
		if n := len(kept) - from; n != sites {
			return formatErrorf("%s:%d: sequence %d, %s, has %d sites where the first has %d; align all sequences (insertions are lower-case letters and points)", r.path, r.begins[i], i+1, quote(r.names[i]), n, sites)
		}
	}
	r.sites, r.states = sites, kept
	if r.alphabet == nil {
		r.alphabet, _ = newAlphabet(r.fitting())
	}
	if r.rows*((sites*len(r.alphabet.letters)+63)/64) > maxWords {
		return formatErrorf("%s: more than the 1 GiB of bits that is allowed; split the file", r.path)
	}
	for k, c := range r.states {
		state := r.alphabet.state[c]
		if state < 0 {
			r.unknown[c]++
			state = 0
		}
		r.states[k] = uint8(state)
	}
	return nil
}

// mostInserted is the largest plausible number of inserted letters for each aligned one. A file with more is
// probably an alignment in lower case.
const mostInserted = 10

// set returns the sequences read as a set.
func (r *sequenceReader) set(name string) ([]*Set, error) {
	if why := checkShape(int64(r.rows), int64(r.sites*len(r.alphabet.letters))); why != "" {
		return nil, formatErrorf("%s: %s", r.path, why)
	}
	s := newSequences(name, r.alphabet, r.sites, r.states)
	s.RowNames = r.names
	note := func(n int, format string, args ...any) {
		if n > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf(format, args...))
		}
	}
	if text := r.unknownLetters(); text != "" {
		s.Notes = append(s.Notes, text)
	}
	if r.chosen {
		note(1, "all letters are those of nucleotides, and are read as %s; -data %s:alphabet=protein reads them as a protein's", strings.ToUpper(r.alphabet.name), r.path)
	}
	note(r.points, "%d points in columns with capitals or - are read as gaps", r.points)
	note(r.raised, "%d lower-case letters are read as capitals, because all letters are so, or because rows are equally long and their columns have capitals", r.raised)
	note(r.inserted, "%d lower-case letters, points and final * are insertions and are dropped", r.inserted)
	note(r.after, "only the first alignment is read, which ends before line %d; write further alignments to separate files", r.after)
	return []*Set{s}, nil
}

// fitting returns the name of the alphabet that fits the letters: dna or rna if all are those of nucleotides
// and most of these occur, and protein otherwise.
func (r *sequenceReader) fitting() string {
	different := 0
	for c, used := range r.used {
		switch {
		case !used || c == '-' || c == 'N':
		case strings.ContainsRune("ACGTU", rune(c)):
			different++
		default:
			return "protein"
		}
	}
	if different < 3 {
		return "protein"
	}
	r.chosen = true
	if r.used['U'] && !r.used['T'] {
		return "rna"
	}
	return "dna"
}

// unknownLetters returns a note that counts the letters that are not in the alphabet, the most frequent
// first, or "" if there are none.
func (r *sequenceReader) unknownLetters() string {
	var letters []byte
	total := 0
	for c, n := range r.unknown {
		if total += n; n > 0 {
			letters = append(letters, byte(c))
		}
	}
	if total == 0 {
		return ""
	}
	slices.SortStableFunc(letters, func(a, b byte) int { return cmp.Compare(r.unknown[b], r.unknown[a]) })
	const most = 5
	var each []string
	for _, c := range letters[:min(len(letters), most)] {
		each = append(each, fmt.Sprintf("%c %d", c, r.unknown[c]))
	}
	if len(letters) > most {
		each = append(each, "…")
	}
	what, hint := fmt.Sprintf("%d letters (%s) are not of the alphabet %s and are read as gaps", total, strings.Join(each, ", "), r.alphabet.name), ""
	if total == 1 {
		what = fmt.Sprintf("1 letter (%c) is not of the alphabet %s and is read as a gap", letters[0], r.alphabet.name)
	}
	if 2*total > len(r.states) {
		hint = fmt.Sprintf("; they are most of the letters: is the alphabet another? -data %s:alphabet=%s", r.path, strings.Join(slices.DeleteFunc(slices.Sorted(maps.Keys(alphabets)), func(name string) bool { return name == r.alphabet.name }), " or "))
	}
	return what + hint
}

// newSequences returns a set of sequences. states is rows × sites.
func newSequences(name string, a *alphabet, sites int, states []uint8) *Set {
	schema, q := NewSequenceSchema(a.letters, sites), len(a.letters)
	s := &Set{Name: name, X: rbm.NewBits(len(states)/sites, sites*q), Binarize: Binary, Schema: schema, Groups: schema.Groups(), Height: sites, Width: q}
	for r := range s.X.Rows {
		row := s.X.Row(r)
		for i, c := range states[r*sites : (r+1)*sites] {
			unit := i*q + int(c)
			row[unit/64] |= 1 << (unit % 64)
		}
	}
	return s
}
