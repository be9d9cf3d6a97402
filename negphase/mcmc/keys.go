package mcmc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gorbm/data"
	"gorbm/data/grammar"
)

// orderKey is the key of the order of a sweep.
func orderKey(o *Order) grammar.Key {
	return grammar.Key{
		Name: "order", Initial: "linear", Help: "of gibbs, metropolis and modified-metropolis: order of updates, linear, chessboard or random",
		Set: func(text string) error {
			*o = Order(max(0, slices.Index(orderNames, text)))
			return grammar.OneOf(text, orderNames...)
		},
		Text: func() string { return o.String() },
	}
}

// lengthsKey is the key of the smallest and the largest length of a walk.
func lengthsKey(low, high *int, auto *bool) grammar.Key {
	return grammar.Key{
		Name: "k", Initial: "1-25", Help: "number of flips of a walk: a number, a range from which each walk draws, or auto, which tunes it in a warm-up so that 57 % of moves are accepted",
		Set: func(text string) error {
			if *auto = text == "auto"; *auto {
				*low, *high = 0, 0
				return nil
			}
			first, second, isRange := strings.Cut(text, "-")
			if !isRange {
				second = first
			}
			var err1, err2 error
			*low, err1 = strconv.Atoi(first)
			*high, err2 = strconv.Atoi(second)
			if err1 != nil || err2 != nil {
				return fmt.Errorf("%q is not a whole number, nor a range such as 1-25, nor auto", text)
			}
			return nil
		},
		Text: func() string {
			if *auto {
				return "auto"
			}
			return lengths(*low, *high)
		},
		Check: func() error {
			switch {
			case *auto:
			case *low < 1 || *high > MaxLength:
				return fmt.Errorf("k is %s; lengths must lie in 1 … %d", lengths(*low, *high), MaxLength)
			case *low > *high:
				return fmt.Errorf("k is %d-%d; the first length must not exceed the second", *low, *high)
			}
			return nil
		},
	}
}

// lengths formats a range of lengths as "90" or "1-25".
func lengths(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// gammaKey is the key of the biases first and second. Their text has both numbers if both returns true,
// otherwise only the first.
func gammaKey(initial string, first, second *float64, both func() bool) grammar.Key {
	return grammar.Key{
		Name: "gamma", Initial: initial, Help: "bias γ of the walks, as a multiple of β: one number, or two as in .95/1.05",
		Set: func(text string) error {
			x, err := parseNumbers(text)
			if err != nil || len(x) > 2 {
				return fmt.Errorf("%q is not a number, nor two such as .95/1.05", text)
			}
			*first, *second = x[0], x[len(x)-1]
			return nil
		},
		Text: func() string {
			if both() {
				return grammar.FormatNumbers(*first, *second)
			}
			return grammar.FormatNumbers(*first)
		},
		Check: func() error {
			for _, g := range []float64{*first, *second} {
				if !(g >= 0) || !finite(g) {
					return fmt.Errorf("gamma is %v; it must be a finite number, 0 or more", g)
				}
			}
			return nil
		},
	}
}

func weightsKey(w *Weights) grammar.Key {
	return grammar.Word("weights", w, HeatBath, "weight of a flip of cost Δ: heatbath, 1/(1+exp(γβΔ)), or boltzmann, exp(−γβΔ)", HeatBath, Boltzmann)
}

// parseNumbers parses numbers separated by slashes.
func parseNumbers(text string) (x []float64, err error) {
	for field := range strings.SplitSeq(text, "/") {
		v, err := data.ParseNumber(field)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number", field)
		}
		x = append(x, v)
	}
	return x, nil
}
