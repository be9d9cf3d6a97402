// Package report writes a page about a run: one HTML file that needs no other file
// and no network. Curves show their values under the pointer, and a click on a name
// hides its curve.
package report

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"image"
	"image/png"
	"io"
	"math"
	"slices"
)

// A Report is what a page shows, in this order.
type Report struct {
	Title    string
	Lead     string // a line: what was run
	Running  bool   // the run goes on, so that the page loads itself again now and then
	Words    []string
	Warnings []string
	Charts   []Chart
	Pictures []Picture
	Tables   []Table
}

// A Chart draws lines over one axis.
type Chart struct {
	Title string
	X, Y  string // texts of the axes, with units
	Log   bool   // the X axis is logarithmic
	Lines []Line
}

// A Line is a curve. It goes straight past a Y that is NaN. Err, if it is not nil, is the standard error of
// each Y, drawn as a band of ±2.
type Line struct {
	Name      string
	X, Y, Err []float64
}

// A Picture is shown as it is. Alt says in words what can be seen, for those who
// cannot see it. Note, if it is not empty, stands below it.
type Picture struct {
	Title, Alt string
	PNG        []byte
	Note       string
}

// A Table has a head and rows of as many cells. Its first column names the rows.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// NewPicture returns a picture of an image.
func NewPicture(title, alt string, img image.Image) (Picture, error) {
	var b bytes.Buffer
	err := png.Encode(&b, img)
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
	"svg":  newDrawing,
	"len2": func(from, to int) int { return to - from },
	"plus": func(a, b int) int { return a + b },
	"half": func(from, to int) int { return (from + to) / 2 },
}).ParseFS(files, "page.html"))

// read returns an embedded file.
func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return string(text)
}

// Write writes the page. Charts without a finite value are left out.
func Write(w io.Writer, r Report) error {
	var charts []Chart
	for _, c := range r.Charts {
		c.Lines = slices.Clone(c.Lines)
		for i := range c.Lines {
			c.Lines[i] = c.Lines[i].thinned()
		}
		if x, _ := c.extent(); x.low <= x.high {
			charts = append(charts, c)
		}
	}
	r.Charts = charts
	return page.Execute(w, r)
}

// mostPoints is the number of points of a line that a page shows at most, some two
// or three for each pixel of a screen.
const mostPoints = 2000

// thinned returns a line with every so many points, the last one among them. Of a
// line of many points those without a finite Y are left out first, so that values
// measured now and then stay.
func (l Line) thinned() Line {
	if len(l.X) <= mostPoints {
		return l
	}
	var known []int
	for i, y := range l.Y {
		if !math.IsNaN(y) && !math.IsInf(y, 0) {
			known = append(known, i)
		}
	}
	if len(known) == 0 {
		return Line{Name: l.Name}
	}
	every := (len(known) + mostPoints - 1) / mostPoints
	out := Line{Name: l.Name}
	for k := (len(known) - 1) % every; k < len(known); k += every {
		i := known[k]
		out.X, out.Y = append(out.X, l.X[i]), append(out.Y, l.Y[i])
		if l.Err != nil {
			out.Err = append(out.Err, l.Err[i])
		}
	}
	return out
}

// JSON returns the lines for the page's script: numbers that are not finite are null.
func (c Chart) JSON() (template.JS, error) {
	type line struct {
		Name string     `json:"name"`
		X    []*float64 `json:"x"`
		Y    []*float64 `json:"y"`
		Err  []*float64 `json:"err,omitempty"`
	}
	finite := func(values []float64) (all []*float64) {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				all = append(all, nil)
			} else {
				all = append(all, &v)
			}
		}
		return all
	}
	var lines []line
	for _, l := range c.Lines {
		lines = append(lines, line{l.Name, finite(l.X), finite(l.Y), finite(l.Err)})
	}
	text, err := json.Marshal(lines) // which escapes <, > and &
	return template.JS(text), err
}
