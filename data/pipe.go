package data

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
)

// Stdin is the name of the data set that is read from Options.Stdin. "-" is short for it.
const Stdin = "stdin"

// IsPipe reports whether spec names the data set Stdin, or the pipe as a file.
func IsPipe(spec string) bool {
	return slices.Contains([]string{Stdin, "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, spec)
}

// maxPiped is the largest number of bytes that are read from a pipe: 8 GiB, all in memory.
const maxPiped = 1 << 33

// readPipe reads all of Options.Stdin into o.piped, which can be read several times. If ctx ends it returns
// at once, and leaves a goroutine that waits for the pipe.
func (o *Options) readPipe(ctx context.Context) error {
	const remedy = "pipe the rows in, as in: rbmtrain -data - < FILE.csv; a model that was trained on piped rows needs the same rows again"
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

// The first bytes of NumPy archives, NumPy arrays, IDX files and gzipped files.
const zipMagic, npyMagic, idxMagic, gzMagic = "PK\x03\x04", "\x93NUMPY", "\x00\x00\x08", "\x1f\x8b"

// stockholmMagic begins a Stockholm file of sequences.
const stockholmMagic = "# STOCKHOLM"

// hasMagic reports whether start begins like a NumPy archive, a NumPy array, an IDX file or a gzipped file.
// No CSV file begins so.
func hasMagic(start []byte) bool {
	return slices.ContainsFunc([]string{zipMagic, npyMagic, idxMagic, gzMagic}, func(magic string) bool { return bytes.HasPrefix(start, []byte(magic)) })
}

// loadPipe reads the rows of a pipe. The first bytes distinguish a NumPy archive, a NumPy array and CSV,
// which may be a table.
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
