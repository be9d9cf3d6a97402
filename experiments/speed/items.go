package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"path/filepath"

	"gorbm/rbm"
	"gorbm/train"
)

// The sections of the output, in order.
const (
	updateSection   = "update"
	ptSection       = "pt"
	insSection      = "ins"
	statesSection   = "states"
	gaussianSection = "gaussian"
	labelsSection   = "labels"
	classifySection = "classify"
	aisSection      = "ais"
	exactSection    = "exact"
	scalingSection  = "scaling"
	recipesSection  = "recipes"
	memorySection   = "memory"
)

var sections = []string{updateSection, ptSection, insSection, statesSection, gaussianSection, labelsSection, classifySection, aisSection, exactSection, scalingSection, recipesSection, memorySection}

// An item is one race.
type item struct {
	section    string
	name       string
	operation  string // the timed operation: update, pass or run
	job        job
	fresh      string   // file to which scikit-learn writes the model it starts from
	checkSteps int      // updates of the check that results agree, after the same number of warm-up updates; 0: no check
	programs   []string // nil: all programs that can do this kind of job
}

const (
	inputs = 784 // inputs of MNIST and of the font digits
	hidden = 500
	// timedRate is the learning rate of timed updates. It is small, so that the model,
	// and the fraction of units that are on, hardly change during a race.
	timedRate = 0.001
	// trainingRate is the learning rate at which the models are trained before a race.
	trainingRate = 0.05
	checkSteps   = 100
)

// betas are the inverse temperatures of the infinite-swapping paper (section 4.2.6).
var betas = []float64{1, 1. / 2, 1. / 3, 1. / 4, 1. / 5}

// recipes are the plain update and common additions to it.
var recipes = []struct {
	name string
	recipe
}{
	{"plain", recipe{}},
	{"centred", recipe{Center: 0.01}},
	{"momentum", recipe{Momentum: 0.9}},
	{"weight decay", recipe{L2: 1e-4}},
	{"averaged", recipe{Average: 0.999}},
	{"momentum, weight decay, averaged", recipe{Momentum: 0.9, L2: 1e-4, Average: 0.999}},
	{"20 hidden units on", recipe{Constraint: "hidden=20"}},
}

// items returns the races of a section, and writes the models that they need. The section
// memory has none.
func (f *files) items(section string) (list []item) {
	add := func(it item, name string, args ...any) {
		it.section, it.name = section, fmt.Sprintf(name, args...)
		list = append(list, it)
	}
	const size = "%d × %d, batch %d"
	switch section {
	case updateSection:
		for _, batch := range []int{10, 100} {
			add(f.update("pcd", inputs, hidden, batch), "PCD-1, "+size, inputs, hidden, batch)
		}
	case ptSection:
		add(f.update("pt", inputs, hidden, 10), "parallel tempering, %d temperatures × 10 chains, "+size, len(betas), inputs, hidden, 10)
	case insSection:
		add(f.update("ins", inputs, hidden, 10), "infinite swapping, %d temperatures × 10 chains, "+size, len(betas), inputs, hidden, 10)
	case statesSection:
		const sites, states, hidden, batch = 100, 21, 200, 500
		s := f.sequences()
		if s.err != nil {
			f.err = s.err
			return nil
		}
		it := s.update("pcd", sites*states, hidden, batch)
		it.job.States, it.checkSteps, it.programs = states, checkSteps/4, []string{gorbm, torch}
		add(it, "PCD-1, %d sites of %d states × %d, batch %d", sites, states, hidden, batch)
		f.err = s.err
	case gaussianSection:
		for _, batch := range []int{10, 100} {
			it := f.real().update("pcd", inputs, hidden, batch)
			it.programs = []string{gorbm, numPy, torch}
			add(it, "PCD-1, %d Gaussian units × %d, batch %d", inputs, hidden, batch)
			f.err = cmp.Or(f.err, f.reals.err)
		}
	case labelsSection:
		add(f.discriminative(hidden, 10), "log p(y|x), "+size+", %d classes", inputs, hidden, 10, len(f.set.Classes))
	case classifySection:
		classes := len(f.set.Classes)
		j := f.job("classify", inputs+classes, hidden, classes)
		add(item{job: j, operation: "pass"}, "p(y|x) of %d images, %d classes, %d hidden units", j.Rows, classes, hidden)
	case aisSection:
		j := f.job("ais", inputs, hidden, 0)
		j.Chains, j.Temperatures, j.Base = 100, 1000, f.base(inputs)
		if f.quick {
			j.Temperatures = 200
		}
		add(item{job: j, operation: "run"}, "AIS, %d × %d, %d chains × %d temperatures", inputs, hidden, j.Chains, j.Temperatures)
	case exactSection:
		units := 20
		if f.quick {
			units = 16
		}
		add(item{job: f.job("exact", inputs, units, 0), operation: "run"}, "exact log Z, %d × %d", inputs, units)
	case scalingSection:
		shapes := [][3]int{{inputs, hidden, 1}, {inputs, hidden, 10}, {inputs, hidden, 50}, {inputs, hidden, 100}, {inputs, hidden, 300}, {inputs, hidden, 1000},
			{inputs, 2048, 100}, {inputs, 4096, 100}, {inputs, 16384, 100}, {4096, 4096, 100}}
		if f.quick {
			shapes = [][3]int{{inputs, hidden, 10}, {inputs, hidden, 100}, {inputs, 2048, 100}}
		}
		for _, s := range shapes {
			it := f.update("pcd", s[0], s[1], s[2])
			it.checkSteps = 0 // the section updates checks the same code
			it.programs = []string{gorbm, numPy, torch}
			add(it, size, s[0], s[1], s[2])
		}
	case recipesSection:
		for _, batch := range []int{10, 100} {
			for _, r := range recipes {
				it := f.update("pcd", inputs, hidden, batch)
				it.job.recipe, it.checkSteps, it.programs = r.recipe, 0, []string{gorbm}
				add(it, "%s, batch %d", r.name, batch)
			}
			if f.quick {
				break
			}
		}
	}
	return list
}

// update returns a race of updates by the estimator kind, with one chain, or one group
// of chains, for each row of the batch.
func (f *files) update(kind string, visible, hidden, batch int) item {
	j := f.job(kind, visible, hidden, 0)
	j.Batch, j.Chains, j.Rate = batch, batch, timedRate
	if kind != "pcd" {
		j.Betas = betas
	}
	return item{job: j, operation: "update", fresh: filepath.Join(f.dir, "fresh"), checkSteps: checkSteps}
}

// discriminative returns a race of updates along the gradient of log p(y|x).
func (f *files) discriminative(hidden, batch int) item {
	classes := len(f.set.Classes)
	j := f.job("discriminative", inputs+classes, hidden, classes)
	j.Batch, j.Rate, j.Labels = batch, timedRate, f.labels()
	return item{job: j, operation: "update", checkSteps: checkSteps}
}

// job returns a job of this kind on all rows. It starts from a model that is trained
// for trainedSteps.
func (f *files) job(kind string, visible, hidden, classes int) job {
	return job{
		Kind: kind, Visible: visible, Hidden: hidden, Classes: classes, Seed: 1, Gaussian: f.set.Grey.Rows > 0,
		Data: f.rows(visible - classes), Rows: f.set.Len(),
		Model: f.model(visible, hidden, classes, trainedSteps(hidden)),
	}
}

// trainedSteps returns the number of updates that train a model before a race. After 500
// the fraction of units that are on is near its usual value. Large models have fewer, because
// their updates take long.
func trainedSteps(hidden int) int {
	if hidden > 1000 {
		return 100
	}
	return 500
}

// base writes the base of annealed importance sampling: the visible biases at which independent
// units have the means of the data.
func (f *files) base(visible int) string {
	return f.make("base", func() ([]byte, error) {
		m := rbm.New(visible, 1, 0, rbm.Softmax)
		return binary.Append(nil, binary.LittleEndian, train.Base(m, f.set).VisibleBias)
	})
}
