package store_test

import "anamnesis/internal/store/storetest"

// The fixture of the store, under the names that the tests here use.
var (
	at    = storetest.At
	draft = storetest.Draft
	holds = storetest.Holds
	on    = storetest.On
	open  = storetest.Open
	read  = storetest.ReadFile
	write = storetest.WriteFile
)
