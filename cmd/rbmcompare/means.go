package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"gorbm/cmd/cli"
	"gorbm/train"
)

// A group is runs that differ in the setting of -over alone.
type group struct {
	Settings map[string]string   `json:"settings"` // in which groups differ
	Runs     []string            `json:"runs"`
	Metrics  map[string]overRuns `json:"metrics"` // last values
	Seconds  overRuns            `json:"seconds"`
}

// overRuns is a mean over the runs of a group that have a number, with its standard
// deviation, which one run does not have.
type overRuns struct {
	Mean *float64 `json:"mean"`
	SD   *float64 `json:"sd,omitempty"`
	N    int      `json:"n"`
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

// groupRuns puts finished runs that differ in the setting over alone into groups, the
// best by the metric first. It returns the names of the other settings that differ.
func groupRuns(all []*finding, over, by string, differ []string) (groups []group, others []string, err error) {
	if !slices.Contains(differ, over) {
		return nil, nil, cli.Usagef("-over is %q; the runs differ in %s", over, cmp.Or(strings.Join(differ, ", "), "nothing"))
	}
	others = slices.DeleteFunc(slices.Clone(differ), func(name string) bool { return name == over })
	members := map[string][]*finding{}
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
	column, _ := train.ColumnOf(by)
	slices.SortStableFunc(groups, func(a, b group) int {
		x, y := a.Metrics[by].Mean, b.Metrics[by].Mean
		switch {
		case by == "seconds":
			return cmp.Compare(*a.Seconds.Mean, *b.Seconds.Mean)
		case x == nil || y == nil:
			return cmp.Compare(count(x == nil), count(y == nil))
		case better(column, *x, *y):
			return -1
		}
		return count(*x != *y)
	})
	return groups, others, nil
}

// grouped returns the number of runs in groups.
func grouped(groups []group) (n int) {
	for _, g := range groups {
		n += len(g.Runs)
	}
	return n
}

// groupLines returns the groups as a table: means ± standard deviations.
func groupLines(groups []group, by string, others []string) [][]string {
	metric := by != "" && by != "path" && by != "seconds"
	head := slices.Clone(others)
	if metric {
		head = append(head, by)
	}
	lines := [][]string{append(head, "runs", "seconds")}
	for _, g := range groups {
		var line []string
		for _, name := range others {
			line = append(line, cmp.Or(g.Settings[name], none))
		}
		if metric {
			line = append(line, g.Metrics[by].String())
		}
		lines = append(lines, append(line, strconv.Itoa(len(g.Runs)), fmt.Sprintf("%.3g", *g.Seconds.Mean)))
	}
	return lines
}

// String prints the mean with two digits of its standard deviation.
func (s overRuns) String() string {
	switch {
	case s.Mean == nil:
		return none
	case s.SD == nil || !(*s.SD > 0):
		return fmt.Sprintf("%.5g", *s.Mean)
	}
	return cli.PlusMinus(*s.Mean, *s.SD, cli.Decimals(*s.SD))
}

// meanLines returns the groups as the lines of a CSV file: of each metric the mean, the
// standard deviation and the number of runs that have it.
func meanLines(groups []group, others []string) [][]string {
	known := map[string]bool{}
	for _, g := range groups {
		for name := range g.Metrics {
			known[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	head := slices.Clone(others)
	for _, name := range append(names, "seconds") {
		head = append(head, name, name+"_sd", name+"_runs")
	}
	lines := [][]string{append(head, "runs")}
	for _, g := range groups {
		var line []string
		for _, name := range others {
			line = append(line, g.Settings[name])
		}
		for _, name := range names {
			m := g.Metrics[name]
			line = append(line, field(m.Mean), field(m.SD), strconv.Itoa(m.N))
		}
		line = append(line, field(g.Seconds.Mean), field(g.Seconds.SD), strconv.Itoa(g.Seconds.N))
		lines = append(lines, append(line, strconv.Itoa(len(g.Runs))))
	}
	return lines
}
