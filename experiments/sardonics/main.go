// Sardonics reproduces figures and tables of "Self-Avoiding Random Dynamics on Integer
// Complex Systems" (Hamze, Wang & de Freitas 2012).
//
//	go run ./experiments/sardonics -model FILE
//
// FILE is the RBM of the paper, or another RBM of 784 × 500 units.
// Results are in README.md.
package main

import (
	"context"
	"io"

	"gorbm/cmd/cli"
	"gorbm/experiments/internal/figures"
)

func main() { cli.Main("sardonics", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := &programs{}
	defer p.commands.Remove()
	return experiment(p).Command(func(f *cli.Flags) {
		f.StringVar(&p.model, "model", "", "trained RBM, a .npz or .safetensors file, for figures 10 and II (default for figure 10: an RBM trained on the built-in digits)")
	})(ctx, args, stdout, stderr)
}

// experiment returns all figures.
func experiment(p *programs) figures.Experiment {
	all := map[string]figures.Figure{"3": versionsFigure(p, "3", true, ferro(2.27)), "7": versionsFigure(p, "7", false, frustrated, cube), "8": bits(p), "II": tuning(p)}
	for _, c := range contests {
		all[c.name] = c.figure(p)
	}
	e := figures.Experiment{Name: "sardonics", Title: "SARDONICS"}
	for _, name := range []string{"2", "3", "4", "5", "6", "7", "8", "9", "10", "12", "II"} {
		e.Figures = append(e.Figures, all[name])
	}
	return e
}
