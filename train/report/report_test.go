package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"image"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"gorbm/rbm"
	"gorbm/train/plots"
	"gorbm/train/report/reporttest"
)

// sample is a report with all kinds of content, including texts that look like HTML.
func sample(t *testing.T) Report {
	t.Helper()
	picture, err := NewPicture("filters", "a grey square", image.NewGray(image.Rect(0, 0, 4, 4)))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	return Report{
		Title: "runs/<b>&", Lead: "1 < 2", Words: []string{"It went </script> well."}, Warnings: []string{"not \"mixed\""},
		Verdict: "It is <good>.", Figures: []string{"error 2 %"}, Commands: []Command{{"continues", "rbmtrain -resume 'a b'"}},
		Section: Section{Charts: []plots.Chart{
			{Title: "log-likelihood", X: "step", Y: "nats", Lines: []plots.Line{
				{Name: "test", X: []float64{0, 10, 20, 30}, Y: []float64{-500, -80, nan, -78}, Err: []float64{0, 1, nan, 2}},
				{Name: "train", X: []float64{0, 10, 20, 30}, Y: []float64{-500, -79, -78, -77}},
			}},
			{Title: "singular values", X: "step", Y: "σ", LogX: true, Lines: []plots.Line{{Name: "first", X: []float64{0, 1, 100}, Y: []float64{3, 2, 1}}}},
			{Title: "nothing", Lines: []plots.Line{{Name: "none", X: []float64{0}, Y: []float64{nan}}}},
			{Title: "flat", Y: "%", Lines: []plots.Line{{Name: "level", X: []float64{0, 1}, Y: []float64{5, 5}}}},
		},
			Pictures: []Picture{picture}},
		Folded: []Section{
			{Name: "More", Charts: []plots.Chart{{Title: "one", Good: "More is better.", Lines: []plots.Line{{Name: "point", X: []float64{5}, Y: []float64{7}}}}}},
			{Name: "Nothing"},
			{Name: "Settings", Tables: []Table{{Title: "settings", Head: []string{"flag", "value"}, Rows: [][]string{{"-rate", "0.1"}, {"-data", "a<b.csv"}}}},
				Bars:     []Bars{{Title: "columns", Series: []string{"rows", "samples"}, Panels: []Panel{{"a<b", []Bar{{"yes", []float64{0.25, 0.5}, "25 / 50 %"}}}}}},
				Listings: []Listing{{Title: "letters", Text: "AC<D"}}},
		},
	}
}

func write(t *testing.T, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestPage checks what is on the page, that texts are escaped, and that the page requests nothing from
// outside.
func TestPage(t *testing.T) {
	text := write(t, sample(t))
	for _, want := range []string{"runs/&lt;b&gt;&amp;", "1 &lt; 2", "It went &lt;/script&gt; well.", "not &#34;mixed&#34;", `alt="a grey square"`, "a&lt;b.csv", "data:image/png;base64,",
		`<p class="verdict">It is &lt;good&gt;.</p>`, `<p class="figure">error 2 %</p>`, "rbmtrain -resume &#39;a b&#39;", "<summary>More</summary>", `<p class="good">More is better.</p>`,
		"Not drawn, as it is the same throughout: flat 5 %.", `<span class="fill c1" style="width:50.0%">`, "AC&lt;D"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if n := strings.Count(text, `<figure class="chart"`); n != 3 {
		t.Errorf("%d charts, want 3: those without a value, or of a single one, are left out", n)
	}
	if strings.Contains(text, "Nothing") {
		t.Error("a section without anything is shown")
	}
	if m := regexp.MustCompile(`(?i)(src|href)="[^d#]|https?://|@import|url\((?:[^#])`).FindString(text); m != "" {
		t.Errorf("the page asks for something outside: %q, want nothing", m)
	}
	if strings.Contains(text, "refresh") {
		t.Error("a finished run loads itself again")
	}
	r := sample(t)
	r.Running = true
	if !strings.Contains(write(t, r), `http-equiv="refresh"`) {
		t.Error("a run under way does not load itself again")
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("the SVG is malformed: %v: %s", err, svg)
			}
		}
	}
	data := regexp.MustCompile(`(?s)<script type="application/json">(.*?)</script>`).FindStringSubmatch(text)
	var lines []struct {
		Name string
		Y    []float64
	}
	if err := json.Unmarshal([]byte(data[1]), &lines); err != nil || len(lines) != 2 || len(lines[0].Y) != 3 || lines[0].Y[2] != -78 {
		t.Errorf("the script reads %s: %v", data[1], err)
	}
}

// A picture of very many bytes is shown smaller, and the page says so. A small one is unchanged.
func TestLargePicture(t *testing.T) {
	noise := image.NewGray(image.Rect(0, 0, 900, 700))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rbm.NewKey(1).Child(uint64(i)).Uniform(0) * 256)
	}
	large, err := NewPicture("large", "noise", noise)
	if err != nil {
		t.Fatal(err)
	}
	if got := large.fitted(); len(large.PNG) < 2*mostBytes || len(got.PNG) > mostBytes || !strings.Contains(got.Note, "shown at 1/") {
		t.Errorf("%d bytes become %d: %s", len(large.PNG), len(got.PNG), got.Note)
	}
	small := sample(t).Pictures[0]
	if got := small.fitted(); !bytes.Equal(got.PNG, small.PNG) || got.Note != small.Note {
		t.Error("a small picture changes")
	}
}

// TestDrawing checks the geometry: a line skips missing values, bands are ±2 standard errors, dots are
// drawn as dots, and a logarithmic axis is logarithmic.
func TestDrawing(t *testing.T) {
	d := newDrawing(sample(t).Charts[0])
	if n := strings.Count(d.Curves[0].Path, "M"); n != 1 || strings.Count(d.Curves[0].Path, "L") != 2 {
		t.Errorf("a line of three points and a gap has %d parts: %s", n, d.Curves[0].Path)
	}
	if n := strings.Count(d.Curves[0].Band, "L") + 1; n != 6 {
		t.Errorf("the band of three points has %d corners: %s, want 6", n, d.Curves[0].Band)
	}
	if d.Curves[1].Band != "" {
		t.Errorf("a line without errors has a band: got %q, want nothing", d.Curves[1].Band)
	}
	apart := newDrawing(plots.Chart{LogY: true, Low: 1, High: 100, Lines: []plots.Line{{Apart: true, X: []float64{1, 2, 3}, Y: []float64{1, 10, -1}}}})
	k := apart.Curves[0]
	if k.Path != "" || len(k.Dots) != 2 || k.Dots[0].Y != float64(apart.Bottom) || math.Abs(k.Dots[1].Y-float64(apart.Bottom+apart.Top)/2) > 1e-9 {
		t.Errorf("dots apart, the second in the middle of two powers of ten, are %v with the line %q", k.Dots, k.Path)
	}
}

// TestBrowser opens the page in Chromium: its script runs without an error. The page's policy makes a
// request to the network an error too.
func TestBrowser(t *testing.T) {
	// The test's script hovers, clicks, and reports the results.
	const probe = `<script>
const figure = document.querySelector("figure.chart"), svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.right - 10, clientY: box.top + 20}));
document.body.dataset.hovered = figure.querySelector("output").textContent;
figure.querySelector("button").click();
document.body.dataset.hiddenCurves = figure.querySelectorAll("g.curve.hidden").length;
document.body.dataset.images = [...document.images].filter(i => i.complete && i.naturalWidth === 4).length;
</script></body>`
	dom, log := reporttest.Browse(t, strings.Replace(write(t, sample(t)), "</body>", probe, 1))
	for _, want := range []string{`data-ready="3"`, `data-hovered="-78 ± 2 at 30"`, `data-hidden-curves="1"`, `data-images="1"`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the browser's page lacks %s: %.300s", want, regexp.MustCompile(`<body[^>]*>`).FindString(dom))
		}
	}
	if log != "" {
		t.Errorf("the console has errors: %s, want nothing", log)
	}
	if _, log := reporttest.Browse(t, strings.Replace(write(t, sample(t)), "</main>", `<img src="http://example.com/x.png"></main>`, 1)); log == "" {
		t.Error("the console says nothing of a request that leaves the file")
	}
}

// On a narrow screen a table of many columns has a line for each cell, which names its column.
func TestWideTables(t *testing.T) {
	head := strings.Split("abcdef", "")
	for columns, want := range map[int]bool{wideTable - 1: false, wideTable: true} {
		text := write(t, Report{Title: "run", Section: Section{Tables: []Table{TableOf("cells", [][]string{head[:columns], head[:columns]})}}})
		if strings.Contains(text, `<table class="wide">`) != want || strings.Contains(text, `<th scope="row" data-head="a">a</th><td class="short" data-head="b">b</td>`) != want {
			t.Errorf("%d columns: %s", columns, text[strings.Index(text, "<table"):])
		}
	}
}

// The first tables stand above the commands, and short cells, such as numbers, are not broken into lines.
func TestTables(t *testing.T) {
	hash := strings.Repeat("0123456789abcdef", 4)
	text := write(t, Report{Title: "run", Commands: []Command{{"continues", "rbmtrain -resume run"}},
		First:  []Table{{Title: "Confusion matrix", Head: []string{"", "cat", "dog"}, Rows: [][]string{{"cat", "952", "0"}, {"dog", "7", "90"}}, Matrix: true}},
		Folded: []Section{{Name: "Settings", Tables: []Table{{Title: "What was run", Head: []string{"what", "value", "hash"}, Rows: [][]string{{"rate", "0.1", hash}}}}}}})
	if matrix, commands := strings.Index(text, "Confusion matrix"), strings.Index(text, "What to do next"); matrix < 0 || matrix > commands {
		t.Errorf("the first table is at %d, the commands are at %d", matrix, commands)
	}
	for _, want := range []string{`<td class="short">0.1</td>`, "<td>" + hash + "</td>", `<td class="hit">952</td>`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// A page has no control characters and none that change the direction of a text, as in the names of files.
func TestHostileNames(t *testing.T) {
	r := sample(t)
	r.Lead, r.Warnings = "a\x1b[2J\x00b\u202ecsv\u2066", []string{"größer\tund\n日本\x07"}
	text := write(t, r)
	for _, c := range text {
		if c != '\n' && c != '\t' && unicode.In(c, unicode.Cc, unicode.Cf) {
			t.Errorf("the page has %q", c)
		}
	}
	for _, want := range []string{"a\ufffd[2J\ufffdb\ufffdcsv\ufffd", "größer\tund\n日本"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
