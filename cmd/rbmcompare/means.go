package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/cmd/cli"
	"gorbm/train"
	"gorbm/train/plots"
)

// A group is a set of runs that differ only in the setting of -over.
type group struct {
	Settings map[string]string   `json:"settings"` // settings in which groups differ
	Runs     []string            `json:"runs"`
	Metrics  map[string]overRuns `json:"metrics"` // last values
	Seconds  overRuns            `json:"seconds"`
}

// overRuns is the mean and the standard deviation of a number over the runs of a group that
// have it.
type overRuns struct {
	Mean *float64 `json:"mean"`         // nil for no runs
	SD   *float64 `json:"sd,omitempty"` // nil for fewer than two runs
	N    int      `json:"n"`            // number of runs
}

func meanOver(x []float64) (s overRuns) {
	if s.N = len(x); s.N == 0 {
		return s
	}
	mean, sd := stat.MeanStdDev(x, nil)
	s.Mean = &mean
	if s.N > 1 {
		s.SD = &sd
	}
	return s
}

// groupRuns puts finished runs that differ only in the setting over into groups. It sorts
// the groups by the column by, the best first. others are the names of the other settings
// in differ.
func groupRuns(all []*runSummary, over, by string, differ []string) (groups []group, others []string, err error) {
	if !slices.Contains(differ, over) {
		return nil, nil, cli.Usagef("-over is %q; the runs differ in %s", over, cmp.Or(strings.Join(differ, ", "), "nothing"))
	}
	others = slices.DeleteFunc(slices.Clone(differ), func(name string) bool { return name == over })
	members := map[string][]*runSummary{}
	var keys []string
	for _, r := range all {
		if !r.Finished {
			continue
		}
		var values []string
		for _, name := range others {
			values = append(values, r.Settings[name])
		}
		key := strings.Join(values, "\x00")
		if members[key] == nil {
			keys = append(keys, key)
		}
		members[key] = append(members[key], r)
	}
	for _, key := range keys {
		g := group{Settings: map[string]string{}, Metrics: map[string]overRuns{}}
		metrics, seconds := map[string][]float64{}, []float64{}
		for _, r := range members[key] {
			g.Runs = append(g.Runs, r.Path)
			seconds = append(seconds, r.Seconds)
			for name, m := range r.Metrics {
				if m.Last != nil {
					metrics[name] = append(metrics[name], *m.Last)
				}
			}
		}
		for _, name := range others {
			g.Settings[name] = members[key][0].Settings[name]
		}
		for name, x := range metrics {
			g.Metrics[name] = meanOver(x)
		}
		g.Seconds = meanOver(seconds)
		groups = append(groups, g)
	}
	if len(groups) == 0 {
		return nil, nil, fmt.Errorf("-over: no run is finished")
	}
	if by == "seconds" {
		slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(*a.Seconds.Mean, *b.Seconds.Mean) })
	} else {
		bestFirst(groups, by, func(g group) *float64 { return g.Metrics[by].Mean })
	}
	return groups, others, nil
}

// groupsChart returns a chart of the mean of a metric over the runs of a group, for the best groups, with
// bands of ± a standard deviation. It shows steps at which all runs of the group measured the metric.
func groupsChart(groups []group, all []*runSummary, over, by string, others []string) plots.Chart {
	c, scale := metricChart(by)
	drawn := min(len(groups), drawnRuns)
	c.Title = fmt.Sprintf("Means ± standard deviations over %s, the best %s by %s", over, cli.Count(drawn, "setting"), metricWords(by))
	others = slices.DeleteFunc(slices.Clone(others), func(name string) bool { // a setting that some runs lack follows from other settings
		return slices.ContainsFunc(groups, func(g group) bool { return g.Settings[name] == "" })
	})
	for i, g := range groups[:drawn] {
		at := map[float64][]float64{} // from a step to the values of all runs
		for _, r := range all {
			column := slices.Index(r.columns, by)
			if column < 0 || !slices.Contains(g.Runs, r.Path) {
				continue
			}
			for _, row := range r.rows {
				at[row[0]] = append(at[row[0]], scale*row[column])
			}
		}
		l := plots.Line{Name: cmp.Or(settingsWords(g.Settings, others[:min(len(others), namedSettings)]), "all runs"), Dots: i%2 == 1, Dashed: i >= len(plots.Colors)}
		for _, step := range slices.Sorted(maps.Keys(at)) {
			m := meanOver(at[step])
			if m.N < len(g.Runs) || math.IsNaN(*m.Mean) {
				continue
			}
			sd := 0.0
			if m.SD != nil {
				sd = *m.SD
			}
			l.X, l.Y = append(l.X, step), append(l.Y, *m.Mean)
			l.Low, l.High = append(l.Low, *m.Mean-sd), append(l.High, *m.Mean+sd)
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// grouped returns the number of runs in all groups.
func grouped(groups []group) (n int) {
	for _, g := range groups {
		n += len(g.Runs)
	}
	return n
}

// groupRecords returns a record for each group. JSON and CSV files have the mean, the standard deviation and
// the number of runs of every metric; text has only the metric by which the groups are sorted.
func groupRecords(groups []group, by string, others []string) (records []cli.Record) {
	known := map[string]bool{}
	for _, g := range groups {
		for name := range g.Metrics {
			known[name] = true
		}
	}
	for _, g := range groups {
		var rec cli.Record
		for _, name := range others {
			column := settingColumn(name, known, "seconds", "runs")
			rec.Show(column, column, g.Settings[name], cmp.Or(g.Settings[name], none))
		}
		add := func(name string, m overRuns) {
			label := ""
			if name == by && by != "seconds" {
				label = by + ", mean ± sd"
			}
			rec.Show(name, label, m.Mean, m.text(name))
			rec.Add(name+"_sd", m.SD)
			rec.Add(name+"_runs", m.N)
		}
		for _, name := range slices.Sorted(maps.Keys(known)) {
			add(name, g.Metrics[name])
		}
		add("seconds", g.Seconds)
		rec.Show("runs", "runs", len(g.Runs), strconv.Itoa(len(g.Runs)))
		rec.Say("seconds", fmt.Sprintf("%.3g", *g.Seconds.Mean))
		records = append(records, rec)
	}
	return records
}

// text writes the mean and standard deviation of the column name of metrics.csv, to two digits of the
// standard deviation. Classification errors are in per cent.
func (s overRuns) text(name string) string {
	switch {
	case s.Mean == nil:
		return none
	case s.SD == nil || !(*s.SD > 0):
		return inWords(name, *s.Mean)
	}
	if c, ok := train.ColumnOf(name); ok && c.Scale == 100 {
		return cli.PlusMinus(100**s.Mean, 100**s.SD, cli.Decimals(100**s.SD)) + " %"
	}
	return cli.PlusMinus(*s.Mean, *s.SD, cli.Decimals(*s.SD))
}
