//go:build !unix

package cli

import "github.com/rogpeppe/go-internal/testscript"

var unixCommands = map[string]func(ts *testscript.TestScript, neg bool, args []string){}
