package main

import (
	"fmt"
	"io"
	"os"
	"unicode"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
)

// parseConstraint returns what -constraint says, without its reference; nil if
// it is not given.
func (o *options) parseConstraint() (*rbm.Constraint, error) {
	if !o.flags.Given("constraint") {
		if o.flags.Given("constraint-reference") {
			return nil, cli.Usagef("-constraint-reference is for -constraint, which is missing")
		}
		return nil, nil
	}
	c, err := rbm.ParseConstraint(o.constraint)
	if err != nil {
		return nil, cli.Usagef("-constraint: %w", err)
	}
	return c, nil
}

// constrain gives the model its constraint, and checks that the data and the
// negative phase can keep it. A model of -init keeps its own.
func (p *plan) constrain() error {
	c, err := p.parseConstraint()
	if err != nil {
		return err
	}
	if c != nil {
		if p.reference != "" {
			if c.Reference, err = readReference(p.reference); err != nil {
				return fmt.Errorf("-constraint-reference: %w", err)
			}
		}
		if err := c.Check(p.model); err != nil {
			return cli.Usagef("-constraint: %w", err)
		}
		if own := p.model.Constraint; own != nil && !own.Equal(c) {
			return cli.Usagef("-constraint is %v, but %s has the constraint %v, or another reference; leave -constraint out", c, p.init, own)
		}
		p.model.Constraint = c
	}
	if err := p.settings.Negative.Keeps(p.model.Constraint); err != nil {
		return cli.Usagef("-negphase: %w", err)
	}
	for _, set := range []*data.Set{p.rows, p.sets.Test} {
		if set == nil {
			continue
		}
		if err := train.Allows(p.model, set); err != nil {
			return err
		}
	}
	return nil
}

// maxReference caps the file of a reference: two bytes for each unit of the
// largest model.
const maxReference = 1 << 26

// readReference reads a file of 0 and 1, apart or not.
func readReference(path string) ([]uint8, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxReference+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxReference:
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxReference)
	}
	reference := []uint8{}
	for i, c := range text {
		switch {
		case c == '0' || c == '1':
			reference = append(reference, c-'0')
		case c != ',' && !unicode.IsSpace(rune(c)):
			return nil, fmt.Errorf("%s has %q at byte %d; it must hold 0 and 1 alone, with spaces, commas or lines between them if wished", path, c, i)
		}
	}
	return reference, nil
}
