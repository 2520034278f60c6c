package agent

import (
	"encoding/json"
	"regexp"
	"sync"
	"time"
)

// A CheckpointStore is how a tool keeps sessions in the objects of a git repository: on its own
// branch, whose tree has a folder for each checkpoint, with the transcripts of the sessions that worked on it.
// A commit names its checkpoint in a trailer.
type CheckpointStore struct {
	Name, Title string
	Branch      string
	Trailer     string
}

// Entire is the store of the program entire.
var Entire = CheckpointStore{Name: "entire", Title: "Entire", Branch: "entire/checkpoints/v1", Trailer: "Entire-Checkpoint"}

// A Checkpoint is what its metadata say of one session in it.
type Checkpoint struct {
	ID      string
	Harness *Harness // whose transcript it is; nil for one that is not known, or whose transcripts are not read from there
	Session string   // the id that the client gave it
	At      time.Time
}

var (
	entireFile = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([0-9a-f]{2}/[0-9a-f]{10}/\d{1,4})/metadata\.json$`)
	})
	entireID   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{12}$`) })
	entireDate = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{4}-\d\d-\d\d-`) })
)

// TranscriptOf returns where the transcript of a session stands whose metadata are the file name; "" for
// another file.
func (*CheckpointStore) TranscriptOf(name string) string {
	if m := entireFile().FindStringSubmatch(name); m != nil {
		return m[1] + "/full.jsonl"
	}
	return ""
}

// Read reads the metadata of a session in a checkpoint.
func (*CheckpointStore) Read(data []byte) (c Checkpoint, ok bool) {
	var file struct {
		ID      string `json:"checkpoint_id"`
		Session string `json:"session_id"`
		At      string `json:"created_at"`
		Agent   string `json:"agent"`
	}
	if json.Unmarshal(data, &file) != nil || !entireID().MatchString(file.ID) {
		return c, false
	}
	c.ID, c.Session = file.ID, entireDate().ReplaceAllString(file.Session, "")
	c.At, _ = time.Parse(time.RFC3339, file.At)
	if file.Agent == "" || file.Agent == "Agent" || file.Agent == Default().Title { // early versions had one agent
		c.Harness = Default()
	}
	return c, ValidID(c.Session)
}
