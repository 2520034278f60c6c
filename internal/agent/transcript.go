package agent

import "path/filepath"

// Patterns of package path/filepath for the transcript of a session (Harness.Transcript).

// codexTranscript is of the rollout of a thread.
func codexTranscript(home, session string) string {
	return filepath.Join(home, "sessions", "*", "*", "*", "rollout-*-"+session+"*.jsonl")
}

// copilotTranscript is of the event log of a session.
func copilotTranscript(home, session string) string {
	return filepath.Join(home, "session-state", session, "events.jsonl")
}

// geminiTranscript is of a chat, whose name has the beginning of the id.
func geminiTranscript(home, session string) string {
	return filepath.Join(home, "tmp", "*", "chats", "session-*-"+session[:min(8, len(session))]+".jsonl")
}

// cursorTranscript is of a conversation. Of the two places the second is the IDE's.
func cursorTranscript(home, session string) string {
	return filepath.Join(home, "projects", "*", "agent-transcripts", session+"*")
}

// qwenTranscript is of a chat.
func qwenTranscript(home, session string) string {
	return filepath.Join(home, "projects", "*", "chats", session+".jsonl")
}

// hermesTranscript is the database that holds all sessions.
func hermesTranscript(home, _ string) string { return filepath.Join(home, "state.db") }
