package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	_ "image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train/rundir"
)

// TestSignals interrupts a real process: it must print that, exit with 128 + the signal's
// number, and leave the model of the step that it reached. This model must be that of a
// run of as many steps.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("signals cannot be sent to a process there")
	}
	clitest.Isolate(t)
	said := regexp.MustCompile(`^rbmtrain: stopped after step (\d+) of 1000000000; resume by: rbmtrain -resume run\n$`)
	for _, c := range []struct {
		signal os.Signal
		status int
	}{{os.Interrupt, cli.Interrupted}, {syscall.SIGTERM, cli.Terminated}} {
		dir := t.TempDir()
		args := []string{"-preset", "ins-paper", "-data", clitest.Toy, "-hidden", "4", "-negphase", "cd", "-metrics", "none", "-out", "run"}
		cmd := exec.Command(os.Args[0], append(args, "-steps", "1000000000", "-eval-every", "50")...)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		cmd.Dir = dir
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		underWay(filepath.Join(dir, "run", rundir.MetricsFile), ended)
		if err := cmd.Process.Signal(c.signal); err != nil {
			t.Errorf("%v: %v", c.signal, err)
		}
		err := <-ended
		if cmd.ProcessState.ExitCode() != c.status {
			t.Errorf("%v: %v, want status %d; stderr: %s", c.signal, err, c.status, &stderr)
		}
		m := said.FindStringSubmatch(stderr.String())
		if m == nil {
			t.Fatalf("%v: stderr is %q", c.signal, &stderr)
		}
		if strings.Contains(stdout.String(), "steps/s") {
			t.Errorf("%v: an interrupted run reports like a whole one: %s", c.signal, &stdout)
		}
		for _, file := range []string{rundir.ConfigFile, rundir.MetricsFile, rundir.CheckpointFile} {
			if _, err := os.Stat(filepath.Join(dir, "run", file)); err != nil {
				t.Errorf("%v: %v", c.signal, err)
			}
		}
		rbmtrain.OK(t, append(args, "-quiet", "-force", "-steps", m[1])...)
		if clitest.Read(t, filepath.Join("run", rundir.ModelFile)) != clitest.Read(t, filepath.Join(dir, "run", rundir.ModelFile)) {
			t.Errorf("%v: the model is not that of step %s", c.signal, m[1])
		}
	}
}

// underWay waits until the file has three lines or the process has ended.
func underWay(file string, ended chan error) {
	for {
		select {
		case err := <-ended:
			ended <- err
			return
		case <-time.After(2 * time.Millisecond):
		}
		if b, err := os.ReadFile(file); err == nil && bytes.Count(b, []byte("\n")) >= 3 {
			return
		}
	}
}

// TestCancelled checks that no folder is made if the context has ended before the run.
func TestCancelled(t *testing.T) {
	clitest.Isolate(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := rbmtrain.CallContext(ctx, small()...)
	if r.Status != cli.Failed {
		t.Errorf("exits with %d", r.Status)
	}
	rbmtrain.OneLine(t, r.Stderr)
}

// TestDiverged checks the errors for parameters that are too large to compute with.
func TestDiverged(t *testing.T) {
	undrawn(t)
	for _, c := range []struct {
		name  string
		spoil func(m *rbm.RBM)
		want  []string
	}{
		{"too large", func(m *rbm.RBM) { m.HiddenBias[1] = 2e4 }, []string{"training step 60", "hidden_bias[1]", "20"}},
		{"NaN", func(m *rbm.RBM) { m.VisibleBias[3] = float32(math.NaN()) }, []string{"training step ", "NaN"}},
		{"infinite weight", func(m *rbm.RBM) {
			w := rbm.NewMatrix(m.Visible(), m.Hidden())
			w.Row(2)[3] = float32(math.Inf(1))
			m.SetWeights(w)
		}, []string{"training step "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clitest.Isolate(t)
			// No flags make such a model, so the test sets it.
			spoiled := func(ctx context.Context, args []string, stdout, stderr io.Writer) error {
				o := newOptions()
				if err := o.flags.Parse(args, stdout, stderr); err != nil {
					return err
				}
				p, trainer, err := o.prepare(ctx)
				if err != nil {
					return err
				}
				c.spoil(p.model)
				return p.run(ctx, trainer)
			}
			r := clitest.Command{Name: "rbmtrain", Run: spoiled}.Call(small("-negphase", "cd", "-metrics", "none", "-snapshots", "0", "-quiet", "-out", "run")...)
			if r.Status != cli.Failed {
				t.Errorf("exits with %d", r.Status)
			}
			rbmtrain.OneLine(t, r.Stderr, append(c.want, "diverged", "another -init", "run")...)
			if _, err := os.Stat(filepath.Join("run", rundir.ModelFile)); err == nil {
				t.Error("a model that diverged was saved")
			}
			if text := clitest.Read(t, filepath.Join("run", rundir.DivergedFile)); !strings.Contains(text, "diverged") {
				t.Errorf("the folder says %q", text)
			}
		})
	}
}

// picture decodes a PNG.
func picture(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, format, err := image.Decode(f)
	if err != nil || format != "png" {
		t.Fatalf("%s: %s, %v", path, format, err)
	}
	return img
}

// TestPictures checks the sizes of pictures, and that they are not empty.
func TestPictures(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		data             string
		filters, samples image.Point
	}{
		// Tiles of 2 × 4 values, each 14 × 14 pixels, with gaps of 2: 5 filters
		// in 3 columns, 10 samples for each of 4 classes, and 30 pixels for the
		// classes' names of two digits; 28 below them for a line of text.
		{clitest.Toy, image.Pt(3*58+2, 2*30+2), image.Pt(30+10*58+2, 4*30+2+28)},
		{clitest.Toy + ":plain", image.Pt(3*58+2, 2*30+2), image.Pt(10*58+2, 10*30+2+28)},
	} {
		rbmtrain.OK(t, "-data", c.data, "-hidden", "5", "-steps", "40", "-quiet", "-out", "run", "-force")
		for file, want := range map[string]image.Point{rundir.FiltersFile: c.filters, rundir.SamplesFile: c.samples} {
			img := picture(t, filepath.Join("run", file))
			if img.Bounds().Size() != want {
				t.Errorf("%s: %s is %v, want %v", c.data, file, img.Bounds().Size(), want)
			}
			seen := map[color.Color]bool{}
			for y := range want.Y {
				for x := range want.X {
					seen[img.At(x, y)] = true
				}
			}
			if len(seen) < 10 {
				t.Errorf("%s: %s has %d colours only", c.data, file, len(seen))
			}
		}
	}
}

// TestProfile checks that a profile is written in addition to the usual files.
func TestProfile(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-quiet", "-out", "run", "-cpuprofile", "cpu.pprof")...)
	if got := clitest.Read(t, "cpu.pprof"); !strings.HasPrefix(got, "\x1f\x8b") {
		t.Errorf("the profile begins with %.10q", got)
	}
}

// The report of a run is one page with text, curves, pictures and settings. The report of
// an unfinished run reloads itself; the final report does not.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	rbmtrain.OK(t, "-data", "fontdigits:400", "-hidden", "10", "-steps", "30", "-eval-every", "10", "-holdout", "100", "-out", "run")
	page := clitest.Read(t, filepath.Join("run", rundir.ReportFile))
	for _, want := range []string{
		"<title>run</title>", "classification error: train", "Pseudo-log-likelihood: nats against step", "Samples of the model", "Filters along the run",
		"The ladder", "Confusion matrix of fontdigits", "The surest mistakes", "read as", "by the preset classifier", "sha256 ", "-holdout",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if strings.Contains(page, "http-equiv=\"refresh\"") {
		t.Error("the report of a finished run loads itself again")
	}
	// The rows of the confusion matrix are the test rows of each class.
	_, table, _ := strings.Cut(page, "Confusion matrix")
	table, _, _ = strings.Cut(table, "</table>")
	total := 0
	for _, m := range regexp.MustCompile(`<td[^>]*>(\d+)</td>`).FindAllStringSubmatch(table, -1) {
		n, _ := strconv.Atoi(m[1])
		total += n
	}
	wrong := regexp.MustCompile(`(\d+) of (\d+) rows are wrong`).FindStringSubmatch(table)
	if wrong == nil || wrong[2] != strconv.Itoa(total) || total == 0 {
		t.Errorf("the matrix counts %d rows: %v", total, wrong)
	}

	rbmtrain.OK(t, "-data", "bars:2", "-hidden", "3", "-steps", "20", "-out", "plain", "-metrics", "none", "-snapshots", "0", "-negphase", "pcd")
	if page := clitest.Read(t, filepath.Join("plain", rundir.ReportFile)); strings.Contains(page, "Curves") || strings.Contains(page, "Confusion") || !strings.Contains(page, "Filters") {
		t.Error("the report of a run without metrics and labels has what it cannot have")
	}
}

// TestLocked checks that a second run in the folder of a running one is refused, and
// changes nothing.
func TestLocked(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	stoppedAt(t, interrupt(40, small("-out", "run")...), "run")
	f, err := rundir.Open("run")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"run is being written by", "process " + strconv.Itoa(os.Getpid())}
	rbmtrain.Fails(t, cli.Failed, []string{"-resume", "run"}, want...)
	rbmtrain.Fails(t, cli.Failed, small("-out", "run"), want...)
	rbmtrain.Fails(t, cli.Failed, small("-out", "run", "-force", "-seed", "2"), want...)
	rbmtrain.Fails(t, cli.Failed, small("-out", "run", "-force", "-dry-run"), want...)
	f.Close()
	rbmtrain.OK(t, "-resume", "run", "-quiet")
	rbmtrain.OK(t, small("-out", "run", "-force", "-quiet")...)
}

// -tensorboard writes the rows of metrics.csv, including those before -resume.
func TestEvents(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-out", "run", "-tensorboard", "-eval-every", "20")...)
	rbmtrain.OK(t, "-resume", "run", "-steps", "100")
	sameEvents(t, "run")
	rbmtrain.OK(t, small("-out", "run", "-force")...)
	if _, err := os.Stat("run/tensorboard"); err == nil {
		t.Error("-force leaves the events of the earlier run")
	}
}

// sameEvents checks that the file for TensorBoard has each row of metrics.csv once, and
// nothing else.
func sameEvents(t *testing.T, dir string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "tensorboard", "*"))
	if len(files) != 1 {
		t.Fatalf("files of events: %v", files)
	}
	type point struct {
		step uint64
		tag  string
	}
	got := map[point][]float32{}
	for text := []byte(clitest.Read(t, files[0])); len(text) > 0; {
		n := binary.LittleEndian.Uint64(text)
		record := text[12 : 12+n] // 8 bytes of length, 4 bytes of checksum
		text = text[16+n:]
		// Event: wall_time, 9 bytes; step; summary, of values with a tag and a number.
		step, k := binary.Uvarint(record[10:])
		if rest := record[10+k:]; record[9] == 2<<3 && len(rest) > 0 && rest[0] == 5<<3|2 {
			_, k := binary.Uvarint(rest[1:])
			for values := rest[1+k:]; len(values) > 0; {
				size, tag := int(values[1]), int(values[3])
				at := point{step, string(values[4 : 4+tag])}
				got[at] = append(got[at], math.Float32frombits(binary.LittleEndian.Uint32(values[5+tag:])))
				values = values[2+size:]
			}
		}
	}
	rows, points := table(t, filepath.Join(dir, rundir.MetricsFile)), 0
	for _, row := range rows[1:] {
		step, err := strconv.ParseUint(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		for c, field := range row[1:] {
			want, err := strconv.ParseFloat(field, 64)
			if err != nil || math.IsNaN(want) || math.IsInf(want, 0) {
				continue
			}
			points++
			values := got[point{step, rows[0][c+1]}]
			// A float32 has a relative error of 6e-8, and metrics.csv one of 5e-10.
			if len(values) != 1 || !(math.Abs(float64(values[0])-want) <= 1e-7*math.Abs(want)) {
				t.Errorf("step %d: %s is %v for TensorBoard, and %s in metrics.csv", step, rows[0][c+1], values, field)
			}
		}
	}
	if len(got) != points || points == 0 {
		t.Errorf("there are %d points for TensorBoard, and %d in metrics.csv", len(got), points)
	}
}

// However often a run is killed and goes on, at another rate too, a step has one value for
// TensorBoard, as in metrics.csv.
func TestEventsOfKills(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	kill(23, small("-out", "run", "-tensorboard", "-eval-every", "3", "-checkpoint-every", "10", "-quiet")...)
	for i, n := range []int{14, 3, 9, 21, 7} {
		kill(n, "-resume", "run", "-rate", []string{"0.1", "0.02"}[i%2], "-quiet")
	}
	rbmtrain.OK(t, "-resume", "run", "-quiet")
	sameEvents(t, "run")
	if err := os.RemoveAll(filepath.Join("run", rundir.EventsDir)); err != nil {
		t.Fatal(err)
	}
	kill(1, "-resume", "run", "-steps", "100", "-quiet")
	rbmtrain.OK(t, "-resume", "run", "-steps", "100", "-quiet") // what was removed is written again
	sameEvents(t, "run")
}

// -pictures writes the charts in another format too, after -resume as well, and
// -force takes them away.
func TestPictureFormats(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second or more")
	}
	clitest.Isolate(t)
	rbmtrain.OK(t, small("-out", "run", "-negphase", "pt", "-eval-every", "20", "-pictures", "svg")...)
	for _, name := range []string{"curves", "ladder"} {
		if text := clitest.Read(t, "run/"+name+".svg"); !strings.Contains(text, "<svg") || !strings.Contains(text, "<path") {
			t.Errorf("%s.svg is no drawing: %.80s", name, text)
		}
		picture(t, "run/"+name+".png")
	}
	if err := os.Remove("run/curves.svg"); err != nil {
		t.Fatal(err)
	}
	rbmtrain.OK(t, "-resume", "run", "-steps", "80")
	clitest.Read(t, "run/curves.svg")
	rbmtrain.Fails(t, cli.Usage, small("-pictures", "gif"), "-pictures", "gif", "svg")
	undrawn(t)
	rbmtrain.OK(t, small("-out", "run", "-force")...)
	if left, _ := filepath.Glob("run/*.svg"); len(left) > 0 {
		t.Errorf("-force leaves %v", left)
	}
}

// A run that estimated the log-likelihood does not name the command that estimates it.
func TestNextAfterAnEstimate(t *testing.T) {
	clitest.Isolate(t)
	undrawn(t)
	args := strings.Fields("-data toy:8,16,50,0.1 -labels none -hidden 30 -negphase pcd -steps 200 -seed 2")
	for metrics, want := range map[string]bool{"auto": true, "log_likelihood": false} {
		out := rbmtrain.OK(t, append(args, "-metrics", metrics, "-out", metrics)...)
		if strings.Contains(out, "estimates the log-likelihood") != want || strings.Contains(out, "estimated log-likelihood: train") == want {
			t.Errorf("-metrics %s: %s", metrics, out)
		}
	}
}

// TestMNIST trains on the files of the module GoMNIST. A damaged file elsewhere is named.
func TestMNIST(t *testing.T) {
	if !data.HasMNIST("") {
		t.Skip("the module GoMNIST has no folder here, as in a vendored build")
	}
	t.Chdir(t.TempDir())
	clitest.Write(t, "d/train-images-idx3-ubyte.gz", "no gzip file")
	got := rbmtrain.Call(strings.Fields("-data mnist:500 -data-dir d -hidden 20 -negphase pcd -steps 20 -metrics none -out run")...)
	const rows, note = "mnist:500: 500 rows of 784 inputs (threshold), density 0.131; 10000 test rows\n", "d/train-images-idx3-ubyte.gz: damaged (gzip: invalid header); fetch it again; MNIST is read from "
	if got.Status != cli.OK || !strings.HasPrefix(got.Stdout, rows) || !strings.Contains(got.Stderr, note) || strings.Count(got.Stderr, "\n") != 1 {
		t.Errorf("got %+v, want %q and %q", got, rows, note)
	}
}
