package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows how far work has come: as a bar on a terminal, and as a line of text now
// and then in a file or a pipe, or with -progress plain. A nil Progress shows nothing.
type Progress struct {
	bar   *progressbar.ProgressBar // nil: lines
	unit  string
	begin time.Time
	lines *progressLines
}

// NewProgress returns the progress of total units on standard error. It is nil with
// -quiet, or if standard error is no file of the system and -progress is not plain.
func (f *Flags) NewProgress(what, unit string, total int64) *Progress {
	if f.Quiet {
		return nil
	}
	now := time.Now()
	lines := func(first time.Duration) *Progress {
		return &Progress{lines: &progressLines{w: f.Stderr, what: what, unit: unit, total: total, begin: now, next: now.Add(first)}}
	}
	screen, ok := terminal(f.Stderr)
	switch {
	case f.progress == plain:
		return lines(firstLine)
	case screen == nil:
		return nil
	case !ok:
		return lines(nextLine)
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(screen),
		progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetWidth(24),
	}
	switch unit {
	case "B":
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowBytes(true))
	case perMille:
	default:
		options = append(options, progressbar.OptionShowCount())
	}
	return &Progress{bar: progressbar.NewOptions64(total, options...), unit: unit, begin: now}
}

// A progressMode is the value of -progress.
type progressMode string

const (
	bars  progressMode = "auto"
	plain progressMode = "plain"
)

func (m *progressMode) String() string { return string(*m) }

func (m *progressMode) Set(text string) error {
	if text != string(bars) && text != string(plain) {
		return fmt.Errorf("it must be auto or plain")
	}
	*m = progressMode(text)
	return nil
}

// perMille is the unit of a bar that counts thousandths of the work.
const perMille = "‰"

// rate returns how fast n units were done, as "817 steps/s" or "2.5 s a step", or "" of
// bytes, thousandths, and too few to tell.
func rate(n int64, unit string, took time.Duration) string {
	switch x := float64(n) / took.Seconds(); {
	case n <= 0 || took < time.Second || unit == "B" || unit == perMille:
		return ""
	case x < 1:
		return fmt.Sprintf("%.3g s a %s", 1/x, strings.TrimSuffix(unit, "s"))
	default:
		return FourDigits(x) + " " + unit + "/s"
	}
}

// Lines of -progress plain come first after firstLine and then each nextLine: few
// enough for the log of a job that runs for days, and soon enough to see that it runs.
// Without the flag the first comes after nextLine.
const (
	firstLine = 2 * time.Second
	nextLine  = 10 * time.Second
)

// progressLines are the lines of -progress plain.
type progressLines struct {
	w           io.Writer
	what, unit  string
	done, total int64
	begin, next time.Time
}

// set prints a line if it is time.
func (l *progressLines) set(n int64, text string, now time.Time) {
	if l.done = n; text != "" {
		l.what = text
	}
	if now.Before(l.next) || n <= 0 || n >= l.total {
		return
	}
	l.next = now.Add(nextLine)
	took := now.Sub(l.begin)
	left := time.Duration(float64(took) * float64(l.total-n) / float64(n)).Round(time.Second)
	line := fmt.Sprintf("%.1f %%", 100*float64(n)/float64(l.total))
	if l.unit != perMille {
		line = fmt.Sprintf("%d of %d %s, %s", n, l.total, l.unit, line)
	}
	if r := rate(n, l.unit, took); r != "" {
		line += ", " + r
	}
	if l.what != "" {
		line = l.what + ": " + line
	}
	fmt.Fprintf(l.w, "%s, %v left\n", line, left)
}

// Set moves the bar to n. If text is not empty, it is shown before the bar. A
// command need not stop if its bar cannot be drawn, so errors are ignored.
func (p *Progress) Set(n int64, text string) {
	if p == nil {
		return
	}
	if p.lines != nil {
		p.lines.set(n, text, time.Now())
		return
	}
	if r := rate(n, p.unit, time.Since(p.begin)); text != "" && r != "" {
		text += ", " + r
	}
	if text != "" {
		p.bar.Describe(text)
	}
	_ = p.bar.Set64(n)
}

// Clear removes the bar from the screen until the next Set, so that something
// else can be printed.
func (p *Progress) Clear() {
	if p != nil && p.bar != nil {
		_ = p.bar.Clear()
	}
}

// Write counts the bytes of b, so that a Progress can stand in a MultiWriter.
func (p *Progress) Write(b []byte) (int, error) {
	switch {
	case p == nil:
	case p.lines != nil:
		p.lines.set(p.lines.done+int64(len(b)), "", time.Now())
	default:
		_ = p.bar.Add(len(b))
	}
	return len(b), nil
}

// Done removes the bar.
func (p *Progress) Done() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
	}
}
