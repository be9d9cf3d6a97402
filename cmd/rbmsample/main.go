// Rbmsample draws samples from a restricted Boltzmann machine, given a class or
// some of the inputs, and says whether its chains have mixed.
//
//	rbmsample -model runs/fontdigits-ins-1 -class 3 -out threes.png
//
// See rbmsample -h.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/data/grammar"
	"gorbm/negphase"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/memory"
	"gorbm/rbm/modelfile"
	"gorbm/rbm/ranks"
	"gorbm/train/plots"
)

func main() { cli.MainRanks("rbmsample", runRanks) }

const summary = `rbmsample draws samples from a model and says whether its chains have mixed.

The ending of -out sets the format. A .png, .svg or .pdf is a sheet of pictures, with a line for
each class or each row of -clamp. An .npz has the arrays x [samples, inputs], y if the
model has labels, and with -clamp row, the number, from 0, of the row that was filled in. A
.csv, or a .tsv with tabs, has the same columns; to train on the file, leave the column row
out by -ignore row.
An .npz and a .csv hold draws, in the form of the training data: bits, spins, or pictures
[samples, height, width]. Pictures show the means p(x|h). -means adds these to an .npz as the
array means, and writes them to a .csv in place of the draws.

-class NAME draws samples of a class, and -class any draws the label too; without -class samples
are drawn for each class. -clamp fills in holes: it names a .csv, .npz or .npy file of
rows that are as long as the inputs. Holes are NaN, or empty cells of a .csv. Other values
lie in [0,1] or are spins −1 and +1, and become 1 from ½ up; real inputs take any number.
For a model of a table, the .csv is a table with the same columns, and holes are its missing
cells. A last column y, or the array y, gives classes by name, and may have holes too. Complete
rows are written as they were read.

Without -negphase the chains make Gibbs steps. If these do not mix, ladders of temperatures,
tuned to the model, are tried. Models with real inputs and up to 18 hidden units need no
chains: their hidden states are enumerated, and the draws are exact (-negphase exact).

Half of the chains start at random states and half at training rows. They have mixed if tests
at the level of 0.5 % find no difference between the halves, neither in their free energies
nor in their last states, if half of the rounds are at least five autocorrelation times, and
if ladders have made ten round trips each. This is tested after 256, 512, 1024, … rounds, up
to -rounds. "mixed" means that no difference was found, not that there is none. If the chains
have not mixed, "mixed" is false with -json, a warning says why, and the samples are those of
the chains that started at training rows, which they may still resemble; -start chooses others.

Distances to the nearest training rows show whether samples are copies. A sample counts as
nearer if its distance is below those of all rows in a sample of training rows of the same
size; chance alone gives about one such sample.

Under mpirun -n N the ranks divide the chains, with identical results. Build with MPI for it:
` + ranks.Build

type options struct {
	flags     *cli.Flags
	model     *cli.ModelFlags
	data      *cli.DataFlags
	class     string
	clamp     string
	negphase  string
	out       string
	fill      string
	fillBy    string
	start     string
	n, rounds int
	means     bool
	seed      uint64
	workers   int
	group     *ranks.Group
}

func newOptions() *options {
	f := cli.NewFlags("rbmsample", summary, "rbmsample -model RUN_OR_FILE -out FILE [flags]")
	f.Screen = screen
	o := &options{flags: f}
	f.Group("model")
	o.model = f.AddModel()
	f.Group("what is drawn")
	f.StringVar(&o.class, "class", "", "class to draw, by name or number from 0; any: the label is drawn too (default: each class in turn)").Main("NAME  a class, or any, which draws the label too")
	f.StringVar(&o.clamp, "clamp", "", "a .csv, .npz or .npy of rows with holes to fill in").Main("FILE  rows with holes to fill in: a .csv, .npz or .npy")
	f.StringVar(&o.fill, "fill", "", "a .csv table, read as the model's was: -out is the same table with its missing cells (empty, NA, N/A, n/a, NaN, nan, null, NULL, None or ?) and missing labels filled. OUT.probabilities.csv, next to it, has the rows, counted from 0, with the probabilities of the levels of these cells given the known cells of the row, and of a number in a Gaussian unit the values that it is at most with p 0.05, 0.25, 0.5, 0.75 and 0.95").
		Main("FILE  a table whose missing cells are to be filled").Mode("fills a table")
	f.StringVar(&o.fillBy, "fill-by", byMode, "what -fill writes: mode, the most probable level of each cell, and the mean of a number in a Gaussian unit; mean, the mean of a number that was cut into levels too, and the mode of other cells; or draw, a joint draw of a row's missing cells").Choice(byMode, byMean, byDraw).For("fill")
	f.IntVar(&o.n, "n", 0, "samples of each class, or of each row of -clamp; 0: 50 of a class that is named, 10 of each class else, 100 without labels, 5 of a row of -clamp").
		Main("N  samples of each class, or of each row of -clamp").Between(0, maxSamples)
	f.BoolVar(&o.means, "means", false, "means p(x|h): in place of draws in a .csv, and as the array means in an .npz; pictures show means too, unless inputs are real or -means=false is given")
	f.Group("sampler")
	f.StringVar(&o.negphase, "negphase", "", "the sampler: pcd, pt, ins, pins, sardonics, im, walk, or exact, which draws independently from a list of the states of up to 25 hidden units; settings may follow, as in pt:chains=10:tau=auto (default: chosen)").
		Main("NAME  by default Gibbs steps; if they do not mix, a tuned ladder")
	f.IntVar(&o.rounds, "rounds", 0, fmt.Sprintf("most rounds of a chain before its first sample; 0: %d, or fewer of each of many rows of -clamp", sample.DefaultRounds)).Between(minRounds, maxRounds).OrZero()
	f.StringVar(&o.start, "start", "auto", "chains that the samples come from, by where they started: random, data, or auto, which is random if they have mixed and otherwise data").Choice("auto", sample.FromRandom, sample.FromData)
	f.Group("training rows")
	o.data = f.AddData(cli.DataRows{Help: " (default: the data that the model was trained on, if they are there)", Main: "NAME  rows that samples are compared with; by default the model's own", Unlabelled: true})
	for _, name := range []string{"class", "clamp", "n", "negphase", "rounds", "start", "means", "data"} {
		f.Row(name).Not("fill")
	}
	f.Group("the run")
	f.StringVar(&o.out, "out", "", "file to write: .npz, .csv, .tsv or a picture (.png, .svg, .pdf); of models of tables a .csv has the table's columns and words, and of sequences a .fasta has the letters").Main("FILE  a picture (.png, .svg, .pdf), .npz or .csv").New(append(slices.Clone(cli.Pictures), ".npz", ".csv", ".tsv", ".fasta")...)
	f.Uint64Var(&o.seed, "seed", 1, "seed: equal seeds give identical results").Main("N  equal seeds give identical results (1)")
	f.AddWorkers(&o.workers)
	f.AddOutput("no progress bar and no report; errors and warnings remain", "print one JSON object and nothing else on standard output")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "rbmsample draws samples from a model, or fills in inputs that are missing, and says whether\nits chains have mixed.",
	Examples: []string{
		"rbmsample -model runs/mnist-ins-1 -out samples.png  # ten of each class",
		"rbmsample -model runs/mnist-ins-1 -class 3 -out threes.npz  # fifty threes, as an array",
		"rbmsample -model runs/mnist-ins-1 -clamp holes.csv -out filled.png  # fills empty cells",
	},
}

const (
	maxSamples = 1 << 20
	maxRounds  = 1 << 26
	minRounds  = 16
	// clampRounds is the least default of -rounds for each of many rows.
	clampRounds = 512
)

// A plan is what to sample.
type plan struct {
	options
	m        *rbm.RBM
	about    modelfile.About
	set      *data.Set // nil if there are none
	classes  []string
	schema   *data.Schema // of the model's inputs; nil: they are bits
	given    *given       // of -clamp; nil
	queries  []sample.Query
	settings sample.Settings
	warnings []string
}

// runRanks runs the command as one rank of a group, or alone if the group is nil. All ranks load the model and the rows and move the
// chains. Rank 0 alone writes and prints.
func runRanks(ctx context.Context, g *ranks.Group, args []string, stdout, stderr io.Writer) error {
	o := newOptions()
	o.group = g
	if err := o.flags.Parse(args, stdout, stderr); err != nil {
		return err
	}
	defer cli.UseWorkers(o.workers)()
	if o.fill != "" {
		if g != nil && g.Rank() > 0 {
			return nil
		}
		return o.fillTable(ctx)
	}
	p, err := o.plan(ctx)
	if err := cli.AgreeOn(g, err, func() ([]*data.Set, []*rbm.RBM) { return []*data.Set{p.set}, []*rbm.RBM{p.m} }); err != nil {
		return err
	}
	begin := time.Now()
	bar := o.flags.NewProgress("sampling", "‰", 1000)
	sheet, err := sample.DrawEach(ctx, p.m, p.set, p.queries, p.settings, rbm.NewKey(o.seed), func(done float64) { bar.Set(int64(1000*done), "") })
	bar.Done()
	if err != nil || g.Rank() > 0 {
		return err
	}
	r := p.newResult(sheet, time.Since(begin))
	if err := p.write(sheet, r); err != nil {
		return err
	}
	return p.print(r)
}

// plan checks the flags and reads the files.
func (o *options) plan(ctx context.Context) (*plan, error) {
	f := o.flags
	if o.out == "" {
		return nil, cli.Usagef("-out is missing; name a .png, .npz or .csv file")
	}
	if err := f.CheckNew(); err != nil {
		return nil, err
	}
	p := &plan{options: *o}
	var err error
	if p.m, p.about, err = o.model.Load(); err != nil {
		return nil, err
	}
	if err := p.m.CheckFinite(); err != nil {
		return nil, fmt.Errorf("model %s: %w", o.model.Path, err)
	}
	if p.schema, err = cli.SchemaOf(p.m, p.about); err != nil {
		return nil, fmt.Errorf("model %s: %w", o.model.Path, err)
	}
	if strings.HasSuffix(strings.ToLower(p.out), ".fasta") && (p.schema == nil || p.schema.Alphabet == "") {
		return nil, cli.Usagef("-out is %q, but %s is no model of sequences; name a .csv", p.out, o.model.Path)
	}
	if !f.Given("means") {
		_, picture := plots.FormatOf(p.out)
		p.means = picture && !p.m.Real() // means of real units would be too close to each other
	}
	p.classes = classNames(p.m, p.about)
	if err := p.ask(ctx); err != nil {
		return nil, err
	}
	if err := p.loadData(ctx); err != nil {
		return nil, err
	}
	return p, p.chooseSampler()
}

// classNames returns the names of the classes of m; those without a name have their number.
func classNames(m *rbm.RBM, about modelfile.About) []string {
	names := about.ClassNames
	for len(names) < m.Classes() {
		names = append(slices.Clip(names), fmt.Sprint(len(names)))
	}
	return names
}

// loadData loads the training rows. Without -data they may be missing: then there is
// a warning.
func (p *plan) loadData(ctx context.Context) error {
	named := p.flags.Given("data")
	if !named && p.about.Data == "" {
		p.warnings = append(p.warnings, "the model does not say what it was trained on, so nothing is compared with training rows; name them by -data")
		return p.needData()
	}
	p.data.Follow(p.about)
	set, _, err := p.data.Load(ctx)
	if err != nil {
		if named || ctx.Err() != nil {
			return err
		}
		p.warnings = append(p.warnings, fmt.Sprintf("the training rows cannot be read, so nothing is compared with them: %v", err))
		return p.needData()
	}
	p.set, err = cli.FitSet(p.m, set, p.model.Path, p.about)
	return err
}

func (p *plan) needData() error {
	if p.start == sample.FromData {
		return cli.Usagef("-start data needs the training rows; name them by -data")
	}
	return nil
}

// ask makes the queries of -class and -clamp.
func (p *plan) ask(ctx context.Context) error {
	class, each, err := p.parseClass()
	if err != nil {
		return err
	}
	n, rows := 100, 0 // rows: of -clamp
	switch {
	case p.clamp != "":
		if p.given, err = p.readClamp(ctx, class); err != nil {
			return err
		}
		for _, r := range p.given.open {
			p.queries = append(p.queries, p.given.queries[r])
		}
		n, rows = 5, len(p.given.queries)
	case each:
		for y := range p.m.Classes() {
			if !p.m.HasClass(y) {
				return fmt.Errorf("no state of class %s meets the constraint %v of the model; name another by -class", p.classes[y], p.m.Constraint)
			}
			p.queries = append(p.queries, sample.Query{Class: y})
		}
		n = 10
	default:
		if class != rbm.Free {
			if n = 50; !p.m.HasClass(class) {
				return fmt.Errorf("no state of class %s meets the constraint %v of the model", p.classes[class], p.m.Constraint)
			}
		}
		p.queries = []sample.Query{{Class: class}}
	}
	p.settings = sample.Settings{Group: p.group, Samples: cmp.Or(p.n, n), Rounds: p.rounds, Start: strings.TrimPrefix(p.start, "auto")}
	if p.settings.Rounds == 0 {
		p.settings.Rounds = sample.DefaultRounds
		if p.clamp != "" {
			p.settings.Rounds = max(clampRounds, sample.DefaultRounds/len(p.queries))
		}
	}
	if total := p.settings.Samples * max(rows, len(p.queries)); total > maxSamples {
		return cli.Usagef("-n %d asks for %d samples in all; the most are %d", p.settings.Samples, total, maxSamples)
	} else if err := memory.Check(fmt.Sprintf("-n with %d samples in all", total), 4*float64(total)*float64(p.m.Inputs())+cli.StateBytes(total, p.m.Visible(), p.m.Hidden())); err != nil {
		return fmt.Errorf("%w; draw fewer", err)
	}
	return nil
}

// parseClass reads -class. each is true if each class has its turn.
func (p *plan) parseClass() (class int, each bool, err error) {
	given := p.flags.Given("class")
	switch classes := p.m.Classes(); {
	case given && classes == 0:
		return 0, false, cli.Usagef("-class is %q, but %s has no labels; leave it out, or say by -classes which of its units are labels", p.class, p.model.Path)
	case !given:
		return rbm.Free, classes > 0, nil
	}
	if y := slices.Index(p.classes, p.class); y >= 0 {
		return y, false, nil
	}
	if p.class == "any" {
		return rbm.Free, false, nil
	}
	var y int
	if _, err := fmt.Sscanf(p.class+"\n", "%d\n", &y); err == nil && y >= 0 && y < p.m.Classes() {
		return y, false, nil
	}
	return 0, false, cli.Usagef("-class is %q%s", p.class, grammar.DidYouMeanOr(p.class, p.classes, "the classes are "+strings.Join(p.classes, ", ")))
}

// chooseSampler reads -negphase.
func (p *plan) chooseSampler() error {
	if !p.flags.Given("negphase") {
		return nil
	}
	kind, _, _ := strings.Cut(p.negphase, ":")
	s, err := negphase.Parse(p.negphase, sample.Defaults(kind, p.settings.Samples))
	if err == nil {
		err = sample.CheckSampler(s, p.m)
	}
	if err == nil && s.Ladder().Path == negphase.ToData && p.set == nil {
		err = fmt.Errorf("%s: path=data needs the training rows; name them by -data", s.Kind)
	}
	if err != nil {
		return cli.Usagef("-negphase: %w", err)
	}
	for _, name := range []string{"start", "rounds"} {
		if s.Traits().Moments && p.flags.Given(name) {
			return cli.Usagef("-negphase %s has no chains; leave -%s out", s.Kind, name)
		}
	}
	p.settings.Sampler = s
	return nil
}
