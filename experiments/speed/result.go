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
)

// A Result is all that a run has found: the JSON object.
type Result struct {
	Version    string            `json:"version"`
	Kernels    string            `json:"kernels"`
	Processors int               `json:"processors"`
	Data       string            `json:"data"`
	Density    float64           `json:"density"`
	Programs   map[string]string `json:"programs"` // versions
	Items      []Item            `json:"items"`
	Memory     []Memory          `json:"memory"`
	Warnings   []string          `json:"warnings"`
}

// An Item is what a race has found.
type Item struct {
	Section   string   `json:"section"`
	Name      string   `json:"name"`
	Operation string   `json:"operation"` // that is timed
	Job       job      `json:"job"`
	Entries   []Entry  `json:"entries"`
	Ratios    []Ratio  `json:"ratios"`
	Warnings  []string `json:"warnings,omitempty"`
}

// An Entry is the times of a program with a number of threads.
type Entry struct {
	Program string    `json:"program"`
	Threads string    `json:"threads"`
	Count   int       `json:"count"`
	Times   int       `json:"times"`   // the work was done in a turn
	Seconds []float64 `json:"seconds"` // of one time, round by round
	Median  float64   `json:"median"`
	Least   float64   `json:"least"`
	Most    float64   `json:"most"`
}

// A Ratio is how many times faster than a peer the host is: the ratio of the
// medians, each with its best number of threads, and its range over rounds. On a
// machine that is busy with other work the least times say more.
type Ratio struct {
	Program   string  `json:"program"` // the peer
	Threads   string  `json:"threads"` // its best
	Ratio     float64 `json:"ratio"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	OneThread float64 `json:"one_thread"` // of medians with one thread each
	Least     float64 `json:"least"`      // of the least times, of any threads
}

// A Memory is the most memory that a program held while it trained.
type Memory struct {
	Program string `json:"program"`
	Bytes   int64  `json:"bytes"`
}

// sum takes the median and the range of the times.
func (e *Entry) sum() {
	sorted := slices.Sorted(slices.Values(e.Seconds))
	n := len(sorted)
	e.Median = (sorted[(n-1)/2] + sorted[n/2]) / 2
	e.Least, e.Most = sorted[0], sorted[len(sorted)-1]
}

// fastest returns the entry of the program with the least median, nil if there
// is none; count, if not 0, is the number of threads.
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

// compare fills Ratios, of every program against the host.
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

// digits writes a number to three digits, without an exponent.
func digits(x float64) string {
	if x >= 999.5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// times writes a ratio.
func times(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.2f×", x)
	}
	return fmt.Sprintf("%.1f×", x)
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
	fmt.Fprintf(w, "\n%s: %s for each %s\n", it.Name, name, it.Operation)
	host := it.Entries[0].Program
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  program\tthreads\tmedian\tleast\tmost\t%s is faster\n", host)
	for i := range it.Entries {
		e := &it.Entries[i]
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\n", e.Program, e.Threads, digits(e.Median/size), digits(e.Least/size), digits(e.Most/size), it.remark(e))
	}
	return t.Flush()
}

// remark says by how much the host is faster, of the peer's best.
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
	if len(items) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nPCD-1 at other sizes, best threads of each: µs for each update\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  size")
	for _, p := range []string{gorbm, numPy, torch} {
		fmt.Fprintf(t, "\t%s", p)
	}
	fmt.Fprintf(t, "\tgorbm is faster\n")
	for i := range items {
		it := &items[i]
		fmt.Fprintf(t, "  %s", it.Name)
		for _, p := range []string{gorbm, numPy, torch} {
			if e := it.fastest(p, 0); e != nil {
				fmt.Fprintf(t, "\t%s (%d)", digits(1e6*e.Median), e.Count)
			} else {
				fmt.Fprintf(t, "\t–")
			}
		}
		var ratios []string
		for _, r := range it.Ratios {
			ratios = append(ratios, times(r.Ratio))
		}
		fmt.Fprintf(t, "\t%s\n", strings.Join(ratios, ", "))
	}
	return t.Flush()
}

// printRecipes prints the items of the recipes section as one table, each over the plain
// update of as large a batch.
func printRecipes(w io.Writer, items []Item) error {
	if len(items) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nWhat is added to PCD-1, %d × %d: µs of gorbm for each update, and times the plain one\n", inputs, hidden)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	plain := map[[2]int]float64{} // of a batch and a number of threads
	for i := range items {
		it := &items[i]
		fmt.Fprintf(t, "  %s", it.Name)
		for _, e := range it.Entries {
			key := [2]int{it.Job.Batch, e.Count}
			if it.Job.recipe == (recipe{}) {
				plain[key] = e.Median
			}
			fmt.Fprintf(t, "\t%s", threads(e.Count)+": "+digits(1e6*e.Median))
			if plain[key] > 0 {
				fmt.Fprintf(t, "\t%s", times(e.Median/plain[key]))
			}
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func printMemory(w io.Writer, list []Memory) error {
	if len(list) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nMost memory held while training, %d × %d, batch 100, %d rows: MiB\n", inputs, hidden, maxRows)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range list {
		fmt.Fprintf(t, "  %s\t%.0f\n", m.Program, float64(m.Bytes)/(1<<20))
	}
	return t.Flush()
}

// lines returns every time of every round as lines of a CSV file.
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
