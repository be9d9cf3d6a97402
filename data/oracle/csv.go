package oracle

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"unicode"
)

// CSV parses a CSV text by RFC 4180 into lines of fields, without the white space before fields.
func CSV(text string) (lines [][]string, err error) { return Separated(text, ",") }

// Separated is CSV with another separator. A blank stands for one or more blanks, and white space at the end of a
// line then separates nothing. White space before a field stays if it may be the separator itself, a tab.
func Separated(text, separator string) (lines [][]string, err error) {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.TrimSuffix(text, "\r")
	var line []string
	for len(text) > 0 {
		if line == nil && text[0] == '\n' { // an empty line
			text = text[1:]
			continue
		}
		if separator != "\t" {
			text = strings.TrimLeftFunc(text, func(c rune) bool { return unicode.IsSpace(c) && c != '\n' })
		}
		if separator == " " && (text == "" || text[0] == '\n') {
			if line != nil {
				lines, line = append(lines, line), nil
			}
			text = text[min(1, len(text)):]
			continue
		}
		field := ""
		if rest, quoted := strings.CutPrefix(text, `"`); quoted {
			for {
				inside, after, ok := strings.Cut(rest, `"`)
				if !ok {
					return nil, errors.New("a quote does not end")
				}
				field += inside
				if rest, ok = strings.CutPrefix(after, `"`); !ok {
					text = after
					break
				}
				field += `"`
			}
			if text != "" && text[0] != separator[0] && text[0] != '\n' {
				return nil, errors.New("something follows a quote")
			}
		} else {
			end := strings.IndexAny(text, separator+"\n")
			if end < 0 {
				end = len(text)
			}
			field, text = text[:end], text[end:]
			if strings.Contains(field, `"`) {
				return nil, errors.New("a quote within a field")
			}
		}
		line = append(line, field)
		if text == "" || text[0] == '\n' {
			lines, line = append(lines, line), nil
		} else if text == separator && separator != " " {
			lines, line = append(lines, append(line, "")), nil
		}
		text = text[min(1, len(text)):]
	}
	return lines, nil
}

var decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,5})?$`)

// Decimal returns the float64 nearest to the decimal number in field, which may have white space around it.
func Decimal(field string) (float64, error) {
	field = strings.TrimSpace(field)
	r, ok := new(big.Rat).SetString(field)
	if !decimal.MatchString(field) || !ok {
		return 0, fmt.Errorf("%q is no decimal number", field)
	}
	v, _ := r.Float64()
	return v, nil
}
