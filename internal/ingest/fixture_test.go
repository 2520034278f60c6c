package ingest_test

import "anamnesis/internal/store/storetest"

// The fixture of the store, under the names that the tests here use.
var (
	at           = storetest.At
	draft        = storetest.Draft
	errCrash     = storetest.ErrCrash
	holds        = storetest.Holds
	newCrashDisk = storetest.NewCrashDisk
	noteBytes    = storetest.NoteBytes
	on           = storetest.On
	open         = storetest.Open
	read         = storetest.ReadFile
	walkFiles    = storetest.WalkFiles
	write        = storetest.WriteFile
)
