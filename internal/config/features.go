package config

// A Feature is something the program promises. It has a row when it has its
// code and a proof that fails without it; until then it stands in Planned.
type Feature struct {
	ID       string
	Name     string
	Home     string // the file it lives in, below internal
	Doc      string // what it does
	Without  string // what one would see if it were not there
	Settings []Setting
}

// features lists the features that are built, in the order of their ids.
func (c *Config) features() []Feature {
	return []Feature{
		{
			ID: "M6", Name: "private-spans", Home: "llm/redact.go",
			Doc:     "Strips <private> spans from everything a machine writes or a model is asked, before it is written or sent.",
			Without: "What was marked as private in a conversation stands in a note on every machine.",
		},
		{
			ID: "S6", Name: "history", Home: "store/history.go",
			Doc:     "Keeps the form a note had before each change.",
			Without: "A bad edit or a second capture destroys what the note said.",
		},
		{
			ID: "S9", Name: "volatile-signals", Home: "store/record.go",
			Doc:     "Keeps what churns, such as how often a note was shown, in the event log and out of the notes.",
			Without: "Every session changes the files of the notes it was shown, and every sync carries the noise.",
		},
	}
}

// Features returns the features of a configuration with nothing set.
func Features() []Feature { return (&Config{}).features() }

// Planned lists the ids that have no row yet.
var Planned = []string{
	"A1", "A2", "A3", "A4", "A5", "A6",
	"C1", "C2", "C3", "C4", "C5",
	"M1", "M2", "M3", "M4", "M5", "M7", "M8",
	"O1", "O2", "O3",
	"R1", "R10", "R11", "R12", "R13", "R14", "R15", "R16", "R2", "R20", "R3", "R4", "R5", "R6", "R7", "R8", "R9",
	"S1", "S10", "S2", "S3", "S4", "S5", "S7", "S8",
	"SG1", "SG2", "SG3", "SG4", "SG5", "SG6", "SG7", "SG8",
}
