package reflection_test

import (
	"os"
	"testing"

	"anamnesis/internal/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(storetest.Memory{M: m}.Run()) }
