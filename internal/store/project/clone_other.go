//go:build !unix

package project

// cloneMark is "": this system has no inodes. A clone is known by its folder and its remote.
func cloneMark(string) string { return "" }
