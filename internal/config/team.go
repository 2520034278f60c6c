package config

import "anamnesis/internal/team/repo"

// team lists the settings of what is shared with other people.
func (c *Config) team() []Setting {
	t := &c.TeamRepo
	return []Setting{
		gitAddress("ANAMNESIS_TEAM_REPO", "team.repo.address", &t.Remote,
			"Address or path of the git repository in which a team reviews notes: `share --repo` offers to it, and background "+
				"runs read it. Empty is none.",
			"The team, when it starts to review notes in a git repository."),
		choice("ANAMNESIS_TEAM_REPO_HIGH", "team.repo.high", &t.High,
			"Where notes of high confidence go (0.8 and more): to the branch team.repo.branch, into a draft request of their own, nowhere "+
				"(queue), or to the default branch, which nobody reviews.",
			"The team, by how much it reviews.",
			repo.ToBranch, repo.ToRequest, repo.ToQueue, repo.ToDefault),
		choice("ANAMNESIS_TEAM_REPO_MEDIUM", "team.repo.medium", &t.Medium,
			"Where notes of medium confidence go (0.5 and more): into a draft request of their own, to the branch team.repo.branch, or "+
				"nowhere (queue). Those below always wait for you.",
			"The team, by how much it reviews.",
			repo.ToRequest, repo.ToBranch, repo.ToQueue),
		text("ANAMNESIS_TEAM_REPO_BRANCH", "team.repo.branch", &t.Branch, "knowledge/high",
			"Branch of the team's repository for notes that go to one.",
			"The team, if the branch has another name."),
		choice("ANAMNESIS_TEAM_REPO_HOST", "team.repo.host", &t.Host,
			"Program that opens draft requests: gh, glab, the one that the name of the host suggests (auto), or none.",
			"You, if the host name does not show the program, or you open requests yourself.",
			repo.HostAuto, repo.HostGitHub, repo.HostGitLab, repo.HostNone),
	}
}
