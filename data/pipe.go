package data

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// Stdin is the name of the rows that come from Options.Stdin; "-" is short for it.
const Stdin = "stdin"

// IsPipe reports whether a spec names the rows that come from Options.Stdin.
func IsPipe(spec string) bool {
	return slices.Contains([]string{Stdin, "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, spec)
}

// maxPiped caps what is read from a pipe: 8 GiB, which is held in memory.
const maxPiped = 1 << 33

// readPipe reads all that comes from Options.Stdin, once for several readings. If ctx
// ends it returns at once, and leaves a goroutine that waits for the pipe.
func (o *Options) readPipe(ctx context.Context) error {
	const remedy = "pipe the rows in, as in: rbmtrain -data - < FILE.csv; what was trained on piped rows needs the same ones again"
	if o.Stdin == nil {
		return specErrorf("%s: there is no pipe; %s", Stdin, remedy)
	}
	var all []byte
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		in := bufio.NewReaderSize(reading{ctx, nil, o.Stdin}, 1<<16)
		var rows io.Reader = in
		if start, _ := in.Peek(len(npyMagic)); !hasMagic(start) {
			rows = LimitRows(in)
		}
		all, err = io.ReadAll(io.LimitReader(rows, maxPiped+1))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-done:
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", Stdin, err)
	case len(all) > maxPiped:
		return formatErrorf("%s: more than %d GiB; write the rows to a file", Stdin, maxPiped>>30)
	case len(all) == 0:
		return formatErrorf("%s: nothing came through the pipe; %s", Stdin, remedy)
	}
	o.piped = all
	return nil
}

// How archives and arrays of NumPy and IDX files begin, and gzipped ones.
const zipMagic, npyMagic, idxMagic, gzMagic = "PK\x03\x04", "\x93NUMPY", "\x00\x00\x08", "\x1f\x8b"

// stockholmMagic begins a Stockholm file of sequences.
const stockholmMagic = "# STOCKHOLM"

// hasMagic reports whether what comes begins as none of the rows of a CSV file does.
func hasMagic(start []byte) bool {
	return slices.ContainsFunc([]string{zipMagic, npyMagic, idxMagic, gzMagic}, func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) })
}

// loadPipe reads the rows from a pipe: a NumPy archive or array by its first bytes,
// and otherwise CSV, which may be a table.
func loadPipe(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	if len(sp.args) > 0 {
		return nil, specErrorf("%s takes no settings; write -", Stdin)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	read := loadCSVOrTable
	switch {
	case bytes.HasPrefix(opt.piped, []byte(zipMagic)):
		read = loadNPZ
	case bytes.HasPrefix(opt.piped, []byte(npyMagic)):
		read = loadNPY
	case hasMagic(opt.piped):
		return nil, formatErrorf("%s: IDX files and gzipped ones come by their names, as -data IMAGES[,LABELS]", Stdin)
	case opt.piped[0] == '>' || bytes.HasPrefix(opt.piped, []byte(stockholmMagic)):
		return nil, formatErrorf("%s: aligned sequences come by a file's name; write them to a .fasta file", Stdin)
	}
	return read(reading{ctx, bytes.NewReader(opt.piped), nil}, int64(len(opt.piped)), Stdin, opt)
}
