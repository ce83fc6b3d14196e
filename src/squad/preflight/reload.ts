import type { Reload } from '../../model/plan/intervention.ts';
import type { RunDefinition } from '../../model/run.ts';
import type { Criterion, Objective } from '../../model/objective.ts';
import { stepsOf } from '../../model/repositories.ts';
import { defined } from '../../text/defined.ts';
import type { Limits, SomeLimits } from '../../model/limits.ts';
import { limitsIn } from '../settings/decide-limits.ts';
import { defaultSettings } from '../settings/parse-settings.ts';
import type { PreflightPorts } from './preflight.ts';
import { readSettings, type SettingsRead } from './read-settings.ts';
import { commandVariables, letThroughBy } from '../../model/let-through.ts';
import { objectiveWithoutSecrets, refuseSecretSettings } from './secrets.ts';
import type { TrustedPlace } from './trust-store.ts';
import { agree } from './consent.ts';
import { limitItem, limitsOfReload } from './run-limits.ts';
import { itemsToTrust } from './trust.ts';
import type { TrustItem } from './trust-item.ts';
import { resolve } from 'node:path';
import type { Host } from '../../engine/compose.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { parseObjective } from '../objective/parse-objective.ts';
import { plainLine } from '../../text/plain-text.ts';
import { doubtfulOf } from './doubtful.ts';
import { readText } from './read-input.ts';

export type ReloadPorts = Pick<
  PreflightPorts,
  'clock' | 'redactor' | 'host' | 'confirm' | 'runtimes' | 'describe' | 'playbooks'
>;

export interface ReloadRead {
  /** undefined if neither has a change for the run. */
  readonly reload: Reload | undefined;
  /** The new values, as text for people. */
  readonly changed: readonly string[];
  /** Commands of success criteria that are new in the objective’s file, as text for people. */
  readonly criteria: readonly string[];
  /** Settings that changed in squad.yaml but stay as they are in the run, because its plan was made with them. */
  readonly kept: readonly string[];
}

/** Limits that earlier decisions of the plan depend on. */
const OF_THE_PLAN = ['reviewRounds', 'retries', 'walls'] as const;

/** `yes`: the caller consents to new commands in this repository. */
interface ReloadRequest {
  readonly repository: TrustedPlace;
  readonly yes: boolean;
}

/** Reads what `squad.yaml` and the objective’s file say now for a run that continues. Throws `not-trusted` without consent to what is new and needs it. */
export async function readReload(
  ports: ReloadPorts,
  definition: RunDefinition,
  limits: Limits,
  request: ReloadRequest,
): Promise<ReloadRead> {
  const { root } = definition.repository;
  const read = await readSettings(root, ports, ports.host);
  const { settings } = read;
  const redactor = ports.redactor(letThroughBy(settings));
  refuseSecretSettings(read, redactor);
  const found = await readCriteria(definition, { root, host: ports.host, redactor });
  const { env } = settings;
  const { setup, verify } = stepsOf(settings);
  const { asked, raised } = limitsOfReload(read);
  const named = namedIn(read, asked);
  const kept = OF_THE_PLAN.filter((name) => named[name] !== undefined && differs(named[name], definition.limits[name]));
  const { reviewRounds: _rounds, retries: _retries, walls: _walls, ...others } = named;
  const isNew = (name: string): boolean =>
    Object.hasOwn(others, name) && differs(asked[name as keyof Limits], limits[name as keyof Limits]);
  const changed = [
    ...(differs(setup, definition.setup) ? [`setup: ${commandsOf(setup)}`] : []),
    ...(differs(verify, definition.verify) ? [`verify: ${commandsOf(verify)}`] : []),
    ...(differs(env, definition.env ?? []) ? [`env: ${env.join(', ') || 'none'}`] : []),
    ...Object.entries(others).flatMap(([name, value]) =>
      isNew(name) ? [`limits.${name}: ${JSON.stringify(value)}`] : [],
    ),
  ];
  const about = {
    changed,
    criteria: found?.changed ?? [],
    kept: [...kept.map((name) => `limits.${name}`), ...(found?.kept ?? [])],
  };
  if (changed.length + about.criteria.length === 0) return { ...about, reload: undefined };
  const more = raised.filter(({ key }) => isNew(key.split('.')[0] ?? '')).map(limitItem);
  const { criteria, doubtful } = found ?? {};
  const objective = { file: found?.file ?? '', criteria: newIn(criteria ?? [], definition) };
  const items = [...newCommands(read, definition, objective), ...more];
  const trusted = items.length === 0 ? definition.trusted : await agree(items, ports, request);
  return {
    ...about,
    reload: {
      ...{ verb: 'reload', setup, verify, limits: others, trusted },
      ...(differs(env, definition.env ?? []) ? { env } : {}),
      ...defined({ criteria, doubtful }),
    },
  };
}

/** The limits that either file names, with the values that count. */
function namedIn({ own, repository }: SettingsRead, asked: Limits): SomeLimits {
  const names = new Set([own, repository].flatMap((file) => Object.keys(limitsIn(file?.raw) ?? {})));
  return Object.fromEntries(Object.entries(asked).filter(([name]) => names.has(name)));
}

/** The criteria whose commands the run did not begin with. */
function newIn(criteria: readonly Criterion[], { objective }: RunDefinition): Criterion[] {
  const known = new Set(objective.criteria.map(({ command }) => command));
  return criteria.filter(({ command }) => !known.has(command));
}

/** The commands of the repository and of the objective, if the run did not begin with all of them. */
function newCommands(
  { repository }: SettingsRead,
  definition: RunDefinition,
  objective: Pick<Objective, 'file' | 'criteria'>,
): TrustItem[] {
  const { env } = repository.settings;
  const { setup, verify } = stepsOf(repository.settings);
  const known = new Set([...definition.setup, ...definition.verify].map(({ run }) => run));
  const given = new Set(commandVariables(definition));
  const isKnown =
    [...setup, ...verify].every(({ run }) => known.has(run)) &&
    commandVariables(repository.settings).every((name) => given.has(name));
  if (objective.criteria.length === 0 && isKnown) return [];
  return itemsToTrust({ ...defaultSettings(), setup, verify, env }, objective, repository, {});
}

function commandsOf(steps: readonly { readonly run: string }[]): string {
  return steps.length === 0 ? 'none' : steps.map(({ run }) => `\`${run}\``).join(', ');
}

function differs(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}

interface CriteriaRead extends Pick<Reload, 'criteria' | 'doubtful'> {
  readonly file: string;
  /** The commands that are new, as text for people; empty: none is. */
  readonly changed: readonly string[];
  /** Changes of the file that the run does not take over. */
  readonly kept: readonly string[];
}

/**
 * Reads the commands of the success criteria again from the objective’s file. A criterion is known by its words, which stay as they are.
 * undefined: the run was not begun with a file, or it is gone.
 */
async function readCriteria(
  { source, folder, objective }: RunDefinition,
  { root, host, redactor }: { root: string; host: Pick<Host, 'workingDirectory' | 'environment'>; redactor: Redactor },
): Promise<CriteriaRead | undefined> {
  if (folder !== undefined) return undefined;
  const text = (await textAt(host.workingDirectory, source)) ?? (await textAt(root, source));
  if (text === undefined) return undefined;
  const file = plainLine(source, 200);
  const parsed = parseObjective(text, source, false);
  if (!parsed.ok) return { file, changed: [], kept: [`${file}, which cannot be read now,`] };
  const left = [...objectiveWithoutSecrets(parsed.objective, redactor).criteria];
  const criteria = objective.criteria.map((one) => withCommandOf(one, left));
  const changed = criteria.flatMap(({ text: words, command }, index) =>
    command === objective.criteria[index]?.command
      ? []
      : [`criterion “${plainLine(words, 100)}”: ${command === undefined ? 'no command' : `\`${command}\``}`],
  );
  const kept = left.length === 0 ? [] : [`The list of success criteria, which ${file} has changed,`];
  if (changed.length === 0) return { file, changed, kept };
  const doubtful = await doubtfulOf(criteria, { root, environment: host.environment, file: source });
  return { file, changed, kept, criteria, ...(doubtful === undefined ? {} : { doubtful }) };
}

async function textAt(folder: string, source: string): Promise<string | undefined> {
  const read = await readText(resolve(folder, source), source);
  return read.type === 'text' ? read.text : undefined;
}

/** Takes the criterion with the same words out of those that are left. */
function withCommandOf(one: Criterion, left: Criterion[]): Criterion {
  const at = left.findIndex(({ text }) => text === one.text);
  const [found] = at < 0 ? [] : left.splice(at, 1);
  if (found === undefined) return one;
  const { command: _, ...rest } = one;
  return found.command === undefined ? rest : { ...rest, command: found.command };
}
