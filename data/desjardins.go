package data

import (
	"context"
	"fmt"
	"strconv"
)

// loadDesjardins generates the toy data of Desjardins, Courville, Bengio,
// Vincent and Delalleau (AISTATS 2010) on tempered chains for training: four
// modes of 4 × 4 pixels, as many rows of each, and every pixel flipped with
// probability p. A spec is desjardins:p, with p = 0.001 and 10000 rows unless
// desjardins:p:rows says otherwise. The smaller p, the further apart the modes
// are for a Markov chain.
//
// That there are four modes in two complementary pairs, 16 pixels, 10000 rows,
// and the probabilities 0.1, 0.05, 0.01 and 0.001 is what later experiments
// with these data agree on. Which modes they are is taken from the Shark
// library's version of the set: blank, full, the upper half and the lower half.
// The entropies of the law follow: 6.5764, 4.5618, 2.2823 and 1.5128 nats.
//
// These are the modes that toy data of 2 bits with 8 repeats have, too: the
// rows of desjardins:p are those of toy:4,8,2500,p:plain.
func loadDesjardins(ctx context.Context, sp spec, _ Options) (train, test *Set, err error) {
	t := toySettings{modes: 4, repeat: 8, copies: 2500, flip: 0.001, plain: true}
	if len(sp.args) > 2 {
		return nil, nil, specErrorf("%s: setting %s is one too many; write desjardins[:p[:rows]][:seed=N]", sp.text, quote(sp.args[2]))
	}
	if len(sp.args) > 0 {
		if t.flip, err = sp.probability(sp.args[0]); err != nil {
			return nil, nil, err
		}
	}
	rows := ""
	if len(sp.args) > 1 {
		n, err := strconv.Atoi(sp.args[1])
		if err != nil || n < t.modes || n > maxRows || n%t.modes != 0 {
			return nil, nil, specErrorf("%s: the number of rows, %s, must be a multiple of 4 up to %d, as many of each mode", sp.text, quote(sp.args[1]), maxRows)
		}
		if t.copies != n/t.modes {
			t.copies = n / t.modes
			rows = fmt.Sprintf(":%d", n)
		}
	}
	return t.generate(ctx, sp, "desjardins:"+formatFloat(t.flip)+rows)
}
