/** Documents of a team, for people and agents. docs/team-rules.md names the test of each rule; advice says that it is advice. */
export const COMMUNICATION_PROTOCOL = `# How this team communicates

squad runs the team. No role starts another one: each role answers, and squad decides from the answer and its own list of steps.

## Requests

- A person asks with \`squad request "text"\`, and can attach files. The answer names the id of the request at once.
- The same request asked twice is one request. One that brings what a blocked item waits for reopens that item.
- The planner gets requests first. It alone writes items of the backlog; squad alone writes how far an item is.
- Every request is answered once, with its items, and reported once at its end: done with its commits, or blocked with the reason.

## Delegations

squad gives a role its work with: the request, the todo, the acceptance, the role that was selected and its strength, suggested skills,
and what is expected. Where the order of the policy was left, the reason stands there too.

## Answers

Every role answers in one form:

| field | meaning |
| --- | --- |
| \`request_id\` | the id that the delegation names |
| \`role\` | the role that answers |
| \`status\` | \`completed\`, \`blocked\` or \`failed\` |
| \`summary\` | what was done or found, in a few sentences |
| \`insights\` | what later work should know. squad keeps it and makes no item of it |
| \`artifacts\` | paths and documents that matter |
| \`proposals\` | what the step asks for, always with a \`workflow_transition\` |
| \`error\` | why it failed; \`null\` otherwise |

An answer that does not fit its form goes back to its author with the problems.

## Transitions

\`workflow_transition\` has \`outcome\` (\`continue\`, \`advance\`, \`reopen\`, \`block\`, \`complete\`), \`target_phase\`, \`target_step\`, \`reopen_category\`,
\`reason\`, \`unresolved_items\` and \`finalize_phase\`. The targets are recorded and compared with the list; they lead nowhere by themselves.

| reopen_category | who works next |
| --- | --- |
| \`scope\` | the planner, with this todo's planning |
| \`ux\` | the designer is asked, then the planner |
| \`architecture\` | the architect, with guidance |
| \`implementation\` | the developer |
| \`verification\` | the developer, with the tests |

Who blocks names \`required_inputs\` and \`recommended_next_step\`. The item goes back to the backlog as blocked, until a request brings them.

## Advice

The planner may ask designer and architect while it plans, as often as \`sprint.advice\` says. Advice decides nothing.
`;

export const FILE_CONTRACTS = `# Files of this team

The truth is in the records of squad. The files below follow from them, and squad never reads them back. A file that a person has changed is
kept as \`<name>.theirs\` when squad writes it again.

## Written by squad, ignored by git

| path | content |
| --- | --- |
| \`shared_workspace/backlog.md\` | items that are not done, with \`created_at\` |
| \`shared_workspace/completed_backlog.md\` | items that are done |
| \`shared_workspace/current_sprint.md\` | the active sprint, or that there is none |
| \`shared_workspace/sprints/<sprint>/kickoff.md\` | what the sprint was asked for. It never changes |
| \`shared_workspace/sprints/<sprint>/\` | milestone, plan, specification, todos, iteration log, report, attachments, \`roles/\` |
| \`shared_workspace/sprint_history/\` | a report of each sprint that has ended, and an index |
| \`.teams_runtime/\` | the same as JSON, for programs: requests, backlog, sprints, sessions, relay |
| \`logs/agents/\` | one line for each turn of a role, from \`service_start\` on; earlier sprints in \`archive/\` |
| \`<role>/journal.md\` | the results of a role in the newest sprint |
| \`<role>/history.md\` | a line for each sprint, with the journal of that sprint |

## Written by people, committed

| path | content |
| --- | --- |
| \`communication_protocol.md\`, \`file_contracts.md\`, \`workspace_context.md\` | how the team works, for people and agents |
| \`COMMIT_POLICY.md\` | subjects of commits. Its block \`commit-policy\` is checked by squad |
| \`agent_utilization/policy.yaml\` | how squad chooses among the roles that a step allows. squad reads it |
| \`<role>/AGENTS.md\`, \`<role>/skills/\` | what a role gets beside its own text, where \`squad.yaml\` names it |
| \`<role>/todo.md\`, \`<role>/sources/\` | notes and documents of people for a role. squad never changes them |

## Who writes documents

- The planner writes \`milestone.md\`, \`plan.md\`, \`spec.md\` and \`iteration_log.md\` of a sprint.
- The work of a todo is committed as it was reviewed.
- No agent writes below this folder in your checkout: agents work in clones, and their work arrives as commits.
`;

export const COMMIT_POLICY = `# Commits of this team

squad checks the subject of each commit of a sprint by this block. A subject that does not fit goes back to its author.

\`\`\`commit-policy
longest: 72
begins: capital
period: false
\`\`\`

- \`longest\`: how many characters a subject may have, 20 to 200.
- \`begins\`: \`capital\`, \`anything\`, or \`type\` for subjects such as \`fix: keep the session\`. With \`type\`, \`types: [feat, fix]\` lists the words.
- \`period\`: whether a subject may end with a period.

Advice, which squad does not check:

- Say what changes for the users of the code, not which files were touched: “Keep the session over a restart”.
- The body says why. The change itself shows how.
- One todo is one commit. What the todo does not ask for is not in it.
- A commit holds no secret, no generated file that the repository ignores, and no path of one person's machine.
`;

export const WORKSPACE_CONTEXT = `# This workspace

What agents should know of this repository before they read the code. Replace the lines in angle brackets, then commit the file.

- Purpose: <what this project is, and for whom>
- Structure: <the folders that matter, one line each>
- Checks: <how to install, build and test; the commands under \`setup\` and \`verify\` of squad.yaml run by themselves>
- Conventions: <language, style, names>
- Do not touch: <generated code, other teams' folders, released migrations>

Where things are:

- the team's rules: \`communication_protocol.md\`, \`file_contracts.md\`, \`COMMIT_POLICY.md\`, beside this file
- what is planned and done: \`shared_workspace/\`, in the checkout of the person who runs squad; agents get what they need in their briefs
- documents of a sprint: on its branch, in \`docs/squad/<run>/\`
`;

export const UTILIZATION = `# How squad chooses a role

1. The workflow comes first: a step allows certain roles, and most steps allow one.
2. \`should_not_handle\` of \`policy.yaml\` excludes a role whose phrase stands in the work, before anything is scored.
3. Among the roles that are left, each phrase of \`strengths\` that stands in the work counts one. Where a step allows a choice, the most wins.
4. The delegation says which role was selected, by which strength, with \`suggested_skills\` and \`expected_behavior\`, and why the order by
   score was left where it was.

Phrases match whole words, in capitals or not. A policy that excludes every role of a step is refused before the sprint starts. Unknown
roles and keys are errors that name their line.
`;
