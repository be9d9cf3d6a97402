package main

import (
	"fmt"
	"io"
	"unicode"

	"gorbm/cmd/cli"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
)

// parseConstraint returns the constraint of -constraint, without its reference;
// nil if the flag is not given.
func (o *options) parseConstraint() (*rbm.Constraint, error) {
	if !o.flags.Given("constraint") {
		return nil, nil
	}
	c, err := rbm.ParseConstraint(o.constraint)
	if err != nil {
		return nil, cli.Usagef("-constraint: %w", err)
	}
	return c, nil
}

// constrain gives the model the constraint c of -constraint, which may be nil. A model of
// -init keeps its own, which must be the same.
func (o *options) constrain(m *rbm.RBM, c *rbm.Constraint) (err error) {
	if c == nil {
		return nil
	}
	if o.began != nil { // the run has it, with its reference
		if own := o.began.constraint(m); own != nil {
			c = own
		}
	}
	if o.reference != "" && c.Reference == nil {
		if c.Reference, err = readReference(o.reference); err != nil {
			return fmt.Errorf("-constraint-reference: %w", err)
		}
	}
	if err := c.Check(m); err != nil {
		return cli.Usagef("-constraint: %w", err)
	}
	if own := m.Constraint; own != nil && !own.Equal(c) {
		return cli.Usagef("-constraint is %v, but %s has the constraint %v, or another reference; leave -constraint out", c, o.init, own)
	}
	m.Constraint = c
	return nil
}

// maxReference is the largest size of a reference file in bytes: two for each
// unit of the largest model.
const maxReference = 1 << 26

// readReference reads a file of the digits 0 and 1. Spaces, commas and line
// ends between them are skipped.
func readReference(path string) ([]uint8, error) {
	f, _, err := atomicfile.Open(path)
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
