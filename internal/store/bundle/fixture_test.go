package bundle_test

import "anamnesis/internal/store/storetest"

// The fixture of the store, under the names that the tests here use.
var (
	noteBytes = storetest.NoteBytes
	read      = storetest.ReadFile
	write     = storetest.WriteFile
)
