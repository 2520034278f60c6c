package redact_test

import (
	"encoding/hex"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	lineBlank = regexp.MustCompile(`[«‹](\w)(\w*)[»›]`)
	invented  = strings.Fields("quokka marzipan lantern zorkel badger violin thicket pumice saffron gravel hazel timber orchid walnut comet falcon ember lichen mortar pigeon")
	common    = strings.Fields("secret123 MyPassword1 password2024 Passw0rd! letmein99 admin@123 Welcome2024! changeit77 topsecret42 qwerty789 P@ssw0rd2 hunter2hunter S3cret! token4ever passw0rt geheim2024 azerty123! root@2023 Sommer24!")
)

// drawLine fills the blanks of a line and returns the secrets among them.
func drawLine(rnd *rand.Rand, line string) (text string, secrets []string) {
	pick := func(letters string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = letters[rnd.IntN(len(letters))]
		}
		return string(b)
	}
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	word := func() string { return invented[rnd.IntN(len(invented))] }
	title := func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
	number := func(n int) string { return strconv.Itoa(1+rnd.IntN(9)) + pick(digits, n-1) }
	plain := func() string {
		return [...]string{word() + number(3), title(word()) + title(word()) + number(2), pick(lower+upper, 7) + number(2) + pick(lower+upper, 5)}[rnd.IntN(3)]
	}
	draw := func(kind, size string) string {
		n, _ := strconv.Atoi(size)
		switch kind {
		case "P":
			return [...]string{
				word() + number(3), title(word()) + "!" + number(2), word() + "-" + word() + "-" + number(2),
				title(word()) + title(word()) + number(2), pick(lower, 4) + "$" + pick(lower+upper, 4) + number(3),
			}[rnd.IntN(5)]
		case "W":
			return plain()
		case "K":
			return common[rnd.IntN(len(common))]
		case "S":
			return word() + word()
		case "h":
			return pick(digits+"abcdef", n)
		case "a":
			return pick(lower+upper+digits, n)
		case "A":
			if size == "16" || size == "32" { // base32
				return pick(upper+"234567", n)
			}
			return pick(upper+digits, n)
		case "b":
			return pick(lower+upper+digits+"+/", n-1-n/88) + strings.Repeat("=", 1+n/88)
		case "d":
			return number(n)
		case "z":
			return pick("qpzry9x8gf2tvdw0s3jn54khce6mua7l", n)
		case "t":
			return pick(lower+"234567", n)
		case "o":
			return pick(digits+"abcdef", 12) + "ffe" + pick(lower+upper+digits, n-9)
		case "j":
			return "eyJ" + pick(lower+upper+digits, 30) + ".eyJ" + pick(lower+upper+digits, 60) + "." + pick(lower+upper+digits, 43)
		}
		if size == "lid" {
			return "01" + pick("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24)
		}
		u := hex.EncodeToString([]byte(pick(lower+upper+digits, 16)))
		return u[:8] + "-" + u[8:12] + "-" + u[12:16] + "-" + u[16:20] + "-" + u[20:]
	}
	text = lineBlank.ReplaceAllStringFunc(line, func(m string) string {
		g := lineBlank.FindStringSubmatch(m)
		v := draw(g[1], g[2])
		if strings.HasPrefix(m, "«") {
			secrets = append(secrets, v)
		}
		return v
	})
	return strings.ReplaceAll(text, `\n`, "\n"), secrets
}

// A serviceLine is a line of testdata/services.txt with what was drawn for it.
type serviceLine struct {
	text    string
	secrets []string // none in a line that must come out as it went in
	clean   bool
	half    int // 0: rules are developed with it, 1: they are not
}

// readLines reads services.txt and draws its values from seed.
func readLines(t *testing.T, seed uint64) (all []serviceLine) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "services.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		h := fnv.New64a()
		h.Write([]byte(line))
		l := serviceLine{half: 1}
		if seen, ok := strings.CutPrefix(line, "="); ok {
			line, l.half = seen, 0
		}
		if l.clean = strings.HasPrefix(line, "- "); l.clean || strings.HasPrefix(line, "+ ") {
			l.text, l.secrets = drawLine(rand.New(rand.NewPCG(seed, h.Sum64())), strings.TrimLeft(line, "+- "))
			all = append(all, l)
		}
	}
	return all
}

// TestServices measures the lines of testdata/services.txt, in two halves: rules are developed with
// those that are marked, and the failures of the others are named with -unread alone.
func TestServices(t *testing.T) {
	r := newRedactor(t)
	var masked, all, changed, clean [2]int
	for seed := range uint64(5) {
		for _, l := range readLines(t, seed) {
			named, out := l.half == 0 || *unread, r.Redact(l.text).String()
			switch {
			case l.clean:
				clean[l.half]++
				if out != l.text {
					changed[l.half]++
					if named {
						t.Logf("half %d: %q became %q", l.half, l.text, out)
					}
				}
			default:
				all[l.half]++
				if !containsAny(out, l.secrets...) {
					masked[l.half]++
				} else if named && testing.Verbose() {
					t.Logf("half %d: left in %q", l.half, out)
				}
			}
		}
	}
	for half, most := range [...]struct{ masked, changed float64 }{{0.96, 0.005}, {0.93, 0.005}} {
		m, c := float64(masked[half])/float64(all[half]), float64(changed[half])/float64(clean[half])
		t.Logf("half %d: %.3f of %d secrets are masked, %.4f of %d clean lines changed", half, m, all[half], c, clean[half])
		if m < most.masked || c > most.changed {
			t.Errorf("half %d: %.3f of the secrets are masked, want %.2f; %.4f of the clean lines changed, want at most %.3f", half, m, most.masked, c, most.changed)
		}
	}
}
