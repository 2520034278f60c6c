// Anamnesis is long-term memory for coding agents: correct it once, never
// again, on every machine you own. See README.md.
package main

import (
	"os"

	"anamnesis/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
