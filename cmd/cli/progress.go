package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress is a progress bar on a terminal. A nil Progress shows nothing.
type Progress struct{ bar *progressbar.ProgressBar }

// NewProgress returns a progress bar of total units on standard error, or nil
// with -quiet or if that is not a terminal.
func (f *Flags) NewProgress(what, unit string, total int64) *Progress {
	screen, ok := terminal(f.Stderr)
	if f.Quiet || !ok {
		return nil
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(screen),
		progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(24),
	}
	if unit == "B" {
		options = append(options, progressbar.OptionShowBytes(true))
	} else {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit))
	}
	return &Progress{progressbar.NewOptions64(total, options...)}
}

// Set moves the bar to n. If text is not empty, it is shown before the bar. A
// command need not stop if its bar cannot be drawn, so errors are ignored.
func (p *Progress) Set(n int64, text string) {
	if p == nil {
		return
	}
	if text != "" {
		p.bar.Describe(text)
	}
	_ = p.bar.Set64(n)
}

// Clear removes the bar from the screen until the next Set, so that something
// else can be printed.
func (p *Progress) Clear() {
	if p != nil {
		_ = p.bar.Clear()
	}
}

// Write counts the bytes of b, so that a Progress can stand in a MultiWriter.
func (p *Progress) Write(b []byte) (int, error) {
	if p != nil {
		_ = p.bar.Add(len(b))
	}
	return len(b), nil
}

// Done removes the bar.
func (p *Progress) Done() {
	if p != nil {
		_ = p.bar.Finish()
	}
}
