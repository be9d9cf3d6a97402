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
	"time"

	"gorbm/rbm/atomicfile"
)

const (
	// downloadStall is the time without data after which a download fails. The whole download has no limit,
	// because the connection may be slow.
	downloadStall = 30 * time.Second
	maxDownload   = 1 << 24 // bytes; MNIST's largest file has 10 MB compressed
)

// downloadClient returns a client with short timeouts, so that without a network the error comes soon.
func downloadClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 20 * time.Second,
		ForceAttemptHTTP2:     true,
	}}
}

// download fetches a file from the first mirror that has the right content and
// stores it in the cache folder under its usual name.
func (m mnistSource) download(ctx context.Context, f idxFile, opt Options) (string, error) {
	err := errors.New("no mirror is known")
	for _, mirror := range m.mirrors {
		var body []byte
		body, err = m.fetch(ctx, mirror+f.name+".gz", opt)
		if err == nil {
			err = f.scan(bytes.NewReader(body), mirror+f.name+".gz", func([]int) (io.Writer, error) { return io.Discard, nil })
		}
		if err == nil {
			if err = os.MkdirAll(m.cache, 0o777); err != nil {
				return "", err
			}
			path := filepath.Join(m.cache, f.name+".gz")
			return path, atomicfile.WriteBytes(path, body)
		}
		if ctx.Err() != nil {
			break
		}
	}
	return "", err
}

// fetch returns the content at url.
func (m mnistSource) fetch(ctx context.Context, url string, opt Options) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(m.stall, func() {
		cancel(fmt.Errorf("%s: nothing came for %v", url, m.stall))
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
	progress := opt.progress("downloading "+filepath.Base(url), "B", resp.ContentLength)
	var body bytes.Buffer
	in := io.LimitReader(resp.Body, maxDownload+1)
	alive := writerFunc(func(p []byte) (int, error) {
		stalled.Reset(m.stall)
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

// causeOr returns the cause for which ctx ended, such as "nothing came for 30s",
// or err if ctx is not done.
func causeOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
