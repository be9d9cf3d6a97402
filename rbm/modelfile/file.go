// Package modelfile reads and writes models as safetensors files and NumPy
// archives. Both contain the float32 arrays weights [visible, hidden],
// visible_bias and hidden_bias, arrays for other parameters of real units, and metadata: see About.
//
// # Where to begin
//
// Read Write, Read and About. Example writes a model and reads it back.
package modelfile

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
)

// Read reads a model from a .safetensors or .npz file. The error names the
// file. It wraps rbm.ErrFormat if the file is damaged or not a model, and also
// rbm.ErrDiverged if a parameter in it is not finite.
func Read(path string) (*rbm.RBM, About, error) {
	fail := func(err error) (*rbm.RBM, About, error) {
		return nil, About{}, fmt.Errorf("model %s: %w", path, err)
	}
	f, size, err := atomicfile.Open(path)
	if errors.Is(err, atomicfile.ErrNotRegular) {
		return fail(errors.New("it is not a file; name the model.safetensors in a run's folder"))
	}
	if err != nil {
		return nil, About{}, fmt.Errorf("model: %w", err)
	}
	defer f.Close()
	var m *rbm.RBM
	var about About
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".safetensors":
		m, about, err = ReadSafetensors(f, size)
	case ".npz":
		m, about, err = ReadNPZ(f, size)
	default:
		err = fmt.Errorf("%w: models are .safetensors or .npz files, not %q", rbm.ErrFormat, ext)
	}
	if err != nil {
		return fail(err)
	}
	return m, about, nil
}

// Write writes m to a .safetensors or .npz file. It replaces an existing file atomically: a reader
// finds either the old file or the new one.
func Write(path string, m *rbm.RBM, about About) error {
	var write func(io.Writer, *rbm.RBM, About) error
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".safetensors":
		write = WriteSafetensors
	case ".npz":
		write = WriteNPZ
	default:
		return fmt.Errorf("model %s: models are written as .safetensors or .npz files, not %q", path, ext)
	}
	return atomicfile.Write(path, func(w io.Writer) error { return write(w, m, about) })
}
