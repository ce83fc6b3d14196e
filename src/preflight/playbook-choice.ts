import { plainJson, type Json } from '../text/json.ts';
import type { Objective } from '../model/objective.ts';
import { quote } from '../text/problem.ts';
import { SquadError } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import type { Settings } from '../model/settings.ts';
import { COMING_PLAYBOOKS, createPlaybook, PLAYBOOK_NAMES } from '../playbooks/registry.ts';
import { nearest } from '../text/nearest.ts';
import { lineOf, problemError, SETTINGS_FILE, type SettingsRead } from './read-input.ts';

const AVAILABLE = `available: ${PLAYBOOK_NAMES.join(', ')}`;

/** The playbook from the command line, else the objective, else `squad.yaml`. Throws if this version does not have it. */
export function choosePlaybook(given: string | undefined, objective: Objective, read: SettingsRead): string {
  const { playbook: ofFile } = read.settings;
  const ofObjective = objective.frontMatter.playbook;
  const name = given ?? ofObjective ?? ofFile;
  if (typeof name === 'string' && createPlaybook(name) !== undefined) return name;
  const inSettings = { file: SETTINGS_FILE, line: lineOf(read.text, /^playbook\s*:/) };
  if (typeof name !== 'string') {
    const message = `playbook: this version cannot run a playbook that a mapping defines; name one (${AVAILABLE})`;
    throw problemError([{ ...inSettings, message, example: 'playbook: delivery' }]);
  }
  const message = missing(name);
  if (given !== undefined) {
    throw new SquadError({
      code: 'bad-input',
      message,
      next: `Choose an available one: \`squad run objective.md --playbook ${PLAYBOOK_NAMES[0] ?? ''}\`.`,
    });
  }
  const inObjective = { file: objective.file, line: lineOf(objective.text, /^playbook\s*:/) };
  throw problemError([{ ...(ofObjective === undefined ? inSettings : inObjective), message }]);
}

function missing(name: string): string {
  if (COMING_PLAYBOOKS.includes(name))
    return `the playbook ${quote(name)} is not available in this version; ${AVAILABLE}`;
  const close = nearest(name, PLAYBOOK_NAMES);
  return `no playbook is called ${quote(name)}; ${close === undefined ? '' : `did you mean “${close}”? `}${AVAILABLE}`;
}

/** Whether a role of the delivery playbook delivers files; the others read and report. */
export function deliversInDelivery(role: string): boolean {
  return !['planner', 'reviewer', 'tester'].includes(role);
}

/** The settings that the playbook uses. */
export function optionsFor(playbook: string, settings: Settings, limits: Limits, roles: readonly string[]): Json {
  if (playbook === 'council') return plainJson({ reviewRounds: limits.reviewRounds, ...settings.council });
  if (playbook !== 'delivery') return {};
  // A piece of work shows its pull request once: by the committer if it is handed to one, otherwise by its builder.
  const delivering = [...new Set(roles)].filter(deliversInDelivery);
  return { reviewRounds: limits.reviewRounds, prRoles: settings.publish?.pr === true ? delivering : [] };
}
