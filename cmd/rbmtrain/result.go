package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"gorbm/negphase"
	"gorbm/train"
)

// A result is what the run came to.
type result struct {
	steps   int
	elapsed time.Duration // in steps alone
	last    train.Evaluation
	total   negphase.Info
}

// columns are those of metrics.csv.
func (p *plan) columns() []string {
	c := []string{"step", "seconds"}
	for _, m := range p.metrics {
		c = append(c, m.Values...)
	}
	for k := range p.pairs() {
		c = append(c, fmt.Sprintf("swap_%d_%d", k+1, k+2))
	}
	if p.pairs() > 0 {
		c = append(c, "round_trips")
	}
	if p.settings.Negative.Kind == "ins" {
		c = append(c, "off_weight")
	}
	return c
}

// pairs returns the number of neighbouring temperatures of the ladder.
func (p *plan) pairs() int {
	if !negphase.Has(p.settings.Negative.Kind, "tau") {
		return 0
	}
	return len(p.settings.Negative.Temperatures) - 1
}

// row returns the evaluation as a row of metrics.csv. Rates are those since
// the row before; at step 0, where there are none, they are 0.
func (p *plan) row(e train.Evaluation, elapsed time.Duration) []float64 {
	row := []float64{float64(e.Step), elapsed.Seconds()}
	for _, v := range e.Values {
		row = append(row, v.Value)
	}
	rates := e.Info.SwapRates()
	if rates == nil {
		rates = make([]float64, p.pairs())
	}
	row = append(row, rates...)
	if p.pairs() > 0 {
		row = append(row, float64(e.Info.RoundTrips))
	}
	if p.settings.Negative.Kind == "ins" {
		off, _ := e.Info.OffWeight()
		row = append(row, off)
	}
	return row
}

// latest is the metric that the progress bar shows: the one that matters most
// of those measured.
func (p *plan) latest(e train.Evaluation) string {
	for _, show := range []struct {
		name, text string
		percent    bool
	}{
		{"log_likelihood_test", "log-likelihood %.4g", false},
		{"log_likelihood_train", "log-likelihood %.4g", false},
		{"error_test", "test error %.2f %%", true},
		{"error_train", "error %.2f %%", true},
		{"pseudo_likelihood_test", "pseudo-likelihood %.4g", false},
		{"pseudo_likelihood_train", "pseudo-likelihood %.4g", false},
	} {
		if v, ok := e.Value(show.name); ok {
			if show.percent {
				v *= 100
			}
			return fmt.Sprintf(show.text, v)
		}
	}
	return "training"
}

// exchangeFloor is the rate of exchange of the coldest pair below which a
// ladder is called broken: at one exchange in a hundred attempts the replicas
// above serve a chain for nothing.
const exchangeFloor = 0.01

// warning says in plain words that the ladder does not exchange, or "".
func (r *result) warning(p *plan) string {
	rates := r.total.SwapRates()
	if rates == nil {
		return ""
	}
	rate, what := rates[0], "swaps in"
	if off, ok := r.total.OffWeight(); ok {
		rate, what = off, "puts weight on other particles than the coldest in"
	}
	if rate >= exchangeFloor {
		return ""
	}
	t := p.settings.Negative.Temperatures
	return fmt.Sprintf("the ladder does not exchange: the coldest pair (temperatures %v and %v) %s %s of attempts, so %s is pcd at %d times the cost; put temperatures closer together",
		t[0], t[1], what, percent(rate), p.settings.Negative.Kind, len(t))
}

func percent(x float64) string {
	return strconv.FormatFloat(100*x, 'g', 3, 64) + " %"
}

// jsonResult is the JSON object on standard output.
type jsonResult struct {
	Steps          int                `json:"steps"`
	Seconds        float64            `json:"seconds"`
	StepsPerSecond float64            `json:"steps_per_second"`
	Metrics        map[string]float64 `json:"metrics"`
	Law            *float64           `json:"law_log_likelihood_train,omitempty"`
	SwapRates      []float64          `json:"swap_rates,omitempty"`
	RoundTrips     *int64             `json:"round_trips,omitempty"`
	OffWeight      *float64           `json:"off_weight,omitempty"`
	Warnings       []string           `json:"warnings,omitempty"`
	Data           string             `json:"data"`
	Binarize       string             `json:"binarize"`
	NegPhase       string             `json:"negphase"`
	Model          string             `json:"model"`
	Folder         string             `json:"folder"`
}

func (r *result) print(p *plan, folder *train.Folder, stdout, stderr io.Writer) error {
	warning := r.warning(p)
	if p.json {
		s := jsonResult{
			Steps: r.steps, Seconds: r.elapsed.Seconds(), StepsPerSecond: float64(r.steps) / r.elapsed.Seconds(),
			Metrics: map[string]float64{}, SwapRates: r.total.SwapRates(),
			Data: p.train.Name, Binarize: p.train.Binarize, NegPhase: p.settings.Negative.String(),
			Model: folder.Path(train.ModelFile), Folder: folder.Dir,
		}
		for _, v := range r.last.Values {
			s.Metrics[v.Name] = v.Value
		}
		if law, ok := train.LawLikelihood(p.train, p.model.Classes > 0); ok {
			s.Law = &law
		}
		if p.pairs() > 0 {
			s.RoundTrips = &r.total.RoundTrips
		}
		if off, ok := r.total.OffWeight(); ok {
			s.OffWeight = &off
		}
		if warning != "" {
			s.Warnings = []string{warning}
		}
		return json.NewEncoder(stdout).Encode(s)
	}
	if !p.quiet {
		r.report(p, folder, stdout)
	}
	if warning != "" {
		fmt.Fprintf(stderr, "rbmtrain: warning: %s\n", warning)
	}
	return nil
}

// report prints the closing lines.
func (r *result) report(p *plan, folder *train.Folder, w io.Writer) {
	fmt.Fprintf(w, "%d steps in %.3g s, %.4g steps/s\n", r.steps, r.elapsed.Seconds(), float64(r.steps)/r.elapsed.Seconds())
	if v, ok := r.last.Value("error_train"); ok {
		fmt.Fprintf(w, "classification error: train %s", percent(v))
		if v, ok := r.last.Value("error_test"); ok {
			fmt.Fprintf(w, ", test %s", percent(v))
		}
		mean, _ := r.last.Value("accuracy_mean")
		fmt.Fprintf(w, "; mean log p(y|x) %.4g\n", mean)
	}
	if v, ok := r.last.Value("log_likelihood_train"); ok {
		fmt.Fprintf(w, "exact log-likelihood: train %.5g", v)
		if law, ok := train.LawLikelihood(p.train, p.model.Classes > 0); ok {
			fmt.Fprintf(w, " (the law of the data scores %.5g on the same rows)", law)
		}
		if v, ok := r.last.Value("log_likelihood_test"); ok {
			fmt.Fprintf(w, ", test %.5g", v)
		}
		fmt.Fprintf(w, " nats (%s)\n", p.train.Binarize)
	}
	if v, ok := r.last.Value("pseudo_likelihood_train"); ok {
		fmt.Fprintf(w, "pseudo-log-likelihood: train %.5g", v)
		if v, ok := r.last.Value("pseudo_likelihood_test"); ok {
			fmt.Fprintf(w, ", test %.5g", v)
		}
		fmt.Fprintf(w, " nats (%s; a sample of rows)\n", p.train.Binarize)
	}
	if rates := r.total.SwapRates(); rates != nil {
		var s []string
		t := p.settings.Negative.Temperatures
		for k, rate := range rates {
			s = append(s, fmt.Sprintf("%v–%v %s", t[k], t[k+1], percent(rate)))
		}
		fmt.Fprintf(w, "exchange between temperatures: %s; %d round trips\n", strings.Join(s, ", "), r.total.RoundTrips)
	}
	if off, ok := r.total.OffWeight(); ok {
		fmt.Fprintf(w, "weight of the estimate off the coldest particle: %s\n", percent(off))
	}
	fmt.Fprintf(w, "%s: %s\n", folder.Dir, strings.Join([]string{train.ConfigFile, train.MetricsFile, train.ModelFile, train.FiltersFile, train.SamplesFile}, " "))
}
