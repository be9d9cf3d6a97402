package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm/atomicfile"
)

// A run writes and removes files by name. A link among these files, as an archive of a run may have, would
// make the run change files elsewhere. So links are refused: by checkLinks before anything is changed, and
// again by openFile.

// errLink is wrapped by errors that name a link.
var errLink = errors.New("a run touches only files of its own folder; remove the link, or continue in a copy without links: cp -rL FOLDER COPY")

// openFile opens a file of the folder as os.OpenFile does. It refuses symbolic links, files with several
// hard links, and anything but regular files.
func (f *Folder) openFile(name string, flag int) (*os.File, error) {
	path := f.Path(name)
	if err := checkFile(path); err != nil { // opening a named pipe would wait for its other end
		return nil, err
	}
	file, err := os.OpenFile(path, flag&^os.O_TRUNC|noFollow, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = checkInfo(path, info)
	}
	if err == nil && flag&os.O_TRUNC != 0 {
		err = file.Truncate(0)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Read returns the content of a file of the folder. It refuses links and files of more than most bytes.
func (f *Folder) Read(name string, most int64) ([]byte, error) {
	file, err := f.openFile(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", f.Path(name), most)
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// MaxConfig is the largest size of config.json, in bytes.
const MaxConfig = 1 << 26

// ReadConfig decodes the config.json of the run in a folder. Its error wraps fs.ErrNotExist if there is no
// such file.
func ReadConfig(dir string, into any) error {
	path := filepath.Join(dir, ConfigFile)
	text, err := atomicfile.Read(path, MaxConfig)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// checkFile returns an error if path exists and is not a regular file with one hard link.
func checkFile(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // the call that opens it reports the error
	}
	return checkInfo(path, info)
}

func checkInfo(path string, info fs.FileInfo) error {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link; %w", path, errLink)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is %w", path, atomicfile.ErrNotRegular)
	case names(info) > 1:
		return fmt.Errorf("%s is a hard link: the file has %d names; %w", path, names(info), errLink)
	}
	return nil
}

// checkLinks returns an error that names the first link among the files that a run reads, writes or
// removes. It changes nothing. Other files that are not regular are reported when they are opened or
// replaced.
func (f *Folder) checkLinks() error {
	for _, dir := range []struct {
		name string
		ours func(name string) bool
	}{
		{".", isOurs},
		{SnapshotsDir, isSnapshot},
		{EventsDir, func(name string) bool { return strings.HasPrefix(name, eventsPrefix) }},
	} {
		path := f.Path(dir.name)
		if info, err := os.Lstat(path); dir.name != "." && err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link; %w", path, errLink)
		}
		entries, err := os.ReadDir(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, e := range entries {
			if !dir.ours(e.Name()) {
				continue
			}
			if err := checkFile(filepath.Join(path, e.Name())); errors.Is(err, errLink) {
				return err
			}
		}
	}
	return nil
}

// isOurs reports whether a run's folder may have a file with this name.
func isOurs(name string) bool {
	if name == lockFile || slices.Contains(files, name) {
		return true
	}
	return slices.ContainsFunc(charts, func(chart string) bool {
		ending, ok := strings.CutPrefix(name, strings.TrimSuffix(chart, ".png"))
		return ok && slices.Contains(chartEndings, ending)
	})
}

// isSnapshot reports whether name is the name of a snapshot.
func isSnapshot(name string) bool {
	step, ok := strings.CutSuffix(name, ".safetensors")
	_, err := strconv.Atoi(step)
	return ok && err == nil
}
