package index

// What machines exchange over a database that holds the notes of several.

// A Change is the change of one file in the tree of another machine.
type Change struct {
	Generation int64 // of the database, in which it came
	Origin     string
	Member     string // who writes that origin
	Writer     string // the login that wrote the note, as the server knows it; "" when it does not
	Path       string
	Dropped    bool // the file is gone, and nothing below is set
	Hash       Digest
	Size       int64
	ModTime    int64 // nanoseconds
	Text       []byte
	Entities   []EntityKey
	Declared   int // how many of them its sidecar names
	Edges      []Edge
}

// A Settled is a note of another origin whose file moved or was deleted.
type Settled struct {
	Origin, Path string
	Hash         Digest // of the file that was looked at
	Why          string // for the machine that wrote it
}
