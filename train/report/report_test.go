package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"image"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sample is a report with everything in it, texts that are not to be taken for HTML
// included.
func sample(t *testing.T) Report {
	t.Helper()
	picture, err := NewPicture("filters", "a grey square", image.NewGray(image.Rect(0, 0, 4, 4)))
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	return Report{
		Title: "runs/<b>&", Lead: "1 < 2", Words: []string{"It went </script> well."}, Warnings: []string{"not \"mixed\""},
		Charts: []Chart{
			{Title: "log-likelihood", X: "step", Y: "nats", Lines: []Line{
				{Name: "test", X: []float64{0, 10, 20, 30}, Y: []float64{-500, -80, nan, -78}, Err: []float64{0, 1, nan, 2}},
				{Name: "train", X: []float64{0, 10, 20, 30}, Y: []float64{-500, -79, -78, -77}},
			}},
			{Title: "singular values", X: "step", Y: "σ", Log: true, Lines: []Line{{Name: "first", X: []float64{0, 1, 100}, Y: []float64{3, 2, 1}}}},
			{Title: "nothing", Lines: []Line{{Name: "none", X: []float64{0}, Y: []float64{nan}}}},
			{Title: "one", Lines: []Line{{Name: "point", X: []float64{5}, Y: []float64{7}}}},
		},
		Pictures: []Picture{picture},
		Tables:   []Table{{"settings", []string{"flag", "value"}, [][]string{{"-rate", "0.1"}, {"-data", "a<b.csv"}}}},
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

// TestPage checks what is on the page, that foreign texts stay texts, and that
// nothing is asked from outside.
func TestPage(t *testing.T) {
	text := write(t, sample(t))
	for _, want := range []string{"runs/&lt;b&gt;&amp;", "1 &lt; 2", "It went &lt;/script&gt; well.", "not &#34;mixed&#34;", `alt="a grey square"`, "a&lt;b.csv", "data:image/png;base64,"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if n := strings.Count(text, `<figure class="chart"`); n != 3 {
		t.Errorf("%d charts, want 3: the one without a value is left out", n)
	}
	if m := regexp.MustCompile(`(?i)(src|href)="[^d#]|https?://|@import|url\((?:[^#])`).FindString(text); m != "" {
		t.Errorf("the page asks for something outside: %q", m)
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
		Y    []*float64
	}
	if err := json.Unmarshal([]byte(data[1]), &lines); err != nil || len(lines) != 2 || lines[0].Y[2] != nil || *lines[0].Y[3] != -78 {
		t.Errorf("the script reads %s: %v", data[1], err)
	}
}

// TestDrawing checks the geometry: the first values do not crush the rest, a line
// goes past what is missing, bands are ±2 standard errors, and ticks differ.
func TestDrawing(t *testing.T) {
	c := sample(t).Charts[0]
	x, y := c.extent()
	if x.low != 0 || x.high != 30 || y.low > -82 || y.low < -83 || y.high < -74 || y.high > -73 {
		t.Errorf("the axes reach over %v and %v", x, y)
	}
	d := newDrawing(c)
	if n := strings.Count(d.Curves[0].Path, "M"); n != 1 || strings.Count(d.Curves[0].Path, "L") != 2 {
		t.Errorf("a line of three points and a gap has %d parts: %s", n, d.Curves[0].Path)
	}
	if n := strings.Count(d.Curves[0].Band, "L") + 1; n != 6 {
		t.Errorf("the band of three points has %d corners: %s", n, d.Curves[0].Band)
	}
	if d.Curves[1].Band != "" {
		t.Error("a line without errors has a band")
	}
	if y := (Chart{Lines: []Line{{X: []float64{0, 1}, Y: []float64{1, 2}}}}); true {
		if _, i := y.extent(); i.low > 1 || i.high < 2 {
			t.Errorf("two points have the range %v", i)
		}
	}
	for _, i := range []interval{{3.84, 3.93}, {0, 48000}, {-500, -70}, {1e-9, 3e-9}, {0, 1}, {5, 5}, {-1e7, 1e7}, {0.01, 100}} {
		for _, log := range []bool{false, true} {
			if log && i.low <= 0 {
				continue
			}
			seen := map[string]bool{}
			all := ticks(i, log, func(v float64) float64 { return v })
			for _, tick := range all {
				if seen[tick.Text] {
					t.Errorf("%v: two ticks have the text %s", i, tick.Text)
				}
				seen[tick.Text] = true
			}
			if len(all) == 0 {
				t.Errorf("%v has no ticks", i)
			}
		}
	}
	long := Line{}
	for i := range 100_001 {
		long.X, long.Y = append(long.X, float64(i)), append(long.Y, float64(i))
	}
	seldom := Line{}
	for i := range 4001 {
		y := math.NaN()
		if i%60 == 0 {
			y = float64(i)
		}
		seldom.X, seldom.Y = append(seldom.X, float64(i)), append(seldom.Y, y)
	}
	if n := len(seldom.thinned().Y); n != 67 {
		t.Errorf("of 67 values that were measured now and then %d are left", n)
	}
	if short := long.thinned(); len(short.X) > mostPoints || short.X[len(short.X)-1] != 100_000 || len(short.Y) != len(short.X) {
		t.Errorf("a line of %d points is thinned to %d, the last at %v", len(long.X), len(short.X), short.X[len(short.X)-1])
	}
	for i := range long.Y { // measured at every 37th step: nothing to leave out but 4 in 5 of those
		if i%37 != 5 {
			long.Y[i] = math.NaN()
		}
	}
	if short := long.thinned(); len(short.X) != ((100_001+31)/37+1)/2 || math.IsNaN(slices.Min(short.Y)) {
		t.Errorf("a line of %d values is thinned to %d", (100_001+31)/37, len(short.Y))
	}
}

// TestBrowser opens the page in Chromium: its script runs without an error, and it
// may not ask for anything outside, which its policy turns into one.
func TestBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not on this machine (Debian: apt-get install chromium)")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	open := func(text string) (dom, log string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir="+filepath.Join(dir, "profile"),
			"--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000", "--dump-dom", "file://"+path)
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("chromium does not start here: %v", err)
		}
		return string(out), strings.Join(regexp.MustCompile(`.*CONSOLE.*`).FindAllString(stderr.String(), -1), "\n")
	}
	// The test's own script hovers, clicks, and says what came of it.
	const probe = `<script>
const figure = document.querySelector("figure.chart"), svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.right - 10, clientY: box.top + 20}));
document.body.dataset.hovered = figure.querySelector("output").textContent;
figure.querySelector("button").click();
document.body.dataset.hiddenCurves = figure.querySelectorAll("g.curve.hidden").length;
document.body.dataset.images = [...document.images].filter(i => i.complete && i.naturalWidth === 4).length;
</script></body>`
	dom, log := open(strings.Replace(write(t, sample(t)), "</body>", probe, 1))
	for _, want := range []string{`data-ready="3"`, `data-hovered="-78 ± 2 at 30"`, `data-hidden-curves="1"`, `data-images="1"`} {
		if !strings.Contains(dom, want) {
			t.Errorf("the browser's page lacks %s: %.300s", want, regexp.MustCompile(`<body[^>]*>`).FindString(dom))
		}
	}
	if log != "" {
		t.Errorf("the console has errors: %s", log)
	}
	if _, log := open(strings.Replace(write(t, sample(t)), "</main>", `<img src="http://example.com/x.png"></main>`, 1)); log == "" {
		t.Error("the console says nothing of a request that leaves the file")
	}
}
