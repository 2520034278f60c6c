package note

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A shape says what the value of a key looks like.
type shape int

const (
	asText     shape = iota
	asRequired       // text that must not be empty
	asList
	asNumber
	asFlag  // true or false, absent means false
	asTruth // true or false, absent means that nobody said
	asCount
	asEvidence
	asEdits
)

// A field is one known key of the front matter: its place in the order of the
// file is its place in the table. Exactly one accessor is set, as its shape asks.
type field struct {
	key    string
	shape  shape
	always bool   // written even when empty
	deflt  string // what an absent text means
	text   func(*Note) *string
	list   func(*Note) *[]string
	ids    func(*Note) *[]ID
	flag   func(*Note) *bool
}

// fields is the table of docs/format.md, in the order of the file.
var fields = [...]field{
	{key: "id", shape: asRequired, always: true, text: func(n *Note) *string { return (*string)(&n.ID) }},
	{key: "type", shape: asRequired, always: true, text: func(n *Note) *string { return (*string)(&n.Type) }},
	{key: "title", shape: asRequired, always: true, text: func(n *Note) *string { return &n.Title }},
	{key: "project", always: true, deflt: Global, text: func(n *Note) *string { return &n.Project }},
	{key: "machine_id", always: true, deflt: "unknown", text: func(n *Note) *string { return &n.MachineID }},
	{key: "scope", always: true, deflt: string(Portable), text: func(n *Note) *string { return (*string)(&n.Scope) }},
	{key: "user_id", always: true, deflt: "self", text: func(n *Note) *string { return &n.UserID }},
	{key: "workspace_id", always: true, deflt: "personal", text: func(n *Note) *string { return &n.WorkspaceID }},
	{key: "prov_source", always: true, deflt: Human, text: func(n *Note) *string { return &n.Provenance.Source }},
	{key: "confidence", shape: asNumber, always: true},
	{key: "prov_model", text: func(n *Note) *string { return &n.Provenance.Model }},
	{key: "prov_session", text: func(n *Note) *string { return &n.Provenance.Session }},
	{key: "supersedes", shape: asList, ids: func(n *Note) *[]ID { return &n.Supersedes }},
	{key: "created_at", always: true, text: func(n *Note) *string { return (*string)(&n.CreatedAt) }},
	{key: "updated_at", always: true, text: func(n *Note) *string { return (*string)(&n.UpdatedAt) }},
	{key: "tags", shape: asList, always: true, list: func(n *Note) *[]string { return &n.Tags }},
	{key: "kind", text: func(n *Note) *string { return (*string)(&n.Kind) }},
	{key: "category", text: func(n *Note) *string { return &n.Category }},
	{key: "learning_type", text: func(n *Note) *string { return &n.LearningType }},
	{key: "problem", text: func(n *Note) *string { return &n.Problem }},
	{key: "symptoms", shape: asList, list: func(n *Note) *[]string { return &n.Symptoms }},
	{key: "root_cause", text: func(n *Note) *string { return &n.RootCause }},
	{key: "fix", text: func(n *Note) *string { return &n.Fix }},
	{key: "rule", text: func(n *Note) *string { return &n.Rule }},
	{key: "key_insight", text: func(n *Note) *string { return &n.KeyInsight }},
	{key: "how_to_apply", text: func(n *Note) *string { return &n.HowToApply }},
	{key: "branch", text: func(n *Note) *string { return &n.Branch }},
	{key: "commits", shape: asList, list: func(n *Note) *[]string { return &n.Commits }},
	{key: "unverified_refs", shape: asList, list: func(n *Note) *[]string { return &n.UnverifiedRefs }},
	{key: "anchors", shape: asList, list: func(n *Note) *[]string { return &n.Anchors }},
	{key: "anchor_hashes", shape: asList, list: func(n *Note) *[]string { return &n.AnchorHashes }},
	{key: "when", shape: asList, list: func(n *Note) *[]string { return &n.When }},
	{key: "about", text: func(n *Note) *string { return &n.About }},
	{key: "asks", shape: asList, list: func(n *Note) *[]string { return &n.Asks }},
	{key: "forget_after", text: func(n *Note) *string { return (*string)(&n.ForgetAfter) }},
	{key: "status", text: func(n *Note) *string { return &n.Status }},
	{key: "status_reason", text: func(n *Note) *string { return &n.StatusReason }},
	{key: "validated", shape: asTruth, text: func(n *Note) *string { return &n.Validated }},
	{key: "speculative", shape: asFlag, flag: func(n *Note) *bool { return &n.Speculative }},
	{key: "quarantine", shape: asFlag, flag: func(n *Note) *bool { return &n.Quarantine }},
	{key: "evidence", shape: asEvidence},
	{key: "derived_from", shape: asList, ids: func(n *Note) *[]ID { return &n.DerivedFrom }},
	{key: "proof_count", shape: asCount},
	{key: "import_hash", text: func(n *Note) *string { return &n.ImportHash }},
	{key: "imported_id", text: func(n *Note) *string { return &n.ImportedID }},
	{key: "conflict_of", text: func(n *Note) *string { return (*string)(&n.ConflictOf) }},
	{key: "forms_erased_at", text: func(n *Note) *string { return (*string)(&n.FormsErased) }},
	{key: "reviewed_at", text: func(n *Note) *string { return (*string)(&n.Reviewed) }},
	{key: "vouched", text: func(n *Note) *string { return &n.Vouched }},
	{key: editKey, shape: asEdits},
}

// fieldAt returns the place of a known key, or -1. It looks from hint on
// first, because keys mostly come in order.
func fieldAt(key string, hint int) int {
	for i := range fields {
		if j := (hint + i) % len(fields); fields[j].key == key {
			return j
		}
	}
	return -1
}

// A scalar is the literal text of a YAML scalar.
type scalar struct {
	text string
	null bool // written as nothing, ~ or null, without quotes
}

// String returns the text, which a null does not have.
func (s scalar) String() string {
	if s.null {
		return ""
	}
	return s.text
}

// A value is what stands behind a key: one scalar, a list, a list of
// mappings, or something that no known key wants.
type value struct {
	form  form
	one   scalar
	list  []scalar
	pairs [][]pair
}

type form int

const (
	formScalar form = iota
	formList
	formPairs
	formOther
)

type pair struct {
	key  string
	text scalar
}

// set puts a value read from a file into the note.
func (f *field) set(n *Note, v value) error {
	switch {
	case f.shape == asEvidence, f.shape == asEdits:
		return f.setRows(n, v)
	case f.shape == asList:
		list, err := v.texts()
		f.setItems(n, list)
		return err
	case v.form != formScalar:
		return errors.New("must be one text, not a list or a mapping")
	}
	s := v.one.String()
	switch f.shape {
	case asRequired:
		if strings.TrimSpace(s) == "" {
			return errors.New(`is empty; write a text behind the colon (in quotes if it is "null" or "~")`)
		}
		*f.text(n) = s
		switch f.key {
		case "id":
			_, err := ParseID(s)
			return err
		case "type":
			return n.Type.check()
		}
	case asText:
		if s == "" {
			s = f.deflt
		}
		*f.text(n) = s
	case asNumber:
		return setConfidence(n, s)
	case asFlag, asTruth:
		word, err := truth(s)
		if err != nil {
			return err
		}
		if f.shape == asTruth {
			*f.text(n) = word
		} else {
			*f.flag(n) = word == "true"
		}
	case asCount:
		if s == "" {
			return nil
		}
		count, err := strconv.Atoi(s)
		if err != nil || count < 0 {
			return fmt.Errorf("%q is not a whole number", s)
		}
		n.ProofCount = count
	}
	return nil
}

// setItems puts a list into the note.
func (f *field) setItems(n *Note, list []string) {
	if f.ids != nil {
		*f.ids(n) = convert[ID](list)
	} else {
		*f.list(n) = list
	}
}

func (t Type) check() error {
	if t == Procedural || t == Semantic || t == Episodic {
		return nil
	}
	return fmt.Errorf("%q is not one of procedural, semantic and episodic", string(t))
}

// confidenceWords are what people write in the place of a confidence.
var confidenceWords = map[string]float64{
	"high": 0.9, "hi": 0.9, "certain": 1, "sure": 1, "medium": 0.6, "med": 0.6, "moderate": 0.6, "low": 0.3, "lo": 0.3, "none": 0,
}

func setConfidence(n *Note, s string) error {
	n.Provenance.Confidence = 1
	if s == "" {
		return nil
	}
	if c, ok := confidenceWords[strings.ToLower(s)]; ok {
		n.Provenance.Confidence = c
		return nil
	}
	number, percent := strings.CutSuffix(s, "%")
	c, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(number), "+"), 64)
	if percent {
		c /= 100
	}
	if err != nil || math.IsNaN(c) || math.IsInf(c, 0) {
		return fmt.Errorf("%q is not a number; write one from 0.0 to 1.0, or low, medium or high", s)
	}
	n.Provenance.Confidence = c
	return nil
}

// texts returns a list as the set it stands for; a bare text is a list of one.
func (v value) texts() ([]string, error) {
	switch v.form {
	case formScalar:
		if s := v.one.String(); s != "" {
			return []string{s}, nil
		}
		return nil, nil
	case formList:
		var list []string
		for _, s := range v.list {
			list = appendNew(list, s.String())
		}
		return list, nil
	}
	return nil, errors.New("must be a list of texts")
}

// appendNew appends s unless it is empty or already there.
func appendNew(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// truth reads what YAML 1.1 and 1.2 write for true and false.
func truth(s string) (string, error) {
	switch strings.ToLower(s) {
	case "":
		return "", nil
	case "true", "yes", "on":
		return "true", nil
	case "false", "no", "off":
		return "false", nil
	}
	return "", fmt.Errorf("%q is neither true nor false", s)
}

func convert[To, From ~string](list []From) []To {
	if len(list) == 0 {
		return nil
	}
	out := make([]To, len(list))
	for i, s := range list {
		out[i] = To(s)
	}
	return out
}
