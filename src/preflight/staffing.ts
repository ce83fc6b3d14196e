import type { Problem } from '../text/problem.ts';
import type { AgentSettings, Settings } from '../model/settings.ts';
import { createPlaybook, PLAYBOOK_NAMES } from '../playbooks/registry.ts';
import { deliversInDelivery } from './playbook-choice.ts';
import { lineOf, problemError, SETTINGS_FILE } from './read-input.ts';

/** For each playbook, whether an agent's role changes files. With read-only access such an agent could only fail. */
const CHANGING: Readonly<Record<string, (agent: AgentSettings, roster: readonly AgentSettings[]) => boolean>> = {
  delivery: ({ role }) => deliversInDelivery(role),
  objective: ({ role }) => ['pm', 'ba', 'builder'].includes(role),
  // MAIN can give work to a member that may edit, as long as there is one.
  council: ({ role }, roster) => role === 'main' || (role === 'member' && !roster.some(isEditingMember)),
};

function isEditingMember({ role, access }: AgentSettings): boolean {
  return role === 'member' && access !== 'read-only';
}

/** Refuses a roster with an agent whose role changes files and whose access does not allow it. */
export function refuseReadOnly(playbook: string, roster: readonly AgentSettings[], settingsText: string): void {
  const names = readOnlyAgents(playbook, roster).map(({ name }) => name);
  if (names.length === 0) return;
  throw problemError(
    readOnlyProblems(playbook, roster, settingsText),
    `Give ${names.join(', ')} \`access: edit\` in ${SETTINGS_FILE}, or another role. \`squad doctor\` checks the roster too.`,
  );
}

export function readOnlyProblems(playbook: string, roster: readonly AgentSettings[], settingsText: string): Problem[] {
  return readOnlyAgents(playbook, roster).map(({ name, role }) => ({
    file: SETTINGS_FILE,
    line: lineOfAgent(settingsText, name),
    message: `${name} is to work as ${role}, and may change nothing (access: read-only)`,
  }));
}

function readOnlyAgents(playbook: string, roster: readonly AgentSettings[]): readonly AgentSettings[] {
  const changes = CHANGING[playbook];
  return roster.filter((agent) => agent.access === 'read-only' && changes?.(agent, roster) === true);
}

/** Roles without an agent, and agents that cannot do their role. Without a named playbook, one that the roster fits is enough. */
export function rosterProblems({ agents, playbook }: Settings, settingsText: string): Problem[] {
  if (agents === undefined || typeof playbook !== 'string') return [];
  const named = /^playbook\s*:/m.test(settingsText);
  const playable = (name: string) => problemsIn(name, agents, settingsText).length === 0;
  return !named && PLAYBOOK_NAMES.some(playable) ? [] : problemsIn(playbook, agents, settingsText);
}

function problemsIn(playbook: string, agents: readonly AgentSettings[], settingsText: string): Problem[] {
  const roster = agents.map(({ name, role, runtime, access, commits = true }) => {
    return { name, role, account: runtime, commits: commits && access !== 'read-only' };
  });
  const objective = { title: '', goals: [], criteria: [], text: '' };
  const parsed = createPlaybook(playbook)?.parse({ objective, roster, options: {}, files: [] });
  const line = lineOf(settingsText, /^agents\s*:/);
  const missing = parsed?.ok === false ? parsed.errors : [];
  return [
    ...missing.map((message) => ({ file: SETTINGS_FILE, line, message })),
    ...readOnlyProblems(playbook, agents, settingsText),
  ];
}

/** The line that names the agent, or that of `agents`. */
function lineOfAgent(text: string, name: string): number {
  const index = text.split('\n').findIndex((line) => {
    const named = /(?:^|[\s{,-])name\s*:\s*["']?([\w-]+)/.exec(line)?.[1];
    return named === name;
  });
  return index < 0 ? lineOf(text, /^agents\s*:/) : index + 1;
}
