import type { Objective } from '../model/objective.ts';
import { quote } from '../text/problem.ts';
import { badInput, SquadError } from '../model/errors.ts';
import type { Playbook, Playbooks } from '../model/plan.ts';
import { DEFAULT_PLAYBOOK } from '../model/playbook-name.ts';
import type { AgentSettings, Settings } from '../model/settings.ts';
import type { RunDefinition } from '../model/run.ts';
import { COMING_PLAYBOOKS, createPlaybook, playbookNames, playbookOfRun } from '../playbooks/registry.ts';
import type { Json } from '../text/json.ts';
import { nearest } from '../text/nearest.ts';
import { lineOf, problemError } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

/** The playbook from the command line, else the objective, else `squad.yaml`. Throws if it is not registered or does not suit. */
export function choosePlaybook(
  own: Playbooks,
  {
    playbook: given,
    otherwise = DEFAULT_PLAYBOOK,
    plan,
  }: {
    readonly playbook?: string | undefined;
    readonly otherwise?: string | undefined;
    readonly plan?: RunDefinition['plan'] | undefined;
  },
  objective: Objective,
  read: SettingsRead,
): Playbook<unknown> {
  const ofObjective = objective.frontMatter.playbook;
  const name = given ?? ofObjective ?? read.settings.playbook ?? otherwise;
  const playbook = typeof name === 'string' ? createPlaybook(own, name) : undefined;
  if (playbook !== undefined) {
    refusePlanless(playbook, plan);
    return playbook;
  }
  const known = playbookNames(own);
  const { file, text } = fileOf(read, 'playbook');
  const inSettings = { file, line: lineOf(text, /^playbook\s*:/) };
  if (typeof name !== 'string') {
    const message = `playbook: this version cannot run a playbook that a mapping defines; name one (${available(known)})`;
    throw problemError([{ ...inSettings, message, example: `playbook: ${DEFAULT_PLAYBOOK}` }]);
  }
  const message = missing(name, known);
  if (given !== undefined) throw unavailable(message);
  const inObjective = { file: objective.file, line: lineOf(objective.text, /^playbook\s*:/) };
  throw problemError([{ ...(ofObjective === undefined ? inSettings : inObjective), message }]);
}

/** The playbook that a person named on the command line. Throws `bad-input` if it is not registered. */
export function namedPlaybook(own: Playbooks, name: string): Playbook<unknown> {
  const playbook = createPlaybook(own, name);
  if (playbook === undefined) throw unavailable(missing(name, playbookNames(own)));
  return playbook;
}

function unavailable(message: string): SquadError {
  return badInput(message, `Choose an available one, such as \`--playbook ${DEFAULT_PLAYBOOK}\`.`);
}

function missing(name: string, known: readonly string[]): string {
  if (COMING_PLAYBOOKS.includes(name))
    return `the playbook ${quote(name)} is not available in this version; ${available(known)}`;
  const close = nearest(name, known);
  const hint = close === undefined ? '' : `did you mean “${close}”? `;
  return `no playbook is called ${quote(name)}; ${hint}${available(known)}`;
}

function available(known: readonly string[]): string {
  return `available: ${known.join(', ')}`;
}

/** Refuses to ask about a plan that the playbook does not make. In settings, which serve every playbook, `plan: ask` is no problem. */
function refusePlanless({ name, planning }: Playbook<unknown>, asked: RunDefinition['plan'] | undefined): void {
  if (asked !== 'ask' || planning !== undefined) return;
  throw new SquadError({
    code: 'bad-input',
    message: `in the playbook ${name} no task plans the others, so there is no plan to approve`,
    next: `Start it with \`squad run\`, or choose another one: \`--playbook ${DEFAULT_PLAYBOOK}\`.`,
  });
}

/** The playbook of a run; undefined: it is not registered. */
export function playbookOf(
  own: Playbooks,
  definition: Pick<RunDefinition, 'name' | 'playbook' | 'options'>,
): Playbook<unknown> | undefined {
  return playbookOfRun(own, definition);
}

interface OptionFacts extends Pick<RunDefinition, 'name' | 'limits'> {
  readonly agents: readonly Pick<AgentSettings, 'role'>[];
}

/** The settings that the playbook uses. */
export function optionsFor(
  playbook: Playbook<unknown>,
  settings: Settings,
  { name: run, limits, agents }: OptionFacts,
): Json {
  const { publish } = settings;
  return (
    playbook.options?.({
      run,
      section: settings[playbook.name],
      limits,
      publish,
      roles: agents.map(({ role }) => role),
    }) ?? {}
  );
}
