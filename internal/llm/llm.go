// Package llm is what we ask of models, and the border that text crosses to
// get there.
//
// The border is a type. A model client takes Redacted and nothing else, and
// only a Redactor can make a Redacted that says something. A Redactor replaces
// what looks like a credential by [REDACTED] and what its author marked with
// <private> tags by [PRIVATE]:
//
//	r, err := llm.NewRedactor(rules...)
//	safe := r.Redact(transcript).Head(24_000) // redact first, then cut
//
// It knows three kinds of rule. Vendor rules (tokens.go, context.go) know what
// the tokens of one service look like. Structures (structures.go, headers.go,
// commands.go) know places that hold credentials whatever they look like: key
// blocks, addresses with a password, headers, .netrc files, command lines. The
// assignment rule (keyvalue.go, names.go, values.go) knows how people name
// secrets and what the values are not: references, types, placeholders, prose.
// Users add rules of their own with a file (userrules.go).
//
// # Failure policy
//
// Redaction cannot fail: Redact has no error to ignore, takes any bytes, and
// needs time linear in their number. When in doubt it masks inside a credential
// and leaves prose alone. A user's rule file either loads whole or is an error
// that names the file, the line and the next step; we never run with half of
// somebody's rules.
//
// A model that is asked gives an answer or an error that names it, the reason
// and, where there is one, the next step; never a part of an answer. Servers
// (chat.go) have a deadline for all tries together. The command line of an agent
// (command.go) runs without tools in an empty folder, and is killed with all
// that it started when its time is over. What either says about an error is
// redacted and cut before it is repeated.
//
// The package keeps no state on disk, reads no environment, and compiles
// nothing before a text asks for it.
package llm
