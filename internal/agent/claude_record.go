package agent

import (
	"bytes"
	"strings"
	"time"
)

// A claudeRecord is one line of a transcript. Its fields are the texts of the
// members we want; everything else in a line is skipped unseen.
type claudeRecord struct {
	kind, subtype, uuid, stamp        []byte
	session, dir, branch, version     []byte
	entry, title                      []byte
	message, content, summary, attach []byte
	origin, plan                      []byte
	parent, logical, leaf             []byte
	name, denial, verdict, answer     []byte
	source, turn, sort                []byte
	sidechain, meta, failed, explicit bool
}

// read takes a line apart. Members that came before an error are filled in.
func (r *claudeRecord) read(text []byte) (object bool, err error) {
	*r = claudeRecord{}
	return eachMember(text, func(key, value []byte) {
		switch string(key) {
		case "type":
			r.kind = value
		case "subtype":
			r.subtype = value
		case "uuid":
			r.uuid = value
		case "parentUuid":
			r.parent = value
		case "logicalParentUuid": // of the first record behind a compaction
			r.logical = value
		case "leafUuid":
			r.leaf = value
		case "explicit":
			r.explicit = truthy(value)
		case "timestamp":
			r.stamp = value
		case "sessionId":
			r.session = value
		case "cwd":
			r.dir = value
		case "gitBranch":
			r.branch = value
		case "version":
			r.version = value
		case "entrypoint":
			r.entry = value
		case "aiTitle":
			r.title = value
		case "customTitle": // what the user called the session
			r.name = value
		case "promptSource":
			r.source = value
		case "turnOrigin":
			r.turn = value
		case "sessionKind":
			r.sort = value
		case "toolDenialKind":
			r.denial = value
		case "permissionDecision":
			r.verdict = value
		case "toolUseResult":
			r.answer = value
		case "message":
			r.message = value
		case "content":
			r.content = value
		case "summary":
			r.summary = value
		case "attachment":
			r.attach = value
		case "origin":
			r.origin = value
		case "planContent":
			r.plan = value
		case "isSidechain":
			r.sidechain = truthy(value)
		case "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage":
			r.meta = r.meta || truthy(value)
			r.failed = r.failed || string(key) == "isApiErrorMessage" && truthy(value)
		}
	})
}

// truthy is what the harness's own language calls so.
func truthy(value []byte) bool {
	switch string(value) {
	case "false", "null", "0", `""`:
		return false
	}
	return true
}

// is reports whether a value is the string s.
func is(value []byte, s string) bool {
	return len(value) == len(s)+2 && value[0] == '"' && string(value[1:len(value)-1]) == s
}

// member is the text of one member of an object, nil if it has none.
func member(object []byte, name string) (out []byte) {
	_, _ = eachMember(object, func(key, value []byte) {
		if string(key) == name {
			out = value
		}
	})
	return out
}

// at is the record's time; false if it has none that a record can have.
func (r *claudeRecord) at() (time.Time, bool) {
	return timeOf(r.stamp)
}

// continues is the id of the record that the record continues, nil for none.
func (r *claudeRecord) continues() []byte {
	if isString(r.logical) && (!isString(r.parent) || len(r.parent) == 2) {
		return r.logical
	}
	return r.parent
}

// asker returns who asked, as far as the record tells. A session in the background goes on with no person
// there, though its first prompt was typed. A prompt says more than the start of its client, of which the
// entrypoint is the name: one that a program runs is called "sdk-cli", "sdk-ts" and the like.
func (r *claudeRecord) asker() (a Asker, known bool) {
	switch {
	case is(r.sort, "bg"), is(r.source, "sdk"), is(r.turn, "sdk"):
		return Program, true
	case is(member(r.origin, "kind"), "human"):
		return Person, true
	case !isString(r.entry) || len(r.entry) == 2:
		return Person, false
	case strings.HasPrefix(unquote(r.entry), "sdk"):
		return Program, true
	}
	return Person, true
}

// human reports whether the record's origin, where one is given, is a person.
// Messages of other sessions and of background tasks arrive as user records too.
func human(origin []byte) bool {
	kind := member(origin, "kind")
	return kind == nil || is(kind, "human") || is(kind, "user")
}

// queued is the prompt that a user typed while the agent was at work. It is
// delivered in the middle of a turn and recorded as an attachment only, and it
// is where a correction is most often found. Nil if the record is none.
func (r *claudeRecord) queued() (content []byte) {
	var a struct{ kind, mode, prompt, origin, meta []byte }
	_, _ = eachMember(r.attach, func(key, value []byte) {
		switch string(key) {
		case "type":
			a.kind = value
		case "commandMode":
			a.mode = value
		case "prompt":
			a.prompt = value
		case "origin":
			a.origin = value
		case "isMeta":
			a.meta = value
		}
	})
	if is(a.kind, "queued_command") && (a.mode == nil || is(a.mode, "prompt")) &&
		human(a.origin) && (a.meta == nil || !truthy(a.meta)) {
		return a.prompt
	}
	return nil
}

// A claudeBlock is one block of a message's content.
type claudeBlock struct {
	kind, text, id, name, input, useID, content []byte
	isError                                     bool
}

func readClaudeBlock(value []byte) claudeBlock {
	if isString(value) { // old and hand-made transcripts: a bare string is a text
		return claudeBlock{kind: []byte(`"text"`), text: value}
	}
	var b claudeBlock
	_, _ = eachMember(value, func(key, value []byte) {
		switch string(key) {
		case "type":
			b.kind = value
		case "text":
			b.text = value
		case "id":
			b.id = value
		case "name":
			b.name = value
		case "input":
			b.input = value
		case "tool_use_id":
			b.useID = value
		case "content":
			b.content = value
		case "is_error":
			b.isError = truthy(value)
		}
	})
	return b
}

// eachBlock calls f with every block of a content, which may be a string or a list.
func eachBlock(content []byte, f func(claudeBlock)) {
	if isString(content) {
		f(readClaudeBlock(content))
		return
	}
	eachElement(content, func(value []byte) { f(readClaudeBlock(value)) })
}

// edited is the file that a tool use edits, "" if it edits none.
func (b *claudeBlock) edited() string {
	name := "file_path"
	switch {
	case is(b.name, "Edit"), is(b.name, "Write"), is(b.name, "MultiEdit"):
	case is(b.name, "NotebookEdit"):
		name = "notebook_path"
	default:
		return ""
	}
	path := decode(member(b.input, name))
	if path == "" && name == "notebook_path" {
		path = decode(member(b.input, "file_path"))
	}
	if !validFile(path) {
		return ""
	}
	return path
}

// said is the content of a record that is part of the conversation. For any
// other it is nil, and meta tells whether the harness wrote it for itself; failed
// is set when it wrote an error in place of its model.
func (r *claudeRecord) said() (content []byte, meta bool) {
	switch {
	case is(r.kind, "attachment"):
		return r.queued(), false
	case is(r.kind, "system") && is(r.subtype, "local_command"):
		content = r.content
	case is(r.kind, "user"):
		meta = !human(r.origin)
		content = member(r.message, "content")
	case is(r.kind, "assistant"):
		_, _ = eachMember(r.message, func(key, value []byte) {
			switch string(key) {
			case "content":
				content = value
			case "model": // not a model: "API Error: 529 …" and its like
				if is(value, "<synthetic>") {
					meta, r.failed = true, true
				}
			}
		})
	default:
		return nil, false
	}
	if meta = meta || r.meta; meta {
		return nil, true
	}
	return content, false
}

// boundInput copies a tool's input, which is part of a buffer, keeping it
// below limit and free of our own blocks and of what is for a terminal.
func boundInput(input []byte, limit int) []byte {
	if len(input) == 0 {
		return nil
	}
	marked := bytes.Contains(input, []byte("anamnesis:")) || bytes.Contains(input, []byte(`\u00`)) ||
		bytes.Contains(input, []byte(`\b`)) || bytes.IndexByte(input, 0x7f) >= 0 || bytes.IndexByte(input, 0xc2) >= 0
	if len(input) <= limit && !marked {
		return bytes.Clone(input)
	}
	return rewriteInput(input, limit)
}
