package replica

// LocalPathOn is LocalPath of one system or the other.
var LocalPathOn = localPath

// Bundled and Kept are for tests of what they are given.
var (
	Bundled = bundled
	Kept    = kept
)
