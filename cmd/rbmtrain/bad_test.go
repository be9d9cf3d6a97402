package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/train"
	"gorbm/train/rundir"
)

// TestBadUsage goes through mistakes in the command line: status 2, one line
// that names the thing and the remedy, and nothing left behind.
func TestBadUsage(t *testing.T) {
	clitest.Isolate(t)
	const toy = "-data " + clitest.Toy + " "
	for _, c := range []struct {
		args string
		want []string
	}{
		// Temperatures.
		{"-temperatures 2,3", []string{"temperatures 2/3", "the first must be 1"}},
		{"-temperatures 1", []string{"temperatures 1", "at least two", "pcd"}},
		{"-temperatures 1,3,2", []string{"must rise", "2 follows 3"}},
		{"-temperatures 1,2,2", []string{"must rise", "2 follows 2"}},
		{"-temperatures 1,NaN", []string{"temperatures 1/NaN", "numbers"}},
		{"-temperatures 1,-Inf", []string{"temperatures 1/-Inf", "must rise"}},
		{"-temperatures 1,Inf,Inf", []string{"temperatures 1/inf/inf", "rise"}},
		{"-temperatures auto:1", []string{"auto/1", "2 … 16"}},
		{"-temperatures auto:17", []string{"auto/17", "2 … 16"}},
		{"-negphase pins -temperatures auto:many", []string{"auto:many", "auto/20"}},
		{"-negphase pins:tau=auto:hottest=0.5", []string{"hottest is 0.5", "at least"}},
		{"-negphase pins:hottest=5 -temperatures 1,2", []string{"hottest", "auto"}},
		{"-negphase pins:block=1", []string{"block is 1", "2 … 16"}},
		{"-negphase pt:block=4", []string{"pt has no setting", "block"}},
		{"-negphase pt:order=odd", []string{`order is "odd"`, "sweep or evenodd"}},
		{"-negphase pins:path=nowhere", []string{`path is "nowhere"`, "uniform or data"}},
		{"-temperatures auto20", []string{"-temperatures", "auto20", "auto/20"}},
		{"-temperatures NaN,2", []string{"temperatures NaN/2", "the first must be 1"}},
		{"-temperatures 1,warm", []string{"-temperatures", `"warm" is not a number`}},
		{"-temperatures 1,,2", []string{"-temperatures", `"" is not a number`}},
		{"-negphase pt:tau=", []string{"-negphase: pt", "temperatures", "at least two"}},
		{"-temperatures 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", []string{"ins takes at most 16", "use pt"}},
		{"-negphase pt:tau=2/3", []string{"-negphase: pt", "the first must be 1"}},
		{"-negphase pcd -temperatures 1,2", []string{"-temperatures", "pcd", "leave it out"}},
		// Data.
		{"-scale most", []string{`-scale: scale "most"`, "auto, max, minmax", "LOW:HIGH"}},
		{"-scale 5:2", []string{`-scale: scale "5:2"`, "LOW below HIGH"}},
		{"-scale 255", []string{"-scale is for files of numbers, and fontdigits:seed=1 is none", "leave it out"}},
		{toy + "-levels 4", []string{"-levels is for .csv files, and " + clitest.Toy, "leave it out"}},
		{toy + "-categorical all", []string{"-categorical is for .csv files"}},
		{toy + "-label-column none", []string{"-label-column is for files that may hold labels"}},
		{toy + "-unlabelled x", []string{"-unlabelled is for files that may hold labels"}},
		{"-data sequences:20 -scale max", []string{"-scale is for files of numbers"}},
		{"-data sequences:20 -binarize none", []string{"-binarize is for numbers from 0 to 1"}},
		{toy + "-test toyy", []string{"-test: unknown data set", "did you mean toy?"}},
		{toy + "-test toy:4,4,50", []string{"-test: toy:4,4,50"}},
		// Zero, negative, not finite, absurd.
		{"-hidden 0", []string{"-hidden is 0", "1 … 1048576"}},
		{"-hidden -3", []string{"-hidden is -3"}},
		{"-hidden 10000000", []string{"-hidden is 10000000", "1 … 1048576"}},
		{"-hidden 99999999999999999999", []string{`"99999999999999999999" for flag -hidden`, "out of range"}},
		{"-hidden many", []string{`"many" for flag -hidden`, "see -h"}},
		{"-hidden 1.5", []string{`"1.5" for flag -hidden`}},
		{"-hidden", []string{"needs an argument: -hidden"}},
		{"-batch 0", []string{"-batch is 0", "1 …"}},
		{"-batch -1", []string{"-batch is -1"}},
		{"-workers -1", []string{"-workers is -1", "0 …"}},
		{toy + "-batch 201", []string{"-batch is 201", clitest.Toy, "only 200 rows"}},
		{"-steps 0", []string{"-steps is 0", "1 …"}},
		{"-steps -5", []string{"-steps is -5"}},
		{"-steps 99999999999999999", []string{"-steps is 99999999999999999", "1 … " + strconv.Itoa(train.MaxSteps)}},
		{"-chains 0", []string{"chains is 0", "1 … 1000000"}},
		{"-chains -2", []string{"chains is -2"}},
		{"-chains 2000000000", []string{"chains is 2000000000", "1 … 1000000"}},
		{"-k 0", []string{"k is 0", "1 …"}},
		{"-k -1", []string{"k is -1"}},
		{"-k 2000000000", []string{"k is 2000000000"}},
		{"-swaps 0", []string{"swaps is 0"}},
		{"-swaps -1", []string{"swaps is -1"}},
		{"-swaps 2000000000", []string{"swaps is 2000000000"}},
		{"-rate 0", []string{"-rate is 0", "above 0"}},
		{"-rate -0.1", []string{"-rate is -0.1"}},
		{"-rate NaN", []string{"-rate is NaN"}},
		{"-rate Inf", []string{"-rate is +Inf", "at most 100"}},
		{"-rate 1e9", []string{"-rate is 1e+09", "at most 100"}},
		{"-rate fast", []string{`"fast" for flag -rate`}},
		{"-eval-every 0", []string{"-eval-every is 0", "1 …"}},
		{"-eval-every -1", []string{"-eval-every is -1"}},
		{"-eval-every 99999999999999999", []string{"-eval-every is 99999999999999999"}},
		{"-epochs 0", []string{"-epochs is 0", "above 0"}},
		{"-epochs -1", []string{"-epochs is -1"}},
		{"-epochs NaN", []string{"-epochs is NaN"}},
		{toy + "-epochs Inf", []string{"-epochs is +Inf", "finite"}},
		{toy + "-epochs 1e300", []string{"-epochs is 1e+300", "at most " + strconv.Itoa(train.MaxSteps)}},
		{"-seed -1", []string{`"-1" for flag -seed`}},
		// More memory than any machine has; with -dry-run, so that nothing is allocated.
		{"-data toy:2,1024,1,0 -batch 1 -hidden 1048576 -dry-run", []string{"-hidden is 1048576", "weights", "at most 1073741824"}},
		{toy + "-chains 1000000 -hidden 1000 -dry-run", []string{"-chains 1000000", "5 temperatures", "-hidden 1000", "at most 536870912"}},
		{toy + "-negphase pcd -chains 1000000 -hidden 1000 -dry-run", []string{"-chains 1000000", "1 temperatures", "-hidden 1000"}},
		{"-data toy:2,1,10000,0.1 -batch 20000 -hidden 100000 -negphase cd -dry-run", []string{"-batch 20000", "-hidden 100000", "at most 536870912"}},
		// The toy data.
		{"-data toy:3,4,50,0.2", []string{"toy:3,4,50,0.2", "modes, 3", "power of two"}},
		{"-data toy:0,4,50,0.2", []string{"modes", `"0"`}},
		{"-data toy:4,4,50,1.1", []string{"flip probability", `"1.1"`, "from 0 to 1"}},
		{"-data toy:4,4,50,-0.1", []string{"flip probability", `"-0.1"`}},
		{"-data toy:4,4,50,NaN", []string{"flip probability", `"NaN"`}},
		{"-data toy:4,4,50", []string{"toy takes four numbers", "toy:4,4,2500,0.2"}},
		{"-data toy:4,4,x,0.2", []string{"copies", `"x"`, "whole number"}},
		{"-data toy:4096,1000000,1000000,0.2", []string{"ask for less"}},
		{"-data toy:4,4,50,0.2:seed=x", []string{`seed "x"`, "whole number"}},
		// Unknown names, with the nearest known.
		{"-data toyy", []string{"-data", `"toyy"`, "did you mean toy?"}},
		{"-data fontdigit", []string{"did you mean fontdigits?"}},
		{"-data zzzz", []string{`"zzzz"`, "fontdigits, mnist, toy"}},
		{"-data mnist:70000", []string{"mnist:70000", "not a number of rows from 1 to 60000"}},
		{"-data ", []string{"no data set named", "fontdigits, mnist, toy"}},
		{"-negphase exat", []string{`"exat"`, "did you mean exact?"}},
		{"-negphase zzzz", []string{`"zzzz"`, "cd, pcd, pt, ins, pins, ptt, sardonics, im, walk, exact"}},
		{"-negphase pt:chain=3", []string{`no setting "chain"`, "did you mean chains?"}},
		{"-negphase pt:k", []string{`"k" is not of the form key=value`}},
		{"-negphase pt:k=x", []string{`k is "x"`, "whole number"}},
		{toy + "-metrics log_likelihod", []string{"-metrics", `"log_likelihod"`, "did you mean log_likelihood?"}},
		{toy + "-metrics zzzz", []string{`"zzzz"`, "classification, log_likelihood, pseudo_likelihood, reconstruction, free_energy_gap", "auto and none"}},
		{"-labels sofmax", []string{"-labels", `"sofmax"`, "did you mean softmax?"}},
		{"-label-column lats", []string{"-label-column", `"lats"`, "did you mean last?"}},
		{"-start unifrm", []string{`start is "unifrm"`, "uniform or data"}},
		{"-hiden 4", []string{"-hiden", "did you mean -hidden?", "see -h"}},
		{"-zzzzzzzz", []string{"-zzzzzzzz", "see -h"}},
		// Settings that contradict each other.
		{"-steps 5 -epochs 1", []string{"-steps and -epochs", "give one"}},
		{"-negphase exact -k 2", []string{"-k", "exact", "leave it out"}},
		{"-negphase exact:k=2", []string{"exact has no settings", `"k"`}},
		{"-negphase cd -chains 3", []string{"-chains", "cd", "leave it out"}},
		{"-negphase cd -swaps 3 -chains 3", []string{"-swaps", "cd"}}, // the first, always
		{"-negphase pt:k=2 -k 2", []string{"-k and k=", "give one"}},
		{"-negphase pt:k=2:sardonics:k=1-3 -k 2", []string{"-k and k=", "give one"}},
		{"-negphase sardonics -k 3", []string{"-k counts Gibbs steps", "sardonics moves by walks", "moves=2", "k=1-20"}},
		{"-negphase im -swaps 3", []string{"-swaps", "im", "leave it out"}},
		{"-negphase walk:gibbs -temperatures 1,2", []string{"-temperatures", "walk", "leave it out"}},
		{"-negphase sardonics:k=20-1", []string{"sardonics: k is 20-1", "must not exceed"}},
		{"-negphase pt:gibs", []string{`"gibs"`, "did you mean gibbs?"}},
		{"-negphase pt:path=data:sardonics", []string{"path=data", "leave path out"}},
		{toy + "-hidden 4 -negphase sardonics:k=1-30", []string{"-negphase: sardonics: walks of k=1-30", "12 units", "at most 12"}},
		{toy + "-hidden 4 -negphase im:k=1-30", []string{"-negphase: im: walks of k=1-30", "at most 6"}},
		{toy + "-hidden 4 -negphase walk:sw", []string{"-negphase: "}},
		{toy + "-negphase sardonics -chains 1000000 -hidden 100 -dry-run", []string{"-chains 1000000", "112 units", "at most 67108864"}},
		{"-negphase pt:tau=1/2 -temperatures 1,2", []string{"-temperatures and tau=", "give one"}},
		{toy + "-negphase exact -labels none -hidden 500 -data toy:2,32,5,0", []string{"-negphase exact", "2^32 states", "limit is 2^18", "18 hidden units"}},
		{"-data " + clitest.Toy + ":plain -labels softmax", []string{"-labels is softmax", "has no labels"}},
		// Objectives.
		{"-objective discriminativ", []string{"-objective", `"discriminativ"`, "did you mean discriminative?"}},
		{toy + "-objective discriminative -labels none", []string{"-objective discriminative needs labels", "leave -labels none out"}},
		{"-data " + clitest.Toy + ":plain -objective discriminative", []string{"-objective discriminative needs labels", "has none", "-label-column"}},
		{"-data " + clitest.Toy + ":plain -objective hybrid", []string{"-objective hybrid needs labels", "has none"}},
		{"-objective hybrid -alpha 0", []string{"-alpha is 0", "above 0 and at most 100"}},
		{"-objective hybrid -alpha -0.1", []string{"-alpha is -0.1"}},
		{"-objective hybrid -alpha 101", []string{"-alpha is 101", "at most 100"}},
		{"-objective hybrid -alpha NaN", []string{"-alpha is NaN"}},
		{"-sparse -1", []string{"-sparse is -1", "at least 0 and below 1"}},
		{"-sparse 1", []string{"-sparse is 1", "below 1"}},
		{"-sparse NaN", []string{"-sparse is NaN"}},
		{"-objective hybrid -alpha much", []string{`"much" for flag -alpha`}},
		{"-alpha 0.1", []string{"-alpha", "-objective hybrid", "leave it out with joint"}},
		{"-objective discriminative -alpha 0.1", []string{"-alpha", "leave it out with discriminative"}},
		{toy + "-objective hybrid -constraint hidden=2", []string{"-objective hybrid cannot go with -constraint"}},
		{"-objective discriminative -negphase pdc", []string{`"pdc"`, "did you mean pcd?"}},
		{toy + "-objective discriminative -metrics reconstruct", []string{"-metrics", `"reconstruct"`}},
		{toy + "-labels none -metrics classification", []string{"-metrics", "classification needs a model with labels"}},
		{"-data toy:2,32,5,0 -labels none -hidden 32 -constraint hidden=16 -metrics log_likelihood", []string{"-metrics", "states", "limit is 2^28"}},
		// Other mistakes.
		{"digits.csv", []string{`unexpected argument "digits.csv"`, "flags", "-h"}},
		{toy + "-json yes", []string{`unexpected argument "yes"`}},
		{"-json=perhaps", []string{`"perhaps" for -json`}},
	} {
		t.Run(c.args, func(t *testing.T) {
			rbmtrain.Fails(t, cli.Usage, strings.Split(c.args, " "), c.want...)
		})
	}
}

// idx returns an IDX file of zero bytes.
func idx(dims ...uint32) string {
	b := []byte{0, 0, 8, byte(len(dims))}
	n := uint32(1)
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
		n *= d
	}
	return string(b) + string(make([]byte, n))
}

// TestBadFiles goes through files that are missing or damaged: status 1.
func TestBadFiles(t *testing.T) {
	const images = "train-images-idx3-ubyte"
	for _, c := range []struct {
		name    string
		path    string // file to write; "": none
		content string
		args    string
		want    []string
	}{
		{"IDX images cut short", images, idx(10, 28, 28)[:100], "-data " + images, []string{images, "cut short", "save it again"}},
		{"IDX header cut short", images, idx(10, 28, 28)[:6], "-data " + images, []string{images, "cut short"}},
		{"IDX file empty", images, "", "-data " + images, []string{images, "cut short"}},
		{"IDX labels for images", images, idx(10), "-data " + images, []string{images, "an array of 1 dimensions, as of labels"}},
		{"IDX of HTML", images, "<html>no</html>", "-data " + images, []string{images, "not an IDX file"}},
		{"IDX gzip damaged", images, "\x1f\x8b\x08garbage garbage", "-data " + images, []string{images, "fetch it again"}},
		{"MNIST folder missing", "", "", "-data mnist -data-dir d", []string{"mnist: -data-dir", "train-images-idx3-ubyte.gz", "GORBM_DATA"}},
		{"CSV missing", "", "", "-data digits.csv", []string{"digits.csv", "does not exist", "fontdigits, mnist, toy"}},
		{"CSV misspelt", "digits.csv", "0,1\n", "-data digit.csv", []string{"digit.csv", "did you mean digits.csv?"}},
		{"CSV empty", "x.csv", "", "-data x.csv", []string{"x.csv", "no examples"}},
		{"CSV of a header", "x.csv", "a,b,label\n", "-data x.csv", []string{"x.csv", "no examples"}},
		{"CSV ragged", "x.csv", "0,1,1\n0,1\n", "-data x.csv", []string{"x.csv:2", "2 columns where the first row has 3"}},
		{"CSV of words", "x.csv", "0,1\n0,one\n", "-data x.csv", []string{"x.csv:2", `"one" is not a number`, "-label-column last"}},
		{"CSV of large values", "x.csv", "0,1\n0,7\n", "-data x.csv", []string{"x.csv:2", "outside [0,1]", "scale"}},
		{"npz missing", "", "", "-data x.npz", []string{"x.npz", "does not exist"}},
		{"npz damaged", "x.npz", "not a zip", "-data x.npz", []string{"x.npz"}},
		{"CSV of whole numbers", "x.csv", "0,16\n3,7\n", "-data x.csv", []string{"x.csv:1", "outside [0,1]", "-scale max"}},
		{"CSV beyond the scale", "x.csv", "0,16\n3,7\n", "-data x.csv -scale 15", []string{"x.csv:1", "outside the scale 0:15", "-scale LOW:HIGH"}},
		{"CSV with semicolons", "x.csv", "0;1\n1,5\n", "-data x.csv", []string{"x.csv:2", "1 columns where the first row has 2"}},
		{"CSV with an index", "x.csv", ",a,b\n0,1,1\n0,0,1\n", "-data x.csv", []string{"x.csv: column 1", "has no name", "index=False"}},
		{"npy cut short", "x.npy", npy("4, 2", make([]byte, 7)), "-data x.npy", []string{"x.npy", "needs 8 elements", "save it again"}},
		{"npy with labels", "x.npy", npy("4, 2", make([]byte, 8)), "-data x.npy -label-column last", []string{"x.npy", "no array y"}},
		{"test file missing", "", "", "-data " + clitest.Toy + " -test x.npz", []string{"x.npz", "does not exist"}},
		{"test file of other columns", "x.csv", "0,1\n", "-data " + clitest.Toy + " -test x.csv", []string{"x.csv: rows of 2 inputs", "have 8", "the same columns"}},
		{"test file without labels", "x.csv", "0,1,1,1,1,1,1,1\n", "-data " + clitest.Toy + " -labels softmax -test x.csv", []string{"4 label units", "x.csv has no labels", "-labels none"}},
		{"test file of another class", "x.csv", "0,1,1,1,1,1,1,1,12\n", "-data " + clitest.Toy + " -labels softmax -label-column last -test x.csv", []string{`x.csv: row 0 has the label "12"`, `none of the 4 classes "11", "10", "01", "00"`}},
		{"CSV that is a folder", "x.csv/y", "", "-data x.csv", []string{"x.csv", "not a regular file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			clitest.Isolate(t)
			if c.path != "" {
				clitest.Write(t, c.path, c.content)
			}
			rbmtrain.Fails(t, cli.Failed, strings.Fields(c.args), c.want...)
		})
	}
}

// TestOutputInUse checks that nothing is overwritten without -force.
func TestOutputInUse(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	clitest.Write(t, "foreign/thesis.tex", "years of work")
	clitest.Write(t, "file", "a file")
	clitest.Write(t, "profile", "a profile")
	rbmtrain.OK(t, small("-quiet", "-out", "earlier")...)
	for _, c := range []struct {
		args string
		want []string
	}{
		{"-out foreign", []string{"foreign", "in use, and not by a run", "-out"}},
		{"-out foreign -force", []string{"foreign", "in use, and not by a run", "-out"}},
		{"-out earlier", []string{"earlier", "an earlier run", "-out", "-force"}},
		{"-out file", []string{"file", "not a directory", "-out"}},
		{"-out file -force", []string{"file", "not a directory", "-out"}},
		{"-out file/run", []string{"file", "not a directory", "-out"}},
		{"-out new -cpuprofile profile", []string{"-cpuprofile", "profile is there already"}},
		{"-out new -cpuprofile no/profile", []string{"-cpuprofile", "no folder no"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			rbmtrain.Fails(t, cli.Failed, small(strings.Fields(c.args)...), c.want...)
		})
	}
	t.Run("folder that may not be written", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("root may write everywhere")
		}
		if err := os.Mkdir("locked", 0o555); err != nil {
			t.Fatal(err)
		}
		rbmtrain.Fails(t, cli.Failed, small("-out", "locked/run"), "locked", "-out")
		rbmtrain.Fails(t, cli.Failed, small("-out", "locked"), "locked")
	})
	t.Run("runs is a file", func(t *testing.T) {
		clitest.Write(t, "runs", "a file")
		rbmtrain.Fails(t, cli.Failed, small(), "runs", "choose another by -out")
	})
}

// TestForce checks that -force replaces all files of a run and no other files of its folder,
// and that an empty folder needs no -force.
func TestForce(t *testing.T) {
	undrawn(t)
	clitest.Isolate(t)
	if err := os.Mkdir("run", 0o755); err != nil {
		t.Fatal(err)
	}
	rbmtrain.OK(t, small("-quiet", "-out", "run")...)
	clitest.Write(t, "run/notes.txt", "my notes")
	before := clitest.Read(t, filepath.Join("run", rundir.ModelFile))

	// A command that cannot run removes nothing.
	rbmtrain.Fails(t, cli.Usage, small("-out", "run", "-force", "-batch", "1000"), "-batch")

	rbmtrain.OK(t, small("-quiet", "-out", "run", "-force", "-seed", "9")...)
	if clitest.Read(t, filepath.Join("run", rundir.ModelFile)) == before {
		t.Error("-force left the earlier model")
	}
	if clitest.Read(t, "run/notes.txt") != "my notes" {
		t.Error("-force touched another file")
	}
	if c := clitest.Read(t, filepath.Join("run", rundir.ConfigFile)); !strings.Contains(c, `"seed": 9`) {
		t.Error("-force left the earlier config.json")
	}
	if out := rbmtrain.OK(t, small("-out", "new", "-force")...); !strings.Contains(out, "\nresults in new\n") {
		t.Errorf("-force without an earlier run: %s, want %q in it", out, "\nresults in new\n")
	}
	// The default of -out has a free number.
	for _, n := range []string{"1", "2"} {
		if out := rbmtrain.OK(t, small("-negphase", "cd")...); !strings.Contains(out, "\nresults in runs/toy_4_4_50_0.2-cd-"+n+"\n") {
			t.Errorf("run %s went elsewhere: %s, want %q in it", n, out, "\nresults in runs/toy_4_4_50_0.2-cd-"+n+"\n")
		}
	}
}
