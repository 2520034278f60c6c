// Package layout says where a file of the store belongs: which class a path has,
// and how the names of sidecars, temporary files and locks are made. It looks at
// names only, reads nothing, and imports nothing of ours, so that the store, the
// exchange with other machines and the imports judge a path alike.
//
// Paths are given with slashes. Whether a stem is the id of a note is the
// business of package note.
package layout

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The two trees of notes, relative to the root of the store, and the folders in
// them that hold something else than notes.
const (
	Memory     = "memory"     // travels
	Local      = "local"      // stays on this machine
	Tombstones = "tombstones" // in a tree, as are slots
	slots      = "slots"
)

// Names and parts of names.
const (
	NoteSuffix     = ".md"
	SidecarSuffix  = ".entities.yaml"
	LockSuffix     = ".lock"
	ProjectsFile   = "projects.yaml"      // in a tree: the aliases of projects
	AttributesFile = ".gitattributes"     // in a tree: keeps git from changing the bytes of notes
	TempPrefix     = ".tmp-anamnesis-"    // begins the name of a file that is being written
	SyncTempPrefix = TempPrefix + "sync-" // the same, written without the store lock
	CheckpointFile = "events/checkpoint.json"
	JobSuffix      = ".json"
)

// Folders of what waits.
const (
	Spool     = "spool"          // sessions to capture
	Drafts    = "spool/held"     // notes that wait for a decision
	Summaries = "spool/retry"    // notes that a model is to summarise
	Batches   = "spool/batches"  // accepted answers of a model
	Readings  = "spool/read"     // sessions that a model is to read
	Unread    = "spool/unread"   // typed messages on which no reader has decided, a folder for each project
	Shown     = "spool/told"     // what sessions were shown
	Quiet     = "spool/quiet"    // what is shown nothing
	Poisoned  = "spool/poisoned" // jobs that nobody could do
)

// Sessions is the folder of what is kept of sessions, word for word. No note stands in it, and it
// never travels. SessionIndex is the folder of the index that is derived from it.
const (
	Sessions     = Local + "/sessions"
	SessionIndex = "sessions.index"
)

// Keys is the folder of this machine's keys for what it sends sealed. It never travels.
const Keys = "seal"

// Authors is the folder of the ledger: which words a person vouches for. It never travels.
const Authors = "authors"

// Journal is the folder of what people decided, and of what takes it back. It never travels.
const Journal = "journal"

// Models is the folder of models that run on this machine. None of it travels.
const Models = "models"

// MaxDepth is how many names a path in a tree may have; one of ours has three.
const MaxDepth = 12

// A Class says what a file is for.
type Class int

// The classes of files. The first ones stand in a tree.
const (
	Unknown    Class = iota // no store of ours has a file of that name
	Note                    // a folder of a type, then any folders
	Sidecar                 // the entities beside a note
	Tombstone               // one for each statement that was forgotten
	Slot                    // a pinned text
	Projects                // ProjectsFile
	Attributes              // AttributesFile
	Format                  // FormatFile
	History                 // a former form of a note, or of its sidecar
	Conflict                // the losing version of a merge, or its description
	Events                  // a month of the event log, or its checkpoint
	Job                     // work that waits for a background run
	Held                    // a draft that waits for a decision
)

// InTree returns the class of a path relative to a tree. It is Unknown for names
// that no store of ours has: absolute, with a step upwards, hidden, or elsewhere.
func InTree(name string) Class {
	switch name {
	case ProjectsFile:
		return Projects
	case AttributesFile:
		return Attributes
	case FormatFile:
		return Format
	}
	odd := func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }
	if !fs.ValidPath(name) || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return Unknown
	}
	parts := strings.Split(name, "/")
	if len(parts) < 2 || len(parts) > MaxDepth || slices.ContainsFunc(parts, func(p string) bool { return p[0] == '.' }) {
		return Unknown
	}
	switch parts[0] {
	case "procedural", "semantic", "episodic":
		switch {
		case strings.HasSuffix(name, SidecarSuffix):
			return Sidecar
		case strings.HasSuffix(name, NoteSuffix):
			return Note
		}
	case Tombstones:
		if len(parts) == 2 && strings.HasSuffix(name, ".json") {
			return Tombstone
		}
	case slots:
		return Slot
	}
	return Unknown
}

// Of returns the class of a path relative to the root of the store.
func Of(name string) Class {
	top, rest, _ := strings.Cut(name, "/")
	switch top {
	case Memory, Local:
		return InTree(rest)
	case "events":
		if _, err := time.Parse("2006-01.jsonl", rest); err == nil || name == CheckpointFile {
			return Events
		}
	case "history":
		if id, file, ok := strings.Cut(rest, "/"); ok && id != "" && !strings.Contains(file, "/") &&
			(strings.HasSuffix(file, NoteSuffix) || strings.HasSuffix(file, SidecarSuffix)) {
			return History
		}
	case "conflicts":
		if ext := path.Ext(rest); !strings.Contains(rest, "/") && (ext == ".json" || ext == NoteSuffix) {
			return Conflict
		}
	case Spool:
		return inSpool(name)
	}
	return Unknown
}

func inSpool(name string) Class {
	dir, file := path.Split(name)
	switch dir = strings.TrimSuffix(dir, "/"); {
	case file == "" || file[0] == '.':
	case dir == Drafts && strings.HasSuffix(file, NoteSuffix):
		return Held
	case (dir == Spool || dir == Summaries || dir == Batches || dir == Readings) && strings.HasSuffix(file, JobSuffix):
		return Job
	}
	return Unknown
}

// TypedFolder reports whether a folder, relative to the root, is one at the top of a tree that
// holds something else than notes, which no walk over the notes enters.
func TypedFolder(name string) bool {
	tree, folder, _ := strings.Cut(name, "/")
	return (tree == Memory || tree == Local) && (folder == Tombstones || folder == slots) || name == Sessions
}

// IsNotePath reports whether a path relative to the root has the name of a note
// in one of the trees, in whatever folder.
func IsNotePath(name string) bool {
	return strings.HasSuffix(name, NoteSuffix) && (strings.HasPrefix(name, Memory+"/") || strings.HasPrefix(name, Local+"/"))
}

// SidecarOf returns where the sidecar of the note at a path stands.
func SidecarOf(notePath string) string {
	return strings.TrimSuffix(notePath, NoteSuffix) + SidecarSuffix
}

// NoteOf returns the path of the note to which a sidecar belongs; ok is false for
// what is no sidecar.
func NoteOf(sidecar string) (notePath string, ok bool) {
	stem, ok := strings.CutSuffix(sidecar, SidecarSuffix)
	return stem + NoteSuffix, ok
}

// Stem returns the last name of a path without the ending that its class gives it.
func Stem(name string) string {
	stem := path.Base(name)
	for _, ext := range []string{NoteSuffix, SidecarSuffix, ".json"} {
		stem = strings.TrimSuffix(stem, ext)
	}
	return stem
}

// TombstoneOf returns where the tombstone of an id stands in its tree.
func TombstoneOf[ID ~string](id ID) string { return Tombstones + "/" + string(id) + ".json" }

// HistoryOf returns the folder of the former forms of a note.
func HistoryOf[ID ~string](id ID) string { return "history/" + string(id) }

// ConflictOf returns the file of a conflict: its description (".json") or the
// losing version (NoteSuffix).
func ConflictOf[ID ~string](id ID, ext string) string { return "conflicts/" + string(id) + ext }

// HeldOf returns where a held draft stands.
func HeldOf[ID ~string](id ID) string { return Drafts + "/" + string(id) + NoteSuffix }

// IsTemp reports whether a file of that name (without its folder) is one that was
// being written: after a crash it is left over.
func IsTemp(base string) bool {
	return len(base) > len(TempPrefix) && strings.HasPrefix(base, TempPrefix)
}

// IsLock reports whether a file of that name (without its folder) is the lock of another one.
func IsLock(base string) bool {
	return base != "" && base[0] == '.' && strings.HasSuffix(base, LockSuffix)
}

// LockOf returns the name of the lock of a file, both without their folder.
func LockOf(base string) string { return "." + base + LockSuffix }
