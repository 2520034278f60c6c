package bundle

// Refuses says why a member of a bundle is not written, and "" when it is.
func Refuses(name string, data []byte) string {
	if err := safeMember(Member{Path: name, Size: int64(len(data))}); err != nil {
		return err.Error()
	}
	if kind, why := stand(name, data); kind == refused {
		return why
	}
	return ""
}
