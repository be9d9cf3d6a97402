package rbm

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The keys of a constraint in a model file's metadata.
const (
	metaConstraint = "constraint"           // as String writes it
	metaReference  = "constraint_reference" // the bits of the reference, eight a byte, in base64
)

// describe adds c, which may be nil, to the metadata of a file.
func (c *Constraint) describe(meta map[string]string) {
	if c == nil {
		return
	}
	meta["version"] = fileVersionConstraint
	meta[metaConstraint] = c.String()
	if c.Reference == nil {
		return
	}
	b := make([]byte, ceilDiv(len(c.Reference), 8))
	for i, x := range c.Reference {
		b[i/8] |= x << (i % 8)
	}
	meta[metaReference] = base64.StdEncoding.EncodeToString(b)
}

// readConstraint reads what describe wrote for m; nil if it wrote nothing.
func readConstraint(meta map[string]string, m *RBM) (*Constraint, error) {
	text, ok := meta[metaConstraint]
	if version := meta["version"]; ok != (version == fileVersionConstraint) {
		return nil, fmt.Errorf("version %s of a model and its constraint do not go together", version)
	}
	if !ok {
		return nil, nil
	}
	on, number, _ := strings.Cut(text, "=")
	active, err := strconv.Atoi(number)
	c := &Constraint{On: Layer(on), Active: active}
	if err != nil || c.String() != text {
		return nil, fmt.Errorf("constraint %.40q is not of the form hidden=20", text)
	}
	if reference, ok := meta[metaReference]; ok {
		units := m.Hidden()
		if c.On == AllUnits {
			units += m.Visible()
		}
		b, err := base64.StdEncoding.DecodeString(reference)
		if err != nil || len(b) != ceilDiv(units, 8) {
			return nil, fmt.Errorf("the reference of constraint %v is not one of %d units", c, units)
		}
		if units%8 != 0 && b[len(b)-1]>>(units%8) != 0 {
			return nil, errors.New("the reference of the constraint has bits beyond the last unit")
		}
		c.Reference = make([]uint8, units)
		for i := range c.Reference {
			c.Reference[i] = b[i/8] >> (i % 8) & 1
		}
	}
	return c, c.Check(m)
}

// MarshalText returns the constraint as String writes it, and after a slash
// the bits of its reference in base64, if it has one.
func (c *Constraint) MarshalText() ([]byte, error) {
	meta := map[string]string{}
	c.describe(meta)
	text := c.String()
	if reference, ok := meta[metaReference]; ok {
		text += "/" + reference
	}
	return []byte(text), nil
}
