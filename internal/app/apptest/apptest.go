// Package apptest opens the rooms of a store in a temporary folder, wired and set as
// the program wires and sets them.
package apptest

import (
	"testing"

	"anamnesis/internal/app"
	"anamnesis/internal/config"
	"anamnesis/internal/ingest"
)

// Machine is the machine id of a store for tests.
const Machine = "testbox"

// Config returns the settings of a new store in dir: the product's defaults, except
// that nothing gives up because the machine is slow, and that nothing is synced.
// settings are KEY=VALUE, as of --set.
func Config(dir string, settings ...string) *config.Config {
	return config.Load(environment(dir)(settings))
}

func environment(dir string) func([]string) config.Environment {
	return func(flags []string) config.Environment {
		return config.Environment{
			Lookup:   func(string) (string, bool) { return "", false },
			UserHome: dir, Hostname: Machine,
			Flags: append([]string{"home=" + dir, "machine_id=" + Machine, "patience=100", "sync.on=false", "import.native=false"}, flags...),
		}
	}
}

// Host returns a host for a store in a temporary folder.
func Host(tb testing.TB, settings ...string) app.Host {
	tb.Helper()
	dir := tb.TempDir()
	return app.Host{By: ingest.Person, Config: Config(dir, settings...), Environ: environment(dir), Flags: settings}
}

// Open opens the rooms of a new store. They are closed when the test ends.
func Open(tb testing.TB, settings ...string) *app.Rooms {
	tb.Helper()
	r, err := app.Open(tb.Context(), Host(tb, settings...), 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.Close)
	return r
}
