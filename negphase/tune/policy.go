package tune

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"gorbm/negphase/mcmc"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/finitejson"
)

// A Policy is the result of Tune in the form of a JSON file.
type Policy struct {
	Format  string   `json:"format"` // "gorbm policy"
	Version int      `json:"version"`
	Sampler string   `json:"sampler"` // "sardonics"
	System  string   `json:"system"`  // description of the system
	Units   int      `json:"units"`   // number of units
	Beta    float64  `json:"beta"`    // inverse temperature
	Best    string   `json:"best"`    // the best settings by the model
	Kernels []string `json:"kernels"` // in the grammar of mcmc.ParseMover; one is drawn for every mcmc.HeldMoves moves
}

const (
	policySampler = "sardonics"
	policyFormat  = "gorbm policy"
	policyVersion = 1
	// maxPolicyBytes is the size of the largest file that is read: twice the size of 10,000 kernels
	// of 200 characters.
	maxPolicyBytes = 4 << 20
)

// NewPolicy returns the policy of a result, for a system of the given number of units.
func NewPolicy(r *Result, s *Space, system string, units int, beta float64) *Policy {
	p := &Policy{Format: policyFormat, Version: policyVersion, Sampler: policySampler, System: system, Units: units, Beta: beta, Best: mcmc.FormatMover(s.Mover(r.Best))}
	for _, m := range r.Kernels {
		p.Kernels = append(p.Kernels, mcmc.FormatMover(m))
	}
	return p
}

// Mixture returns the sampler that draws kernels of the policy.
func (p *Policy) Mixture() (mcmc.Mixture, error) {
	var m mcmc.Mixture
	for i, text := range p.Kernels {
		kernel, err := mcmc.ParseMover(text, mcmc.Linear)
		walks, ok := kernel.(mcmc.Sardonics)
		if err == nil && !ok {
			err = fmt.Errorf("%s is no %s", text, policySampler)
		}
		if err != nil {
			return nil, fmt.Errorf("kernel %d: %w", i+1, err)
		}
		m = append(m, walks)
	}
	return m, nil
}

// Write writes the policy to a new file. It returns an error if the file exists.
func (p *Policy) Write(path string) error {
	return atomicfile.Write(path, finitejson.Writer(p, " "))
}

// ReadPolicy reads a policy for a system with the given number of units. The error says why the file is no
// such policy.
func ReadPolicy(path string, units int) (*Policy, error) {
	f, _, err := atomicfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPolicyBytes+1))
	if err != nil {
		return nil, err
	}
	p := new(Policy)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err = d.Decode(p)
	_, rest := d.Token()
	switch {
	case len(data) > maxPolicyBytes:
		return nil, fmt.Errorf("%s has more than %d bytes, so it is no policy", path, maxPolicyBytes)
	case err != nil:
		return nil, fmt.Errorf("%s is no policy: %w", path, err)
	case p.Format != policyFormat:
		return nil, fmt.Errorf("%s is no policy: its format is %q, not %q", path, p.Format, policyFormat)
	case p.Version != policyVersion:
		return nil, fmt.Errorf("%s is a policy of version %d; this program reads version %d", path, p.Version, policyVersion)
	case rest != io.EOF:
		return nil, fmt.Errorf("%s is no policy: something follows its end", path)
	case !(p.Beta > 0):
		return nil, fmt.Errorf("%s is no policy: beta is %v; it must be above 0", path, p.Beta)
	case p.Sampler != policySampler:
		return nil, fmt.Errorf("%s is a policy of the sampler %q, and %s alone is tuned; tune again", path, p.Sampler, policySampler)
	case p.Units != units:
		return nil, fmt.Errorf("%s is a policy for %d units (%s), and the system has %d; tune again", path, p.Units, p.System, units)
	case len(p.Kernels) == 0 || len(p.Kernels) > maxKernels:
		return nil, fmt.Errorf("%s has %d kernels; a policy has 1 … %d", path, len(p.Kernels), maxKernels)
	}
	if _, err := p.Mixture(); err != nil {
		return nil, fmt.Errorf("%s: %w; tune again", path, err)
	}
	if _, err := mcmc.ParseMover(p.Best, mcmc.Linear); err != nil {
		return nil, fmt.Errorf("%s: best: %w", path, err)
	}
	return p, nil
}
