package data_test

import (
	"context"
	"fmt"
	"math"

	"gorbm/data"
	"gorbm/data/grammar"
	"gorbm/rbm"
)

func ExampleLoad() {
	train, test, err := data.Load(context.Background(), "fontdigits:1000", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.Name, train.Len(), "rows of", train.Height, "×", train.Width)
	fmt.Println(test.Name, test.Len())
	// Output:
	// fontdigits:1000:seed=1 1000 rows of 28 × 28
	// fontdigits:seed=1 test 10000
}

func ExampleHelp() {
	fmt.Println(data.Help())
	// Output:
	// fontdigits[:N]      digits rendered from fonts (N: that many training rows)
	// mnist[:N]           handwritten digits (mnist:55000: as in the paper on ins)
	// toy:M,D,N,P[:plain] M modes: binary codes with each bit repeated D times; N copies of each,
	//                     bits flipped with probability P; plain: without labels
	// bars:N              bars and stripes, N×N (bars:4:distinct: each once)
	// shifter:N           labelled shifter of N bits
	// desjardins:P        four modes of 4×4 bits, flipped with probability P
	// sequences[:N]       a family of proteins drawn from a known Potts model
	//                     (N: that many training rows)
	// FILE.csv            rows of numbers or words, also .tsv, .txt, .dat, .data, gzipped or not
	// .npz .npy           rows of values in [0,1]; others need -scale
	// -                   rows from a pipe: .csv, .npz or .npy, recognised by the first bytes
	// FILE.fasta          aligned sequences, also Stockholm files and gzipped ones;
	//                     :alphabet=A after the name: protein, rna, dna or a file of its letters
	// IMAGES[,LABELS]     IDX files, gzipped or not
	// generated data may have :seed=N at the end
}

func ExampleLoad_unknown() {
	_, _, err := data.Load(context.Background(), "mnits", data.Options{})
	fmt.Println(err)
	// Output: unknown data set "mnits"; did you mean mnist?
}

// The largest mean log-likelihood of any model on toy data is minus the entropy of their distribution.
func ExampleSet_logProb() {
	toy, _, err := data.Load(context.Background(), "toy:4,4,2500,0.2", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	best := 0.0
	for x := range uint64(1) << toy.X.Cols {
		for y := range toy.Classes {
			lp := toy.LogProb([]uint64{x}, y)
			best += math.Exp(lp) * lp
		}
	}
	fmt.Printf("%.4f nats\n", best)
	// Output: -5.3895 nats
}

func ExampleSet_Visible() {
	toy, _, err := data.Load(context.Background(), "toy:4,2,2,0", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := rbm.NewBits(2, toy.X.Cols+4)
	toy.Visible(v, []int32{0, 2}, 4)
	for r := range v.Rows {
		for j := range v.Cols {
			if v.Get(r, j) {
				fmt.Print("1")
			} else {
				fmt.Print("0")
			}
		}
		fmt.Println()
	}
	// Output:
	// 11111000
	// 11000100
}

// All rows of bars and stripes are listed, so their mean is that of the distribution, which no model can
// exceed.
func ExampleLoad_bars() {
	for _, spec := range []string{"bars:4", "bars:4:distinct"} {
		bars, _, err := data.Load(context.Background(), spec, data.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		best := 0.0
		for r := range bars.Len() {
			best += bars.LogProb(bars.X.Row(r), -1) / float64(bars.Len())
		}
		fmt.Printf("%s: %d rows, at best %.4f nats\n", bars.Name, bars.Len(), best)
	}
	// Output:
	// bars:4: 32 rows, at best -3.3791 nats
	// bars:4:distinct: 30 rows, at best -3.4012 nats
}

func ExampleSet_Rows() {
	digits, _, err := data.Load(context.Background(), "fontdigits:100", data.Options{Binarize: data.None})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := digits.Rows([]int32{0}, 10).Matrix()
	fmt.Println(digits.Binarize, v.Row(0)[158:164])
	fmt.Println(digits.Classes[digits.Y[0]], v.Row(0)[digits.X.Cols:])
	// Output:
	// none [1 0.8156863 0.56078434 0.7372549 0.6627451 0.003921569]
	// 5 [0 0 0 0 0 1 0 0 0 0]
}

func ExampleSet_Split() {
	toy, _, err := data.Load(context.Background(), "toy", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	train, validation, err := toy.Split(0.1, rbm.NewKey(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(train.Name, train.Len())
	fmt.Println(validation.Name, validation.Len())
	_, _, err = toy.Split(10000, rbm.NewKey(1))
	fmt.Println(err)
	// Output:
	// toy:4,4,2500,0.2:seed=1 9000
	// toy:4,4,2500,0.2:seed=1 holdout 1000
	// 10000 of 10000 rows held out leaves one part empty; hold out from 1 to 9999 rows
}

func ExampleSet_DescribeConstantColumns() {
	digits, _, err := data.Load(context.Background(), "fontdigits:100", data.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(digits.DescribeConstantColumns())
	// Output: 241 of 784 columns are constant (0, 1, 2, …)
}

func ExampleBatches() {
	// An epoch has three rows and a step two, so that the second step ends in the second epoch.
	batches := data.NewBatches(3, 2, rbm.NewKey(1))
	rows := make([]int32, 2)
	count := make([]int, 3)
	for step := range 3 {
		batches.Rows(rows, step)
		for _, r := range rows {
			count[r]++
		}
	}
	fmt.Println(count)
	// Output: [2 2 2]
}

func ExampleNearest() {
	fmt.Println(grammar.Nearest("font-digits", data.Names()))
	// Output: fontdigits
}
