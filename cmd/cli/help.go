package cli

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gorbm/rbm"
)

// A Screen is the beginning of what -h prints. The flags follow, in their groups; the whole fits
// on a screen. -h all prints everything.
type Screen struct {
	Purpose  string   // what the command does, in a line or two
	Examples []string // command lines, each followed by two spaces and a # comment
}

// screenWidth is the width of help, in columns.
const screenWidth = 100

func (f *Flags) printScreen(w io.Writer) {
	s := f.Screen
	fmt.Fprintf(w, "%s\n\n", s.Purpose)
	wide := 0
	for _, e := range s.Examples {
		line, _, _ := strings.Cut(e, "  #")
		wide = max(wide, utf8.RuneCountInString(line))
	}
	for _, e := range s.Examples {
		line, comment, _ := strings.Cut(e, "  #")
		fmt.Fprintf(w, "  %-*s  #%s\n", wide, line, comment)
	}
	fmt.Fprintf(w, "\nUsage: %s\n", f.usage)
	width := 0
	for _, title := range f.groups {
		width = max(width, utf8.RuneCountInString(title))
	}
	for i, title := range f.groups {
		head, more, last := title, "", ""
		for _, r := range f.rows {
			switch {
			case r.group == "" && i == len(f.groups)-1:
				last += " -" + r.Name
			case r.group != title:
			case r.main == "":
				more += " -" + r.Name
			default:
				name, text, _ := strings.Cut(r.main, "  ")
				fmt.Fprintf(w, "  %-*s  -%-15s %s\n", width, head, strings.TrimSpace(r.Name+" "+name), text)
				head = ""
			}
		}
		for _, line := range wrap(strings.TrimSpace(more+last), screenWidth-width-4) {
			fmt.Fprintf(w, "  %-*s  %s\n", width, head, line)
			head = ""
		}
	}
	fmt.Fprintf(w, "\n%s -h all explains all of this and every flag.\n", f.Name())
}

func (f *Flags) printAll(w io.Writer) {
	fmt.Fprintf(w, "%s\n\nUsage: %s\n\nFlags:\n", f.summary, f.usage)
	f.VisitAll(func(g *flag.Flag) {
		kind, text := flag.UnquoteUsage(g)
		if _, ok := g.Value.(interface{ integer() }); ok {
			kind = "int"
		}
		fmt.Fprintf(w, "  -%s\n", strings.TrimSpace(g.Name+" "+kind))
		if d := g.DefValue; !slices.Contains([]string{"", "0", "false"}, d) {
			if kind == "string" {
				d = fmt.Sprintf("%q", d)
			}
			text += " (default " + d + ")"
		}
		for paragraph := range strings.SplitSeq(text, "\n") {
			for _, line := range wrap(paragraph, screenWidth-6) {
				fmt.Fprintf(w, "      %s\n", line)
			}
		}
	})
	fmt.Fprintf(w, "\nKernels on this machine: %s (avx512, avx2 and go: bit-identical results)\n", rbm.KernelLevel())
}

// wrap breaks text at spaces into lines of at most width columns. A word longer than
// that, and all text after it, stays in one line. An empty text has no lines.
func wrap(text string, width int) (lines []string) {
	for utf8.RuneCountInString(text) > width {
		at := strings.LastIndexByte(string([]rune(text)[:width+1]), ' ')
		if at <= 0 {
			break
		}
		lines = append(lines, strings.TrimRight(text[:at], " "))
		text = text[at+1:]
	}
	if text != "" {
		lines = append(lines, text)
	}
	return lines
}

// flagNames returns the names of all flags in alphabetical order.
func (f *Flags) flagNames() (names []string) {
	f.VisitAll(func(g *flag.Flag) { names = append(names, g.Name) })
	return names
}

// completion returns a script for bash, zsh or fish that completes the command's flags, and the
// values of flags with Row.Offer. Other values are completed as names of files.
func (f *Flags) completion(shell string) string {
	var b strings.Builder
	name := f.Name()
	each := func(do func(g *flag.Flag, offer string)) {
		f.VisitAll(func(g *flag.Flag) { do(g, strings.Join(f.Row(g.Name).offers, " ")) })
	}
	switch shell {
	case "bash":
		fmt.Fprintf(&b, "_%s() {\n\tlocal words=''\n\tcase ${COMP_WORDS[COMP_CWORD-1]} in\n", name)
		each(func(g *flag.Flag, offer string) {
			if offer != "" {
				fmt.Fprintf(&b, "\t-%s) words='%s' ;;\n", g.Name, offer)
			}
		})
		fmt.Fprintf(&b, "\tesac\n\tcase ${COMP_WORDS[COMP_CWORD]} in -*) words='-%s' ;; esac\n", strings.Join(f.flagNames(), " -"))
		fmt.Fprintf(&b, "\tCOMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F _%s %s\n", name, name)
	case "zsh":
		fmt.Fprintf(&b, "#compdef %s\n_%s() {\n\t_arguments", name, name)
		each(func(g *flag.Flag, offer string) {
			fmt.Fprintf(&b, " \\\n\t\t'-%s[%s]", g.Name, zshQuote(brief(g)))
			switch {
			case isBool(g):
			case offer != "":
				fmt.Fprintf(&b, ":%s:(%s)", g.Name, offer)
			default:
				fmt.Fprintf(&b, ":%s:_files", g.Name)
			}
			b.WriteString("'")
		})
		fmt.Fprintf(&b, "\n}\ncompdef _%s %s\n", name, name)
	case "fish":
		each(func(g *flag.Flag, offer string) {
			fmt.Fprintf(&b, "complete -c %s -o %s -d '%s'", name, g.Name, strings.ReplaceAll(strings.ReplaceAll(brief(g), `\`, `\\`), "'", `\'`))
			switch {
			case isBool(g):
			case offer != "":
				fmt.Fprintf(&b, " -x -a '%s'", offer)
			default:
				b.WriteString(" -r")
			}
			b.WriteString("\n")
		})
	}
	return b.String()
}

// brief returns the first clause of a flag's help.
func brief(g *flag.Flag) string {
	_, text := flag.UnquoteUsage(g)
	text, _, _ = strings.Cut(text, "\n")
	for _, end := range []string{"; ", ": ", " ("} {
		head, _, _ := strings.Cut(text, end)
		text = cmp.Or(head, text)
	}
	return text
}

// zshQuote escapes text for the single quotes and brackets in arguments of zsh's _arguments.
func zshQuote(text string) string {
	return strings.NewReplacer("'", `'\''`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(text)
}

func isBool(g *flag.Flag) bool {
	b, ok := g.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
