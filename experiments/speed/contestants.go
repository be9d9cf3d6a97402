package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

//go:embed peers.py
var peersScript []byte

// Names of programs.
const (
	gorbm   = "gorbm"
	numPy   = "NumPy"
	torch   = "PyTorch"
	sklearn = "scikit-learn"
)

// Kinds of jobs. The last four are updates.
var everyKind = []string{"classify", "ais", "exact", "pcd", "pt", "ins", "discriminative"}

// gorbms returns gorbm with one thread and with all threads.
func gorbms(self string, all int) (list []contestant) {
	for _, n := range counts(all) {
		list = append(list, goContestant(gorbm, self, n, everyKind...))
	}
	return list
}

func goContestant(program, path string, threads int, kinds ...string) contestant {
	return contestant{
		program: program, threads: strconv.Itoa(threads), count: threads, kinds: kinds, command: []string{path},
		env: []string{childVariable + "=1", fmt.Sprintf("GOMAXPROCS=%d", threads)},
	}
}

// counts returns the numbers of threads of gorbm: one, and the number of processors.
func counts(all int) []int { return slices.Compact([]int{1, all}) }

// A library is a Python library that runs as a peer.
type library struct {
	name, module, argument, debian string
}

var libraries = []library{
	{numPy, "numpy", "numpy", "python3-numpy libopenblas0-pthread"},
	{torch, "torch", "torch", "python3-torch"},
	{sklearn, "sklearn", "sklearn", "python3-sklearn"},
}

// peers returns the installed peers, each once with one thread and once for each way to use all threads, and
// a line for each missing peer. Either PyTorch or its BLAS has all threads, and the other
// has one, because the threads of both spin while they wait.
func peers(python, script string, all int) (list []contestant, missing []string) {
	have := modules(python)
	for _, l := range libraries {
		if !slices.Contains(have, l.module) {
			missing = append(missing, fmt.Sprintf("%s is not there and left out; on Debian apt-get install %s, elsewhere pip install it", l.name, l.debian))
			continue
		}
		add := func(label string, count, own, blas, pool int, kinds ...string) {
			list = append(list, contestant{
				program: l.name, threads: label, count: count, kinds: kinds, pool: pool > 1,
				command: []string{python, "-B", script, l.argument, strconv.Itoa(own), strconv.Itoa(pool)},
				env: []string{fmt.Sprintf("OPENBLAS_NUM_THREADS=%d", blas), fmt.Sprintf("MKL_NUM_THREADS=%d", blas),
					fmt.Sprintf("OMP_NUM_THREADS=%d", max(own, blas))},
			})
		}
		every := everyKind
		if l.name == sklearn {
			every = []string{"pcd"}
		}
		add("1", 1, 1, 1, 1, every...)
		if all == 1 {
			continue
		}
		add(fmt.Sprintf("%d of the BLAS", all), all, 1, all, 1, every...)
		switch l.name {
		case numPy:
			add(fmt.Sprintf("%d of Python", all), all, 1, 1, all, everyKind[:3]...)
		case torch:
			add(fmt.Sprintf("%d of its own", all), all, all, 1, 1, every...)
		}
	}
	return list, missing
}

// modules returns the modules of peers that this Python finds.
func modules(python string) (found []string) {
	var names []string
	for _, l := range libraries {
		names = append(names, fmt.Sprintf("%q", l.module))
	}
	const find = "import importlib.util, json; print(json.dumps([m for m in (%s) if importlib.util.find_spec(m)]))"
	out, err := exec.Command(python, "-c", fmt.Sprintf(find, strings.Join(names, ", "))).Output()
	if err != nil || json.Unmarshal(out, &found) != nil {
		return nil
	}
	return found
}

// findPython returns the first python3 that has NumPy, on the path or in the usual folders;
// "" if there is none.
func findPython() string {
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/bin", "/usr/local/bin") {
		path := filepath.Join(dir, "python3")
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 && slices.Contains(modules(path), "numpy") {
			return path
		}
	}
	return ""
}
