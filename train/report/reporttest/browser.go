// Package reporttest opens reports in a browser, for tests.
package reporttest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// browserProbe hovers over each chart, clicks on its first name, and writes into the page how many charts
// and images responded.
const browserProbe = `<script>
let hovered = 0, hidden = 0;
for (const d of document.querySelectorAll("details")) d.open = true;
for (const figure of document.querySelectorAll("figure.chart")) {
  const box = figure.querySelector("svg").getBoundingClientRect();
  figure.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", {clientX: box.right - 20, clientY: box.top + 20}));
  hovered += figure.querySelector("output").textContent === "" ? 0 : 1;
  figure.querySelector("button").click();
  hidden += figure.querySelectorAll("g.curve.hidden").length;
}
Object.assign(document.body.dataset, {hovered, hidden, images: document.images.length,
  drawn: [...document.images].filter(i => i.complete && i.naturalWidth > 0 && i.alt !== "").length});
</script></body>`

// Check opens a report in headless Chromium and fails the test unless all of it works: the script runs
// without an error, every chart responds to the pointer and a click, every image is drawn and has an
// alternative text. The page's policy makes a request to the network an error. Check returns the number of
// charts. It skips the test if there is no Chromium.
func Check(t *testing.T, path string) (charts int) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dom, console := Browse(t, strings.Replace(string(text), "</body>", browserProbe, 1))
	body := regexp.MustCompile(`<body[^>]*>`).FindString(dom)
	charts = strings.Count(string(text), `<figure class="chart"`)
	images := strings.Count(string(text), "<img ")
	for name, want := range map[string]int{"ready": charts, "hovered": charts, "hidden": charts, "images": images, "drawn": images} {
		if !strings.Contains(body, `data-`+name+`="`+strconv.Itoa(want)+`"`) {
			t.Errorf("%s: %s is not %d in the browser: %s", path, name, want, body)
		}
	}
	if console != "" {
		t.Errorf("%s: the console has errors: %s", path, console)
	}
	return charts
}

// Browse opens a page in headless Chromium. It returns the document after the scripts have run, and the
// lines of the console.
func Browse(t *testing.T, page string) (dom, console string) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not on this machine (Debian: apt-get install chromium)")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "report.html")
	if err := os.WriteFile(path, []byte(page), 0o666); err != nil {
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
