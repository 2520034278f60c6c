package risk

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/publicsuffix"
)

var (
	urlForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://([^\s/?#"'<>()\x60|\\]+)(/[^\s"'<>()\x60|\\?#]*)?`)
	})
	// A name with dots, with what precedes and follows it.
	domainForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)((?:[\w.+-]+@)?)((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9])` +
			`((?::\d+)?(?:[:/][\w./%~+-]*)?)`)
	})
	loginForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[\s"'\x60(])[\w.+-]+@([A-Za-z][\w-]*):[\w/~.]`)
	})
	ipForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[^\w.:-])(\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:]*:[0-9a-fA-F:.]*\])((?::\d+)?(?:/\S*)?)`)
	})
)

// addresses returns the network addresses of a text.
func addresses(text string) (all []suspect) {
	add := func(shown, host, path string) {
		if s, ok := address(shown, host, path); ok {
			all = append(all, s)
		}
	}
	for _, m := range urlForm().FindAllStringSubmatchIndex(text, 64) {
		host, path := text[m[2]:m[3]], ""
		if m[4] >= 0 {
			path = text[m[4]:m[5]]
		}
		if web(text[m[0]:m[2]]) || strings.Contains(host[strings.LastIndexByte(host, '@')+1:], ".") {
			add(text[m[0]:m[1]], host, path)
		}
	}
	rest := urlForm().ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
	for _, m := range domainForm().FindAllStringSubmatchIndex(rest, 256) {
		user, name, tail := rest[m[2]:m[3]], rest[m[4]:m[5]], rest[m[6]:m[7]]
		if apart(rest, m[0], m[1]) && domain(name, user != "", tail, rest[:m[0]]) {
			add(rest[m[0]:m[1]], name, strings.TrimLeft(tail, ":0123456789"))
		}
	}
	for _, m := range loginForm().FindAllStringSubmatch(rest, 16) {
		add(strings.TrimSpace(m[0]), m[1], "")
	}
	for _, m := range ipForm().FindAllStringSubmatchIndex(rest, 16) {
		ip := strings.Trim(rest[m[4]:m[5]], "[]")
		if a, err := netip.ParseAddr(ip); err == nil && !versioned(rest[:m[4]]) && !a.IsLoopback() && !a.IsUnspecified() {
			add(ip+rest[m[6]:m[7]], ip, "")
		}
	}
	return all
}

// web reports whether a scheme sends text to any host. A name without dots is that of a database in the network otherwise.
func web(scheme string) bool {
	scheme, _, _ = strings.Cut(strings.ToLower(scheme), ":")
	return slices.Contains(words("http https ws wss ftp ftps sftp ssh scp git rsync tcp udp"), scheme)
}

// versioned reports whether a text ends with a word that says that a version follows.
func versioned(before string) bool {
	before = strings.ToLower(strings.TrimRight(before, " v"))
	return strings.HasSuffix(before, "version") || strings.HasSuffix(before, "release")
}

// apart reports whether a name with dots is a whole word: no part of a path, of a call or of a larger name.
func apart(s string, from, to int) bool {
	if from > 0 && strings.IndexByte("./\\$@-_#}>", s[from-1]) >= 0 {
		return false
	}
	if to < len(s) && strings.IndexByte("([_={", s[to]) >= 0 {
		return false
	}
	return !(to+1 < len(s) && s[to] == '.' && (letter(rune(s[to+1])) || s[to+1] == '_'))
}

// files are the ends of names of source files that are also top-level domains of countries.
var files = words(`md rs py sh pl so cc ps ml mk mm pm st in am ac la vi as bz ci cs do fm ga gs hs id im is it to at me my no be by us we
	tv kt lk lua ms nu re sc tc tf vc tk`)

// general are the general top-level domains that are no word of a language: "user.save" and "foo.bar" are domains, too.
var general = words("com net org edu gov mil int biz info xyz online website icu dev cloud")

// toWords precede the place to which something goes, or from which it comes.
var toWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:to|from|at|via|nach|zu|über|vers|chez|à|para)\s+["'\x60(]*$`)
})

// reserved are the top-level domains that no registry has (RFC 2606, RFC 7686, RFC 6762).
var reserved = words("example invalid onion test")

// domain reports whether a name with dots is a domain: its end is a public suffix under which names are given away. An end
// that source files or members of objects have as well counts with more of an address around it.
func domain(name string, user bool, tail, before string) bool {
	lower := strings.ToLower(name)
	end := lower[strings.LastIndexByte(lower, '.')+1:]
	suffix, managed := publicsuffix.PublicSuffix(lower)
	code := name != lower && strings.ToUpper(name) != name && !user && tail == "" // a member of an object
	switch {
	case suffix == lower || code:
		return false
	case slices.Contains(reserved, end):
		return !fileLike(lower, before)
	case !managed && !strings.Contains(suffix, "."):
		return false
	case user, strings.HasPrefix(lower, "www."), slices.Contains(general, end), len(end) == 2 && !slices.Contains(files, end):
		return true
	}
	return surrounded(tail, strings.Count(lower, ".")) || !slices.Contains(files, end) && toWords().MatchString(before)
}

// surrounded reports whether a name with dots has a port, or a path behind more than one dot.
func surrounded(tail string, dots int) bool {
	return strings.HasPrefix(tail, ":") || dots > 1 && len(tail) > 1
}

// fileLike reports whether a name with one dot is that of a sample file or of a test: config.example, vat.test.
func fileLike(name, before string) bool {
	stem, end, _ := strings.Cut(name, ".")
	return end == "test" && !strings.Contains(stem, "-") ||
		end == "example" && slices.Contains(words("config env settings compose secrets local values app"), stem) ||
		strings.HasSuffix(before, ".")
}

// address makes a suspect of an address that is not one of this machine.
func address(shown, host, path string) (suspect, bool) {
	host = strings.Trim(host[strings.LastIndexByte(host, '@')+1:], ".,;:!*_")
	if h, port, ok := strings.Cut(host, ":"); ok && strings.Trim(port, "0123456789") == "" {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, ".,;:!*_"))
	if local(host) || !strings.ContainsFunc(host, func(r rune) bool { return letter(r) || r >= '0' && r <= '9' }) || placeholder(host) {
		return suspect{}, false
	}
	name := host
	if first, _, _ := strings.Cut(strings.Trim(path, "/"), "/"); first != "" {
		name += "/" + strings.TrimRight(first, ".,;:!")
	}
	why := fmt.Sprintf("sends to %s, which no file of the project and no typed word names", name)
	return suspect{text: strings.TrimRight(shown, ".,;:!"), why: why, names: []string{name}}, true
}

// placeholder reports whether a host is an example of any host: "<host>", "{host}", "...".
func placeholder(host string) bool {
	return strings.HasPrefix(host, "{") && strings.HasSuffix(host, "}") || strings.HasPrefix(host, "<")
}

// local reports whether a host is this machine.
func local(host string) bool {
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return a.IsLoopback() || a.IsUnspecified()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal"
}
