package project_test

import "anamnesis/internal/store/storetest"

// The fixture of the store, under the names that the tests here use.
var (
	open  = storetest.Open
	write = storetest.WriteFile
)
