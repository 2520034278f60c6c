package upgrade

import (
	"os"
	"path/filepath"
	"strings"
)

// An Origin says who put a program where it is.
type Origin struct {
	Name    string // archive, deb, rpm, apk, homebrew, scoop, npm or source
	Command string // that brings a newer one; "" when Replace does
}

// packagedBy is the link by which our packages say that they are one, beside the folder of
// the program. It leads nowhere: where it points is the name of the kind.
const packagedBy = "share/anamnesis/packaged-by"

// OriginOf tells who put the program at a path there. A released one has its version from
// the build of a release.
func OriginOf(path string, released bool) Origin {
	slashed := filepath.ToSlash(path)
	kind, err := os.Readlink(filepath.Join(filepath.Dir(filepath.Dir(path)), filepath.FromSlash(packagedBy)))
	switch {
	case err == nil && kind == "deb":
		return Origin{kind, "sudo apt install ./FILE.deb"}
	case err == nil && kind == "rpm":
		return Origin{kind, "sudo rpm -U FILE.rpm"}
	case err == nil && kind == "apk":
		return Origin{kind, "sudo apk add --allow-untrusted ./FILE.apk"}
	case strings.Contains(slashed, "/Cellar/") || strings.Contains(slashed, "/Caskroom/"):
		return Origin{"homebrew", "brew upgrade anamnesis"}
	case strings.Contains(slashed, "/scoop/apps/"):
		return Origin{"scoop", "scoop update anamnesis"}
	case strings.Contains(slashed, "/node_modules/"):
		return Origin{"npm", "npm install --global anamnesis-memory@latest"}
	case !released:
		return Origin{"source", "go install ."}
	}
	return Origin{Name: "archive"}
}
