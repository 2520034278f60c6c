package agent

import "strings"

// Call implements HookDialect. Tools that only look are no call: nothing of them is
// read.
func (claude) Call(e Event) (c Call) {
	text := func(value []byte) string { return strings.ReplaceAll(unquote(value), "\x00", "") }
	edited := func(value []byte) {
		if s := text(value); s != "" {
			c.Text += cutBytes(s, maxCallText) + "\n"
		}
	}
	member := func(string, []byte) {}
	switch e.ToolName {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		member = func(key string, value []byte) {
			switch key {
			case "file_path", "notebook_path":
				if s := text(value); s != "" {
					c.Files = append(c.Files, s)
				}
			case "old_string", "new_string", "new_source":
				edited(value)
			case "edits":
				n := 0
				eachElement(value, func(edit []byte) {
					if n++; n <= maxCallEdits {
						_, _ = eachMember(edit, func(key, value []byte) {
							if k := string(key); k == "old_string" || k == "new_string" {
								edited(value)
							}
						})
					}
				})
			}
		}
	case "Bash", "PowerShell":
		member = func(key string, value []byte) {
			if key == "command" {
				c.Command = text(value)
			}
		}
	case "Agent", "Task":
		member = func(key string, value []byte) {
			switch key {
			case "prompt":
				c.Task = strings.TrimSpace(StripInjected(text(value)))
			case "subagent_type":
				if s := text(value); len(s) <= 256 && !hasControl(s) {
					c.TaskType = s
				}
			}
		}
	}
	if len(e.ToolInput) > 0 {
		_, _ = eachMember(e.ToolInput, func(key, value []byte) { member(string(key), value) })
	}
	return c
}

// cutBytes cuts a text to at most n bytes, between characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
