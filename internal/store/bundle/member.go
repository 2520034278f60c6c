package bundle

import (
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"anamnesis/internal/note"
	"anamnesis/internal/store/layout"
	"anamnesis/internal/store/project"
	"anamnesis/internal/store/tombstone"

	"github.com/oklog/ulid/v2"
)

// A standing says what a member of a bundle is to this store.
type standing int

const (
	ours    standing = iota // a file that stores have, by its place and what it holds
	foreign                 // somebody's own, in a folder where there may be some
	refused
)

// stand judges a member whose name is one inside a store. A bundle comes from
// anywhere: whoever made it must not be able to place a file that changes what
// git, a coding agent or this program does. why is for people, and says what
// to do when it was meant.
func stand(name string, data []byte) (kind standing, why string) {
	top, rest, _ := strings.Cut(name, "/")
	switch top {
	case "memory", "local", "eval", "corpora":
		if why := actedOn(rest, data); why != "" {
			return refused, why + byHand
		}
	}
	switch top {
	case "memory", "local":
		return standInTree(rest, data)
	case "eval":
		return oneOf(strings.HasSuffix(name, ".jsonl"), foreign), ""
	case "corpora":
		return oneOf(!strings.Contains(rest, "/") && strings.HasSuffix(name, ".json"), foreign), ""
	case "redact.toml":
		return refused, "its rules decide what leaves this machine" + byHand
	case "allowed.json":
		return refused, "it lets notes with secrets leave this machine" + byHand
	}
	ok := false
	switch layout.Of(name) {
	case layout.History:
		id, file, _ := strings.Cut(rest, "/")
		_, err := note.ParseID(id)
		stamp, _, dash := strings.Cut(file, "-")
		_, bad := ulid.ParseStrict(stamp)
		ok = err == nil && bad == nil && dash
	case layout.Events:
		ok = true
	case layout.Conflict, layout.Held:
		_, err := note.ParseID(strings.TrimSuffix(path.Base(name), path.Ext(name)))
		ok = err == nil
	default:
		ok = slices.Contains(bundledFiles, name) && json.Valid(data) // imports.json
	}
	return oneOf(ok, refused), "a store has no such file there"
}

const byHand = "; look at it, and put it there yourself if you want it"

// standInTree judges a file of one of the trees, by its path in there.
func standInTree(name string, data []byte) (kind standing, why string) {
	if strings.HasSuffix(name, ".md") {
		_, err := note.Parse(data)
		return oneOf(err == nil, foreign), ""
	}
	switch layout.InTree(name) {
	case layout.Tombstone:
		_, ok := tombstone.Parse(data)
		return oneOf(ok && len(data) <= tombstone.MaxSize, refused), "it is no tombstone"
	case layout.Projects:
		_, err := project.ParseAliases(data)
		return oneOf(err == nil, refused), "it holds no aliases of projects"
	case layout.Sidecar:
		return ours, ""
	case layout.Format:
		return refused, "what a store asks of the programs that write it is its own"
	}
	if strings.HasPrefix(name, layout.Tombstones+"/") {
		return refused, "a store has no such file there"
	}
	return foreign, ""
}

func oneOf(ok bool, otherwise standing) standing {
	if ok {
		return ours
	}
	return otherwise
}

// instructions are files that coding agents obey when they stand in a folder in
// which one of them works, and settings, in lower case.
var instructions = []string{
	"agent.md", "agents.md", "agents.override.md", "claude.md", "claude.local.md",
	"copilot-instructions.md", "gemini.md", "qwen.md", "skill.md",
	"hooks", "hooks.json", "makefile", "mcp.json", "package.json",
}

// settingsExt end the names of settings, and programsExt those of programs,
// which Windows runs by their names.
var (
	settingsExt = []string{".toml", ".ini", ".cfg", ".conf"}
	programsExt = []string{".bat", ".cmd", ".com", ".exe", ".hta", ".js", ".lnk", ".msi", ".ps1", ".py", ".scr", ".sh", ".vbs"}
)

// actedOn says who would act on a file of that name or with these bytes, and ""
// when nobody does.
func actedOn(name string, data []byte) string {
	parts := strings.Split(name, "/")
	if len(parts) > layout.MaxDepth {
		return "its folder is too deep"
	}
	for _, part := range parts {
		low := strings.ToLower(part)
		stem, _, _ := strings.Cut(low, ".")
		ext := path.Ext(low)
		switch {
		case !utf8.ValidString(part) || strings.ContainsFunc(part, hiddenRune) || strings.TrimRight(part, ". ") != part || len(part) > 255:
			return "its name is not what it looks like"
		case part[0] == '.', strings.HasPrefix(low, "git~"), ext == layout.LockSuffix:
			return "git or another program may act on a file of that name"
		case slices.Contains(instructions, low), slices.Contains(settingsExt, ext), ext != ".md" && (stem == "config" || stem == "settings"):
			return "it is a file of settings or instructions"
		case slices.Contains(programsExt, ext):
			return "it is a program"
		}
	}
	for _, magic := range []string{"#!", "MZ\x90", "\x7fELF", "\xfe\xed\xfa", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return "it is a program"
		}
	}
	return ""
}

// hiddenRune reports whether a name that holds r may look like another.
func hiddenRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError
}

// harmlessAttributes reports whether a member is the file by which git is shown
// to leave the bytes of notes alone, and says nothing else.
func harmlessAttributes(name string, data []byte) bool {
	if name != layout.Memory+"/"+layout.AttributesFile || len(data) > tombstone.MaxSize {
		return false
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		for i, field := range fields {
			if i > 0 && field != "-text" && field != "merge=anamnesis" || i == 0 && strings.HasPrefix(field, "[") {
				return false
			}
		}
	}
	return true
}
