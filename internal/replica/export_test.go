package replica

// LocalPathOn is LocalPath of one system or the other.
var LocalPathOn = localPath
