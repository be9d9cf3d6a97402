package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gorbm/rbm"
)

// A race times contestants in turn on the same work.
type race struct {
	contestants []contestant
	turn        time.Duration // approximate length of a turn
	most        time.Duration // approximate largest time of an item
	rounds      int
	pause       time.Duration // time between turns, in which spinning threads go to sleep
	progress    func(what string, done float64)

	children map[string]*child
	versions map[string]string // versions of the programs
}

// hopeless is the largest ratio of a peer's time with several threads to that with one. Above it the threads
// mostly wait for each other, and the peer with several threads is left out.
const hopeless = 5

// leastRounds is the number of rounds even if they exceed the time limit.
const leastRounds = 3

func (r *race) close() {
	for _, c := range r.children {
		c.close()
	}
}

// child returns the contestant's process.
func (r *race) child(ctx context.Context, c contestant) (*child, error) {
	name := c.program + " " + c.threads
	if p := r.children[name]; p != nil && p.process.ProcessState == nil { // still running
		return p, nil
	}
	p, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	r.children[name] = p
	r.versions[c.program] = p.version
	return p, nil
}

// field returns the contestants of an item, those of gorbm first.
func (r *race) field(it item) (list []contestant) {
	for _, c := range r.contestants {
		does := slices.Contains(c.kinds, it.job.Kind)
		if it.programs != nil {
			does = slices.Contains(it.programs, c.program)
		}
		if does {
			list = append(list, c)
		}
	}
	return list
}

// An entrant is a contestant that is ready.
type entrant struct {
	*child
	entry  Entry
	failed bool // failed in a turn
}

// run runs the item. If ctx ends, it returns the completed rounds with the error. A
// peer that fails, or does not do the work of gorbm, is left out with a warning.
func (r *race) run(ctx context.Context, it item) (Item, error) {
	out := Item{Section: it.section, Name: it.name, Operation: it.operation, Job: it.job}
	entrants, rounds, err := r.ready(ctx, it, &out)
	if err != nil {
		return out, cmp.Or(ctx.Err(), err)
	}
	err = r.turns(ctx, it, entrants, rounds, &out)
	for _, x := range entrants {
		if len(x.entry.Seconds) > 0 && !x.failed {
			x.entry.sum()
			out.Entries = append(out.Entries, x.entry)
		}
	}
	out.compare(gorbm)
	if err != nil {
		err = cmp.Or(ctx.Err(), err)
	}
	return out, err
}

// ready checks and prepares the contestants, and returns the number of rounds that the time
// allows.
func (r *race) ready(ctx context.Context, it item, out *Item) (entrants []*entrant, rounds int, err error) {
	field := r.field(it)
	r.progress(it.name+": checks", 0)
	differ, err := r.check(ctx, it, field, out)
	if err != nil {
		return nil, 0, err
	}
	whole := 0.0                   // time of a round in seconds
	single := map[string]float64{} // seconds by program, with one thread
	for _, c := range field {
		if differ[c.program] {
			continue
		}
		r.progress(it.name+": "+c.program, 0)
		p, n, seconds, err := r.prepare(ctx, it, c)
		switch {
		case ctx.Err() != nil || err != nil && c.program == gorbm:
			return nil, 0, err
		case err != nil:
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %v; it is left out", it.name, err))
			continue
		}
		if c.program != gorbm && single[c.program] > 0 && seconds > hopeless*single[c.program] {
			continue
		}
		if single[c.program] == 0 {
			single[c.program] = seconds
		}
		whole += float64(n)*seconds + r.pause.Seconds()
		entrants = append(entrants, &entrant{child: p, entry: Entry{Program: c.program, Threads: c.threads, Count: c.count, Times: n}})
	}
	return entrants, min(r.rounds, max(leastRounds, int(r.most.Seconds()/whole))), nil
}

// turns times the entrants in turn.
func (r *race) turns(ctx context.Context, it item, entrants []*entrant, rounds int, out *Item) error {
	for round := range rounds {
		// The order is random, so that no entrant always follows the same one.
		for i, k := range rbm.NewKey(uint64(round)).Rand().Perm(len(entrants)) {
			x := entrants[k]
			if x.failed {
				continue
			}
			r.progress(it.name, (float64(round)+float64(i)/float64(len(entrants)))/float64(rounds))
			time.Sleep(r.pause)
			said, err := x.ask(request{Do: "run", N: x.entry.Times})
			switch {
			case err != nil && (ctx.Err() != nil || x.program == gorbm):
				return err
			case err != nil:
				x.failed = true
				out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %v; it is left out", it.name, err))
				continue
			}
			x.entry.Seconds = append(x.entry.Seconds, said.Seconds/float64(x.entry.Times))
		}
	}
	return nil
}

// prepare gives the contestant the job, and returns how many times it runs the job in a turn,
// and the seconds of one run.
func (r *race) prepare(ctx context.Context, it item, c contestant) (p *child, n int, seconds float64, err error) {
	if p, err = r.child(ctx, c); err != nil {
		return nil, 0, 0, err
	}
	j := it.job
	if _, err := p.ask(request{Do: "prepare", Job: &j}); err != nil {
		return nil, 0, 0, err
	}
	for n = 1; ; n *= 4 {
		said, err := p.ask(request{Do: "run", N: n})
		if err != nil {
			return nil, 0, 0, err
		}
		seconds = max(said.Seconds, 1e-9) / float64(n)
		if said.Seconds > r.turn.Seconds()/4 || n >= 1<<20 {
			return p, max(1, int(math.Round(r.turn.Seconds()/seconds))), seconds, nil
		}
	}
}

// check checks, with one thread, that every program does the same work as gorbm,
// and returns the programs that do not.
func (r *race) check(ctx context.Context, it item, field []contestant, out *Item) (differ map[string]bool, err error) {
	differ = map[string]bool{}
	if it.operation == "update" && it.checkSteps == 0 || len(field) == 0 {
		return differ, nil
	}
	reference, err := r.child(ctx, field[0])
	if err != nil {
		return nil, err
	}
	own := map[string][]reply{} // by first model
	seen := map[string]bool{gorbm: true}
	for _, c := range field {
		if seen[c.program] {
			continue
		}
		seen[c.program] = true
		p, start, err := r.start(ctx, it, c)
		if err == nil && own[start] == nil {
			if own[start], err = it.answers(reference, start); err != nil {
				return nil, cmp.Or(ctx.Err(), err)
			}
		}
		if err == nil {
			err = it.check(p, own[start])
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			differ[c.program] = true
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %s is left out: %v", it.name, c.program, err))
		}
	}
	return differ, nil
}

// start gives the contestant the job and returns the first model of the check. This is the model of
// the job, except for scikit-learn, which draws its first model itself.
func (r *race) start(ctx context.Context, it item, c contestant) (p *child, model string, err error) {
	if p, err = r.child(ctx, c); err != nil {
		return nil, "", err
	}
	j := it.job
	if _, err = p.ask(request{Do: "prepare", Job: &j}); err != nil || c.program != sklearn {
		return p, j.Model, err
	}
	_, err = p.ask(request{Do: "start", Seed: it.asks()[0].Seed, Path: it.fresh})
	return p, it.fresh, err
}

// memory returns the peak memory of each program in training at batch 100. It starts a new process
// for each program.
func (r *race) memory(ctx context.Context, it item) (list []Memory, warnings []string) {
	seen := map[string]bool{}
	for _, c := range r.field(it) {
		if seen[c.program] {
			continue
		}
		seen[c.program] = true
		r.progress("memory: "+c.program, 0)
		bytes, err := peakOf(ctx, it, c)
		switch {
		case ctx.Err() != nil:
			return list, warnings
		case err != nil:
			warnings = append(warnings, fmt.Sprintf("memory: %v", err))
		default:
			list = append(list, Memory{c.program, bytes})
		}
	}
	return list, warnings
}

// memoryUpdates is a number of updates after which all buffers are allocated.
const memoryUpdates = 100

func peakOf(ctx context.Context, it item, c contestant) (int64, error) {
	p, err := c.start(ctx)
	if err != nil {
		return 0, err
	}
	defer p.close()
	j := it.job
	var said reply
	for _, ask := range []request{{Do: "prepare", Job: &j}, {Do: "run", N: memoryUpdates}, {Do: "peak"}} {
		if said, err = p.ask(ask); err != nil {
			return 0, err
		}
	}
	return said.Bytes, nil
}
