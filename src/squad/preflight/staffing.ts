import type { Host } from '../../engine/compose.ts';
import { refuseFullAsRoot, refuseFullUnlessAllowed } from '../../model/access.ts';
import type { Problem } from '../../text/problem.ts';
import type { Playbook, Playbooks } from '../../model/plan.ts';
import type { Member } from '../../model/plan/board.ts';
import { DEFAULT_PLAYBOOK } from '../../model/playbook-name.ts';
import type { AgentSettings, Settings } from '../../model/settings.ts';
import { createPlaybook, createPlaybookOfList, playbookNames } from '../../playbooks/registry.ts';
import { listIn } from './list-choice.ts';
import { lineOf, problemError, SETTINGS_FILE } from './read-input.ts';
import type { SettingsFile } from './read-settings.ts';
import { roleIn, type Staffing } from './roles.ts';

/** Refuses a roster with an agent whose role changes files and whose access does not allow it. */
export function refuseReadOnly(playbook: Staffing, roster: readonly AgentSettings[], source: SettingsFile): void {
  const names = readOnlyAgents(playbook, roster).map(({ name }) => name);
  if (names.length === 0) return;
  throw problemError(
    readOnlyProblems(playbook, roster, source),
    `Give ${names.join(', ')} \`access: edit\` in ${source.file}, or another role. \`squad doctor\` checks the roster too.`,
  );
}

export function readOnlyProblems(
  playbook: Staffing,
  roster: readonly AgentSettings[],
  { file, text }: SettingsFile,
): Problem[] {
  return readOnlyAgents(playbook, roster).map(({ name, role }) => ({
    file,
    line: lineOfAgent(text, name),
    message: `${name} is to work as ${role}, and may change nothing (access: read-only)`,
  }));
}

/** With read-only access, an agent whose role changes files could only fail. */
function readOnlyAgents(playbook: Staffing, roster: readonly AgentSettings[]): readonly AgentSettings[] {
  const reads = ({ access }: AgentSettings) => access === 'read-only';
  return roster.filter((agent) => {
    if (!reads(agent)) return false;
    const { delivers } = roleIn(playbook, agent.role);
    return delivers === 'each' || (delivers === 'some' && roster.every((one) => one.role !== agent.role || reads(one)));
  });
}

/** Roles without an agent, and agents that cannot do their role. Without a named playbook, one that the roster fits is enough. */
export function rosterProblems(own: Playbooks, settings: Settings, source: SettingsFile): Problem[] {
  const { agents, playbook } = settings;
  if (agents === undefined) return [];
  const list = listIn(settings);
  if (list !== undefined) return problemsIn(createPlaybookOfList(list), agents, source);
  const problems = (name: string) => problemsIn(createPlaybook(own, name), agents, source);
  if (playbook === undefined && playbookNames(own).some((name) => problems(name).length === 0)) return [];
  return problems(typeof playbook === 'string' ? playbook : DEFAULT_PLAYBOOK);
}

function problemsIn(
  playbook: Playbook<unknown> | undefined,
  agents: readonly AgentSettings[],
  source: SettingsFile,
): Problem[] {
  if (playbook === undefined) return [];
  const roster = agents.map(({ name, role, runtime, access, commits = true }): Member => {
    const isReadOnly = access === 'read-only';
    return { name, role, account: runtime, commits: commits && !isReadOnly, ...(isReadOnly ? { readOnly: true } : {}) };
  });
  const objective = { title: '', goals: [], criteria: [], constraints: [], context: '', text: '' };
  const parsed = playbook.parse({ objective, roster, options: {} });
  const line = lineOf(source.text, 'agents');
  const missing = parsed.ok ? [] : parsed.errors;
  return [
    ...missing.map((message) => ({ file: source.file, line, message })),
    ...readOnlyProblems(playbook, agents, source),
  ];
}

/** The line that names the agent, or that of `agents`. */
function lineOfAgent(text: string, name: string): number {
  const index = text.split('\n').findIndex((line) => {
    const named = /(?:^|[\s{,-])name\s*:\s*["']?([\w-]+)/.exec(line)?.[1];
    return named === name;
  });
  return index < 0 ? lineOf(text, 'agents') : index + 1;
}

/** Throws for full access that this user may not give, or has not allowed. */
export function refuseUnconfined(agents: readonly AgentSettings[], host: Host, allowed: boolean): void {
  for (const { name, access } of agents) {
    refuseFullAsRoot({ level: access }, host.isRoot, `Give ${name} \`access: edit\` in ${SETTINGS_FILE}`);
    refuseFullUnlessAllowed({ level: access }, allowed, name);
  }
}
