//go:build !amd64

package transformer

// dotTile reports that there is no assembly for this processor.
func dotTile(*float32, int, *float32, int, int, *[tileRows * tileColumns]float32) bool { return false }
