// Package llm holds the clients of models that run elsewhere: those that write
// (Generator), make vectors (Embedder) and rank (Reranker). They accept
// redact.Text and nothing else, so that a secret cannot leave by mistake.
//
// A model that is asked gives an answer or an error that names it, the reason
// and, where there is one, the next step; never a part of an answer. Servers
// (chat.go) have a deadline for all tries together. The command line of an agent
// (command.go) runs without tools in an empty folder, and is killed with all
// that it started when its time is over. What either says about an error is
// redacted and cut before it is repeated.
//
// The package reads no environment and connects to nothing before it is asked. It
// keeps state on disk in one place: the folder that a user named for requests and
// answers as files (files.go).
package llm
