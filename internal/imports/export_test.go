package imports

import (
	"path/filepath"
	"time"

	"anamnesis/internal/agent"
	"anamnesis/internal/note"
)

// Decode finds the directory that a folder below projects stands for.
func Decode(name string) string { return decode(name, folders().FolderName) }

// Slug is the name of that folder.
func Slug(dir string) string { return folders().FolderName(filepath.ToSlash(dir)) }

func folders() agent.ProjectFolders { return agent.Default().Sessions.(agent.ProjectFolders) }

// ReadLearning makes the note of a text as Reflect does, without a store.
func (im *Importer) ReadLearning(stem, text string) *note.Note {
	l := parseLearning(stem, text)
	l.note.CreatedAt = firstStamp(l.note.CreatedAt)
	return im.finish(l, "fuzz", note.Global).note
}

func firstStamp(s note.Stamp) note.Stamp {
	if s == "" {
		return "2026-01-01T00:00:00+00:00"
	}
	return s
}

// ReadList is readList.
var ReadList = readList

// ReadVersions reads a history and returns its versions as texts.
func ReadVersions(text string, now time.Time) (texts []string, times []time.Time, bad int, err error) {
	all, bad, err := readVersions(text, now)
	for _, v := range all {
		texts, times = append(texts, v.text), append(times, v.at)
	}
	return texts, times, bad, err
}
