package transformer

import "golang.org/x/sys/cpu"

// dotTile sets t to the products of four rows of a with two of b, over n values, a
// multiple of eight. It reports whether this processor can.
func dotTile(a *float32, da int, b *float32, db, n int, t *[tileRows * tileColumns]float32) bool {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return false
	}
	dotTileAVX2(a, da, b, db, n, t)
	return true
}

//go:noescape
func dotTileAVX2(a *float32, da int, b *float32, db, n int, t *[tileRows * tileColumns]float32)
