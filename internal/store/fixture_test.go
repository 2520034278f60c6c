package store_test

import "anamnesis/internal/store/storetest"

// The fixture of the store, under the names that the tests here use.
var (
	draft = storetest.Draft
	open  = storetest.Open
	write = storetest.WriteFile
)
