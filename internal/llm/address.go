package llm

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// CheckAddress returns why an address cannot be the one of a model server. An
// error does not repeat the address, which may hold a password.
func CheckAddress(address string) error {
	_, err := parseAddress(address)
	return err
}

func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("is not an address; write it as https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("must start with https:// or http://")
	case u.Hostname() == "":
		return nil, errors.New("names no host")
	case u.User != nil:
		return nil, errors.New("must not hold a user or a password; a key has a separate setting")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("must end with its path, without ? and #")
	}
	return u, nil
}

// private reports whether a host is this machine or one of the same network, as
// far as its name tells: nobody else answers to such a name.
func private(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		shared := netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10) // RFC 6598, and overlay networks
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified() || shared.Contains(a)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if !strings.Contains(host, ".") {
		// A number without dots is an address to some resolvers: 134744072 is 8.8.8.8.
		return host != "" && host[0] >= 'a' && host[0] <= 'z'
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// versioned reports whether a path names a version of an API, as /v1 does.
func versioned(path string) bool {
	return regexp.MustCompile(`(^|/)v[0-9]+[a-z0-9]*(/|$)`).MatchString(path)
}

// routes lists the addresses at which a server may answer an endpoint, the
// likeliest first. What a base leaves out is added: its version, the endpoint.
func routes(base *url.URL, endpoint string) []string {
	switch path := strings.TrimRight(base.Path, "/"); {
	case strings.HasSuffix(path, endpoint):
		return []string{base.JoinPath().String()}
	case versioned(path):
		return []string{base.JoinPath(endpoint).String()}
	}
	return []string{base.JoinPath("v1", endpoint).String(), base.JoinPath(endpoint).String()}
}
