package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/vg"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/potts"
	"gorbm/train"
	"gorbm/train/plots"
)

const (
	contactApart = 4 // smallest distance along the chain, in sites, of ranked pairs
	logoDefault  = 6 // default number of hidden units in logo.png
	maxLogos     = 50
)

// An analysis has the flags and results of -analysis.
type analysis struct {
	// flags
	folder, distances, potts, logos string
	threshold                       float64 // distance below which sites are in contact, in Å

	sequences bool            // the data are sequences, not a table
	known     potts.Distances // known distances between sites, or nil
	knownFrom string          // name of the file or data with the known distances
	other     *potts.Model    // model of -potts, or nil
	units     []int           // hidden units of the logo

	effective *potts.Model
	contacts  contacts
	compared  *comparison
	written   []string
}

// A precision is a positive predictive value (PPV): the fraction of contacts among the first N ranked pairs
// of known distance.
type precision struct {
	Pairs string  `json:"pairs"` // N as a fraction of the number L of sites, such as L/10
	N     int     `json:"n"`
	PPV   float64 `json:"ppv"`
}

// contacts are the contacts that the effective couplings predict.
type contacts struct {
	Top       [][2]int    `json:"top"`                 // the L pairs of the highest score for L sites, numbered from 1
	Known     string      `json:"known,omitempty"`     // file or data with the known contacts
	Threshold float64     `json:"threshold,omitempty"` // distance below which sites are in contact, in Å, for a file
	Contacts  int         `json:"contacts,omitempty"`  // number of known contacts among the ranked pairs
	Precision []precision `json:"precision,omitempty"`
	// Pearson correlation, over the rows, of the log weights of the effective Potts model with −F of the RBM.
	PairwisePearson float64 `json:"pairwise_pearson"`

	scores, norms potts.Scores
	ppv           []float64
}

// A comparison compares the Potts model of -potts with the effective one of the RBM.
type comparison struct {
	File             string      `json:"file"`
	CouplingsPearson float64     `json:"couplings_pearson"`   // correlation of the couplings in the zero-sum gauge
	ScoresPearson    float64     `json:"scores_pearson"`      // correlation of the scores of pairs
	WeightsPearson   float64     `json:"log_weights_pearson"` // correlation of log weights with −F of the RBM
	Precision        []precision `json:"precision,omitempty"`
}

// addAnalysisFlags adds the flags of an analysis.
func addAnalysisFlags(f *cli.Flags) *analysis {
	a := &analysis{}
	f.Group("sequences")
	f.StringVar(&a.folder, "analysis", "", "folder to make for the analyses of a model of sequences: contacts.csv and contacts.png (effective couplings of pairs of sites), logo.png (weights of hidden units as letters), pca.csv and pca.png (the rows, and the samples of -samples, along the rows' principal components), and statistics.png of -samples; of a model of a table the last three").
		Main("FOLDER  writes contacts, logos and principal components there").New().Not("run")
	f.StringVar(&a.distances, "distances", "", "file of distances, to check the predicted contacts: each line has two sites, counted from 1, and their distance in ångström. Missing pairs are ignored").
		Main("FILE  known distances between sites, to check the contacts").For("analysis")
	f.Float64Var(&a.threshold, "contact-distance", 8, "with -distances: distance in ångström below which two sites are in contact").Above(0, math.MaxFloat64).For("distances")
	f.StringVar(&a.potts, "potts", "", "text file of adabmDCA with a Potts model of the same sites, to compare with the effective couplings").For("analysis")
	f.StringVar(&a.logos, "logo-units", "", fmt.Sprintf("numbers, from 0, of the hidden units in logo.png, such as 3,17 (default: the %d units with the largest norm of the weights)", logoDefault)).For("analysis")
	return a
}

// prepare reads the files of an analysis and checks that it suits the model, before long computations.
func (a *analysis) prepare(e *evaluation) error {
	if a.folder == "" {
		return nil
	}
	schema := e.set.Schema
	switch {
	case schema == nil:
		return cli.Usagef("-analysis is for models of sequences and tables; %s is neither", e.set.Name)
	case e.gappy():
		return cli.Usagef("-analysis needs complete rows, but %s has missing cells; fill them by rbmsample -fill", e.set.Name)
	}
	if a.sequences = schema.Alphabet != ""; !a.sequences {
		if name := e.flags.FirstGiven("distances", "potts", "logo-units"); name != "" {
			return cli.Usagef("-%s is for models of sequences; %s is a table", name, e.set.Name)
		}
		return nil
	}
	if e.m.Classes() > 0 {
		return cli.Usagef("-analysis is for models of sequences without labels; that of %s has %d classes", e.model.Path, e.m.Classes())
	}
	sites := len(schema.Columns)
	if e.set.Contacts != nil {
		a.known, a.knownFrom = touching(sites, e.set.Contacts), e.set.Name
	}
	var err error
	if a.distances != "" {
		a.knownFrom = a.distances
		if a.known, err = readFile(a.distances, func(f *os.File) (potts.Distances, error) { return potts.ReadDistances(f, a.distances, sites) }); err != nil {
			return err
		}
		if !a.known.Beyond(a.threshold) {
			return fmt.Errorf("-distances: no pair of %s is %g Å apart or more; list the distances of all pairs, not only of contacts", a.distances, a.threshold)
		}
	}
	if a.potts != "" {
		if a.other, err = readFile(a.potts, func(f *os.File) (*potts.Model, error) { return potts.Read(f, a.potts, sites, schema.Alphabet) }); err != nil {
			return err
		}
		a.other.ZeroSum()
	}
	return a.chooseUnits(e.m)
}

func readFile[T any](path string, read func(f *os.File) (T, error)) (x T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return x, err
	}
	defer f.Close()
	return read(f)
}

// touching returns distances that are 0 for the given pairs and infinite for all others.
func touching(sites int, pairs [][2]int) potts.Distances {
	d := make(potts.Distances, sites)
	for i := range d {
		d[i] = slices.Repeat([]float64{math.Inf(1)}, sites)
	}
	for _, p := range pairs {
		d[p[0]][p[1]], d[p[1]][p[0]] = 0, 0
	}
	return d
}

// chooseUnits sets the hidden units of the logo.
func (a *analysis) chooseUnits(m *rbm.RBM) error {
	if a.logos != "" {
		for _, text := range strings.Split(a.logos, ",") {
			j, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil || j < 0 || j >= m.Hidden() {
				return cli.Usagef("-logo-units: %.20q; the model has the hidden units 0 to %d", text, m.Hidden()-1)
			}
			a.units = append(a.units, j)
		}
		if len(a.units) > maxLogos {
			return cli.Usagef("-logo-units names %d hidden units; %d are drawn at most", len(a.units), maxLogos)
		}
		return nil
	}
	a.units = make([]int, m.Hidden())
	norm := make([]float64, m.Hidden())
	for j := range a.units {
		a.units[j] = j
		_, norm[j] = siteWeights(m, j)
	}
	slices.SortStableFunc(a.units, func(i, j int) int { return cmp.Compare(norm[j], norm[i]) })
	a.units = a.units[:min(len(a.units), logoDefault)]
	return nil
}

// siteWeights returns the weights of hidden unit j of a model of sequences in the zero-sum gauge, sites × letters, and
// their norm.
func siteWeights(m *rbm.RBM, j int) (all [][]float64, norm float64) {
	for _, g := range m.SoftmaxGroups() {
		w, mean := make([]float64, g.Units), 0.0
		for k := range w {
			w[k] = float64(m.Weight(g.First+k, j))
			mean += w[k] / float64(g.Units)
		}
		for k := range w {
			w[k] -= mean
			norm += w[k] * w[k]
		}
		all = append(all, w)
	}
	return all, math.Sqrt(norm)
}

// analyse computes the analysis and writes the folder of -analysis.
func (e *evaluation) analyse(ctx context.Context) error {
	a := e.analysis
	if a.folder == "" {
		return nil
	}
	if err := e.m.CheckBinaryHidden(); a.sequences && err != nil {
		return cli.Usagef("-analysis: %s has %v hidden units, and the effective couplings of sequences are those of binary ones; leave -analysis out", e.model.Path, e.m.HiddenKind())
	}
	if err := os.Mkdir(a.folder, 0o777); err != nil {
		return fmt.Errorf("-analysis: %w", err)
	}
	if a.sequences {
		if err := e.findContacts(ctx); err != nil {
			return err
		}
		if err := e.drawLogos(ctx); err != nil {
			return err
		}
	}
	if err := e.projectRows(ctx); err != nil || e.sites == nil {
		return err
	}
	s := e.sites
	return a.picture("statistics", plots.Agreements(
		plots.Agreement{Title: "Frequencies", X: "in the rows", Y: "in the samples", Rows: s.RowsOne, Samples: s.SamplesOne, Pearson: s.OnePearson, Slope: s.OneSlope},
		plots.Agreement{Title: "Frequencies of pairs", X: "in the rows", Y: "in the samples", Rows: s.RowsPair, Samples: s.SamplesPair, Pearson: s.PairPearson, Slope: s.PairSlope},
		plots.Agreement{Title: "Connected correlations", X: "in the rows", Y: "in the samples", Rows: s.RowsTwo, Samples: s.SamplesTwo, Pearson: s.TwoPearson, Slope: s.TwoSlope}))
}

func (a *analysis) picture(name string, page *plots.Page) error {
	a.written = append(a.written, name+".png")
	return cli.WritePicture(filepath.Join(a.folder, name+".png"), page)
}

// files lists the files that were written, or returns "".
func (a *analysis) files() string {
	if len(a.written) == 0 {
		return ""
	}
	return strings.Join(a.written, ", ") + " in " + a.folder
}

func (a *analysis) table(name string, lines [][]string) error {
	a.written = append(a.written, name+".csv")
	return atomicfile.Write(filepath.Join(a.folder, name+".csv"), cli.WriteCSV(lines))
}

// findContacts computes the effective couplings, predicts contacts from them, and writes contacts.csv and
// contacts.png.
func (e *evaluation) findContacts(ctx context.Context) (err error) {
	a := e.analysis
	bar := e.flags.NewProgress("effective couplings", "hidden units", int64(e.m.Hidden()))
	a.effective, err = potts.Effective(ctx, e.m, func(done int) { bar.Set(int64(done), "") })
	bar.Done()
	if errors.Is(err, rbm.ErrDiverged) {
		return fmt.Errorf("%s: %w", e.model.Path, err)
	}
	if err != nil {
		return err
	}
	c := &a.contacts
	var ranked [][2]int
	c.norms, c.scores, ranked = scoresOf(a.effective)
	for _, pair := range ranked[:min(len(ranked), a.effective.Sites)] {
		c.Top = append(c.Top, [2]int{pair[0] + 1, pair[1] + 1})
	}
	if a.known != nil {
		c.Known = a.knownFrom
		if a.distances != "" {
			c.Threshold = a.threshold
		}
		c.ppv, c.Contacts = a.known.Precision(ranked, a.threshold)
		c.Precision = precisions(c.ppv, a.effective.Sites)
	}
	logWeights, others := make([]float64, e.n), make([]float64, e.n)
	levels := make([]int32, a.effective.Sites)
	weigh := func(p *potts.Model) float64 {
		for r := range logWeights {
			e.set.Schema.Levels(levels, e.v, r)
			logWeights[r], others[r] = p.LogWeight(levels), -e.free[r]
		}
		return stat.Correlation(logWeights, others, e.set.WeightsOf(e.index))
	}
	c.PairwisePearson = weigh(a.effective)
	if a.other != nil {
		_, scores, rankedToo := scoresOf(a.other)
		a.compared = &comparison{File: a.potts, ScoresPearson: stat.Correlation(scores.Upper(), c.scores.Upper(), nil),
			CouplingsPearson: stat.Correlation(slices.Concat(a.other.Couplings...), slices.Concat(a.effective.Couplings...), nil), WeightsPearson: weigh(a.other)}
		if a.known != nil {
			ppv, _ := a.known.Precision(rankedToo, a.threshold)
			a.compared.Precision = precisions(ppv, a.other.Sites)
		}
	}
	if err := a.table("contacts", a.contactLines(ranked)); err != nil {
		return err
	}
	return a.picture("contacts", a.contactMap(ranked).Page())
}

// scoresOf ranks the pairs of sites at least contactApart apart by their scores, the largest first. norms are the
// Frobenius norms of the couplings of p without the gap letter, and scores are the norms after the average product
// correction.
func scoresOf(p *potts.Model) (norms, scores potts.Scores, ranked [][2]int) {
	norms = p.Frobenius(1)
	scores = norms.Corrected()
	return norms, scores, scores.Ranked(contactApart)
}

// precisions returns the precision of the first L/10, L/5, L/2 and L pairs of L sites. Element n of ppv has
// the precision of the first n+1 pairs of known distance. Where fewer distances are known, the result is
// shorter.
func precisions(ppv []float64, sites int) (all []precision) {
	for _, part := range []int{10, 5, 2, 1} {
		n := max(1, sites/part)
		if n > len(ppv) {
			break
		}
		name := "L"
		if part > 1 {
			name += fmt.Sprintf("/%d", part)
		}
		all = append(all, precision{name, n, ppv[n-1]})
	}
	return all
}

// precisionText writes precisions, with the largest possible value if that is below 1. contacts is the number of
// known contacts. The text is "" if all is empty.
func precisionText(all []precision, contacts int) string {
	var parts []string
	for _, p := range all {
		most := ""
		if contacts < p.N {
			most = fmt.Sprintf("; at most %.3f", float64(contacts)/float64(p.N))
		}
		parts = append(parts, fmt.Sprintf("%.3f of %d (%s%s)", p.PPV, p.N, p.Pairs, most))
	}
	return strings.Join(parts, ", ")
}

// contactLines returns the lines of contacts.csv.
func (a *analysis) contactLines(ranked [][2]int) [][]string {
	lines := [][]string{{"i", "j", "score", "norm"}}
	if a.known != nil {
		lines[0] = append(lines[0], "contact")
	}
	if a.distances != "" {
		lines[0] = append(lines[0], "distance")
	}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }
	for _, p := range ranked {
		line := []string{strconv.Itoa(p[0] + 1), strconv.Itoa(p[1] + 1), number(a.contacts.scores[p[0]][p[1]]), number(a.contacts.norms[p[0]][p[1]])}
		if a.known != nil {
			d, contact, text := a.known[p[0]][p[1]], "0", ""
			switch {
			case math.IsNaN(d):
				contact = ""
			case d < a.threshold:
				contact = "1"
			}
			if !math.IsNaN(d) {
				text = number(d)
			}
			line = append(line, contact)
			if a.distances != "" {
				line = append(line, text)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// contactMap returns the content of contacts.png.
func (a *analysis) contactMap(ranked [][2]int) plots.ContactMap {
	sites := a.effective.Sites
	m := plots.ContactMap{Scores: a.contacts.scores, Predicted: ranked[:min(len(ranked), sites)], Best: float64(a.contacts.Contacts),
		Touch: func(p [2]int) (touches, known bool) {
			if a.known == nil {
				return false, false
			}
			d := a.known[p[0]][p[1]]
			return d < a.threshold, !math.IsNaN(d)
		}}
	if a.known == nil {
		return m
	}
	m.Precision = a.contacts.ppv[:min(len(a.contacts.ppv), sites)]
	for i := range sites {
		for j := i + contactApart; j < sites; j++ {
			if a.known[i][j] < a.threshold {
				m.Contacts = append(m.Contacts, [2]int{i, j})
			}
		}
	}
	return m
}

// drawLogos writes logo.png, the weights of hidden units as letters.
func (e *evaluation) drawLogos(ctx context.Context) error {
	a := e.analysis
	mean, total := make([]float64, e.m.Hidden()), e.set.TotalWeight()
	err := e.eachChunk(ctx, "hidden units", func(lo, hi int) {
		h := rbm.NewMatrix(hi-lo, e.m.Hidden())
		e.m.HiddenMean(h, e.v.Slice(lo, hi))
		for r := range h.Rows {
			w := e.set.Weight(e.index[lo+r]) / total
			for j, p := range h.Row(r) {
				mean[j] += w * float64(p)
			}
		}
	})
	if err != nil {
		return err
	}
	var units []plots.LogoUnit
	for _, j := range a.units {
		w, norm := siteWeights(e.m, j)
		units = append(units, plots.LogoUnit{Title: fmt.Sprintf("Hidden unit %d: norm %.3g, on in %.3g %% of the rows", j, norm, 100*mean[j]), Weights: w})
	}
	return a.picture("logo", plots.Logos(e.set.Schema.Alphabet, units))
}

// projectRows writes pca.csv and pca.png: the rows and the samples along the first two principal components of the
// rows.
func (e *evaluation) projectRows(ctx context.Context) error {
	a := e.analysis
	c, err := train.PrincipalComponents(ctx, e.set, 2)
	if err != nil {
		return err
	}
	lines := [][]string{{"set", "row", "pc1", "pc2"}}
	name := func(k int) string {
		return fmt.Sprintf("component %d (%.1f %% of the variance)", k+1, 100*c.Variances[k]/c.Total)
	}
	left, right, low, high := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	var charts []plots.Chart
	add := func(what, title string, set *data.Set, ink int) {
		xy := c.Project(set)
		for r, x := range xy[0] {
			y := xy[1][r]
			left, right, low, high = min(left, x), max(right, x), min(low, y), max(high, y)
			lines = append(lines, []string{what, strconv.Itoa(r), strconv.FormatFloat(x, 'g', 7, 64), strconv.FormatFloat(y, 'g', 7, 64)})
		}
		charts = append(charts, plots.Chart{Title: title, X: name(0), Y: name(1), Lines: []plots.Line{{X: xy[0], Y: xy[1], Apart: true, Color: ink}}})
	}
	add("rows", fmt.Sprintf("Rows of %s", e.set.Name), e.set, 1)
	if e.sampled != nil {
		add("samples", fmt.Sprintf("Samples of %s", e.samples), e.sampled, 2)
	}
	roomX, roomY := 0.05*(right-left), 0.05*(high-low)
	for k := range charts {
		charts[k].Left, charts[k].Right, charts[k].Low, charts[k].High = left-roomX, right+roomX, low-roomY, high+roomY
	}
	if err := a.table("pca", lines); err != nil {
		return err
	}
	return a.picture("pca", plots.Charts(charts, 2, 13*vg.Centimeter, 11*vg.Centimeter))
}

// record adds the results of the analysis to rec.
func (a *analysis) record(rec *cli.Record) {
	if a.folder == "" {
		return
	}
	if a.sequences {
		c := a.contacts
		var top []string
		for _, p := range c.Top[:min(5, len(c.Top))] {
			top = append(top, fmt.Sprintf("%d–%d", p[0], p[1]))
		}
		rec.Show("contacts", "contacts predicted", c, strings.Join(top, ", ")+", …")
		if c.Known != "" {
			rec.Say("  precision", fmt.Sprintf("%s; %d of the pairs at %d sites or more are in contact (%s)", precisionText(c.Precision, c.Contacts), c.Contacts, contactApart, c.Known))
		}
		if cli.Finite(c.PairwisePearson) {
			rec.Say("  effective couplings", fmt.Sprintf("Pearson %.4f of the pairwise part of −F with −F, over the rows", c.PairwisePearson))
		}
	}
	if x := a.compared; x != nil {
		number := func(x float64) string {
			if !cli.Finite(x) {
				return "unknown"
			}
			return fmt.Sprintf("%.4f", x)
		}
		text := fmt.Sprintf("Pearson of couplings %s, of scores %s, of log weights with −F %s", number(x.CouplingsPearson), number(x.ScoresPearson), number(x.WeightsPearson))
		if p := precisionText(x.Precision, a.contacts.Contacts); p != "" {
			text += "; precision " + p
		}
		rec.Show("potts", "model of "+x.File, x, text)
	}
	rec.Add("analysis", a.folder)
}
