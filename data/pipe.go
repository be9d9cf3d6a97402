package data

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Stdin is the name of the rows that come from Options.Stdin; "-" is short for it.
const Stdin = "stdin"

// maxPiped caps what is read from a pipe: 8 GiB, which is held in memory.
const maxPiped = 1 << 33

// readPipe reads all that comes from Options.Stdin, once for several readings.
func (o *Options) readPipe() error {
	const remedy = "pipe the rows in, as in: rbmtrain -data - < FILE.csv; what was trained on piped rows needs the same ones again"
	if o.Stdin == nil {
		return specErrorf("%s: there is no pipe; %s", Stdin, remedy)
	}
	all, err := io.ReadAll(io.LimitReader(o.Stdin, maxPiped+1))
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

// loadPipe reads the rows from a pipe: a NumPy archive or array by its first bytes,
// and else CSV.
func loadPipe(ctx context.Context, sp spec, opt Options) ([]*Set, error) {
	if len(sp.args) > 0 {
		return nil, specErrorf("%s takes no settings; write -", Stdin)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	read := loadCSV
	switch {
	case bytes.HasPrefix(opt.piped, []byte("PK\x03\x04")):
		read = loadNPZ
	case bytes.HasPrefix(opt.piped, []byte("\x93NUMPY")):
		read = loadNPY
	case bytes.HasPrefix(opt.piped, []byte("\x00\x00\x08")), bytes.HasPrefix(opt.piped, []byte("\x1f\x8b")):
		return nil, formatErrorf("%s: IDX files and gzipped ones come by their names, as -data IMAGES[,LABELS]", Stdin)
	}
	return read(bytes.NewReader(opt.piped), int64(len(opt.piped)), Stdin, opt)
}
