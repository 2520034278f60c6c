package risk

import (
	"regexp"
	"strings"
	"sync"
)

// Orders to approve, in the languages of package claim and some of package smalltalk: a closed class of verbs, in the form of an order
// (at the begin of a clause), with what a person approves as their object.
const (
	clause  = `(?:^|[.,:;!?—–(\n“*-]\s*|\s"|\b(?:then|and|or|so|always|just|simply|please|automatically|immediately|directly)\s+)`
	matters = `(?:pull[ -]requests?|merge[ -]requests?|PRs?|MRs?|(?:code )?reviews?|permissions?|prompts?|dialogs?|approvals?|tool calls?|` +
		`(?:access|permission) requests?|changes? requests?|confirmations?|certificates?|host keys?)`
)

var approvals = sync.OnceValue(func() []form {
	return []form{
		{
			words("bypasspermissions acceptedits dontask autoapprove alwaysallow accept allow approve"),
			lazily(`(?i)` + `\b(?:bypassPermissions|acceptEdits|dontAsk|autoApprove\w*|alwaysAllow\w*)\b|` + clause + `(?:accept|allow` +
				`|approve) (?:all` +
				`|any|every)\b`),
		},
		{words("approve stamp sign green-light greenlight lgtm"), lazily(`(?i)` + clause + `(?:auto-?)?(?:approve|rubber-?stamp` +
			`|sign off|green-?light|LGTM)\b`)},
		{words("lgtm"), lazily(`(?i)` + `\bLGTM\b`)},
		{words("merge accept allow grant permit authori confirm"), lazily(`(?i)` + clause + `(?:auto-?)?(?:merge|accept|allow|grant` +
			`|permit|authori[sz]e|confirm)\b[^.;!?\n]{0,40}\b` + matters + `\b`)},
		{
			words("accept allow grant permit authori confirm merge approve"),
			lazily(`(?i)` + `\b` + matters + `\b[^.;!?\n]{0,60}[,:]\s*(?:then |just |always |simply )?(?:accept|allow|grant|permit` +
				`|authori[sz]e|confirm` +
				`|merge|approve) (?:it|them|that|this)\b`),
		},
		{words("answer reply respond say choose click press select type"), lazily(`(?i)` + `\b(?:answer|reply|respond|say|choose|click` +
			`|press|select|type)\b(?: with| on)? ["'“\x60]?(?:yes|y|allow|accept|approve` +
			`|always allow|approved|ok)\b["'”\x60]?(?: to\b| for\b| when\b| if\b| at\b| on\b| in\b|[.,;!]|$)`)},
		{words("not don no stop instead never skip"), lazily(`(?i)` + `\b(?:do not|don'?t|never|no need to|stop|instead of` +
			`|skip) (?:ask|asking|wait|waiting` +
			`|prompting)(?: \w+){0,3} (?:for )?(?:permission|confirmation|approval|review|consent|the user|user|a person|me)\b`)},
		// German, French, Spanish, Italian, Portuguese, Dutch, Russian, Chinese, Japanese, Korean
		{words("genehmig bewillig gib winke bestätig"), lazily(`(?i)` + `\b(?:genehmige|genehmigen sie|bewillige` +
			`|gib\b[^.;\n]{0,40}\bfrei\b|winke\b[^.;\n]{0,40}\bdurch\b` +
			`|bestätige\b[^.;\n]{0,40}\b(?:anfrage|abfrage|dialog|prompt|review))`)},
		{words("approuve accepte valide"), lazily(`(?i)` + `\b(?:approuvez?|acceptez?\b[^.;\n]{0,40}\b(?:demande|fusion|permission` +
			`|revue)|valide[zr]?\b[^.;\n]{0,30}\b(?:demande` +
			`|fusion|revue|PR))`)},
		{words("aprueb acept"), lazily(`(?i)` + `\b(?:aprueb[ae]n?|acept[ae]\b[^.;\n]{0,40}\b(?:solicitud|petición|permiso|revisión))\b`)},
		{words("approva accetta aprov aceite"), lazily(`(?i)` + `(?:^|[\s,:])(?:approva\b|accetta\b[^.;\n]{0,40}\b(?:richiest\w+` +
			`|permess\w+|revision\w)|aprov[ae]\b` +
			`|aceite\b[^.;\n]{0,40}\b(?:pedido|permissão|revisão))`)},
		{words("keur одобр подтверди"), lazily(`(?i)` + `\bkeur\b[^.;\n]{0,40}\bgoed\b|одобр(?:и|яй|ить|ите|яйте)|подтверди(?:те)?\s`)},
		{words("批准 同意 通过 承認 許可 승인"), lazily(`(?i)` + `批准|同意(?:合并|请求|授权)|(?:审核|审查|评审)通过|通过(?:审核|审查|评审)|` +
			`承認(?:して|する|しろ|を)|許可(?:して|する)|승인(?:하|해)`)},
	}
})

var (
	// unasked is an act without the person who decides about it.
	unasked = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bwithout (?:asking|(?:waiting for |(?:a|an|any|further|human|manual|the|your|user|prior` +
			`|code|explicit|reading|another)\s+)*` +
			`(?:reviews?|reviewing|approvals?|confirmations?|confirming|permission|consent|a person|a human|persons?|humans?|users?` +
			`|reading it|reading them|looking))\b|` +
			`\bohne (?:rückfrage|nachfrage|zu fragen|nachzufragen|freigabe|genehmigung|review|bestätigung|prüfung)|` +
			`\bsans (?:demander|validation|approbation|confirmation|revue|relecture)|\bsin (?:preguntar|revisión|aprobación` +
			`|confirmación|confirmar|revisar)|` +
			`\bsenza (?:chiedere|revisione|approvazione|conferma)|\bsem (?:perguntar|revisão|aprovação|confirmação)` +
			`|\bzonder (?:te vragen|goedkeuring)|` +
			`без (?:спроса|подтверждения|проверки|согласования)|` +
			`(?:无需|不用|不必|不要|无须)(?:询问|确认|审核|批准|问)|確認(?:なし|せず)|確認を?待たず|확인 없이`)
	})
	denial = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:never|not|no|don'?t|nothing|nobody|cannot|can'?t|mustn'?t|nie|niemals|nicht|kein\w*` +
			`|nichts|jamais|pas|nunca|mai|non|não|nooit|niet|geen)\b|не |никогда`)
	})
	clauseEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.,;:!?—–(\n]\s*`) })
)

// orders returns the orders of a text to approve, or to act without the person who approves. "Never merge without a
// review" asks for one.
func orders(text string) (all []suspect) {
	low := strings.ToLower(text)
	for i := range approvals() {
		if !approvals()[i].may(low) {
			continue
		}
		for _, m := range approvals()[i].get().FindAllStringIndex(text, 8) {
			if !denied(text[:m[0]]) {
				all = append(all, suspect{text: strings.TrimLeft(text[m[0]:m[1]], " .,:;!?—–(\n"), why: "approves what a person approves"})
			}
		}
	}
	for _, m := range unasked().FindAllStringIndex(text, 8) {
		if !denied(text[:m[0]]) {
			all = append(all, suspect{text: text[m[0]:m[1]], why: "acts without the person who approves"})
		}
	}
	return all
}

// denied reports whether a clause denies what follows it.
func denied(before string) bool {
	if ends := clauseEnd().FindAllStringIndex(before, -1); len(ends) > 0 {
		before = before[ends[len(ends)-1][1]:]
	}
	return denial().MatchString(before)
}
