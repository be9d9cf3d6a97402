// Rbmsample draws samples from a restricted Boltzmann machine, given a class or
// some of the inputs, and reports whether its chains have mixed.
//
//	rbmsample -model runs/mnist-ins-1 -class 3 -out threes.png
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

const summary = `rbmsample draws samples from a model and reports whether its chains have mixed.

The ending of -out sets the format. A .png, .svg or .pdf is a sheet of pictures, with a line for
each class or each row of -clamp. It shows the means p(x|h), or the samples if inputs are real. An
.npz has the array x [samples, inputs], or [samples, height, width] if the training data were
pictures, and the array y if the model has labels. With -clamp it also has the array "row": for
each sample the number, from 0, of the row of -clamp. A .csv, or a .tsv with tabs, has the same
columns; -ignore row leaves "row" out when you train on the file.

An .npz or .csv has samples in the form of the training data, such as bits or spins. -means adds
the means to an .npz as the array "means", and in a .csv replaces the samples by means.

-class NAME draws samples of a class, and -class any draws the label as well. Without -class,
samples of each class are drawn. -clamp fills in missing values: it names a .csv, .npz or .npy
file with a column for each input. Missing values are NaN, or empty cells of a .csv. Other values
lie in [0,1] or are spins −1 and +1, and become 1 from ½ up; for real inputs they are any numbers.
For a model of a table, the .csv is a table with the same columns. A last column y, or the array
y, gives classes by name, and may have missing values too. Complete rows are written as they were
read.

By default the chains make Gibbs steps. If these do not mix, rbmsample tries ladders of
temperatures, tuned to the model. Models with real inputs and at most 18 hidden units need no
chains: their hidden states are enumerated, and samples are independent (-negphase exact).

Half of the chains start at random states, and half at training rows. They have mixed if
  - tests at the level of 0.5 % find no difference between the halves, in their free energies
    and in their last states,
  - half of the rounds are at least five autocorrelation times, and
  - each ladder has made ten round trips.
This is tested after 256, 512, 1024, … rounds, up to -rounds. "mixed" means that no difference
was found, not that there is none. If the chains have not mixed, "mixed" is false with -json, and
a warning gives the reason. The samples are then from chains that started at training rows, and
may still resemble these rows; -start chooses other chains.

Distances to the nearest training rows show whether samples are copies. They are compared with
distances between training rows: as many training rows as samples are drawn, and the nearest other
row of each is found. A sample that is nearer to a training row than any drawn row is to another
counts as nearer. In fair samples there is about one by chance.

mpirun -n N divides the chains among N processes, with identical results. Build with MPI for it:
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
	f.StringVar(&o.class, "class", "", "class to draw, by name, or by number from 0 if classes have no names; any: draw the label as well (default: all classes, one after another)").Main("NAME  a class; any: the label is drawn as well")
	f.StringVar(&o.clamp, "clamp", "", ".csv, .npz or .npy file of rows with missing values to fill in").Main("FILE  rows whose missing values are drawn: .csv, .npz or .npy")
	f.StringVar(&o.fill, "fill", "", ".csv table with the columns of the training table. -out is the same table, with the same separator and decimal mark, and with missing cells (empty, NA, N/A, n/a, NaN, nan, null, NULL, None or ?) and missing labels filled in. OUT.probabilities.csv, next to it, has the probability of each level of these cells given the known cells of the row; rows count from 0. For a number in a Gaussian unit it has the 5, 25, 50, 75 and 95 % quantiles").
		Main("FILE  a .csv table; -out is this table without missing cells").Mode("fills a table")
	f.StringVar(&o.fillBy, "fill-by", byMean, "what -fill writes into cells. mean: the mean of numbers, also of those that are levels (of which there are at least three), and the most probable level of words; mode: the most probable level, and for numbers in Gaussian units the mean, so that the model can read the table; draw: a joint sample of a row's missing cells").Choice(byMean, byMode, byDraw).For("fill")
	f.IntVar(&o.n, "n", 0, "number of samples of each class, or of each row of -clamp; 0: 50 of the class of -class, 10 of each class without -class, 100 without labels, 5 of each row of -clamp").
		Main("N  samples of each class, or of each row of -clamp").Between(0, maxSamples)
	f.BoolVar(&o.means, "means", false, "write means p(x|h): instead of samples in a .csv, and in addition to samples as the array means in an .npz. Pictures show means by default, unless inputs are real")
	f.Group("sampler")
	f.StringVar(&o.negphase, "negphase", "", "sampler: pcd, pt, ins, pins, sardonics, im, walk, or exact, which draws independent samples by enumeration of at most 25 hidden units; settings may follow, as in pt:chains=10:tau=auto (default: Gibbs steps, then a tuned ladder if these do not mix)").
		Main("NAME  by default Gibbs steps; if they do not mix, a tuned ladder")
	f.IntVar(&o.rounds, "rounds", 0, fmt.Sprintf("largest number of rounds of a chain before its first sample; 0: %d, or fewer for each row if -clamp has many", sample.DefaultRounds)).Between(minRounds, maxRounds).OrZero()
	f.StringVar(&o.start, "start", "auto", "start of the chains from which samples are taken: random, data, or auto: random if the chains have mixed, otherwise data").Choice("auto", sample.FromRandom, sample.FromData)
	f.Group("training rows")
	o.data = f.AddData(cli.DataRows{Help: " (default: the model's training data, if available)", Main: "NAME  rows to compare samples with; by default the model's training data", Unlabelled: true})
	for _, name := range []string{"class", "clamp", "n", "negphase", "rounds", "start", "means", "data"} {
		f.Row(name).Not("fill")
	}
	f.Group("the run")
	f.StringVar(&o.out, "out", "", "file to write: .npz, .csv, .tsv or a picture (.png, .svg, .pdf). For a model of a table a .csv has the columns and words of the table; for a model of sequences use a .fasta").Main("FILE  a picture (.png, .svg, .pdf), .npz or .csv").New(append(slices.Clone(cli.Pictures), ".npz", ".csv", ".tsv", ".fasta")...)
	f.Uint64Var(&o.seed, "seed", 1, "seed of all random numbers: equal seeds give identical results").Main("N  equal seeds give identical results (1)")
	f.AddWorkers(&o.workers)
	f.AddOutput("no progress bar and no report; errors and warnings remain", "print one JSON object and nothing else on standard output")
	return o
}

// screen is what -h prints.
var screen = cli.Screen{
	Purpose: "rbmsample draws samples from a model, or fills in missing inputs, and reports whether its chains\nhave mixed.",
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
	// clampRounds is the smallest default of -rounds with -clamp.
	clampRounds = 512
)

// A plan is a checked command line with its model, rows and queries.
type plan struct {
	options
	m        *rbm.RBM
	about    modelfile.About
	set      *data.Set // training rows, or nil
	classes  []string
	schema   *data.Schema // columns of a table or sites of sequences, or nil
	given    *given       // rows of -clamp, or nil
	queries  []sample.Query
	settings sample.Settings
	warnings []string
}

// runRanks runs the command as one rank of g, or as a single process if g is nil. All ranks load the model and the
// rows and move the chains. Only rank 0 writes and prints.
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
		p.means = picture && !p.m.Real() // means of real units vary less than samples
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

// classNames returns the names of the classes of m. The name of a class without a name is its number.
func classNames(m *rbm.RBM, about modelfile.About) []string {
	names := about.ClassNames
	for len(names) < m.Classes() {
		names = append(slices.Clip(names), fmt.Sprint(len(names)))
	}
	return names
}

// loadData loads the training rows. Without -data the rows may be missing; then loadData adds a warning.
func (p *plan) loadData(ctx context.Context) error {
	named := p.flags.Given("data")
	if !named && p.about.Data == "" {
		p.warnings = append(p.warnings, "the model's file does not record its training data, so samples are not compared with them; name them by -data")
		return p.needData()
	}
	p.data.Follow(p.about)
	set, _, err := p.data.Load(ctx)
	if err != nil {
		if named || ctx.Err() != nil {
			return err
		}
		p.warnings = append(p.warnings, fmt.Sprintf("the training rows cannot be read, so samples are not compared with them: %v", err))
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
	n, rows := 100, 0 // default of -n, and number of rows of -clamp
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
		return cli.Usagef("-n %d makes %d samples in all; at most %d are allowed", p.settings.Samples, total, maxSamples)
	} else if err := memory.Check(fmt.Sprintf("-n with %d samples in all", total), 4*float64(total)*float64(p.m.Inputs())+cli.StateBytes(total, p.m.Visible(), p.m.Hidden())); err != nil {
		return fmt.Errorf("%w; draw fewer", err)
	}
	return nil
}

// parseClass parses -class. each is true if samples are drawn for each class.
func (p *plan) parseClass() (class int, each bool, err error) {
	given := p.flags.Given("class")
	switch classes := p.m.Classes(); {
	case given && classes == 0:
		return 0, false, cli.Usagef("-class is %q, but %s has no labels; leave it out, or give the number of label units by -classes", p.class, p.model.Path)
	case !given:
		return rbm.Free, classes > 0, nil
	}
	if y := slices.Index(p.classes, p.class); y >= 0 {
		return y, false, nil
	}
	if p.class == "any" {
		return rbm.Free, false, nil
	}
	return 0, false, cli.Usagef("-class is %q%s", p.class, grammar.DidYouMeanOr(p.class, p.classes, "the classes are "+strings.Join(p.classes, ", ")))
}

// chooseSampler parses -negphase.
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
