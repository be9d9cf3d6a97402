// Package program runs the commands of this repository for experiments.
package program

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds commands of this repository, named as rbmtrain, into a folder.
func Build(ctx context.Context, dir string, names ...string) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "gorbm/cmd/"+name)
	}
	return New(ctx, "go", args...).Run(nil)
}

// A Call is a command with what it printed.
type Call struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

// New returns a call that has not run.
func New(ctx context.Context, path string, args ...string) *Call {
	c := &Call{Cmd: exec.CommandContext(ctx, path, args...)}
	c.Cmd.Stdout, c.Cmd.Stderr = &c.stdout, &c.stderr
	return c
}

// Run runs the command and reads the JSON that it prints into v, unless v is nil.
// The error ends with the last two lines that the command printed on stderr.
func (c *Call) Run(v any) error {
	if err := c.Cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(c.stderr.String()), "\n")
		return fmt.Errorf("%s: %w: %s", filepath.Base(c.Path), err, strings.Join(lines[max(0, len(lines)-2):], "; "))
	}
	if v == nil {
		return nil
	}
	return json.Unmarshal(c.stdout.Bytes(), v)
}
