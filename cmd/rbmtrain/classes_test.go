package main

import (
	"fmt"
	"image/png"
	"os"
	"strings"
	"testing"

	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
)

// Of many classes some are drawn, and the run says so.
func TestManyClasses(t *testing.T) {
	clitest.Isolate(t)
	var text strings.Builder
	for i := range 400 {
		fmt.Fprintf(&text, "%d,%d,%d,c%d\n", i&1, i>>1&1, i>>2&1, i%200)
	}
	clitest.Write(t, "many.csv", text.String())
	out := rbmtrain.OK(t, "-data", "many.csv", "-shape", "1x3", "-label-column", "last", "-hidden", "2", "-steps", "3", "-out", "run")
	if !strings.Contains(out, "samples: 40 of 200 classes are drawn; ") && !strings.Contains(out, "\n40 of 200 classes are drawn; of 400 samples") {
		t.Errorf("it does not say how many classes it draws: %s", out)
	}
	f, err := os.Open("run/samples.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := png.DecodeConfig(f)
	if err != nil || size.Height > 4000 {
		t.Errorf("samples.png has the size %d × %d, %v", size.Width, size.Height, err)
	}
	if text := clitest.Read(t, "run/report.html"); !strings.Contains(text, "40 of 200 classes are drawn; ") || len(text) > 1<<20 {
		t.Errorf("report.html has %d bytes, or does not say how many classes it draws", len(text))
	}
	for _, c := range []struct{ classes, drawn, last int }{{0, 0, 0}, {1, 1, 0}, {10, 10, 9}, {40, 40, 39}, {41, 40, 39}, {4096, 40, 3993}} {
		if got := drawnClasses(rbm.New(3+c.classes, 2, c.classes, rbm.Softmax)); len(got) != c.drawn || c.drawn > 0 && (got[0] != 0 || got[c.drawn-1] != c.last) {
			t.Errorf("of %d classes %v are drawn", c.classes, got)
		}
	}
}

// Where almost all rows are of one class, the error of always answering it is small: the closing
// lines have the balanced error, and a warning names the class that is never predicted.
func TestRareClassIsNamed(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "rare.csv", "p,q,r,label\n"+strings.Repeat("0,1,0,common\n1,0,1,common\n0,0,1,common\n", 20)+"0,1,0,rare\n")
	r := rbmtrain.Call("-data", "rare.csv", "-hidden", "4", "-steps", "500", "-out", "run")
	if !strings.Contains(r.Stdout, "\nbalanced error: 50 % of rare.csv") || !strings.Contains(r.Stderr, "never predicted: class rare of rare.csv") {
		t.Errorf("%s%s", r.Stdout, r.Stderr)
	}
	clitest.Write(t, "even.csv", "p,q,r,label\n"+strings.Repeat("0,1,0,common\n1,0,1,rare\n", 20))
	r = rbmtrain.Call("-data", "even.csv", "-hidden", "4", "-steps", "500", "-out", "even")
	if strings.Contains(r.Stdout, "balanced error") || strings.Contains(r.Stderr, "never predicted") {
		t.Errorf("classes of equal size: %s%s", r.Stdout, r.Stderr)
	}
}
