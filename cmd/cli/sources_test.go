package cli_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Above a paragraph, list or table with measured figures, a comment names the table cells that
// they are from:
//
//	<!-- figures from: experiments/defaults/README.md;
//	     row "48000|160000" "ins" column "test error %"; not 3.39 -->
//
// Items are separated by semicolons:
//
//   - FILE, a file of the repository, or COMMAND, a command of gorbm or go run, which runs only
//     with -figures. The cells after it are from all sources named since the last cells.
//   - row "…" "…" column "…" "…" picks cells. In the row, each phrase is in a cell or in the lines
//     above the table; "a + b|c" picks the row with a and b, then the row with c. A phrase that ends
//     in … is the beginning of a cell. A column is given by its heading or its number, and "…#2" is
//     the second number of the cell. Rows without a number in the column are ignored, and one row
//     must remain. With several columns, all rows of the first come first. minus and exp in front
//     change the numbers.
//   - not 3.39, 1.96: numbers from elsewhere: papers, settings, times.
//   - timed: figures are times, and are not compared.
//
// The picked cells belong to the figures in order; a table is read column by column. A figure is a number
// with decimals, a ±, a unit (%, nats) or a total (30 of 44), or the only number of a table cell. It must be
// the first number of its source cell, or for a percentage the first with %. A number after ± or "of", or
// in brackets, must be the second. Both are rounded as on the page. A figure "0.2 to 0.8" is the smallest
// and the largest of all cells of one item. Fractions become percentages if neither the cell nor its
// heading has a %.
var (
	froms   = regexp.MustCompile(`(?s)^<!-- figures from: (.*?) -->\n*`)
	blocks  = regexp.MustCompile("(?ms)(<!-- output of: [^\n]* -->\n+)?^```.*?^```$")
	between = regexp.MustCompile(`\n[ \t]*\n`)
	// measured matches a paragraph with figures.
	measured = regexp.MustCompile(`\d ± \d|\d\.\d+ (%|nats)|−\d+\.\d|−\d\d`)
	// unread matches parts of a page whose numbers are not figures.
	unread = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
	// figure matches a number with its unit, error or total. Times are not figures.
	figure = regexp.MustCompile(`(^|[\s(|])([−-]?)(\d+(?:\.\d+)?)(?:( ± | \(| to | of )([−-]?)(\d+(?:\.\d+)?))?\)?(?:( %| nats)|( (?:s|ms|µs|seconds|minutes)\b))?`)
	lone   = regexp.MustCompile(`^[−-]?\d+(\.\d+)?( %)?$`)
	value  = regexp.MustCompile(`([−-]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?: ± (\d+(?:\.\d+)?))?( %)?`)
	quoted = regexp.MustCompile(`"([^"]*)"`)
	item   = regexp.MustCompile(`^((?:minus |exp )*)row((?:\s+"[^"]*")+)\s+column((?:\s+"[^"]*")+)$`)
	whole  = regexp.MustCompile("^`([^`]*)`$|^\\*\\*([^*]*)\\*\\*$") // code, or bold
	gap    = regexp.MustCompile(`\s{2,}`)
)

// A provenance is a part of a page with the sources of its figures.
type provenance struct {
	text    string
	sources []string // files, and commands, which contain spaces
	picks   []pick
	not     []string
	timed   bool
}

// A pick names cells of the sources from first up to last.
type pick struct {
	text          string
	first, last   int
	minus, exp    bool
	rows, columns []string
}

func isCommand(source string) bool { return strings.Contains(source, " ") }

// provenances returns the parts of a page that have sources. Every part with measured
// figures must have sources.
func provenances(t *testing.T, page, text string) (all []provenance) {
	t.Helper()
	sources := ""
	for _, part := range between.Split(blocks.ReplaceAllString(text, ""), -1) {
		part = strings.TrimLeft(part, "\n")
		if m := froms.FindStringSubmatch(part); m != nil {
			sources, part = m[1], part[len(m[0]):]
			if part == "" { // an empty line follows
				continue
			}
		}
		if sources == "" {
			if m := measured.FindString(unread.ReplaceAllString(part, "")); m != "" {
				t.Errorf("%s: %q is a figure; say above its paragraph where it is from: <!-- figures from: FILE; row \"…\" column \"…\" -->\n%.200s", page, m, part)
			}
			continue
		}
		p, err := parseProvenance(sources)
		if err != nil {
			t.Errorf("%s: %v in %q", page, err, sources)
		}
		p.text = part
		all, sources = append(all, p), ""
	}
	return all
}

func parseProvenance(text string) (p provenance, err error) {
	first := 0
	for _, s := range splitItems(text) {
		switch word, rest, _ := strings.Cut(s, " "); {
		case s == "timed":
			p.timed = true
		case word == "not":
			for _, n := range strings.Split(rest, ",") {
				p.not = append(p.not, strings.TrimSpace(n))
			}
		case word == "row" || word == "minus" || word == "exp":
			m := item.FindStringSubmatch(s)
			if m == nil {
				return p, fmt.Errorf(`%q is not row "…" column "…"`, s)
			}
			k := pick{text: s, minus: strings.Contains(m[1], "minus"), exp: strings.Contains(m[1], "exp"), rows: phrases(m[2]), columns: phrases(m[3])}
			if n := len(p.picks); n > 0 && p.picks[n-1].last < len(p.sources) {
				first = p.picks[n-1].last
			}
			k.first, k.last = first, len(p.sources)
			if k.first == k.last {
				return p, fmt.Errorf("no source before %q", s)
			}
			p.picks = append(p.picks, k)
		default:
			p.sources = append(p.sources, s)
		}
	}
	if p.sources == nil {
		err = fmt.Errorf("no source")
	}
	return p, err
}

// splitItems splits text at semicolons outside quotation marks.
func splitItems(text string) (items []string) {
	inside, begin := false, 0
	for i, c := range text + ";" {
		if c == '"' {
			inside = !inside
		}
		if c == ';' && !inside {
			items = append(items, strings.Join(strings.Fields(text[begin:i]), " "))
			begin = i + 1
		}
	}
	return items
}

func phrases(text string) (all []string) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// A pageFigure is a measured number on a page. to and spread are the texts of its second number, or "".
type pageFigure struct {
	text, value, to, spread string
	percent                 bool
}

// figures returns the figures of a part in the order of its picks.
func (p provenance) figures() (all []pageFigure) {
	if p.timed {
		return nil
	}
	for _, text := range p.inOrder() {
		alone := lone.MatchString(strings.TrimSpace(text))
		for _, m := range figure.FindAllStringSubmatch(unread.ReplaceAllString(text, ""), -1) {
			f := pageFigure{text: strings.Trim(m[0], " (|\n"), value: m[2] + m[3], percent: m[7] == " %"}
			switch second := m[5] + m[6]; m[4] {
			case " to ":
				f.to = second
			case " ± ", " (", " of ":
				f.spread = second
			}
			exact := strings.Contains(f.value+f.to+f.spread, ".") || m[7] != "" || m[4] == " ± " || m[4] == " of " || alone
			if exact && m[8] == "" && !slices.Contains(p.not, m[3]) {
				all = append(all, f)
			}
		}
	}
	return all
}

// inOrder returns the text, or the cells of a table column by column without the first,
// which has names.
func (p provenance) inOrder() (parts []string) {
	if !strings.HasPrefix(p.text, "|") {
		return []string{strings.Join(strings.Fields(p.text), " ")}
	}
	var rows [][]string
	for line := range strings.Lines(p.text) {
		rows = append(rows, cellsOf(line))
	}
	for c := 1; c < len(rows[0]); c++ {
		for _, row := range rows[2:] {
			if c < len(row) {
				parts = append(parts, row[c])
			}
		}
	}
	return parts
}

// cellsOf returns the cells of a line: between bars, or between two spaces or more.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return gap.Split(line, -1)
	}
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i, c := range cells {
		c = whole.ReplaceAllString(strings.TrimSpace(c), "$1$2")
		cells[i] = strings.ReplaceAll(c, "\x00", "|")
	}
	return cells
}

// A sourceRow is a row of a table of a source.
type sourceRow struct {
	above         []string // the lines above the table
	header, cells []string // header is nil where a table has none
}

func sourceRows(text string) (rows []sourceRow) {
	section := ""
	var above, header []string
	const none, caption, table = 0, 1, 2 // kind of the previous line
	before := none
	for line := range strings.Lines(text) {
		cells := cellsOf(line)
		switch {
		case strings.TrimSpace(line) == "":
			before = none
		case strings.HasPrefix(line, "#"):
			section, above, before = strings.TrimLeft(cells[0], "# "), nil, none
		case strings.HasPrefix(line, "|") && strings.Trim(line, "|-: \n") == "":
		case len(cells) == 1 && !strings.HasPrefix(line, "|"):
			if before != caption {
				above = nil
			}
			above, before = append(above, cells[0]), caption
		default:
			first := before != table || header != nil && cells[0] == header[0]
			if first && before == none {
				above = nil
			}
			before = table
			if first && (strings.HasPrefix(line, "|") || !value.MatchString(cells[len(cells)-1])) {
				header = cells
				continue
			}
			if first {
				header = nil
			}
			rows = append(rows, sourceRow{append([]string{section}, above...), header, cells})
		}
	}
	return rows
}

func matches(phrase, cell string) bool {
	if begin, more := strings.CutSuffix(phrase, "…"); more {
		return strings.HasPrefix(cell, begin)
	}
	return phrase == cell
}

// A sourceCell is a picked cell, by how it was picked.
type sourceCell struct {
	name, text string
	percent    bool       // the cell or its heading has a %
	values     [][]string // of value
}

// cells returns the cells that k picks, column by column.
func (k pick) cells(rows []sourceRow) (all []sourceCell, err error) {
	wanted := [][]string{nil}
	for _, phrase := range k.rows {
		var longer [][]string
		for _, w := range wanted {
			for _, one := range strings.Split(phrase, "|") {
				longer = append(longer, append(slices.Clone(w), strings.Split(one, " + ")...))
			}
		}
		wanted = longer
	}
	for _, column := range k.columns {
		for _, w := range wanted {
			var found []sourceCell
			for _, r := range rows {
				if c, ok := r.pick(w, column); ok {
					found = append(found, c)
				}
			}
			if len(found) != 1 {
				return nil, fmt.Errorf("%d rows have %q and a number in the column %q", len(found), w, column)
			}
			all = append(all, found[0])
		}
	}
	return all, nil
}

func (r sourceRow) pick(phrases []string, column string) (c sourceCell, ok bool) {
	column, nth, _ := strings.Cut(column, "#")
	at := slices.IndexFunc(r.header, func(h string) bool { return matches(column, h) })
	if n, err := strconv.Atoi(column); err == nil {
		at = n - 1
	}
	if at < 0 || at >= len(r.cells) {
		return c, false
	}
	for _, phrase := range phrases {
		has := func(s string) bool { return matches(phrase, s) }
		if !slices.ContainsFunc(r.cells, has) && !slices.ContainsFunc(r.above, has) {
			return c, false
		}
	}
	c = sourceCell{name: fmt.Sprintf("%q %q", phrases, column), text: r.cells[at], percent: strings.Contains(r.cells[at], "%")}
	if at < len(r.header) && strings.Contains(r.header[at], "%") {
		c.percent = true
	}
	c.values = value.FindAllStringSubmatch(c.text, -1)
	if n, err := strconv.Atoi(nth); err == nil {
		c.values = c.values[min(n-1, len(c.values)):]
	}
	return c, len(c.values) > 0
}

func parse(s string) (float64, error) {
	return strconv.ParseFloat(strings.Replace(s, "−", "-", 1), 64)
}

// number returns the number of a cell that belongs to a figure, and the number after it.
func (c sourceCell) number(k pick, percent bool) (x, spread float64) {
	at := 0
	if percent {
		at = max(0, slices.IndexFunc(c.values, func(v []string) bool { return v[3] != "" }))
	}
	x, _ = parse(c.values[at][1])
	second := c.values[at][2]
	if second == "" && at+1 < len(c.values) {
		second = c.values[at+1][1]
	}
	spread, err := parse(second)
	if err != nil {
		spread = math.NaN()
	}
	if percent && !c.percent {
		x, spread = 100*x, 100*spread
	}
	if k.minus {
		x = -x
	}
	if k.exp {
		x = math.Exp(x)
	}
	return x, spread
}

// rounds reports whether x rounds to the number on the page.
func rounds(x float64, page string) bool {
	_, decimals, _ := strings.Cut(page, ".")
	y, err := parse(page)
	return err == nil && math.Abs(x-y) <= 0.5001*math.Pow10(-len(decimals))
}

// check returns a message about the first figure of a part that is not in its cell. have
// returns the text of the sources of a pick.
func (p provenance) check(have func(first, last int) string) error {
	figures := p.figures()
	for _, k := range p.picks {
		text := have(k.first, k.last)
		cells, err := k.cells(sourceRows(text))
		if err != nil {
			return err
		}
		for i := 0; i < len(cells); i++ {
			if len(figures) == 0 {
				return fmt.Errorf("no figure is left for %s", k.text)
			}
			f, c := figures[0], cells[i]
			figures = figures[1:]
			low, spread := c.number(k, f.percent)
			high, which := low, c.name
			if f.to != "" {
				for _, c := range cells {
					x, _ := c.number(k, f.percent)
					low, high = min(low, x), max(high, x)
				}
				i, which = len(cells), k.text
			}
			if rounds(low, f.value) && (f.to == "" || rounds(high, f.to)) && (f.spread == "" || rounds(spread, f.spread)) {
				continue
			}
			if f.to != "" {
				return fmt.Errorf("%s on the page; %s has %.4g to %.4g", f.text, which, low, high)
			}
			return fmt.Errorf("%s on the page; %s has %q", f.text, which, c.text)
		}
	}
	if len(figures) > 0 {
		return fmt.Errorf("no cell is named for %s", figures[0].text)
	}
	return nil
}

// TestFigureSources checks that each figure of the pages is equal to its cell in a file written by a
// program. So it lists the pages to change after a new measurement.
func TestFigureSources(t *testing.T) {
	bin := ""
	if *figures {
		bin = programs(t)
	}
	for _, page := range pages {
		dir := t.TempDir() // later commands read what earlier ones wrote
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range provenances(t, page, string(text)) {
			if slices.ContainsFunc(p.sources, isCommand) && (!*figures || p.timed) {
				continue
			}
			texts := make([]string, len(p.sources))
			for i, source := range p.sources {
				var out []byte
				if args := strings.Fields(source); !isCommand(source) {
					out, err = os.ReadFile(filepath.Join("../..", source))
				} else {
					cmd := exec.Command(filepath.Join(bin, args[0]), args[1:]...)
					if cmd.Dir = dir; args[0] == "go" {
						cmd = exec.Command("go", args[1:]...)
						cmd.Dir = "../.."
					}
					out, err = cmd.CombinedOutput()
				}
				if err != nil {
					t.Errorf("%s: %q: %v: %s", page, source, err, out)
				}
				texts[i] = string(out)
			}
			if err := p.check(func(first, last int) string { return strings.Join(texts[first:last], "\n\n") }); err != nil {
				t.Errorf("%s: %v:\n%.300s", page, err, p.text)
			}
		}
	}
}

// TestProvenance checks the comparison: a number from another row or column of the source is wrong,
// like a number that is not in the source.
func TestProvenance(t *testing.T) {
	const source = `# Figure 1: errors

| data | sampler | error | share | nats |
| --- | --- | --- | --- | --- |
| bars, far | ins | 2.851 ± 0.134 % | 0.0283 | -69.98 |
| bars, far | ` + "`pcd`" + ` | 4.36 ± 1.07 % | 0.0436 | -8.25 |
| bars, far | pt | – | – | -0.17 |

mnist, 500 units
steps  method  hottest
1      sw      4.88×, 5.1×
steps  method  swaps, hottest
12000  ins     1.124 ± 0.007
12000  pcd     –
log Z by AIS   421.19 ± 0.39, doubtful (6 of 12: 50.0 %)
`
	for _, c := range []struct{ picks, text, fault string }{
		{`row "bars, far" "ins" column "error"`, "It is 2.85 ± 0.13 % after 23 seconds, `-rate 0.3`.", ""},
		{`row "ins" column "error"; row "pcd" column "error"`, "It is 2.85 ± 0.13 %, not 4.4 %.", ""},
		{`row "ins" column "error"; row "pcd" column "error"`, "It is 4.36 ± 1.07 %, not 2.9 %.", "4.36 ± 1.07 % on the page"}, // right numbers, wrong rows
		{`row "ins" column "error"`, "It is 4.36 ± 1.07 %.", "2.851 ± 0.134 %"},
		{`row "ins" column "nats"`, "It is 2.85 ± 0.13 %.", "-69.98"}, // the right row, another column
		{`row "ins" column "error"`, "It is 2.85 ± 1.07 %.", "2.851 ± 0.134 %"},
		{`row "ins" column "error"`, "It is 285 %.", "285 % on the page"},
		{`row "ins" column "share"`, "It is 2.83 %.", ""}, // a fraction
		{`row "ins|pcd" column "nats"`, "−70.0 and −8.4 nats", "−8.4 nats on the page"},
		{`row "ins|pcd" column "nats"`, "−70.0 and −8.25 nats", ""},
		{`minus row "ins|pcd|pt" column "nats"`, "0.2 to 70.0 nats", ""},
		{`minus row "ins|pcd|pt" column "nats"`, "0.3 to 70.0 nats", "0.17 to 69.98"},
		{`exp row "pt" column "nats"`, "a factor of 0.84", ""},
		{`row "ins" column "nats"`, "70.0 nats", `70.0 nats on the page; ["ins"] "nats" has "-69.98"`}, // another sign
		{`row "bars, far" column "nats"`, "−70.0 nats", "3 rows have"},
		{`row "bars, far" column "errors"`, "2.85 %", "0 rows have"},
		{`row "bars, near" column "error"`, "2.85 %", "0 rows have"},
		{`row "Figure 1:…" "p…" column "error"`, "4.36 %", ""}, // pt has no number there
		{`row "Figure 2:…" "p…" column "error"`, "4.36 %", "0 rows have"},
		{`row "mnist…" "12000" "ins" column "hottest"; row "log Z by AIS" column "2"; row "log Z by AIS" column "2"`, "1.12 (0.01), 421.2 ± 0.4 and 50 %", "0 rows have"},
		{`row "mnist…" "12000 + ins" column "swaps, hottest"; row "log Z by AIS" column "2"; row "log Z by AIS" column "2"`, "1.12 (0.01), 421.2 ± 0.4 and 50 %", ""},
		{`row "sw" column "hottest#2"; row "log Z by AIS" column "2#2"`, "5.1 times, 6 of 12", ""},
		{`row "sw" column "hottest#2"; row "log Z by AIS" column "2#2"`, "5.1 times, 6 of 13", "6 of 13 on the page"},
		{`row "ins" column "error"; not 3.39`, "2.85 %, as 3.39 %", ""},
		{`row "ins" column "error"`, "2.85 %, as 3.39 %", "no cell is named for 3.39 %"},
		{`row "ins" column "error"; row "pcd" column "error"`, "2.85 %", "no figure is left"},
		{`row "ins|pcd" column "error" "nats"`, "| | error | nats |\n| --- | --- | --- |\n| 7 | 2.9 % | −70 |\n| b | 4.4 % | −8 |", ""},
		{`row "ins|pcd" column "error" "nats"`, "| | error | nats |\n| --- | --- | --- |\n| 7 | 2.9 % | −8 |\n| b | 4.4 % | −70 |", "−8 on the page"},
	} {
		p, err := parseProvenance("a.csv; " + c.picks)
		if err != nil {
			t.Fatal(err)
		}
		p.text = c.text
		got := ""
		if err := p.check(func(first, last int) string { return source }); err != nil {
			got = err.Error()
		}
		if (got == "") != (c.fault == "") || !strings.Contains(got, c.fault) {
			t.Errorf("%s: %s: got fault %q, want %q", c.picks, c.text, got, c.fault)
		}
	}
	for _, bad := range []string{`row "a" column "b"; a.csv`, `a.csv; row "a"`, `not 3`} {
		if _, err := parseProvenance(bad); err == nil {
			t.Errorf("%s: got no error", bad)
		}
	}

	const text, from = "It is 2.85 ± 0.13 %.\n", "<!-- figures from: a.csv;\n  row \"a;b\" column \"c\"; not 3.39 -->\n"
	silent := new(testing.T)
	if provenances(silent, "page", "Words.\n\n"+text); !silent.Failed() {
		t.Error("a figure without a source passes")
	}
	all := provenances(t, "page", "Words.\n\n"+from+text+"\nMore 7.5 words.\n\n```\n−3 %\n```\n\n"+from+"\n| 1.5 ± 2.5 |\n")
	if len(all) != 2 || len(all[0].picks) != 1 || all[0].picks[0].rows[0] != "a;b" || all[1].text != "| 1.5 ± 2.5 |\n" {
		t.Fatalf("got %+v", all)
	}
}
