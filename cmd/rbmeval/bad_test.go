package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// safetensors returns a safetensors file with this header and body.
func safetensors(header string, body int) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + string(make([]byte, body))
}

// bare is the header of a model of 3 × 2 units with this metadata.
func bare(metadata string) string {
	return fmt.Sprintf(`{"__metadata__":{%s},"hidden_bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},`+
		`"visible_bias":{"dtype":"F32","shape":[3],"data_offsets":[8,20]},"weights":{"dtype":"F32","shape":[3,2],"data_offsets":[20,44]}}`, metadata)
}

func TestBadInput(t *testing.T) {
	isolate(t)
	clitest.Save(t, "large.npz", clitest.Model(32, 40, 0, rbm.Softmax), modelfile.About{Data: "toy:2,32,5,0:plain"})
	whole := clitest.Read(t, "softmax.safetensors")
	for path, content := range map[string]string{
		"there.csv":              "a file",
		"words.txt":              "not a model",
		"empty.safetensors":      "",
		"short.safetensors":      whole[:len(whole)-4],
		"header.safetensors":     whole[:20],
		"words.safetensors":      "not a model, though it says so",
		"words.npz":              "not a model, though it says so",
		"json.safetensors":       safetensors("{not json", 0),
		"other.safetensors":      safetensors(`{"conv1":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 8),
		"half.safetensors":       safetensors(strings.ReplaceAll(bare(""), "F32", "F16"), 44),
		"version.safetensors":    safetensors(bare(`"format":"gorbm","version":"99","classes":"0"`), 44),
		"labels.safetensors":     safetensors(bare(`"format":"gorbm","version":"1","classes":"3","labels":"softmax"`), 44),
		"manylabels.safetensors": safetensors(bare(`"format":"gorbm","version":"1","classes":"9","labels":"softmax"`), 44),
		"absurd.safetensors":     safetensors(strings.ReplaceAll(bare(""), "[3,2]", "[99999999999,2]"), 44),
		"three.csv":              "0,1,1\n",
		"names.csv":              "a,b,c,d,e,f,g,h,label\n" + "0,0,0,0,0,0,0,0,a\n0,0,0,0,0,0,0,0,b\n0,0,0,0,0,0,0,0,c\n0,0,0,0,0,0,0,0,d\n",
		"two.csv":                "a,b,c,d,e,f,g,h,label\n" + "0,0,0,0,0,0,0,0,a\n0,0,0,0,0,0,0,0,b\n",
	} {
		clitest.Write(t, path, content)
	}
	snapshot := func(path, of string) { clitest.Write(t, path, clitest.Read(t, of)) }
	snapshot("mixed/models/0000001.safetensors", "softmax.safetensors")
	clitest.Save(t, "mixed/models/0000002.safetensors", clitest.Model(12, 6, 4, rbm.Softmax), toy)
	clitest.Write(t, "damaged/models/0000001.safetensors", whole[:len(whole)-4])
	clitest.Write(t, "large/.keep", "")
	if err := os.Mkdir("large/models", 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.Save(t, "large/models/0000001.safetensors", clitest.Model(32, 40, 0, rbm.Softmax), modelfile.About{Data: "toy:2,32,5,0:plain"})
	snapshot("small/models/0000001.safetensors", "softmax.safetensors")
	snapshot("bernoulli/models/0000001.safetensors", "bernoulli.safetensors")
	const s = "-model softmax.safetensors "
	for _, c := range []struct {
		status int
		args   string
		want   []string
	}{
		// The model.
		{cli.Usage, "", []string{"-model is missing", ".safetensors or .npz file, or the folder of a run"}},
		{cli.Usage, s + "-workers -1", []string{"-workers is -1", "0 …"}},
		{cli.Failed, "-model nothing.npz", []string{"nothing.npz does not exist"}},
		{cli.Failed, "-model .", []string{"model . is a folder without model.safetensors", "name a file"}},
		{cli.Failed, "-model words.txt", []string{"words.txt", ".safetensors or .npz"}},
		{cli.Failed, "-model empty.safetensors", []string{"empty.safetensors", "cut short"}},
		{cli.Failed, "-model short.safetensors", []string{"short.safetensors", "cut short or damaged"}},
		{cli.Failed, "-model header.safetensors", []string{"header.safetensors", "not a safetensors file"}},
		{cli.Failed, "-model words.safetensors", []string{"words.safetensors", "not a safetensors file"}},
		{cli.Failed, "-model words.npz", []string{"words.npz"}},
		{cli.Failed, "-model json.safetensors", []string{"json.safetensors", "not JSON"}},
		{cli.Failed, "-model other.safetensors", []string{"other.safetensors", "no tensor weights", "visible_bias and hidden_bias"}},
		{cli.Failed, "-model half.safetensors", []string{"half.safetensors", `"F16"`, "F32 or F64"}},
		{cli.Failed, "-model version.safetensors", []string{"version.safetensors", `version "99"`, "reads 1"}},
		{cli.Failed, "-model labels.safetensors -data three.csv", []string{"labels.safetensors", "no inputs"}},
		{cli.Failed, "-model manylabels.safetensors", []string{"manylabels.safetensors", "9 classes", "3 visible units"}},
		{cli.Failed, "-model absurd.safetensors", []string{"absurd.safetensors"}},
		{cli.Usage, s + "-classes 4", []string{"-classes and -labels", "4 classes"}},
		{cli.Usage, s + "-labels sofmax", []string{"-labels", `"sofmax"`, "bernoulli or softmax"}},
		// Model and data.
		{cli.Failed, s + "-data three.csv", []string{"softmax.safetensors does not fit the data", "8 inputs", "three.csv have 3"}},
		{cli.Failed, s + "-data toy:8,4,5,0.2", []string{"softmax.safetensors does not fit the data", "8 inputs", "have 12"}},
		{cli.Failed, s + "-data two.csv", []string{"softmax.safetensors does not fit the data", `two.csv: row 0 has the label "a"`, `none of the 4 classes "11", "10", "01", "00"`}},
		{cli.Failed, s + "-data names.csv", []string{"does not fit the data", `names.csv: row 0 has the label "a"`, "leave such rows out, or name the classes alike"}},
		// Separate test rows.
		{cli.Failed, s + "-test names.csv", []string{`names.csv: row 0 has the label "a"`, "none of the 4 classes"}},
		{cli.Failed, s + "-test missing.csv", []string{"missing.csv", "does not exist"}},
		{cli.Usage, s + "-test toyy", []string{"-test: ", "did you mean toy?"}},
		{cli.Failed, s + "-test three.csv", []string{"three.csv: rows of 3 inputs", "have 8", "give both the same columns"}},
		{cli.Usage, s + "-part train -test three.csv", []string{"-part train leaves the rows of -test unused", "leave one of the two out"}},
		{cli.Usage, s + "-scale most", []string{"-scale: scale \"most\"", "auto, max, minmax"}},
		{cli.Usage, s + "-data toy -scale max", []string{"-scale is for files of numbers, and toy:4,4,2500,0.2:seed=1 is none", "leave it out"}},
		{cli.Usage, s + "-part test", []string{"-part is test", "has no test rows; name some by -test"}},
		{cli.Failed, s + "-data missing.csv", []string{"missing.csv", "does not exist"}},
		{cli.Usage, s + "-data toyy", []string{"-data", "did you mean toy?"}},
		{cli.Failed, s + "-data mnist -data-dir absent", []string{"mnist", "absent", "-data-dir"}},
		{cli.Usage, s + "-label-column lats", []string{"-label-column", "did you mean last?"}},
		{cli.Usage, s + "-part tset", []string{"-part", `"tset"`, "did you mean test?"}},
		{cli.Usage, s + "-part test", []string{"-part is test", "no test rows"}},
		// Quantities that cannot be computed.
		{cli.Failed, "-model large.npz -exact", []string{"-exact", "2^32 states", "limit is 2^28", "28 hidden units"}},
		{cli.Usage, "-model plain.npz -classify", []string{"-classify needs labels", "the model has 0"}},
		{cli.Usage, s + "-classify -data " + clitest.Toy + ":plain", []string{"-classify needs labels", "the model has 4", "-rows FILE writes predictions for rows without labels"}},
		{cli.Usage, s + "-pl -data " + clitest.Toy + ":plain", []string{"-pl needs rows with labels"}},
		{cli.Usage, "-model bernoulli.safetensors -exact -data " + clitest.Toy + ":plain", []string{"-exact", "need rows with labels", "bernoulli"}},
		{cli.Usage, "-model bernoulli.safetensors -ais -data " + clitest.Toy + ":plain", []string{"-ais", "need rows with labels", "bernoulli"}},
		// Estimates of log Z.
		{cli.Usage, s + "-ais -ais-chains 0", []string{"-ais-chains is 0", "1 … 1048576"}},
		{cli.Usage, s + "-ais -ais-temperatures 1", []string{"-ais-temperatures is 1", "2 … "}},
		{cli.Usage, s + "-bennett -ladder-rounds 3", []string{"-ladder-rounds is 3", "60 … "}},
		{cli.Usage, s + "-ais -base dta", []string{"-base", `"dta"`, "did you mean data?"}},
		{cli.Usage, s + "-ais-chains 10", []string{"-ais-chains is for -ais and -reverse-ais", "give one"}},
		{cli.Usage, s + "-bennett -ais-temperatures 10", []string{"-ais-temperatures is for -ais and -reverse-ais"}},
		{cli.Usage, s + "-ais -ladder-rounds 100", []string{"-ladder-rounds is for -reverse-ais and -bennett"}},
		{cli.Usage, s + "-ais -ladder x.png", []string{"-ladder is for -reverse-ais and -bennett"}},
		{cli.Usage, s + "-exact -base uniform", []string{"-base is for -ais"}},
		{cli.Usage, s + "-pl -seed 2", []string{"-seed is for -ais"}},
		{cli.Usage, s + "-reverse-ais -ais-chains 1000 -ladder-rounds 60", []string{"-ais-chains 1000", "10 ladders", "-ladder-rounds of 151 or more"}},
		{cli.Usage, s + "-bennett -ladder x.jpg", []string{"-ladder", "x.jpg", ".png"}},
		{cli.Failed, s + "-bennett -ladder no/x.png", []string{"-ladder", "no folder no", "make it first"}},
		{cli.Usage, s + "-out x", []string{"-out is for", "-run"}},
		// A run.
		{cli.Failed, "-run nothing", []string{"-run", "there is no folder nothing", "-snapshots above 0"}},
		{cli.Failed, "-run mixed", []string{"-run", "0000002.safetensors has other units than", "several runs"}},
		{cli.Failed, "-run damaged", []string{"0000001.safetensors", "cut short"}},
		{cli.Usage, "-run mixed -model softmax.safetensors", []string{"-model cannot go with -run"}},
		{cli.Usage, "-run mixed -pl", []string{"-pl cannot go with -run"}},
		{cli.Usage, "-run mixed -ladder x.png", []string{"-ladder cannot go with -run"}},
		{cli.Failed, "-run mixed -out there.csv", []string{"-out", "there.csv is there already"}},
		{cli.Failed, "-run large -exact", []string{"-exact", "2^32 states"}},
		{cli.Usage, "-run small -ais-chains 10", []string{"-ais-chains is for -ais and -reverse-ais"}},
		{cli.Usage, "-run bernoulli -data " + clitest.Toy + ":plain", []string{"-run", "rows without labels", "bernoulli"}},
		{cli.Failed, "-run small -data three.csv", []string{"does not fit the data", "8 inputs"}},
		// Outputs that exist or cannot be written.
		{cli.Failed, s + "-rows there.csv", []string{"-rows", "there.csv is there already", "choose another name"}},
		{cli.Failed, s + "-rows no/rows.csv", []string{"-rows", "no folder no", "make it first"}},
		{cli.Failed, s + "-rows there.csv/rows.csv", []string{"-rows", "no folder there.csv"}},
		// The command line.
		{cli.Usage, "-modle x", []string{"-modle", "did you mean -model?"}},
		{cli.Usage, "softmax.safetensors", []string{`unexpected argument "softmax.safetensors"`, "-h"}},
		{cli.Usage, s + "-json=perhaps", []string{`"perhaps"`, "-json"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			rbmeval.Fails(t, c.status, strings.Fields(c.args), c.want...)
		})
	}
}

// TestCancelled checks that the command stops when the context ends, and leaves no table.
func TestCancelled(t *testing.T) {
	isolate(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	before := clitest.Tree(t, ".")
	r := rbmeval.CallContext(ctx, "-model", "softmax.safetensors", "-rows", "rows.csv")
	if r.Status != cli.Failed || r.Stdout != "" {
		t.Errorf("exits with %d and prints %q, want %d and nothing", r.Status, r.Stdout, cli.Failed)
	}
	rbmeval.OneLine(t, r.Stderr)
	if clitest.Tree(t, ".") != before {
		t.Error("a cancelled command left files")
	}
}

// TestHugeParameters checks parameters close to the largest float32: the command prints finite numbers
// or none.
func TestHugeParameters(t *testing.T) {
	isolate(t)
	m, about := clitest.Load(t, "plain.npz")
	for i := range m.VisibleBias {
		m.VisibleBias[i] = 3e38
	}
	clitest.Save(t, "huge.npz", m, about)
	var got jsonResult
	if err := json.Unmarshal([]byte(rbmeval.OK(t, "-model", "huge.npz", "-json")), &got); err != nil {
		t.Fatal(err)
	}
	if *got.LogZ < 8*2.9e38 || *got.LogZ > 8*3.1e38 || *got.MeanLogLikelihood > 0 {
		t.Errorf("log Z %v, mean log-likelihood %v", *got.LogZ, *got.MeanLogLikelihood)
	}
}

// Parameters too large for tempering: requested estimates fail, and without a request the other
// results come with a warning.
func TestHugeParametersEstimated(t *testing.T) {
	isolate(t)
	huge := clitest.Model(32, 40, 0, rbm.Softmax)
	huge.VisibleBias[3] = 3e38
	clitest.Save(t, "huge.npz", huge, modelfile.About{Data: "toy:2,32,5,0:plain"})
	rbmeval.Fails(t, cli.Failed, []string{"-model", "huge.npz", "-bennett"}, "diverged", "visible_bias[3]")
	r, _ := evaluate(t, "-model huge.npz")
	if r.LogZ != nil || r.MeanLogLikelihood != nil || r.PseudoLikelihood == nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "visible_bias[3]") {
		t.Errorf("%+v", r)
	}
}

// TestNoClassesNamed checks a model without labels whose file has an empty list of class names, on
// labelled data.
func TestNoClassesNamed(t *testing.T) {
	isolate(t)
	clitest.Write(t, "m.safetensors", safetensors(bare(`"format":"gorbm","version":"1","classes":"0","class_names":"[]"`), 44))
	clitest.Write(t, "rows.csv", "a,b,c,label\n0,1,0,x\n1,1,0,y\n")
	if out := rbmeval.OK(t, "-model", "m.safetensors", "-data", "rows.csv"); !strings.Contains(out, "rows.csv: 2 rows") {
		t.Errorf("prints %s, want %q in it", out, "rows.csv: 2 rows")
	}
}
