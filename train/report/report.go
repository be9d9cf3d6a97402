// Package report writes a page about a run or a measurement: one HTML file that needs no other file
// and no network. Curves show their values under the pointer, and a click on a name
// hides its curve.
package report

import (
	"bytes"
	"embed"
	"encoding/base64"
	"html/template"
	"image"
	"image/png"
	"io"

	"gorbm/train/plots"
)

// A Report is what a page shows, in this order.
type Report struct {
	Title    string
	Lead     string // a line: what was run
	Running  bool   // the run is not finished, so the page refreshes itself
	Words    []string
	Warnings []string
	Charts   []plots.Chart
	Pictures []Picture
	Tables   []Table
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

// TableOf returns the table of these cells, the head first.
func TableOf(title string, cells [][]string) Table {
	return Table{Title: title, Head: cells[0], Rows: cells[1:]}
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

// Write writes the page. Charts that have nothing to show are left out.
func Write(w io.Writer, r Report) error {
	var charts []plots.Chart
	for _, c := range r.Charts {
		if x, _ := c.Spans(); x.Low <= x.High {
			charts = append(charts, c.Thinned().Shown())
		}
	}
	r.Charts = charts
	return page.Execute(w, r)
}
