package data

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorbm/data/oracle"
	"gorbm/rbm"
)

// sequencesOf returns the rows of a set as letters.
func sequencesOf(s *Set) (rows []string) {
	levels := make([]int32, len(s.Schema.Columns))
	for r := range s.Len() {
		s.Schema.Levels(levels, s.X, r)
		var b strings.Builder
		for i, c := range levels {
			b.WriteString(s.Schema.Columns[i].Levels[c])
		}
		rows = append(rows, b.String())
	}
	return rows
}

// writeFile writes a file into a folder of the test.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSequences(t *testing.T) {
	own := writeFile(t, "letters", "-XY\n")
	for _, c := range []struct{ name, settings, text, rows, notes string }{
		{"a.fasta", "", ">one\nAC-\nD\n\n>two words\nYWVT\n", "AC-D YWVT", ""},
		{"a.fa", ":alphabet=protein", ">one\r\nacAc.C\r\n>two\r\n-.Y\r\n", "AC -Y", "5 lower-case letters, points and final * are insertions and are dropped"},
		{"a.fasta.gz", ":alphabet=rna", string(gzipped([]byte(">1\nACGU\n>2\nTT--"))), "ACGU UU--", ""},
		{"b.fna", ":alphabet=dna", ">1\nACGU\n>2\nNNRT\n", "ACGT ---T", "3 letters (N 2, R 1) are not of the alphabet dna and are read as gaps"},
		{"b.a2m", ":alphabet=" + own, ">1\nXY-\n>2\nYYX\n", "XY- YYX", ""},
		{"e.fa", "", ">1\nACX\n>2\nACD\n", "AC- ACD", "1 letter (X) is not of the alphabet protein and is read as a gap"},
		{"c.sto", "", "# STOCKHOLM 1.0\n#=GF ID x\n\na/1  AC\nb/2  D.\n#=GC RF xx\n\na/1  Y\nb/2  EF\n//\n>no\n", "ACY DEF", "1 lower-case letters, points and final * are insertions and are dropped; only the first alignment is read, which ends before line 11; write further alignments to separate files"},
	} {
		path := writeFile(t, c.name, c.text)
		s, test, err := Load(context.Background(), path+c.settings, Options{})
		if err != nil || test != nil {
			t.Errorf("%s: %v, test set %v", c.name, err, test)
			continue
		}
		if got := strings.Join(sequencesOf(s), " "); got != c.rows {
			t.Errorf("%s: rows %s, want %s", c.name, got, c.rows)
		}
		if got := strings.Join(s.Notes, "; "); got != c.notes {
			t.Errorf("%s: notes %q, want %q", c.name, got, c.notes)
		}
		if again, _, err := Load(context.Background(), Absolute(s.Name), Options{}); err != nil || again.Hash() != s.Hash() {
			t.Errorf("%s: by its absolute name: %v", c.name, err)
		}
	}
}

// The name of a sequence is the first word of its line, and Take keeps names. Sequences returns insertions,
// and Align counts them.
func TestSequenceNames(t *testing.T) {
	for name, text := range map[string]string{
		"a.fasta":    ">one of\nAC-\nab.D\n\n>\nYWVT\n>tr|Q9/3-6\tx\nYWVT*\n",
		"a.fasta.gz": string(gzipped([]byte(">one\nAC-ab.D\n> \nYWVT\n>tr|Q9/3-6\nYWVT*\n"))),
	} {
		path := writeFile(t, name, text)
		s, _, err := Load(context.Background(), path+":alphabet=protein", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.RowNames, ","); got != "one,,tr|Q9/3-6" {
			t.Errorf("%s: names %s", name, got)
		}
		if got := strings.Join(s.Take([]int32{2, 0}).RowNames, ","); got != "tr|Q9/3-6,one" {
			t.Errorf("%s: names of two rows %s", name, got)
		}
		var all []string
		for q, err := range Sequences(context.Background(), path+":alphabet=protein") {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, q.Name+" "+q.Letters)
		}
		if got := strings.Join(all, ","); got != "one AC-ab.D, YWVT,tr|Q9/3-6 YWVT*" {
			t.Errorf("%s: sequences %s", name, got)
		}
		for q := range Sequences(context.Background(), path) { // ends after the first
			all = append(all[:0], q.Name)
			break
		}
		if len(all) != 1 {
			t.Errorf("%s: %v after the first", name, all)
		}
		q, err := s.Schema.Align("AC-ab.D*")
		if err != nil || fmt.Sprint(q) != "{[1 2 0 3] [1 2 0 5] 5}" {
			t.Errorf("aligned: %v, %v", q, err)
		}
		for letters, want := range map[string]string{"ACD": "3 sites where the model has 4", "ACXD": `letter 3 is "X", which is not of the alphabet`} {
			if _, err := s.Schema.Align(letters); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", letters, err)
			}
		}
	}
	count := 0
	for _, err := range Sequences(context.Background(), writeFile(t, "b.fasta", ">a\nAC\nno")+"x") {
		if count++; err == nil {
			t.Error("a file that is not there is read")
		}
	}
	if count != 1 {
		t.Errorf("%d errors", count)
	}
	wrong, _, err := Load(context.Background(), writeFile(t, "b.fasta", ">a\nMKLV\n>b\nMKAV\n")+":alphabet=rna", Options{})
	if err != nil || !strings.Contains(wrong.Notes[0], "they are most of the letters: is the alphabet another? -data ") || !strings.HasSuffix(wrong.Notes[0], "b.fasta:alphabet=dna or protein") {
		t.Errorf("proteins as RNA: %v, %v", wrong.Notes, err)
	}
}

func TestBadSequences(t *testing.T) {
	for _, c := range []struct{ name, settings, text, want string }{
		{"a.fasta", "", "", "a.fasta: no sequences; begin each with a line >NAME"},
		{"a.fasta", "", "ACD\n", `a.fasta:1: "ACD" is no line >NAME of a FASTA file, and no # STOCKHOLM 1.0`},
		{"a.fasta", "", ">a\nACD\n>b\nAC\nDE\n", `a.fasta:3: sequence 2, "b", has 4 sites where the first has 3; align all sequences (insertions are lower-case letters and points)`},
		{"a.fasta", "", ">a\nACD\n>b\n", `a.fasta:3: sequence 2, "b", has 0 sites where the first has 3; align all sequences (insertions are lower-case letters and points)`},
		{"a.fasta", "", ">a\nACdefghiklmnpqrstvwyacd--\n>b\nA-defghiklmnpqrstvwyacd-C\n", `a.fasta: 42 of 46 letters are lower-case, which marks insertions that are dropped; write the aligned letters in upper case`},
		{"a.fasta", "", ">a\rAC\r>b\rAC", `a.fasta:1: lines end with carriage returns alone; convert them, as by: tr '\r' '\n' < a.fasta`},
		{"a.fasta", "", ">a\n...\n", `a.fasta:1: sequence 1, "a", has no letters in upper case and no gaps; lower-case letters are insertions and are dropped`},
		{"a.fasta", "", ">a\nA\x00D\n", `a.fasta:1: sequence 1, "a", has the byte 0x0, which is not a letter`},
		{"a.fasta", ":alphabet=rnaa", ">a\nA\n", `unknown alphabet "rnaa"; did you mean rna? (there are dna, protein, rna, or name a file that holds its letters, the gap first)`},
		{"a.fasta", ":letters=rna", ">a\nA\n", `a.fasta has no setting "letters"; it has alphabet`},
		{"a.fasta.gz", "", string(gzipped([]byte(">a\nACD\n"))[:20]), "a.fasta.gz:2: damaged gzip: unexpected EOF"},
		{"a.sto", "", "# STOCKHOLM 1.0\na b c\n", "a.sto:2: 3 words where a line of a Stockholm file has a name and letters"},
		{"a.sto", "", "# STOCKHOLM 1.0\n//\n", "a.sto: no sequences"},
	} {
		path := writeFile(t, c.name, c.text)
		_, _, err := Load(context.Background(), path+c.settings, Options{})
		if err == nil {
			t.Errorf("%q is taken", c.text)
			continue
		}
		if got := strings.ReplaceAll(err.Error(), filepath.Dir(path)+"/", ""); got != c.want {
			t.Errorf("%q: got  %s\nwant %s", c.text, got, c.want)
		}
	}
	for _, letters := range []string{"A", "", "-AA", "-ab", "-A.", strings.Repeat("-", 65)} {
		path := writeFile(t, "letters", letters)
		if _, err := newAlphabet(path); err == nil {
			t.Errorf("the alphabet %q is taken", letters)
		}
	}
}

// TestDamagedSequences reads damaged files. The result is an error of one line, or rows with the letters
// that an independent reader finds.
func TestDamagedSequences(t *testing.T) {
	seeds := []string{">one\nAC-D\n>two\nYWVT\n>three\nAA\nAA\n", "# STOCKHOLM 1.0\na AC\nb D.E\n\na YY\nb EF\n//\n"}
	words := []string{">", "\n", "\r\n", "-", ".", "A", "a", "X", " ", "\t", "#", "//", "*", "\x00", "é", "# STOCKHOLM 1.0\n", ">four\nACDE\n"}
	taken := 0
	a, err := newAlphabet("protein")
	if err != nil {
		t.Fatal(err)
	}
	oracle.Each(damaged(), rbm.NewKey(37).Child(1), seeds, words, func(i int, file []byte) {
		r := &sequenceReader{path: "t.fasta", alphabet: a, in: bufio.NewReader(bytes.NewReader(file))}
		err := r.read(r.add)
		if err == nil {
			err = r.align()
		}
		if err != nil {
			checkFormat(t, err, "t.fasta")
			return
		}
		sets, err := r.set("t.fasta")
		if err != nil {
			checkFormat(t, err, "t.fasta")
			return
		}
		taken++
		if got, want := strings.Join(sequencesOf(sets[0]), " "), plainSequences(string(file)); got != want {
			t.Errorf("%q: rows %s, want %s", file, got, want)
		}
	})
	if taken < damaged()/6 {
		t.Errorf("%d of %d files are taken, too few to compare", taken, damaged())
	}
}

// plainSequences is the independent reader.
func plainSequences(text string) string {
	var order []string
	rows := map[string]string{}
	stockholm := strings.HasPrefix(strings.TrimLeft(text, "\r\n\t "), "# STOCKHOLM")
	name := ""
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, " \t\r")
		letters := line
		switch {
		case stockholm && line == "//":
			goto end
		case stockholm && (line == "" || line[0] == '#'):
			continue
		case stockholm:
			name, letters = strings.Fields(line)[0], strings.Fields(line)[1]
		case strings.HasPrefix(line, ">"):
			name, letters = fmt.Sprint(len(order)), ""
		case line == "":
			continue
		}
		if _, ok := rows[name]; !ok {
			order, rows[name] = append(order, name), ""
		}
		rows[name] += strings.NewReplacer(" ", "", "\t", "").Replace(letters)
	}
end:
	all := make([]string, len(order))
	long := true
	for i, name := range order {
		all[i] = strings.TrimSuffix(rows[name], "*")
		long = long && len(all[i]) == len(all[0])
	}
	if joined := strings.Join(all, " "); !strings.ContainsAny(joined, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		all = strings.Split(strings.ToUpper(joined), " ")
	}
	const lower = "abcdefghijklmnopqrstuvwxyz"
	insertions := func(row string) string {
		return strings.Map(func(c rune) rune {
			if strings.ContainsRune(lower+".", c) {
				return -1
			}
			return c
		}, row)
	}
	mixed, even := false, true
	byColumns := make([]string, len(all))
	if long {
		for j := range all[0] {
			column := ""
			for _, row := range all {
				column += row[j : j+1]
			}
			mixed = mixed || strings.ContainsAny(column, lower) && strings.Trim(column, lower+".-") != ""
			if strings.Trim(column, lower+".") != "" {
				for i := range all {
					byColumns[i] += strings.ToUpper(strings.ReplaceAll(column[i:i+1], ".", "-"))
				}
			}
		}
	}
	for _, row := range all {
		even = even && len(insertions(row)) == len(insertions(all[0]))
	}
	for i, row := range all {
		if all[i] = insertions(row); long && !(mixed && even) {
			all[i] = byColumns[i]
		}
		all[i] = strings.Map(func(c rune) rune {
			if !strings.ContainsRune(alphabets["protein"], c) {
				return '-'
			}
			return c
		}, all[i])
	}
	return strings.Join(all, " ")
}

// How points, lower-case letters and * are read depends on what else is in their columns.
func TestAlignmentDialects(t *testing.T) {
	gapLast := writeFile(t, "letters", "XY-\n")
	for _, c := range []struct{ name, settings, text, rows, notes string }{
		{"a.fa", "", ">1\nACD.EFGHIK\n>2\nA.CDEFGHIK\n", "ACD-EFGHIK A-CDEFGHIK", "2 points in columns with capitals or - are read as gaps"}, // Pfam
		{"a.sto", "", "# STOCKHOLM 1.0\n1 AC..-W\n2 ACde.W\n3 .Cd.YW\n//\n", "AC-W AC-W -CYW", "2 points"},                                   // HMMER, but for two points
		{"a.a2m", "", ">1\nAC..-W\n>2\nACde.W\n", "AC-W AC-W", "1 points"},
		{"a.a3m", "", ">1\nAC-W\n>2\nACdeDW\n", "AC-W ACDW", "2 lower-case letters, points and final * are insertions"},
		{"b.a3m", "", ">1\nAcC-W\n>2\nACd-W\n", "AC-W AC-W", "2 lower-case letters, points and final * are insertions"}, // rows are equally long by chance
		{"b.fa", "", ">1\nacd-w\n>2\nac--w\n", "ACD-W AC--W", "7 lower-case letters are read as capitals"},
		{"c.fa", "", ">1\nACdW\n>2\nACDW\n", "ACDW ACDW", "1 lower-case letters are read as capitals"}, // masked
		{"d.fa", "", ">1\nAC*W*\n>2\nACDW\n", "AC-W ACDW", "1 letter (*) is not of the alphabet protein and is read as a gap; 1 lower-case letters, points and final *"},
		{"e.fa", ":alphabet=" + gapLast, ">1\nXY-\n>2\nYYX\n", "XY- YYX", ""},
		{"f.fa", "", ">1\nACGU\n>2\nAC-U\n", "ACGU AC-U", "read as RNA"},
		{"g.fa", "", ">1\nACGT\n>2\nAC-T\n", "ACGT AC-T", "read as DNA"},
		{"h.stockholm", ":alphabet=protein", "# STOCKHOLM 1.0\n1 ACGT\n//\n", "ACGT", ""},
	} {
		path := writeFile(t, c.name, c.text)
		s, _, err := Load(context.Background(), path+c.settings, Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(sequencesOf(s), " "); got != c.rows {
			t.Errorf("%s: rows %s, want %s", c.name, got, c.rows)
		}
		if got := strings.Join(s.Notes, "; "); !strings.Contains(got, c.notes) || (got == "") != (c.notes == "") {
			t.Errorf("%s: notes %q, want %q", c.name, got, c.notes)
		}
	}
}

// The probabilities of the family sum to one. The mean of ln p over draws is minus the entropy, and the
// marginal of a site agrees with the draws.
func TestFamily(t *testing.T) {
	f := newFamily(rbm.NewKey(5))
	// The marginal of a site in the middle, from a model that allows only state c there.
	site := 20
	weights := make([]float64, f.q)
	whole := f.logZ
	for c := range f.q {
		g := *f
		g.logZ = 0
		g.field = append([][]float64(nil), f.field...)
		g.field[site] = make([]float64, f.q)
		for k := range f.q {
			if g.field[site][k] = f.field[site][k]; k != c {
				g.field[site][k] = -1000
			}
		}
		g.sum()
		weights[c] = math.Exp(g.logZ - whole)
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the marginals of a site sum to %v", sum)
	}
	const n = 20000
	counts := make([]float64, f.q)
	states := make([]uint8, familySites)
	var r rng
	r.seed(rbm.NewKey(6))
	for range n {
		f.draw(states, &r)
		counts[states[site]]++
	}
	chi := 0.0
	for c, w := range weights {
		chi += (counts[c] - n*w) * (counts[c] - n*w) / (n * w)
	}
	if z := (chi - float64(f.q-1)) / math.Sqrt(2*float64(f.q-1)); z > 6 {
		t.Errorf("χ² of the draws of a site: z = %.1f", z)
	}
}

// The rows of the generated family are the same everywhere, and have the right probabilities: the mean of
// ln p over the rows agrees with that of another draw to within its error.
func TestLoadFamily(t *testing.T) {
	train, test, err := Load(context.Background(), "sequences:3000", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if train.Len() != 3000 || test.Len() != familyTestRows || train.X.Cols != 60*21 || len(train.Groups) != 60 {
		t.Errorf("%d and %d rows of %d inputs", train.Len(), test.Len(), train.X.Cols)
	}
	if got := train.Hash()[:16]; got != "91aeb11e64611216" {
		t.Errorf("hash %s", got)
	}
	var mean, square [2]float64
	for i, s := range []*Set{train, test} {
		for r := range s.Len() {
			p := s.LogProb(s.X.Row(r), -1)
			mean[i] += p / float64(s.Len())
			square[i] += p * p / float64(s.Len())
		}
	}
	se := math.Sqrt((square[0]-mean[0]*mean[0])/float64(train.Len()) + (square[1]-mean[1]*mean[1])/float64(test.Len()))
	if z := (mean[0] - mean[1]) / se; math.Abs(z) > 6 {
		t.Errorf("mean ln p is %.3f of the training rows and %.3f of the test rows, z = %.1f", mean[0], mean[1], z)
	}
	blank := make([]uint64, train.X.Stride)
	if p := train.LogProb(blank, -1); !math.IsInf(p, -1) {
		t.Errorf("a row without letters has ln p = %v", p)
	}
}

// Letters of nucleotides choose their alphabet, and a note says so.
func TestNucleotides(t *testing.T) {
	for _, c := range []struct{ text, settings, want string }{
		{">a\nACGT-\n>b\nACGNN\n", "", "are read as DNA; -data a.fasta:alphabet=protein reads them as a protein's"},
		{">a\nACGU\n", "", "are read as RNA"},
		{">a\nACGT\n>b\nACGL\n", "", ""}, {">a\nACGT\n", ":alphabet=dna", ""},
	} {
		path := writeFile(t, "a.fasta", c.text)
		s, _, err := Load(context.Background(), path+c.settings, Options{})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.ReplaceAll(strings.Join(s.Notes, "; "), filepath.Dir(path)+"/", "")
		if c.want == "" && strings.Contains(notes, "nucleotides") || !strings.Contains(notes, c.want) {
			t.Errorf("%q%s: notes %q, want %q", c.text, c.settings, notes, c.want)
		}
	}
}

// A site with one letter in all rows is constant; its letters are not.
func TestConstantSites(t *testing.T) {
	s, _, err := Load(context.Background(), writeFile(t, "a.fasta", ">a\nLCGW\n>b\nLCAW\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.DescribeConstantColumns(), "3 of 4 sites are constant (1, 2, 4)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
