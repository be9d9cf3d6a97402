// Package report writes a page about a run or a measurement: one HTML file that needs neither other files
// nor a network. In its charts the pointer shows values, and a click on the name of a curve hides it.
package report

import (
	"bytes"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/draw"

	"gorbm/train/plots"
)

// A Report is the content of a page, in this order: the results, a section that is open, then sections that
// are folded.
type Report struct {
	Title    string
	Lead     string   // a line that says what was run
	Running  bool     // the run is not finished, so the page refreshes itself
	Verdict  string   // a sentence that judges the run
	Figures  []string // the main results, a line each, in large letters
	Words    []string
	Warnings []string
	Commands []Command
	First    []Table // tables above the commands
	Section
	Folded []Section // sections that open by a click
}

// A Section shows its words, pictures, bars, listings, charts and tables, in this order.
type Section struct {
	Name     string
	Words    []string
	Charts   []plots.Chart
	Pictures []Picture
	Bars     []Bars
	Listings []Listing
	Tables   []Table
}

// A Command is a line for a shell, with a text on what it does.
type Command struct{ Does, Line string }

// A Picture is an image with a title. Alt describes it for those who cannot see it. Note, a sentence on
// what is good, is shown below the title.
type Picture struct {
	Title, Alt string
	PNG        []byte
	Note       string
	Width      int // in CSS pixels, at most; 0: that of the image
}

// Bars are panels of horizontal bars, a few next to each other. Series names the bars of one line. Without
// Series a line has one bar, whose colour shows whether its value is above zero.
type Bars struct {
	Title, Note string
	Series      []string
	Panels      []Panel
}

// A Panel is a group of bars with a title.
type Panel struct {
	Title string
	Bars  []Bar
}

// A Bar is a line with a bar for each of its values. The values 1 and −1 have the whole width.
type Bar struct {
	Label  string
	Values []float64
	Text   string // the values in numbers
}

// A Listing is text in a fixed-width font.
type Listing struct{ Title, Note, Text string }

// A Table has a head, and rows with as many cells as the head. The first column names the rows. Matrix
// makes the table narrow and marks its diagonal.
type Table struct {
	Title  string
	Head   []string
	Rows   [][]string
	Note   string
	Matrix bool
}

// wideTable is the smallest number of columns that are too wide for a screen of 400 pixels.
const wideTable = 6

// Wide reports whether a narrow screen shows each row of t as a block of lines.
func (t Table) Wide() bool { return !t.Matrix && len(t.Head) >= wideTable }

// TableOf returns a table of cells, whose first row is the head.
func TableOf(title string, cells [][]string) Table {
	return Table{Title: title, Head: cells[0], Rows: cells[1:]}
}

// NewPicture returns a picture of img as a PNG. The PNG is small if img has few colours.
func NewPicture(title, alt string, img image.Image) (Picture, error) {
	var b bytes.Buffer
	err := plots.Sheet(plots.Compact(img)).Write(&b, plots.PNG)
	return Picture{Title: title, Alt: alt, PNG: b.Bytes()}, err
}

//go:embed page.html page.css page.js
var files embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"css": func() template.CSS { return template.CSS(read("page.css")) },
	"js":  func() template.JS { return template.JS(read("page.js")) },
	"data": func(p Picture) template.URL {
		return template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(p.PNG))
	},
	"percent": func(v float64) template.CSS {
		return template.CSS(strconv.FormatFloat(100*min(math.Abs(v), 1), 'f', 1, 64) + "%")
	},
	"short": func(cell string) bool { return utf8.RuneCountInString(cell) <= shortCell },
	"below": func(v float64) bool { return v < 0 },
	"svg":   newDrawing,
	"part":  func(n numbered, s Section) part { return part{n, s} },
	"len2":  func(from, to int) int { return to - from },
	"plus":  func(a, b int) int { return a + b },
	"half":  func(from, to int) int { return (from + to) / 2 },
}).ParseFS(files, "page.html"))

// shortCell is the largest number of characters of a cell that is never broken into lines, such as a number
// with its error and unit.
const shortCell = 24

// read returns an embedded file.
func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the files are compiled in
	}
	return string(text)
}

// Write writes the page. It leaves out charts without points. A chart that has the same value everywhere is
// replaced by a sentence.
func Write(w io.Writer, r Report) error {
	r.Section = r.Section.shown()
	var folded []Section
	for _, s := range r.Folded {
		if s = s.shown(); !s.empty() {
			folded = append(folded, s)
		}
	}
	r.Folded = folded
	var text bytes.Buffer
	if err := page.Execute(&text, numbered{r, new(int)}); err != nil {
		return err
	}
	_, err := w.Write(bytes.Map(visible, text.Bytes()))
	return err
}

// visible replaces a character that a page must not have: control characters, and those that change the
// direction of the text after them.
func visible(r rune) rune {
	if r == '\n' || r == '\t' || !unicode.In(r, unicode.Cc, unicode.Cf) {
		return r
	}
	return utf8.RuneError
}

// A part is a section, with the report that numbers its charts.
type part struct {
	numbered
	S Section
}

// numbered is a report with a counter of charts.
type numbered struct {
	Report
	charts *int
}

// Next returns the number of the next chart.
func (n numbered) Next() int {
	*n.charts++
	return *n.charts
}

// mostBytes bounds the PNG file of a picture, so that pages with very large pictures stay small enough to
// send.
const mostBytes = 192 << 10

// fitted returns the picture, scaled down by a power of two if it takes more than mostBytes.
func (p Picture) fitted() Picture {
	times := 1
	for len(p.PNG) > mostBytes {
		img, err := png.Decode(bytes.NewReader(p.PNG))
		if err != nil {
			return p // the browser shows that it is damaged
		}
		size := img.Bounds().Size()
		half := image.NewRGBA(image.Rect(0, 0, max(1, size.X/2), max(1, size.Y/2)))
		draw.ApproxBiLinear.Scale(half, half.Bounds(), img, img.Bounds(), draw.Src, nil)
		var b bytes.Buffer
		if err := png.Encode(&b, plots.Compact(half)); err != nil || b.Len() >= len(p.PNG) {
			return p
		}
		p.PNG = b.Bytes()
		times *= 2
	}
	if times > 1 {
		p.Note = strings.TrimSpace(fmt.Sprintf("%s It is shown at 1/%d of its size.", p.Note, times))
	}
	return p
}

// shown returns the section without the charts that Write leaves out, and with fitted pictures.
func (s Section) shown() Section {
	s.Pictures = slices.Clone(s.Pictures)
	for i, p := range s.Pictures {
		s.Pictures[i] = p.fitted()
	}
	var charts []plots.Chart
	var same []string
	for _, c := range s.Charts {
		if c.Empty() {
			continue
		}
		if v, flat := c.Flat(); flat {
			same = append(same, strings.TrimSpace(fmt.Sprintf("%s %.4g %s", c.Title, v, c.Y)))
			continue
		}
		charts = append(charts, c.Thinned().Shown())
	}
	s.Charts = charts
	if same != nil {
		s.Words = append(slices.Clone(s.Words), "Not drawn, as it is the same throughout: "+strings.Join(same, ", ")+".")
	}
	return s
}

// empty reports whether a section has nothing to show.
func (s Section) empty() bool {
	return len(s.Words)+len(s.Charts)+len(s.Pictures)+len(s.Bars)+len(s.Listings)+len(s.Tables) == 0
}
