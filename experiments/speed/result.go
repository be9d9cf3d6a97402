package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/chains"
)

// A Result has all results of a run. It is the JSON object.
type Result struct {
	Version    string            `json:"version"`
	Kernels    string            `json:"kernels"`
	Processors int               `json:"processors"`
	Data       string            `json:"data"`
	Density    float64           `json:"density"`
	Programs   map[string]string `json:"programs"` // version by program
	Items      []Item            `json:"items"`
	Memory     []Memory          `json:"memory"`
	Warnings   []string          `json:"warnings"`
}

// An Item has the results of a race.
type Item struct {
	Section   string   `json:"section"`
	Name      string   `json:"name"`
	Operation string   `json:"operation"` // timed operation
	Job       job      `json:"job"`
	Entries   []Entry  `json:"entries"`
	Ratios    []Ratio  `json:"ratios"`
	Warnings  []string `json:"warnings,omitempty"`
}

// An Entry has the times of a program with a number of threads.
type Entry struct {
	Program string    `json:"program"`
	Threads string    `json:"threads"`
	Count   int       `json:"count"`
	Times   int       `json:"times"`   // number of runs in a turn
	Seconds []float64 `json:"seconds"` // seconds of one run, by round
	Median  float64   `json:"median"`
	Least   float64   `json:"least"`
	Most    float64   `json:"most"`
}

// A Ratio is the time of a peer divided by that of gorbm: the ratio of the medians, each with its
// best number of threads, and its range over rounds. On a busy machine the least times are more
// reliable.
type Ratio struct {
	Program   string  `json:"program"` // name of the peer
	Threads   string  `json:"threads"` // best number of threads of the peer
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	OneThread float64 `json:"one_thread"` // ratio of the medians with one thread each
	Least     float64 `json:"least"`      // ratio of the least times, with any numbers of threads
}

// A Memory is the peak memory of a program that trained.
type Memory struct {
	Program string `json:"program"`
	Bytes   int64  `json:"bytes"`
}

// sum sets the median and the range of the times.
func (e *Entry) sum() {
	sorted := slices.Sorted(slices.Values(e.Seconds))
	n := len(sorted)
	e.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	e.Least, e.Most = sorted[0], sorted[len(sorted)-1]
}

// fastest returns the entry of the program with the least median; nil if there is
// none. If count is not 0, only entries with this number of threads count.
func (it *Item) fastest(program string, count int) (best *Entry) {
	for i := range it.Entries {
		e := &it.Entries[i]
		if e.Program == program && (count == 0 || e.Count == count) && (best == nil || e.Median < best.Median) {
			best = e
		}
	}
	return best
}

// least returns the program's least time.
func (it *Item) least(program string) float64 {
	least := math.Inf(1)
	for _, e := range it.Entries {
		if e.Program == program {
			least = min(least, e.Least)
		}
	}
	return least
}

// compare fills Ratios with the times of every other program divided by those of host.
func (it *Item) compare(host string) {
	own := it.fastest(host, 0)
	if own == nil {
		return
	}
	seen := map[string]bool{host: true}
	for _, e := range it.Entries {
		if seen[e.Program] {
			continue
		}
		seen[e.Program] = true
		peer := it.fastest(e.Program, 0)
		var rounds []float64
		for i := range min(len(peer.Seconds), len(own.Seconds)) {
			rounds = append(rounds, peer.Seconds[i]/own.Seconds[i])
		}
		r := Ratio{
			Program: e.Program, Threads: peer.Threads, Ratio: peer.Median / own.Median,
			Low: slices.Min(rounds), High: slices.Max(rounds), Least: it.least(e.Program) / it.least(host),
		}
		if a, b := it.fastest(e.Program, 1), it.fastest(host, 1); a != nil && b != nil {
			r.OneThread = a.Median / b.Median
		}
		it.Ratios = append(it.Ratios, r)
	}
}

// times formats a ratio.
func times(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2f×", x)
	}
	return fmt.Sprintf("%.1f×", x)
}

// printTable prints lines in columns under a title, or nothing if there are none.
func printTable(w io.Writer, title string, lines [][]string) error {
	if len(lines) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		fmt.Fprintf(t, "  %s\n", strings.Join(line, "\t"))
	}
	return t.Flush()
}

// print prints the item as a separate table.
func (it *Item) print(w io.Writer) error {
	if len(it.Entries) == 0 {
		return nil
	}
	quickest := it.Entries[0].Median
	for _, e := range it.Entries {
		quickest = min(quickest, e.Median)
	}
	size, name := cli.TimeUnit(quickest)
	lines := [][]string{{"program", "threads", "median", "least", "most", it.Entries[0].Program + " is faster"}}
	for i := range it.Entries {
		e := &it.Entries[i]
		lines = append(lines, []string{e.Program, e.Threads, chains.Digits(e.Median / size), chains.Digits(e.Least / size), chains.Digits(e.Most / size), it.remark(e)})
	}
	return printTable(w, fmt.Sprintf("%s: %s for each %s", it.Name, name, it.Operation), lines)
}

// remark describes a ratio.
func (it *Item) remark(e *Entry) string {
	for _, r := range it.Ratios {
		if r.Program == e.Program && r.Threads == e.Threads {
			text := fmt.Sprintf("%s (%s to %s); by least times %s", times(r.Ratio), times(r.Low), times(r.High), times(r.Least))
			if r.OneThread > 0 {
				text += "; one thread each " + times(r.OneThread)
			}
			return text
		}
	}
	return ""
}

func threads(n int) string {
	if n == 1 {
		return "one thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// printScaling prints the items of the scaling section as one table.
func printScaling(w io.Writer, items []Item) error {
	var lines [][]string
	programs := []string{gorbm, numPy, torch}
	for i := range items {
		it := &items[i]
		if i == 0 {
			lines = [][]string{append(append([]string{"size"}, programs...), "gorbm is faster")}
		}
		line := []string{it.Name}
		for _, p := range programs {
			text := "–"
			if e := it.fastest(p, 0); e != nil {
				text = fmt.Sprintf("%s (%d)", chains.Digits(1e6*e.Median), e.Count)
			}
			line = append(line, text)
		}
		var ratios []string
		for _, r := range it.Ratios {
			ratios = append(ratios, times(r.Ratio))
		}
		lines = append(lines, append(line, strings.Join(ratios, ", ")))
	}
	return printTable(w, "PCD-1 at other sizes, best threads of each: µs for each update", lines)
}

// printRecipes prints the items of the recipes section as one table. Times are divided by that of the plain
// update at the same batch.
func printRecipes(w io.Writer, items []Item) error {
	var lines [][]string
	plain := map[[2]int]float64{} // by batch and number of threads
	for i := range items {
		it := &items[i]
		line := []string{it.Name}
		for _, e := range it.Entries {
			key := [2]int{it.Job.Batch, e.Count}
			if it.Job.recipe == (recipe{}) {
				plain[key] = e.Median
			}
			line = append(line, threads(e.Count)+": "+chains.Digits(1e6*e.Median))
			if plain[key] > 0 {
				line = append(line, times(e.Median/plain[key]))
			}
		}
		lines = append(lines, line)
	}
	return printTable(w, fmt.Sprintf("What is added to PCD-1, %d × %d: µs of gorbm for each update, and times the plain one", inputs, hidden), lines)
}

func printMemory(w io.Writer, list []Memory) error {
	var lines [][]string
	for _, m := range list {
		lines = append(lines, []string{m.Program, fmt.Sprintf("%.0f", float64(m.Bytes)/(1<<20))})
	}
	return printTable(w, fmt.Sprintf("Most memory held while training, %d × %d, batch 100, %d rows: MiB", inputs, hidden, maxRows), lines)
}

// lines returns all times of all rounds as lines of a CSV file.
func (r *Result) lines() [][]string {
	rows := [][]string{{"section", "item", "operation", "program", "threads", "round", "seconds"}}
	for _, it := range r.Items {
		for _, e := range it.Entries {
			for round, s := range e.Seconds {
				rows = append(rows, []string{it.Section, it.Name, it.Operation, e.Program, e.Threads, strconv.Itoa(round + 1), strconv.FormatFloat(s, 'g', -1, 64)})
			}
		}
	}
	return rows
}
