package cli

import (
	"fmt"

	"anamnesis/internal/app"
	"anamnesis/internal/app/setup"
	"anamnesis/internal/config"
	"anamnesis/internal/connect"
	"anamnesis/internal/recall"
	"anamnesis/internal/unread"
)

// readSentence is what a user types to an agent without our plugin so that it reads past sessions.
const readSentence = "Read my unread sessions with memory_unread and answer each with memory_learn"

// offerReading says how many sessions are unread, and what the user types so that an agent reads them. It stops no installation.
func (p *program) offerReading(pl setup.InstallPlan) {
	if pl.Unread == "" {
		return
	}
	s, err := app.OpenStore(p.host())
	if err == nil {
		err = p.sayReading("unread", unread.Of(s))
	}
	if err != nil {
		p.say("unread: %v\n", err)
	}
}

// sayReading is offerReading for a queue. It names the command of our plugin where Claude Code has it.
func (p *program) sayReading(prefix string, q unread.Queue) error {
	n, err := q.Count()
	if err != nil || n.Sessions == 0 || p.cfg.Unread.For == string(config.UnreadOff) {
		return err
	}
	how := fmt.Sprintf("type to an agent in a project: %q", readSentence)
	if c := connect.Default(); connect.BesidePlugin(c, p.cfg.AgentHomes()[c.Name]) != "" {
		how = fmt.Sprintf("type /anamnesis:learn %d in Claude Code for the newest %[1]d of a project; in other agents: %q",
			min(n.Sessions, 20), readSentence)
	}
	p.say("%s: %s, about %d tokens: %s\n", prefix, plural(n.Sessions, "past session"), n.Chars/recall.CharsPerToken, how)
	return nil
}
