package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/data/grammar"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/train/plots"
)

// allMutants is the value of -mutants for all single mutations.
const allMutants = "all"

// shownMutants is the number of mutants that are printed, those with the highest scores.
const shownMutants = 5

// mutants has the flags and results of -mutants.
type mutants struct {
	// flags
	file, wildName, measuredName string
	first                        int

	schema *data.Schema
	wild   wildType
	all    []mutant
	single [][]float64 // scores of single mutations, by site and level

	measured    string      // name of the column of measured effects, or ""
	measurement correlation // correlation of the scores with measured effects
	truth       correlation // correlation of the scores with true scores
	truthKnown  bool        // the distribution of the data is known, and with it the true scores
}

// A wildType is the sequence that mutants differ from.
type wildType struct {
	data.Aligned
	name, source string      // source: name of the file or data that has the sequence
	first        int         // number of its first letter
	site         map[int]int // from the number of a letter to its site in the model
	note         string      // notes on the numbers, for the user
}

// A mutant is a sequence to score.
type mutant struct {
	name    string
	changes []change
	score   float64 // log p(mutant) − log p(wild type), in nats
	effect  float64 // measured effect, or NaN
	truth   float64 // log p(mutant) − log p(wild type) under the true distribution of the data, or NaN if it is unknown
}

// A change sets a site to a level: the index of a letter in the alphabet.
type change struct {
	site  int
	level int32
}

// A correlation compares scores with other numbers.
type correlation struct {
	N        int     `json:"n"`
	Spearman float64 `json:"spearman"` // null if all values are equal
}

func addMutantFlags(f *cli.Flags) *mutants {
	m := &mutants{}
	f.StringVar(&m.file, "mutants", "", "score mutants of a sequence by log p(mutant) − log p(wild type), which needs no log Z. The value is a file of mutants, one per line or in the column mutant of a .csv, such as A23G, or A23G:L30K for two mutations (commas work too); or a file of aligned sequences; or all, for all single mutations. Numbers count the letters of the wild type, including insertions").
		Offer(allMutants).Main("FILE  scores these mutants; all: every single mutation").Not("run")
	f.StringVar(&m.wildName, "wildtype", "", "with -mutants: the wild type, as the name of a sequence of the rows or a file whose first sequence it is (default: the first sequence in the file of the rows, or the first generated row)").For("mutants")
	f.IntVar(&m.first, "first-position", 1, "with -mutants: number of the wild type's first letter (default: the start in its name, as in NAME/115-210, otherwise 1)").Between(0, math.MaxInt32).For("mutants")
	f.StringVar(&m.measuredName, "measured", "", "with -mutants: column of measured effects, whose rank correlation with the scores is printed (default: the first column of numbers)").For("mutants")
	return m
}

// prepare reads the wild type and the mutants, before long computations.
func (u *mutants) prepare(ctx context.Context, e *evaluation) error {
	if u.file == "" {
		return nil
	}
	u.schema = e.set.Schema
	switch {
	case u.schema == nil || u.schema.Alphabet == "":
		return cli.Usagef("-mutants is for models of sequences; %s has none", e.set.Name)
	case e.m.Classes() > 0:
		return cli.Usagef("-mutants is for models of sequences without labels; that of %s has %d classes", e.model.Path, e.m.Classes())
	}
	if _, err := os.Stat(u.file); err != nil && u.file != allMutants {
		return fmt.Errorf("-mutants: %w; name a file of mutations or of sequences, or all", err)
	}
	if err := u.readWildType(ctx, e); err != nil {
		return err
	}
	var err error
	switch {
	case u.file == allMutants && u.measuredName != "":
		return cli.Usagef("-measured names a column of the file of -mutants, which is %s", allMutants)
	case u.file == allMutants:
		u.every()
		return nil
	case data.IsSequenceFile(u.file) && u.measuredName != "":
		return cli.Usagef("-measured names a column of a .csv; %s has sequences", u.file)
	case data.IsSequenceFile(u.file):
		err = u.readSequences(ctx)
	default:
		err = u.readList(ctx)
	}
	if err == nil && slices.Contains(cli.Pictures, strings.ToLower(filepath.Ext(e.out))) && u.effects() < leastDrawn {
		return fmt.Errorf("-out: the picture %s needs %d mutants with measured effects, and %s has %d; name a .csv", e.out, leastDrawn, u.file, u.effects())
	}
	return err
}

// leastDrawn is the least number of mutants with measured effects for a picture.
const leastDrawn = 2

// effects returns the number of mutants with measured effects.
func (u *mutants) effects() (n int) {
	for _, m := range u.all {
		if !math.IsNaN(m.effect) {
			n++
		}
	}
	return n
}

// nameRange matches the numbers of the first and last residue at the end of a sequence's name.
var nameRange = regexp.MustCompile(`/(\d+)-(\d+)$`)

// readWildType finds the wild type and numbers its letters.
func (u *mutants) readWildType(ctx context.Context, e *evaluation) error {
	q, source, err := u.findWildType(ctx, e)
	if err != nil {
		return err
	}
	w := &u.wild
	if w.Aligned, err = u.schema.Align(q.Letters); err != nil {
		return fmt.Errorf("wild type %s of %s: %w", q.Name, source, err)
	}
	w.name, w.source, w.first, w.site = q.Name, source, u.first, map[int]int{}
	if found := nameRange.FindStringSubmatch(q.Name); found != nil && !e.flags.Given("first-position") {
		from, _ := strconv.Atoi(found[1])
		if to, _ := strconv.Atoi(found[2]); to-from+1 == w.Length {
			w.first = from
		} else {
			w.note = fmt.Sprintf("; its name has %s to %s, which is not %d letters: -first-position says where it begins", found[1], found[2], w.Length)
		}
	}
	for i, r := range w.Residues {
		if r > 0 {
			w.site[w.first+r-1] = i
		}
	}
	number := func(n int, what, rest string) {
		if verb := " have "; n > 0 {
			if n == 1 {
				verb = " has "
			}
			w.note += "; " + cli.Count(n, what) + verb + rest
		}
	}
	number(w.Length-len(w.site), "insertion", "a number and no site")
	number(len(w.Levels)-len(w.site), "gap", "no number")
	return nil
}

// last returns the number of the last letter.
func (w *wildType) last() int { return w.first + w.Length - 1 }

// findWildType returns the wild type, and the name of its file or data.
func (u *mutants) findWildType(ctx context.Context, e *evaluation) (q data.Sequence, source string, err error) {
	rows := e.all
	if rows.RowNames == nil && u.wildName == "" {
		row := int32(0)
		if rows.Numbers != nil {
			row = rows.Numbers[0]
		}
		return data.Sequence{Name: fmt.Sprintf("row %d", row), Letters: strings.Join(u.schema.Words(rows.X, 0), "")}, rows.Name, nil
	}
	source = rows.Name
	if info, err := os.Stat(u.wildName); u.wildName != "" && err == nil && !info.IsDir() {
		source = u.wildName
	} else if rows.RowNames == nil {
		return q, "", fmt.Errorf("-wildtype: there is no file %s, and the rows of %s have no names; name a file with the sequence", u.wildName, rows.Name)
	}
	for q, err := range data.Sequences(ctx, source) {
		bare, _, _ := strings.Cut(q.Name, "/")
		if err != nil || u.wildName == "" || source == u.wildName || q.Name == u.wildName || bare == u.wildName {
			return q, source, err
		}
	}
	return q, "", fmt.Errorf("-wildtype: there is no file %s, and no sequence of %s has this name%s", u.wildName, source, grammar.DidYouMean(u.wildName, rows.RowNames))
}

// every sets all to the mutants that differ from the wild type at one site, without gaps.
func (u *mutants) every() {
	letters := u.schema.Alphabet
	for i, was := range u.wild.Levels {
		for level := 1; was > 0 && level < len(letters); level++ {
			if int32(level) != was {
				name := fmt.Sprintf("%c%d%c", letters[was], u.wild.first+u.wild.Residues[i]-1, letters[level])
				u.all = append(u.all, mutant{name: name, changes: []change{{i, int32(level)}}, effect: math.NaN()})
			}
		}
	}
}

// readSequences reads a file of aligned sequences.
func (u *mutants) readSequences(ctx context.Context) error {
	for q, err := range data.Sequences(ctx, u.file) {
		if err != nil {
			return err
		}
		a, err := u.schema.Align(q.Letters)
		if err != nil {
			return fmt.Errorf("%s:%d: sequence %d, %q: %w", u.file, q.Line, len(u.all)+1, q.Name, err)
		}
		m := mutant{name: q.Name, effect: math.NaN()}
		for i, level := range a.Levels {
			if level != u.wild.Levels[i] {
				m.changes = append(m.changes, change{i, level})
			}
		}
		u.all = append(u.all, m)
	}
	return nil
}

// mutation matches a single mutation: letter, number, letter.
var mutation = regexp.MustCompile(`^([^\s\d])(\d+)([^\s\d])$`)

// isMutant reports whether text is, or begins like, the name of a mutant.
func isMutant(text string) bool {
	first, _, _ := strings.Cut(text, ":")
	return mutation.MatchString(strings.TrimSpace(first)) || isWildType(text)
}

// isWildType reports whether text names the wild type, as some lists of variants do.
func isWildType(text string) bool {
	return slices.Contains([]string{"wt", "_wt"}, strings.ToLower(strings.TrimSpace(text)))
}

// readList reads a file of mutations: lines, or a table with a column of them.
func (u *mutants) readList(ctx context.Context) error {
	lines, err := data.Lines(ctx, u.file)
	if err != nil {
		return err
	}
	at, head := 0, []string(nil)
	if len(lines) > 0 {
		at = slices.IndexFunc(lines[0], func(word string) bool {
			return slices.Contains([]string{"mutant", "mutants", "mutation", "mutations", "variant"}, strings.ToLower(strings.TrimSpace(word)))
		})
		if at >= 0 || !strings.ContainsAny(lines[0][0], "0123456789") && !isMutant(lines[0][0]) {
			head, lines = lines[0], lines[1:]
		}
		at = max(at, 0)
	}
	if len(lines) == 0 {
		return fmt.Errorf("%s has no mutants; write one per line, such as A23G or A23G:L30K", u.file)
	}
	rest := make([][]string, len(lines)) // the other columns
	for r, line := range lines {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("%s: row %d of the mutants, %q: %s", u.file, r+1, line[min(at, len(line)-1)], fmt.Sprintf(format, args...))
		}
		if head != nil && len(line) != len(head) {
			return wrong("%d fields where the first line has %d", len(line), len(head))
		}
		width := 1
		for head == nil && width < len(line) && isMutant(line[width]) { // several mutations, separated by commas without quotes
			width++
		}
		name := strings.Join(line[at:at+width], ":")
		m := mutant{name: strings.TrimSpace(name), effect: math.NaN()}
		if m.changes, err = u.parse(name); err != nil {
			return wrong("%v", err)
		}
		u.all = append(u.all, m)
		rest[r] = slices.Concat(line[:at], line[at+width:])
	}
	if head != nil {
		head = slices.Delete(head, at, at+1)
	}
	return u.findMeasured(head, rest)
}

// parse parses the mutations of a mutant.
func (u *mutants) parse(text string) (changes []change, err error) {
	if isWildType(text) {
		return nil, nil
	}
	w, letters := &u.wild, u.schema.Alphabet
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ':' || r == ',' || r == ' ' }) {
		found := mutation.FindStringSubmatch(part)
		if found == nil {
			return nil, fmt.Errorf("%q is no mutation such as A23G; several are joined by : or by commas, and files of whole sequences end in .fasta", part)
		}
		number, err := strconv.Atoi(found[2])
		site, there := w.site[number]
		switch {
		case err != nil || number < w.first || number > w.last():
			return nil, fmt.Errorf("there is no position %s in the wild type %s, whose letters are numbered %d to %d; -first-position gives the number of the first", found[2], w.name, w.first, w.last())
		case !there:
			return nil, fmt.Errorf("position %d of the wild type %s is an insertion, which is no site of the model", number, w.name)
		}
		for _, letter := range []string{found[1], found[3]} {
			if len(letter) != 1 || u.schema.Letter(letter[0]) < 0 {
				return nil, fmt.Errorf("%q is no letter of the alphabet %s", letter, letters)
			}
		}
		if was := w.Levels[site]; u.schema.Letter(found[1][0]) != was {
			return nil, fmt.Errorf("the wild type %s has %c at position %d, counted from %d; -wildtype chooses the sequence, and -first-position the number of its first letter", w.name, letters[was], number, w.first)
		}
		if slices.ContainsFunc(changes, func(c change) bool { return c.site == site }) {
			return nil, fmt.Errorf("position %d occurs twice", number)
		}
		changes = append(changes, change{site, u.schema.Letter(found[3][0])})
	}
	if changes == nil {
		return nil, fmt.Errorf("the mutant is missing; write one such as A23G, or WT for the wild type")
	}
	return changes, nil
}

// findMeasured reads the measured effects from the other columns of the list. head has their names, or is nil.
func (u *mutants) findMeasured(head []string, rest [][]string) error {
	width := 0
	for _, row := range rest {
		width = max(width, len(row))
	}
	name := func(j int) string {
		if head != nil {
			return head[j]
		}
		return fmt.Sprintf("column %d", j+2)
	}
	asked := slices.Index(head, u.measuredName)
	if u.measuredName != "" && asked < 0 {
		return cli.Usagef("-measured: %s has no column %q%s", u.file, u.measuredName, grammar.DidYouMeanOr(u.measuredName, head, "its other columns are "+strings.Join(head, ", ")))
	}
	for j := range width {
		if u.measuredName != "" && j != asked || name(j) == "" { // pandas writes row numbers as a column without a name
			continue
		}
		values, known := make([]float64, len(rest)), 0
		var err, infinite error
		for r := range rest {
			values[r] = math.NaN()
			if j >= len(rest[r]) || data.IsMissing(strings.TrimSpace(rest[r][j])) {
				continue
			}
			x, e := data.ParseNumber(strings.TrimSpace(rest[r][j]))
			bad := func(what string) error {
				return fmt.Errorf("%s: row %d of the mutants, %q: %s is %q, which is %s; leave it empty if it was not measured", u.file, r+1, u.all[r].name, name(j), rest[r][j], what)
			}
			if e != nil {
				err = bad("no number")
				break
			}
			if !cli.Finite(x) && infinite == nil {
				infinite = bad("not finite")
			}
			values[r] = x
			known++
		}
		switch {
		case err != nil && u.measuredName != "":
			return err
		case err == nil && infinite != nil: // in a column of numbers
			return infinite
		case err == nil && known > 0:
			u.measured = name(j)
			for r, x := range values {
				u.all[r].effect = x
			}
			return nil
		}
	}
	return nil
}

// score computes all scores and correlations.
func (u *mutants) score(ctx context.Context, e *evaluation) error {
	if u.file == "" {
		return nil
	}
	q := len(u.schema.Alphabet)
	singles := make([]mutant, len(u.wild.Levels)*q)
	for i := range singles {
		singles[i].changes = []change{{i / q, int32(i % q)}}
	}
	several := func(m mutant) bool { return len(m.changes) > 1 }
	if slices.ContainsFunc(u.all, several) {
		if err := u.scoreAll(ctx, e, singles); err != nil {
			return err
		}
		for i := range u.wild.Levels {
			row := make([]float64, q)
			for k := range row {
				row[k] = singles[i*q+k].score
			}
			u.single = append(u.single, row)
		}
	}
	if err := u.scoreAll(ctx, e, u.all); err != nil {
		return err
	}
	u.measurement = u.correlate(func(m mutant) float64 { return m.effect })
	u.truth = u.correlate(func(m mutant) float64 { return m.truth })
	return nil
}

// scoreAll scores the mutants in all, a chunk at a time.
func (u *mutants) scoreAll(ctx context.Context, e *evaluation, all []mutant) error {
	bar := e.flags.NewProgress("mutants", "rows", int64(len(all)))
	defer bar.Done()
	truth := e.all.LogProb
	u.truthKnown = truth != nil
	v, free := rbm.NewBits(chunk+1, e.m.Visible()), make([]float64, chunk+1) // the last row is the wild type
	u.schema.Put(v, chunk, u.wild.Levels)
	levels := slices.Clone(u.wild.Levels)
	for lo := 0; lo < len(all); lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := all[lo:min(lo+chunk, len(all))]
		for r := range rows {
			for _, c := range rows[r].changes {
				levels[c.site] = c.level
			}
			u.schema.Put(v, r, levels)
			copy(levels, u.wild.Levels)
		}
		e.m.FreeEnergy(free, v)
		for r := range rows {
			rows[r].score, rows[r].truth = free[chunk]-free[r], math.NaN()
			if truth != nil {
				rows[r].truth = truth(v.Row(r), -1) - truth(v.Row(chunk), -1)
			}
			if !cli.Finite(rows[r].score) {
				return errNotFinite
			}
		}
		bar.Set(int64(lo+len(rows)), "")
	}
	return nil
}

// additive returns the sum of the scores of the single mutations of m.
func (u *mutants) additive(m mutant) (sum float64) {
	for _, c := range m.changes {
		sum += u.single[c.site][c.level]
	}
	return sum
}

// correlate returns the rank correlation of the scores with the numbers that with returns. It skips mutants
// for which this number is NaN.
func (u *mutants) correlate(with func(m mutant) float64) (c correlation) {
	var x, y []float64
	for _, m := range u.all {
		if other := with(m); !math.IsNaN(other) {
			x, y = append(x, m.score), append(y, other)
		}
	}
	c.N, c.Spearman = len(x), math.NaN()
	if c.N > 1 {
		c.Spearman = stat.Correlation(rankings(x), rankings(y), nil)
	}
	return c
}

// rankings returns the ranks of x from 1. Equal values get the mean of their ranks.
func rankings(x []float64) []float64 {
	order, all := make([]int, len(x)), make([]float64, len(x))
	floats.Argsort(slices.Clone(x), order)
	for lo, hi := 0, 0; lo < len(order); lo = hi {
		for hi < len(order) && x[order[hi]] == x[order[lo]] {
			hi++
		}
		for _, i := range order[lo:hi] {
			all[i] = float64(lo+hi+1) / 2
		}
	}
	return all
}

// record adds the results to rec.
func (u *mutants) record(rec *cli.Record) {
	if u.file == "" {
		return
	}
	w := &u.wild
	letters := make([]byte, len(w.Levels))
	for i, level := range w.Levels {
		letters[i] = u.schema.Alphabet[level]
	}
	var wild, all cli.Record
	wild.Add("name", w.name)
	wild.Add("from", w.source)
	wild.Add("sites", string(letters))
	wild.Add("first_position", w.first)
	wild.Add("last_position", w.last())
	rec.Show("wild_type", "wild type", wild, fmt.Sprintf("%s of %s, letters numbered %d to %d%s", w.name, w.source, w.first, w.last(), w.note))
	order := slices.Clone(u.all)
	slices.SortStableFunc(order, func(a, b mutant) int { return cmp.Compare(b.score, a.score) })
	scores := make([]cli.Record, len(u.all))
	for i, m := range u.all {
		scores[i].Add("mutant", m.name)
		scores[i].Add("score", m.score)
	}
	all.Add("n", len(u.all))
	all.Add("scores", scores)
	if u.measured != "" {
		all.Add("measured", u.measured)
		all.Add("measured_correlation", u.measurement)
	}
	if u.truthKnown {
		all.Add("true_correlation", u.truth)
	}
	rec.Show("mutants", "mutants", all, fmt.Sprintf("%s: log p(mutant) − log p(wild type) from %.3f to %.3f nats", cli.Count(len(u.all), "mutant"), order[len(order)-1].score, order[0].score))
	var top []string
	for _, m := range order[:min(len(order), shownMutants)] {
		top = append(top, fmt.Sprintf("%.40s %.3f", m.name, m.score))
	}
	rec.Say("  highest", strings.Join(top, ", "))
	say := func(label string, c correlation) {
		text := fmt.Sprintf("Spearman – (%s; this needs two different values)", cli.Count(c.N, "mutant"))
		if cli.Finite(c.Spearman) {
			text = fmt.Sprintf("Spearman %.4f (%s)", c.Spearman, cli.Count(c.N, "mutant"))
		}
		rec.Say(label, text)
	}
	if u.truthKnown {
		say("  with the true scores", u.truth)
	}
	if u.measured != "" {
		say("  with "+u.measured, u.measurement)
	}
}

// lines returns the lines of mutants.csv.
func (u *mutants) lines() [][]string {
	number := func(x float64) string {
		if math.IsNaN(x) {
			return ""
		}
		return strconv.FormatFloat(x, 'g', 9, 64)
	}
	lines := [][]string{{"mutant", "sites", "score"}}
	columns := []func(m mutant) float64{func(m mutant) float64 { return m.score }}
	add := func(there bool, name string, value func(m mutant) float64) {
		if slices.Contains(lines[0], name) { // the list of mutants may have any column name
			name = "measured_" + name
		}
		if there {
			lines[0], columns = append(lines[0], name), append(columns, value)
		}
	}
	add(u.single != nil, "sum_of_singles", u.additive)
	add(u.measured != "", u.measured, func(m mutant) float64 { return m.effect })
	add(u.truthKnown, "true_score", func(m mutant) float64 { return m.truth })
	for _, m := range u.all {
		var sites []string
		for _, c := range m.changes {
			sites = append(sites, strconv.Itoa(c.site+1))
		}
		line := []string{m.name, strings.Join(sites, ":")}
		for _, value := range columns {
			line = append(line, number(value(m)))
		}
		lines = append(lines, line)
	}
	return lines
}

// picture returns a map of the scores of all single mutations, or a chart of the scores of a list against
// measured effects. It is nil if fewer than leastDrawn effects are known.
func (u *mutants) picture() *plots.Page {
	if u.file == allMutants {
		scores := make([][]float64, len(u.wild.Levels))
		numbers := make([]int, len(scores))
		for i, level := range u.wild.Levels {
			if level > 0 {
				scores[i], numbers[i] = make([]float64, len(u.schema.Alphabet)), u.wild.first+u.wild.Residues[i]-1
			}
		}
		for _, m := range u.all {
			scores[m.changes[0].site][m.changes[0].level] = m.score
		}
		return plots.Mutations(u.schema.Alphabet, u.wild.Levels, numbers, scores)
	}
	var x, y []float64
	for _, m := range u.all {
		if !math.IsNaN(m.effect) {
			x, y = append(x, m.effect), append(y, m.score)
		}
	}
	if len(x) < leastDrawn {
		return nil
	}
	return plots.Scatter(fmt.Sprintf("%d mutants", len(x)), u.measured, "log p(mutant) − log p(wild type) / nats", x, y)
}

// write writes the files of -out.
func (u *mutants) write(out string) error {
	if u.file == "" || out == "" {
		return nil
	}
	return writeResults(out, "mutants", cli.WriteCSV(u.lines()), u.picture(), "-out: there is no picture")
}

// checkOut returns an error if -out looks like a file of another format than those of writeResults.
func checkOut(out string) error {
	switch ending := filepath.Ext(out); {
	case len(ending) < 2, strings.ContainsFunc(ending[1:], func(r rune) bool { return !unicode.IsLetter(r) }):
		return nil
	case strings.EqualFold(ending, ".csv"), slices.Contains(cli.Pictures, strings.ToLower(ending)):
		return nil
	}
	return cli.Usagef("-out is %q; a file ends in .csv, %s, and a folder has no ending", out, strings.Join(cli.Pictures, ", "))
}

// writeResults writes name.csv and name.png to the folder out, or one of them to the file out if that is a
// .csv or a picture. picture may be nil; then none is the text of the error if out names a picture.
func writeResults(out, name string, table func(io.Writer) error, picture *plots.Page, none string) error {
	ending := strings.ToLower(filepath.Ext(out))
	switch {
	case ending == ".csv":
		return atomicfile.Write(out, table)
	case slices.Contains(cli.Pictures, ending):
		if picture == nil {
			return fmt.Errorf("%s", none)
		}
		return cli.WritePicture(out, picture)
	}
	if err := os.Mkdir(out, 0o777); err != nil {
		return fmt.Errorf("-out: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(out, name+".csv"), table); err != nil || picture == nil {
		return err
	}
	return cli.WritePicture(filepath.Join(out, name+".png"), picture)
}
