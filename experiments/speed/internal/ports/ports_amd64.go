//go:build !noasm

package ports

import "golang.org/x/sys/cpu"

var measurable = cpu.X86.HasAVX512F
