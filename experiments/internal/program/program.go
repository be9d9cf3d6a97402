// Package program runs rbmtrain, rbmeval and the other commands for experiments.
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

// Build builds the named commands, such as rbmtrain, into the folder dir.
func Build(ctx context.Context, dir string, names ...string) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	for _, name := range names {
		args = append(args, "gorbm/cmd/"+name)
	}
	return New(ctx, "go", args...).Run(nil)
}

// A Call is a command with its output.
type Call struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

// New returns a call that has not run yet.
func New(ctx context.Context, path string, args ...string) *Call {
	c := &Call{Cmd: exec.CommandContext(ctx, path, args...)}
	c.Cmd.Stdout, c.Cmd.Stderr = &c.stdout, &c.stderr
	return c
}

// Run runs the command and decodes its JSON output into v, unless v is nil.
// An error ends with the last two lines of stderr.
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
