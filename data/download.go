package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// stallTime is for how long a download may deliver nothing before it is given
// up. There is no limit on the whole: a slow line is not a dead one.
type stallTime time.Duration

const (
	downloadStall = stallTime(30 * time.Second)
	maxDownload   = 1 << 24 // MNIST's largest file has 10 MB compressed
)

// downloadClient returns a client that gives up on a silent network soon: who
// has none should not wait to be told.
func downloadClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 20 * time.Second,
		ForceAttemptHTTP2:     true,
	}}
}

// download fetches a file from the first mirror that gives out the right
// content and stores it in the cache folder under its usual name.
func (m mnistSource) download(ctx context.Context, f idxFile, opt Options) (string, error) {
	err := errors.New("no mirror is known")
	for _, mirror := range m.mirrors {
		var body []byte
		body, err = m.fetch(ctx, mirror+f.name+".gz", opt)
		if err == nil {
			err = f.check(bytes.NewReader(body), mirror+f.name+".gz", func([]int) (io.Writer, error) { return io.Discard, nil })
		}
		if err == nil {
			path := filepath.Join(m.cache, f.name+".gz")
			return path, store(path, body)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return "", err
}

// fetch returns the body at an address.
func (m mnistSource) fetch(ctx context.Context, url string, opt Options) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(time.Duration(m.stall), func() {
		cancel(fmt.Errorf("%s: nothing came for %v", url, time.Duration(m.stall)))
	})
	defer stalled.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, causeOr(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answers %q", url, resp.Status)
	}
	progress := opt.progress("downloading "+filepath.Base(url), resp.ContentLength)
	var body bytes.Buffer
	in := io.LimitReader(resp.Body, maxDownload+1)
	alive := writerFunc(func(p []byte) (int, error) {
		stalled.Reset(time.Duration(m.stall))
		return progress.Write(p)
	})
	if _, err := io.Copy(io.MultiWriter(&body, alive), in); err != nil {
		return nil, fmt.Errorf("%s: %w", url, causeOr(ctx, err))
	}
	if body.Len() > maxDownload {
		return nil, fmt.Errorf("%s: longer than %d bytes", url, maxDownload)
	}
	return body.Bytes(), nil
}

// causeOr returns why ctx ended if it did, else err: "nothing came for 30s"
// says more than "context canceled".
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// store writes a file so that it is there whole or not at all: to a temporary
// file beside it, synced, then renamed. Two processes may do so at once.
func store(path string, content []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".download-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name()) // the first error is the one to tell
		}
	}()
	_, err = tmp.Write(content)
	if err == nil {
		err = tmp.Sync()
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644) // CreateTemp's own is for this user only
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}

// isNotDir reports whether a path could not be followed because a part of it
// is a file: nothing is there, then.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
