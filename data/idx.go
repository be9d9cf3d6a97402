package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An idx is what an IDX file of bytes holds, the format in which MNIST is
// given out: two zero bytes, the kind of the elements, the number of
// dimensions, each dimension as a big-endian uint32, then the elements, the
// last dimension running fastest.
type idx struct {
	dims []int
	data []byte // product of dims
}

// idxBytes is the kind of unsigned bytes, the only one read here.
const idxBytes = 0x08

// readIDX reads an IDX file of unsigned bytes that is to have one of the given
// numbers of dimensions. It allocates no more than r delivers, whatever the
// header says, reads no further than the header says, whatever r delivers, and
// refuses more than most elements. Errors name path.
func readIDX(r io.Reader, path string, most int64, dims ...int) (idx, error) {
	// The buffer grows with what arrives, so a false header costs nothing.
	var buf bytes.Buffer
	var out idx
	err := scanIDX(r, path, most, dims, func(dims []int) (io.Writer, error) {
		out.dims = dims
		return &buf, nil
	})
	if err != nil {
		return idx{}, err
	}
	out.data = buf.Bytes()
	return out, nil
}

// scanIDX is readIDX for those who do not want the elements in memory: begin
// is told the dimensions and returns where the elements go.
func scanIDX(r io.Reader, path string, most int64, dims []int, begin func(dims []int) (io.Writer, error)) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return idxRead(path, err)
	}
	switch {
	case head[0] != 0 || head[1] != 0:
		return formatErrorf("%s: not an IDX file (it starts with % x); put the original file there", path, head)
	case head[2] != idxBytes:
		return formatErrorf("%s: IDX elements of kind 0x%02x; only unsigned bytes (0x08) can be read", path, head[2])
	case !slices.Contains(dims, int(head[3])):
		return formatErrorf("%s: %s, but %s belong there; are the files exchanged?", path, idxContent(int(head[3])), idxContent(dims[len(dims)-1]))
	}
	shape := make([]int, head[3])
	size := int64(1)
	for i := range shape {
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return idxRead(path, err)
		}
		d := int64(binary.BigEndian.Uint32(b[:]))
		if d == 0 {
			return formatErrorf("%s: the header says that dimension %d is empty; put the original file there", path, i+1)
		}
		if d > most/size {
			return formatErrorf("%s: the header asks for more than %d bytes; put the original file there", path, most)
		}
		size *= d
		shape[i] = int(d)
	}
	w, err := begin(shape)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(r, size+1))
	switch {
	case err != nil:
		return idxRead(path, err)
	case n < size:
		return formatErrorf("%s: cut short, %d bytes of data where the header says %d; fetch it again", path, n, size)
	case n > size:
		return formatErrorf("%s: more data than the %d bytes that the header says; fetch it again", path, size)
	}
	return nil
}

// idxContent says what an IDX file of so many dimensions is likely to hold.
func idxContent(dims int) string {
	switch dims {
	case 1:
		return "labels (1 dimension)"
	case 3:
		return "images (3 dimensions)"
	}
	return fmt.Sprintf("data of %d dimensions", dims)
}

// idxRead is the error for a file that ends in its header or cannot be
// decompressed. An error of the disk keeps its own text.
func idxRead(path string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return formatErrorf("%s: cut short; fetch it again", path)
	}
	if strings.HasPrefix(err.Error(), "gzip:") || strings.HasPrefix(err.Error(), "flate:") {
		return formatErrorf("%s: damaged (%v); fetch it again", path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// decompress returns a reader of r's content, through gzip if r starts with
// gzip's magic number, whatever the file is called.
func decompress(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	magic, err := b.Peek(2)
	if err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return b, nil // what is wrong with a shorter file, its reader will say
	}
	return gzip.NewReader(b)
}
