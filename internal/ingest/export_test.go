package ingest

// TriggerActionOf returns what becomes of a trigger of an author's note.
func TriggerActionOf(by Author) Action { return triggers[by] }
