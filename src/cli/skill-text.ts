/** Where assistants look for the skills of a repository: Claude Code; Codex, and others that follow the same standard. */
export const SKILL_FILES = ['.claude/skills/squad/SKILL.md', '.agents/skills/squad/SKILL.md'];

/** How an assistant of a person starts a run and brings back its work. */
export const SKILL = `---
name: squad
description: Give a larger piece of work to a team of coding agents with squad, wait for it, and bring back the diff. Use when the person asks for squad, for a team of agents, or for work that is planned, built, tested and reviewed in the background.
---

# Give work to squad

squad plans the objective, builds it in folders of its own, tests and reviews it, and leaves verified commits on the branch
\`squad/NAME\`. It does not touch the files of the checkout. A run takes minutes to hours and costs money, so start one only if the
person wants it.

If you have the MCP tools of a server \`squad\` (\`start_run\`, \`run_status\`, \`show_plan\`, \`answer_question\`, \`tell_agent\`, \`run_diff\`,
\`merge_run\`), use them in place of the commands below: the steps are the same.

squad starts other agents, so it needs the network, and it writes into \`.git\` and the person's state folder. If your shell is in a
sandbox, ask to run these commands outside of it.

## 1. Start

\`\`\`sh
squad run "what to do, and how one can see that it is done" --detach --json
\`\`\`

- It ends as soon as the run is at work. \`name\` in its output is NAME below.
- For one small change add \`--playbook solo\`. If the person wants to see the plan first, add \`--plan ask\`. If several agents shall do the
  same and the best counts: \`squad best-of 3 "…" --detach --json\`.
- \`not-trusted\` means that the person has to agree to commands of the repository. Show them the list and ask them to type the same
  command in their own terminal, without \`--json\`. Never add \`--yes\` or \`--allow-full-access\` yourself.

## 2. Wait

\`\`\`sh
squad status NAME --wait 50s --json
\`\`\`

Repeat it until \`outcome\` is not null. It returns at once when something changes, and says in \`waitingFor\` what the run waits for.

- **A question** (\`waitingFor.questions\`): for a plan show the person what \`squad show plan --run NAME --no-pager\` prints. Answer with what
  the person said, or with a fact that you know: \`squad answer --run NAME QUESTION-ID "the answer"\`. If no engine runs then,
  \`squad resume NAME --detach\`. Approve a plan, and allow a tool, only if the person says so.
- **A note** for an agent at work: \`squad tell builder-1 "use tabs" --run NAME\`.
- **It failed or stopped**: \`squad report NAME\` says why, and \`next\` in the status names the commands that can help.

## 3. Bring back the work

\`\`\`sh
squad diff NAME --no-pager
\`\`\`

Tell the person what was changed, what squad checked (\`criteria\` in the status), and what was not checked. Merge only if they ask for it:
\`squad merge NAME\`.
`;
