import type { Playbook } from '../model/plan.ts';
import type { Objective } from '../model/objective.ts';
import type { Settings } from '../model/settings.ts';
import type { SettingsRead } from './read-settings.ts';

/**
 * Settings for a run without a branch: no setup, verify or publish, and only agents with a role of the playbook and models given to them.
 * Returns `read` itself if `lone` is undefined.
 */
export function loneSettings(read: SettingsRead, lone: Pick<Playbook<unknown>, 'roles'> | undefined): SettingsRead {
  if (lone === undefined) return read;
  const { roles } = lone;
  const alone = (settings: Settings): Settings => {
    const agents = settings.agents?.filter(({ role }) => Object.hasOwn(roles, role)) ?? [];
    const names = new Set([...Object.keys(roles), ...agents.map(({ name }) => name)]);
    const models = Object.fromEntries(Object.entries(settings.models).filter(([name]) => names.has(name)));
    const mail = { ...settings.mail, routes: undefined };
    const nothing = { setup: [], verify: [], publish: undefined, playbook: undefined };
    return { ...settings, ...nothing, mail, models, agents: agents.length === 0 ? undefined : agents };
  };
  const { repository, settings } = read;
  return { ...read, settings: alone(settings), repository: { ...repository, settings: alone(repository.settings) } };
}

/** Drops the criteria: later runs prove them. */
export function loneObjective(objective: Objective, lone: unknown): Objective {
  return lone === undefined ? objective : { ...objective, criteria: [] };
}
