package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"gorbm/data"
)

// WriteReadings writes a table of what the columns of a text file were read as. Adjacent columns that are
// read alike share a line, and a table that is longer than a screen is cut off. Without readings it writes
// nothing.
func WriteReadings(w io.Writer, readings []data.Reading) {
	const many, most = 20, 40 // lines
	lines := joined(readings, func(a, b data.Reading) bool { return a.As == b.As && a.Why == b.Why && a.Missing+b.Missing == 0 })
	if len(lines) > many {
		lines = joined(readings, func(a, b data.Reading) bool { return a.As == b.As })
	}
	if len(lines) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "column\tread as\twhy\tmissing\tby other flags")
	for i, l := range lines {
		if i == most {
			fmt.Fprintf(t, "… %s\n", Count(len(lines)-most, "more line"))
			break
		}
		name, missing := l.Column, ""
		if l.n > 1 {
			name = fmt.Sprintf("%s … %s (%d)", l.Column, l.last, l.n)
		}
		if l.Missing > 0 {
			missing = strconv.Itoa(l.Missing)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", name, l.As, l.Why, missing, l.Else)
	}
	t.Flush()
}

// A readingLine describes adjacent columns.
type readingLine struct {
	data.Reading // of the first; Missing is the sum
	last         string
	n            int
}

// joined returns a line for each run of adjacent columns that are alike.
func joined(readings []data.Reading, alike func(a, b data.Reading) bool) (lines []readingLine) {
	for _, r := range readings {
		n := len(lines)
		if n == 0 || !alike(lines[n-1].Reading, r) {
			lines = append(lines, readingLine{r, r.Column, 1})
			continue
		}
		l := &lines[n-1]
		l.last = r.Column
		l.n++
		l.Missing += r.Missing
		if !strings.HasSuffix(l.Why, ", …") && l.Why != r.Why {
			l.Why += ", …"
		}
	}
	return lines
}
