package rbm

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ReadFile reads a model from a .safetensors or .npz file. The error names the
// file, and wraps ErrFormat if the file is damaged or not a model.
func ReadFile(path string) (*RBM, About, error) {
	fail := func(err error) (*RBM, About, error) {
		return nil, About{}, fmt.Errorf("model %s: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, About{}, fmt.Errorf("model: %w", err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	if !stat.Mode().IsRegular() {
		return fail(fmt.Errorf("it is not a file; name the model.safetensors in a run's folder"))
	}
	var m *RBM
	var about About
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".safetensors":
		m, about, err = ReadSafetensors(f, stat.Size())
	case ".npz":
		m, about, err = ReadNPZ(f, stat.Size())
	default:
		err = fmt.Errorf("%w: models are .safetensors or .npz files, not %q", ErrFormat, ext)
	}
	if err != nil {
		return fail(err)
	}
	return m, about, nil
}

// WriteFile writes m to a .safetensors or .npz file, replacing what is there
// in one step: a reader finds the old file or the new one, whole.
func (m *RBM) WriteFile(path string, about About) error {
	var write func(io.Writer, About) error
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".safetensors":
		write = m.WriteSafetensors
	case ".npz":
		write = m.WriteNPZ
	default:
		return fmt.Errorf("model %s: models are written as .safetensors or .npz files, not %q", path, ext)
	}
	return ReplaceFile(path, func(w io.Writer) error { return write(w, about) })
}

// ReplaceFile writes a file in one step: its content goes to a temporary file
// beside it, which is synced and renamed, so that a crash leaves the old file
// or the new one. The error names the path.
func ReplaceFile(path string, write func(w io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("cannot write %s: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
