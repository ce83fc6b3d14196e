import type { Objective } from '../../model/objective.ts';
import { quote } from '../../text/problem.ts';
import { badInput, SquadError, usageError } from '../../model/errors.ts';
import type { OptionsSource, Playbook, Playbooks } from '../../model/plan.ts';
import { BEST_OF, DEFAULT_PLAYBOOK, STAGES, TRIES } from '../../model/playbook-name.ts';
import type { AgentSettings, Settings } from '../../model/settings.ts';
import type { RunDefinition } from '../../model/run.ts';
import { createPlaybook, playbookNames, playbookOfRun, wantedBy } from '../../playbooks/registry.ts';
import { isJsonObject, type Json } from '../../text/json.ts';
import { defined } from '../../text/defined.ts';
import { nearest } from '../../text/nearest.ts';
import { LIST_EXAMPLE, playList } from './list-choice.ts';
import { isListFile } from './list-file.ts';
import { lineOf, problemError, SETTINGS_FILE } from './read-input.ts';
import { fileOf, type SettingsRead } from './read-settings.ts';

/** The caller's choice of a playbook. `otherwise`: the default where nothing names one. */
export interface PlaybookRequest {
  readonly playbook?: string | undefined;
  readonly otherwise?: string | undefined;
  readonly plan?: RunDefinition['plan'] | undefined;
}

/** The playbook from the command line, else the objective, else `squad.yaml`. Throws if it is not registered or does not suit. */
export function choosePlaybook(
  own: Playbooks,
  { playbook: given, otherwise = DEFAULT_PLAYBOOK, plan }: PlaybookRequest,
  objective: Objective,
  read: SettingsRead,
): Playbook<unknown> {
  const ofObjective = objective.frontMatter.playbook;
  const written = read.settings.playbook;
  const named = isListFile(given) ? STAGES : given;
  const name = named ?? ofObjective ?? (isJsonObject(written) ? STAGES : written) ?? otherwise;
  const playbook = name === STAGES ? playList(read) : createPlaybook(own, name);
  if (playbook !== undefined) {
    refusePlanless(playbook, plan);
    return playbook;
  }
  if (given !== undefined) throw unavailable(own, name);
  const { file, text } = ofObjective === undefined ? fileOf(read, 'playbook') : objective;
  const problem = { file, line: lineOf(text, 'playbook'), message: missing(own, name) };
  throw problemError([name === STAGES ? { ...problem, example: LIST_EXAMPLE } : problem]);
}

/** The playbook that a person named on the command line. Throws `bad-input` if it is not registered. */
export function namedPlaybook(own: Playbooks, name: string): Playbook<unknown> {
  const playbook = createPlaybook(own, name);
  if (playbook === undefined) throw unavailable(own, name);
  return playbook;
}

function unavailable(own: Playbooks, name: string): SquadError {
  const wanted = wantedBy(name);
  if (wanted !== undefined) return wanted;
  const other = `Choose an available one, such as \`--playbook ${DEFAULT_PLAYBOOK}\`.`;
  const list = `Write one into ${SETTINGS_FILE} under \`playbook: { stages: [...] }\`; docs/stages.md has examples.`;
  return badInput(missing(own, name), name === STAGES ? list : other);
}

function missing(own: Playbooks, name: string): string {
  const known = playbookNames(own);
  if (name === STAGES) return `the playbook ${quote(name)} plays a list of stages, and no settings have one`;
  const wanted = wantedBy(name)?.message;
  if (wanted !== undefined) return wanted;
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
    next: `See what it does: \`squad run --dry-run\`. Or choose another one: \`--playbook ${DEFAULT_PLAYBOOK}\`.`,
  });
}

/** Throws for a number of agents at the same work that no run can have, or a playbook that has none. */
export function refuseTries(tries: number, { name }: Playbook<unknown>): void {
  const { least, usual, most } = TRIES;
  const example = `\`squad ${BEST_OF} ${usual} "add a login form"\``;
  if (name !== BEST_OF) {
    throw usageError(
      `only the playbook ${BEST_OF} has tries, and this run has the playbook ${name}`,
      `Leave the number out, or let several agents try: ${example}.`,
    );
  }
  if (Number.isInteger(tries) && tries >= least && tries <= most) return;
  throw usageError(`a run has ${least} to ${most} tries, not ${tries}`, `Name one of these numbers: ${example}.`);
}

/** The playbook of a run; undefined: it is not registered. */
export function playbookOf(
  own: Playbooks,
  definition: Pick<RunDefinition, 'name' | 'playbook' | 'options'>,
): Playbook<unknown> | undefined {
  return playbookOfRun(own, definition);
}

interface OptionFacts extends Pick<RunDefinition, 'name' | 'limits' | 'prompts'> {
  readonly tries?: number | undefined;
  readonly objective: OptionsSource['objective'];
  readonly agents: readonly Pick<AgentSettings, 'role'>[];
}

/** The settings that the playbook uses. */
export function optionsFor(
  playbook: Playbook<unknown>,
  settings: Settings,
  { name: run, limits, agents, objective, prompts, tries }: OptionFacts,
): Json {
  const { verify, repositories } = settings;
  return (
    playbook.options?.({
      run,
      section: settings[playbook.name],
      limits,
      // Then each repository has a pull request, and no task.
      publish: repositories.length === 0 ? settings.publish : undefined,
      verify: verify.map((step) => step.run),
      roles: agents.map(({ role }) => role),
      objective,
      ...defined({ prompts, tries }),
    }) ?? {}
  );
}
