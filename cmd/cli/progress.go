package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows the progress of work: by a bar on a terminal, and by lines of text in a
// file or a pipe or with -progress plain. A nil Progress shows nothing.
type Progress struct {
	bar   *progressbar.ProgressBar // nil if lines is set
	unit  string
	begin time.Time
	lines *progressLines
}

// NewProgress returns a Progress on standard error for work of total units. It is nil with
// -quiet. Unless -progress is plain, it is also nil if standard error is not an *os.File. what
// is the text before the bar.
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

// rate writes the speed of n units in the time took, as "817 steps/s" or "2.5 s per step". It
// is "" for bytes, for thousandths, and in the first second.
func rate(n int64, unit string, took time.Duration) string {
	switch x := float64(n) / took.Seconds(); {
	case n <= 0 || took < time.Second || unit == "B" || unit == perMille:
		return ""
	case x < 1:
		return fmt.Sprintf("%.3g s per %s", 1/x, strings.TrimSuffix(unit, "s"))
	default:
		return FourDigits(x) + " " + unit + "/s"
	}
}

// With -progress plain the first line is printed after firstLine, otherwise after nextLine.
// Further lines are printed every nextLine: few enough for the log of a job that runs for
// days.
const (
	firstLine = 2 * time.Second
	nextLine  = 10 * time.Second
)

// progressLines prints progress as lines of text.
type progressLines struct {
	w           io.Writer
	what, unit  string
	done, total int64
	begin, next time.Time
}

// set records that n units are done, and prints a line if the next one is due. text, if
// not empty, replaces what.
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

// Set shows that n units are done. If text is not empty, it is shown before the bar.
// Errors of the bar are ignored, as the work itself can continue.
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

// Write counts the bytes of b as units done, so that io.MultiWriter can feed a Progress.
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
