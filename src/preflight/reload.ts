import type { Reload } from '../model/plan/intervention.ts';
import type { RunDefinition } from '../model/run.ts';
import { someLimitsSchema, type Limits } from '../model/limits.ts';
import { defaultSettings } from '../settings/parse-settings.ts';
import type { PreflightPorts } from './preflight.ts';
import { readSettings, type SettingsRead } from './read-settings.ts';
import { letThroughBy } from '../model/let-through.ts';
import { refuseSecretSettings } from './secrets.ts';
import { agree, itemsToTrust } from './trust.ts';

export type ReloadPorts = Pick<
  PreflightPorts,
  'clock' | 'redactor' | 'host' | 'confirm' | 'runtimes' | 'describe' | 'playbooks'
>;

export interface ReloadRead {
  /** undefined if squad.yaml has no change for the run. */
  readonly reload: Reload | undefined;
  /** The new values, as text for people. */
  readonly changed: readonly string[];
  /** Settings that changed in squad.yaml but stay as they are in the run, because its plan was made with them. */
  readonly kept: readonly string[];
}

/** Limits that earlier decisions of the plan depend on. */
const OF_THE_PLAN = ['reviewRounds', 'retries', 'walls'] as const;

/** Reads what `squad.yaml` says now for a run that continues. Throws `not-trusted` without consent to new commands. */
export async function readReload(
  ports: ReloadPorts,
  definition: RunDefinition,
  limits: Limits,
  yes: boolean,
): Promise<ReloadRead> {
  const { root } = definition.repository;
  const read = await readSettings(root, ports, ports.host);
  const { settings } = read;
  refuseSecretSettings(read, ports.redactor(letThroughBy(settings)));
  const { setup, verify } = settings;
  const named = someLimitsSchema.parse(read.raw['limits'] ?? {});
  const kept = OF_THE_PLAN.filter((name) => named[name] !== undefined && differs(named[name], definition.limits[name]));
  const { reviewRounds: _rounds, retries: _retries, walls: _walls, ...others } = named;
  const changed = [
    ...(differs(setup, definition.setup) ? [`setup: ${commandsOf(setup)}`] : []),
    ...(differs(verify, definition.verify) ? [`verify: ${commandsOf(verify)}`] : []),
    ...Object.entries(others).flatMap(([name, value]) =>
      differs(value, limits[name as keyof Limits]) ? [`limits.${name}: ${JSON.stringify(value)}`] : [],
    ),
  ];
  const about = { changed, kept: kept.map((name) => `limits.${name}`) };
  if (changed.length === 0) return { ...about, reload: undefined };
  const trusted = await agreeTo(read, definition, ports, yes);
  return { ...about, reload: { verb: 'reload', setup, verify, limits: others, trusted } };
}

/** Asks for the repository's commands. */
async function agreeTo(
  { repository }: SettingsRead,
  definition: RunDefinition,
  ports: ReloadPorts,
  yes: boolean,
): Promise<string | null> {
  const { setup, verify } = repository.settings;
  const known = new Set([...definition.setup, ...definition.verify].map(({ run }) => run));
  if ([...setup, ...verify].every(({ run }) => known.has(run))) return definition.trusted;
  const items = itemsToTrust({ ...defaultSettings(), setup, verify }, { file: '', criteria: [] }, repository, {});
  return agree(items, ports, { repository: definition.repository.root, yes });
}

function commandsOf(steps: readonly { readonly run: string }[]): string {
  return steps.length === 0 ? 'none' : steps.map(({ run }) => `\`${run}\``).join(', ');
}

function differs(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}
