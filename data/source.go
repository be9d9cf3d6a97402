package data

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// sources lists all sources in the order of help and messages. A new source is a row here, and a file with
// its load function.
func sources() []source {
	return []source{
		{"fontdigits", "fontdigits[:N]", "digits rendered from fonts (N: that many training rows)", seeded, nil, loadFontDigits},
		{"mnist", "mnist[:N]", "handwritten digits (mnist:55000: as in the paper on ins)", seedless, nil, loadMNIST},
		{"toy", "toy:M,D,N,P[:plain]", "M modes: binary codes with each bit repeated D times; N copies of each,\nbits flipped with probability P; plain: without labels", seeded, nil, loadToy},
		{"bars", "bars:N", "bars and stripes, N×N (bars:4:distinct: each once)", seedless, nil, loadBars},
		{"shifter", "shifter:N", "labelled shifter of N bits", seedless, nil, loadShifter},
		{"desjardins", "desjardins:P", "four modes of 4×4 bits, flipped with probability P", seeded, nil, loadDesjardins},
		{"sequences", "sequences[:N]", "a family of proteins drawn from a known Potts model\n(N: that many training rows)", seeded, nil, loadFamily},
		{".csv", "FILE.csv", "rows of numbers or words, also .tsv, .txt, .dat, .data, gzipped or not", seedless, csvEndings, loadText},
		{".npz", ".npz", "rows of values in [0,1]; others need -scale", seedless, []string{".npz"}, fileLoader(loadNPZ)},
		{".npy", ".npy", "rows of values in [0,1]; others need -scale", seedless, []string{".npy"}, fileLoader(loadNPY)},
		{Stdin, "-", "rows from a pipe: .csv, .npz or .npy, recognised by the first bytes", seedless, nil, loadPipe},
		{sequenceFiles, "FILE.fasta", "aligned sequences, also Stockholm files and gzipped ones;\n:alphabet=A after the name: protein, rna, dna or a file of its letters", seedless, sequenceEndings, loadSequences},
		{"IDX", "IMAGES[,LABELS]", "IDX files, gzipped or not", seedless, idxEndings, loadIDX},
	}
}

// csvEndings are the endings of text files of rows. The separator of columns follows from the first line.
var csvEndings = []string{".csv", ".tsv", ".txt", ".dat", ".data", ".amat", ".tab", ".csv.gz", ".tsv.gz", ".txt.gz"}

// A source is a data set that Load knows by name, or a kind of file that it
// reads.
type source struct {
	name    string   // name of the data set, or of the kind of file in messages
	usage   string   // form of the spec, at the beginning of its line in the help
	help    string   // description, in the rest of the line and in further lines
	seeded  bool     // rows are drawn at random, and a seed may be given
	endings []string // endings of file names, in lower case; nil for a named data set

	// load returns the training set and, if there is one, the test set. The
	// settings of a named data set are in sp.args, a file's path in sp.text.
	load func(ctx context.Context, sp spec, opt Options) ([]*Set, error)
}

// Values of source.seeded.
const (
	seedless = false
	seeded   = true
)

// Help lists the sources of [Load], with one or more lines for each. Sources with the same description
// share a line.
func Help() string {
	var b strings.Builder
	usage, all := "", sources()
	for i, s := range all {
		usage += s.usage
		if i+1 < len(all) && all[i+1].help == s.help {
			usage += " "
			continue
		}
		for line := range strings.Lines(s.help) {
			fmt.Fprintf(&b, "%-19s %s", usage, line)
			usage = ""
		}
		b.WriteByte('\n')
	}
	return b.String() + "generated data may have :seed=N at the end"
}

// Names returns the names of the data sets of [Load]. Settings may follow a name after a colon.
func Names() []string {
	names, _, _ := sourceNames()
	return names
}

// Known reports whether name, without settings, is a data set of [Load].
func Known(name string) bool { return slices.Contains(Names(), name) }

// sourceNames returns the names of data sets, of kinds of files, and the
// endings of files, for messages.
func sourceNames() (sets, kinds, endings []string) {
	for _, s := range sources() {
		if s.endings == nil {
			sets = append(sets, s.name)
		} else {
			kinds, endings = append(kinds, s.name), append(endings, s.endings...)
		}
	}
	return sets, kinds, endings
}

// hasEnding reports whether a file's name ends in one of endings, in any case of letters.
func hasEnding(name string, endings []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(name, end) })
}

// fileLoader returns the load function for a kind of file. The function opens the file and calls read.
func fileLoader(read func(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error)) func(context.Context, spec, Options) ([]*Set, error) {
	return func(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
		f, size, err := open(ctx, sp.text)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return read(reading{ctx, f, nil}, size, sp.text, opt)
	}
}

// A spec is a parsed data set spec: name[:setting]…[:seed=N].
type spec struct {
	text    string
	name    string
	args    []string // settings other than the seed, in order
	seed    uint64   // 1 if none is given
	hasSeed bool
}

func parseSpec(text string) (spec, error) {
	parts := strings.Split(text, ":")
	sp := spec{text: text, name: parts[0], seed: 1}
	for _, p := range parts[1:] {
		value, ok := strings.CutPrefix(p, "seed=")
		switch {
		case !ok && p == "":
			return sp, specErrorf("%s: an empty setting; remove the spare colon", text)
		case !ok:
			sp.args = append(sp.args, p)
		case sp.hasSeed:
			return sp, specErrorf("%s: two seeds; give one", text)
		default:
			seed, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return sp, specErrorf("%s: seed %s is not a whole number from 0 to 2^64-1", text, quote(value))
			}
			sp.seed, sp.hasSeed = seed, true
		}
	}
	return sp, nil
}

// values returns the settings other than word, and whether word is among the settings. It is an error if
// word occurs twice, or if there are more than most other settings. The error tells the user to write
// usage.
func (sp spec) values(most int, word, usage string) (values []string, given bool, err error) {
	for _, arg := range sp.args {
		switch {
		case arg == word && !given:
			given = true
		case arg != word && len(values) < most:
			values = append(values, arg)
		default:
			return nil, false, specErrorf("%s: setting %s is one too many; write %s", sp.text, quote(arg), usage)
		}
	}
	return values, given, nil
}

// rows reads the only setting of a set that can be loaded in part: the number of rows, from 1 to most.
// Without it rows returns most.
func (sp spec) rows(most int) (int, error) {
	switch len(sp.args) {
	case 0:
		return most, nil
	case 1:
		n, err := strconv.Atoi(sp.args[0])
		if err != nil || n < 1 || n > most {
			return 0, specErrorf("%s: %s is not a number of rows from 1 to %d", sp.text, quote(sp.args[0]), most)
		}
		return n, nil
	}
	return 0, specErrorf("%s: too many settings; write %s:N for N rows", sp.text, sp.name)
}

// integer reads a whole number from 1 to most into to. Errors call the number what.
func (sp spec) integer(to *int, text, what string, most int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return specErrorf("%s: %s, %s, must be a whole number from 1 to %d", sp.text, what, quote(text), most)
	}
	*to = n
	return nil
}

// probability reads the probability of a flip.
func (sp spec) probability(text string) (float64, error) {
	p, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(p >= 0 && p <= 1) {
		return 0, specErrorf("%s: the flip probability, %s, must be a number from 0 to 1", sp.text, quote(text))
	}
	return p + 0, nil // −0 becomes 0, so that a set has one name
}

// withSeed appends the seed to s, the canonical name without a seed.
func (sp spec) withSeed(s string) string {
	return s + ":seed=" + strconv.FormatUint(sp.seed, 10)
}
