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

// maxDownload limits the bytes of a file. MNIST's largest file has 10 MB.
const maxDownload = 1 << 24

// downloadClient returns a client with short timeouts, so that without a network the error comes soon. A
// slow connection has ten minutes for a file.
func downloadClient() *http.Client {
	return &http.Client{Timeout: 10 * time.Minute, CheckRedirect: onlyHTTPS, Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: 20 * time.Second,
		ForceAttemptHTTP2:     true,
	}}
}

// onlyHTTPS refuses a redirection to a connection that is not encrypted.
func onlyHTTPS(req *http.Request, via []*http.Request) error {
	if req.URL.Scheme != "https" && via[0].URL.Scheme == "https" {
		return fmt.Errorf("it redirects to %s, which is not encrypted", req.URL.Redacted())
	}
	if len(via) == 10 {
		return errors.New("it redirects 10 times")
	}
	return nil
}

// download completes the folder for downloads. Each file comes from the first mirror where it has the right
// content.
func (m mnistSource) download(ctx context.Context, opt Options) error {
	if m.cache == "" {
		return errors.New("there is no cache folder")
	}
	for _, f := range m.files {
		if f.check(ctx, m.cache) == nil {
			continue
		}
		body, err := m.fetch(ctx, f, opt)
		if err == nil {
			err = os.MkdirAll(m.cache, 0o777)
		}
		if err == nil {
			err = atomicfile.WriteBytes(filepath.Join(m.cache, f.name), body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch returns the content of a file from the first mirror where it is right.
func (m mnistSource) fetch(ctx context.Context, f mnistFile, opt Options) (body []byte, err error) {
	err = errors.New("no mirror is known")
	for _, mirror := range m.mirrors {
		url := mirror + f.name
		if body, err = m.get(ctx, url, opt); err == nil {
			err = f.compare(bytes.NewReader(body), url)
		}
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return body, err
}

// get returns the content at url.
func (m mnistSource) get(ctx context.Context, url string, opt Options) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: the server answers %q", url, resp.Status)
	}
	progress := opt.progress("downloading "+filepath.Base(url), "B", resp.ContentLength)
	var body bytes.Buffer
	if _, err := io.Copy(io.MultiWriter(&body, progress), io.LimitReader(resp.Body, maxDownload+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if body.Len() > maxDownload {
		return nil, fmt.Errorf("%s: longer than %d bytes", url, maxDownload)
	}
	return body.Bytes(), nil
}
