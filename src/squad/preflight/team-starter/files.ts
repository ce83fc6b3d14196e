import { BUILT_IN_RUNTIMES } from '../../../model/runtime-name.ts';
import { DEFAULT_POLICY } from '../../../model/sprint/default-policy.ts';
import { sprintCast } from '../../../playbooks/sprint/roles.ts';
import { plainJson } from '../../../text/json.ts';
import { writeYaml } from '../../../text/yaml-file.ts';
import { COMMIT_POLICY, COMMUNICATION_PROTOCOL, FILE_CONTRACTS, UTILIZATION, WORKSPACE_CONTEXT } from './documents.ts';
import { ROLE_STARTERS, type RoleStarter } from './roles.ts';

/** The folder of a team's files where none is named. */
export const TEAM_FOLDER = 'team';

const IGNORED = `# squad writes these from its records, and never reads them back.
/shared_workspace/
/.teams_runtime/
/logs/
journal.md
history.md
*.theirs
*.theirs-*
.new-*
`;

/** The files that people and agents of a team read, by path below its folder. */
export function starterTeam(): Record<string, string> {
  const policy = `# How squad chooses among the roles that a step allows: see SKILL.md beside this file.\n${writeYaml(plainJson(DEFAULT_POLICY))}`;
  const utilization = frontMatter('agent-utilization', 'Says how squad chooses the role of a step.');
  return {
    'communication_protocol.md': COMMUNICATION_PROTOCOL,
    'file_contracts.md': FILE_CONTRACTS,
    'COMMIT_POLICY.md': COMMIT_POLICY,
    'workspace_context.md': WORKSPACE_CONTEXT,
    '.gitignore': IGNORED,
    'agent_utilization/SKILL.md': `${utilization}${UTILIZATION}`,
    'agent_utilization/policy.yaml': policy,
    ...Object.fromEntries(Object.entries(ROLE_STARTERS).flatMap(([role, starter]) => roleFiles(role, starter))),
  };
}

function roleFiles(role: string, { folder, about, rules, advice, skill }: RoleStarter): [path: string, text: string][] {
  const list = (head: string, lines: readonly string[] = []): string =>
    lines.length === 0 ? '' : `\n${head}\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
  const text = `${list('Rules:', rules)}${list('Advice, which squad does not check:', advice)}`;
  return [
    [`${folder}/AGENTS.md`, `# ${role}\n\n${about}\n${text}`],
    [`${folder}/todo.md`, `# Todo of the role ${role}\n\nNotes of people. squad neither reads nor writes this file.\n`],
    [
      `${folder}/sources/README.md`,
      `# Sources of the role ${role}\n\nDocuments that it should know. Agents see them once they are committed.\n`,
    ],
    ...(skill === undefined
      ? []
      : [
          [
            `${folder}/skills/${skill.name}/SKILL.md`,
            `${frontMatter(skill.name, skill.description)}${skill.steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}\n`,
          ] as [string, string],
        ]),
  ];
}

function frontMatter(name: string, description: string): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n`;
}

/** The section of `squad.yaml`, and the cast as a comment. */
export function starterSection(folder: string, runtimes: readonly string[]): string {
  const agents = sprintCast({
    runtimes: runtimes.length === 0 ? [BUILT_IN_RUNTIMES[0]] : runtimes,
    members: 0,
  }).flatMap(({ name, role, runtime, access }) => {
    const { folder: own = role, skill } = ROLE_STARTERS[role] ?? {};
    const skills = skill === undefined ? '' : `, skills: [${folder}/${own}/skills/${skill.name}]`;
    const text = `instructions: ${folder}/${own}/AGENTS.md${skills}`;
    const may = role === 'research' ? 'edit, network: true' : access;
    return [`#   - { name: ${name}, role: ${role}, runtime: ${runtime}, access: ${may},`, `#       ${text} }`];
  });
  return [
    '# A team that works in sprints: docs/sprint.md.',
    'sprint:',
    `  folder: ${JSON.stringify(folder)}`,
    '  branch: sprints            # sprints begin at its head, and their work ends there',
    '  timezone: Asia/Seoul       # of ids, times and slots, such as Europe/Berlin',
    '  start: hybrid              # as soon as the backlog has work, and at slots; or: slots, person',
    '  # slots: "0 9 * * 1-5"     # five fields of cron',
    '  # approve: todos           # a person approves the todos of each sprint',
    '  # minutes: 240             # a sprint that squad starts wraps up after so long',
    '  maxTodos: 10               # of one sprint',
    '  advice: 2                  # how often the planner may ask designer and architect',
    '  # discovery: ["npm audit"] # commands whose failures and lines become findings',
    ...(agents.length === 0
      ? []
      : [
          '# The team is made from the runtimes that squad finds. With these lines in place of other `agents`, each role also gets its own',
          '# rules and skill, and research the network, to which you agree; commit them first:',
          '# agents:',
          ...agents,
        ]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}
