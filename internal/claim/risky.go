package claim

import (
	"regexp"
	"strings"
	"sync"
)

// Risky returns the part of a text that forces, skips a check, deletes, ends or runs what was
// fetched: "--force", "rm -rf", "curl … | sh". It returns "" for a text with none. No rule with
// such a part is made by a machine alone, and none is injected before a tool unless a person
// wrote it. A prohibition counts, too: the text is shown to a person, who decides.
func Risky(text string) string {
	for _, form := range risks() {
		if m := form.FindString(text); m != "" {
			return strings.TrimSpace(m)
		}
	}
	return ""
}

var risks = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, form := range []string{
		`(?i)(?:^|\s)--(?:force\b|force-[\w-]+|no-verify\b|no-gpg-sign\b|skip-[\w-]+|insecure\b|hard\b|no-check[\w-]*)`,
		`(?i)(?:^|\s)--(?:delete\b|yes-i-[\w-]+|privileged\b|prune\b)`,
		`\b(?:git|docker|kubectl|helm|npm|pnpm|yarn|cargo|apt|apt-get|pip|rsync|cp|mv|ln)\b[^|;&\n]{0,80}\s-(?:[a-zA-Z]*f[a-zA-Z]*|D)\b`,
		`\b(?:rm|rmdir|unlink|shred|mkfs\S*|dd)\s+[-\w./~*$"'{]`,
		`\bgit\s+(?:-\S+\s+)*(?:reset|restore|clean|stash\s+(?:drop|clear)|update-ref\s+-d|filter-\w+|reflog\s+expire)\b`,
		`\bgit\s+checkout\s+(?:\S+\s+)?--\s`,
		`\bgit\s+push\s+\S*\s*[:+]\S`,
		`(?i)\b(?:drop|truncate)\s+(?:table|database|schema|index|view|user|role|if)\b|(?i)\bdelete\s+from\b`,
		`\b(?:sudo|doas|kill|killall|pkill|taskkill)\s+\S`,
		`\bchmod\s+(?:-R\s+)?[0-7]?777\b|\bchmod\s+(?:\S+\s+)?a\+w`,
		`\b(?:curl|wget|fetch|iwr|irm|Invoke-WebRequest)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|da|k|fi)?sh\b`,
		`\b(?:curl|wget)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:python3?|perl|ruby|node|iex)\b|\b(?:ba|z)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*curl`,
		`(?i)\bterraform\s+destroy\b|\bkubectl\s+delete\b|\bdocker\s+(?:system|volume|image|container)\s+(?:prune|rm)\b|\baws\s+s3\s+rb\b`,
		`\b(?:unset|export)\s+\w*(?:VERIFY|CHECK|STRICT)\w*|\b\w*SKIP\w*=(?:1|true)\b|\bNODE_TLS_REJECT_UNAUTHORIZED=0\b|(?i)\bsslverify\b`,
		`\beval\s+["$(]|>\s*/dev/sd|\bformat\s+[a-zA-Z]:`,
	} {
		all = append(all, regexp.MustCompile(form))
	}
	return all
})
