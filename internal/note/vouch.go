package note

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Unconfirmed is what an index has as the source of a note whose file claims that a person wrote or
// typed it, and that the ledger does not have: another program changed it, or it came from elsewhere.
const Unconfirmed = "unconfirmed"

// Words returns the hash of what n says: 32 hexadecimal digits over its id, its project, its
// text and its triggers. Who vouches for a note vouches for these.
func Words(n *Note) string {
	h := sha256.New()
	for _, s := range []string{
		string(n.ID), n.Project, strings.TrimSpace(n.Title), n.Problem, n.RootCause, n.Fix, n.Rule, n.KeyInsight, n.HowToApply,
		strings.Join(n.Symptoms, "\n"), strings.Join(n.When, "\n"), strings.TrimRight(n.Body, "\n"),
	} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Vouch writes into n that a person vouches for what it says now.
func Vouch(n *Note) { n.Vouched, n.Trusted = Words(n), true }

// Claims reports whether the file of n says that a person vouches for it. Anybody can write that;
// UserSaid asks the ledger.
func Claims(n *Note) bool {
	return n.Vouched != "" || n.Provenance.Source == Human || n.Provenance.Source == User
}

// Attested reports whether the file of n says that a person vouches for just these words. One
// without the key Vouched was written before there was a ledger: what it claims counts.
func Attested(n *Note) bool {
	if n.Vouched == "" {
		return Claims(n)
	}
	return n.Vouched == Words(n)
}

// ForOthers returns the file of a note without the keys that say who vouches for it: on the machine
// of somebody else they mean nothing. A file that is no note stays as it is.
func ForOthers(data []byte) []byte {
	n, err := Parse(data)
	if err != nil || n.Vouched == "" && n.Reviewed == "" {
		return data
	}
	n.Vouched, n.Reviewed = "", ""
	if out, err := n.Rewrite(data); err == nil {
		return out
	}
	return data
}

// Changed reports whether a person vouched for other words than those that n has: it was changed
// outside this program. A note that an earlier program tagged as reviewed is one of them, because nothing says which words it meant.
func Changed(n *Note) bool { return claimsMore(n) && n.Author == "" }

// claimsMore reports whether the file of n says that a person wrote it or found it right, and the ledger does not.
func claimsMore(n *Note) bool { return !n.Trusted && (Claims(n) || n.HasTag(ReviewedTag)) }

// StandingSource is the source that an index has of n: Unconfirmed for what only claims to be a person's.
func StandingSource(n *Note) string {
	if claimsMore(n) {
		return Unconfirmed
	}
	return n.Provenance.Source
}

// StandingTags are the tags that an index has of n. ReviewedTag is among them when the ledger
// knows the review, and SubjectTag of its subject when it has one, and for no other reason.
func StandingTags(n *Note) []string {
	tags := make([]string, 0, len(n.Tags)+2)
	for _, t := range n.Tags {
		if t != ReviewedTag && !strings.HasPrefix(t, subjectMark) {
			tags = append(tags, t)
		}
	}
	if n.IsReviewed() {
		tags = append(tags, ReviewedTag)
	}
	if n.About != "" {
		tags = append(tags, SubjectTag(n.About))
	}
	return tags
}

// IsReviewed reports whether its owner has read n as it is and found it right.
func (n *Note) IsReviewed() bool { return n.Trusted && n.Reviewed != "" }
