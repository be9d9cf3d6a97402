package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// pairArgs is the run that is timed: pins along a ladder that tunes itself.
var pairArgs = []string{"-data", "fontdigits", "-labels", "none", "-hidden", "500", "-negphase", "pins", "-temperatures", "auto", "-chains", "10",
	"-batch", "20", "-rate", "0.05", "-schedule", "linear", "-center", "0", "-steps", "600", "-metrics", "none", "-snapshots", "0", "-json"}

// enough is the least speed of two ranks of one worker over that of one rank of two workers.
const enough = 0.9

// pair times two ranks of one worker against one rank of two workers, which take turns, and prints the
// ratio of their speeds.
func pair(ctx context.Context, binary string, runs int, w io.Writer) error {
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	launcher := []string{"mpirun", "-n", "2"}
	if os.Getuid() == 0 {
		launcher = append(launcher, "--allow-run-as-root") // of Open MPI
	}
	best := [2]float64{}
	var ratios []float64
	for i := range runs {
		var speeds [2]float64
		for ranks := 1; ranks <= 2; ranks++ {
			args := append(slices.Clone(pairArgs), "-out", fmt.Sprintf("%d-%d", ranks, i), "-workers", strconv.Itoa(3-ranks))
			words := append([]string{binary}, args...)
			if ranks == 2 {
				words = append(slices.Clone(launcher), words...)
			}
			cmd := exec.CommandContext(ctx, words[0], words[1:]...)
			cmd.Dir, cmd.Stderr = dir, os.Stderr
			out, err := cmd.Output()
			if err != nil {
				return fmt.Errorf("%s: %w", cmd, err)
			}
			var result struct {
				Speed float64 `json:"steps_per_second"`
			}
			if err := json.Unmarshal(out, &result); err != nil {
				return fmt.Errorf("%s: %w", cmd, err)
			}
			speeds[ranks-1] = result.Speed
			best[ranks-1] = max(best[ranks-1], result.Speed)
		}
		ratios = append(ratios, speeds[1]/speeds[0])
		fmt.Fprintf(w, "one rank of two workers %.4g steps/s, two ranks of one worker %.4g: %.3f\n", speeds[0], speeds[1], speeds[1]/speeds[0])
	}
	slices.Sort(ratios)
	ratio, verdict := best[1]/best[0], "PASS"
	if ratio < enough || math.IsNaN(ratio) {
		verdict = "FAIL"
	}
	fmt.Fprintf(w, "%s: of %d runs each, the best have a ratio of %.3f, and the median is %.3f; at least %.1f is asked for\n", verdict, runs, ratio, ratios[len(ratios)/2], enough)
	return nil
}
