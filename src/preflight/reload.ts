import type { Composition, Host } from '../compose.ts';
import type { Reload } from '../model/plan/intervention.ts';
import type { RunDefinition } from '../model/run.ts';
import { someLimitsSchema, type Limits, type SomeLimits } from '../model/settings.ts';
import { z } from 'zod';
import { defaultSettings } from '../settings/parse-settings.ts';
import { parseYaml } from '../settings/yaml-file.ts';
import { readSettings, SETTINGS_FILE } from './read-input.ts';
import { letThroughBy, refuseSecretSettings } from './secrets.ts';
import { agree, itemsToTrust, type TrustItem } from './trust.ts';
import { trustStoreOf } from './trust-store.ts';

export interface ReloadPorts extends Pick<Composition, 'clock' | 'redactor'> {
  readonly host: Host;
  /** Shows what would run and asks; absent: nobody is there to answer. */
  confirm?(items: readonly TrustItem[]): Promise<boolean>;
}

export interface ReloadRead {
  /** undefined: squad.yaml says what the run goes by already. */
  readonly reload: Reload | undefined;
  /** What counts from now on, for people. */
  readonly changed: readonly string[];
  /** What squad.yaml says and the run keeps as it was: its plan is made with it. */
  readonly kept: readonly string[];
}

/** Limits that the plan so far was decided by. */
const OF_THE_PLAN = ['reviewRounds', 'retries', 'walls'] as const;

/**
 * `setup`, `verify` and the limits that `squad.yaml` names now, for a run that goes on. Commands that the run did not have
 * are shown and agreed to as before a run; throws `not-trusted` where nobody does.
 */
export async function readReload(
  ports: ReloadPorts,
  definition: RunDefinition,
  limits: Limits,
  yes: boolean,
): Promise<ReloadRead> {
  const { root } = definition.repository;
  const read = await readSettings(root);
  const { settings, text } = read;
  refuseSecretSettings(read, ports.redactor(letThroughBy(settings)));
  const { setup, verify } = settings;
  const named = namedLimits(text);
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
  const trusted = await agreeTo({ setup, verify }, definition, ports, { text, yes });
  return { ...about, reload: { verb: 'reload', setup, verify, limits: others, trusted } };
}

async function agreeTo(
  commands: Pick<RunDefinition, 'setup' | 'verify'>,
  definition: RunDefinition,
  ports: ReloadPorts,
  { text, yes }: { text: string; yes: boolean },
): Promise<string | null> {
  const known = new Set([...definition.setup, ...definition.verify].map(({ run }) => run));
  if ([...commands.setup, ...commands.verify].every(({ run }) => known.has(run))) return definition.trusted;
  const items = itemsToTrust({ ...defaultSettings(), ...commands }, { file: SETTINGS_FILE, criteria: [] }, text);
  return agree(items, {
    store: trustStoreOf(ports.host),
    repository: definition.repository.root,
    yes,
    confirm: ports.confirm?.bind(ports),
    now: () => ports.clock.now(),
  });
}

/** Without defaults: what the file leaves out changes nothing. It was found sound before. */
function namedLimits(text: string): SomeLimits {
  const about = { file: SETTINGS_FILE, text, firstLine: 1, examples: {}, hints: {} };
  const read = parseYaml(about, z.looseObject({ limits: someLimitsSchema.optional() }), () => []);
  return read.ok ? (read.value.limits ?? {}) : {};
}

function commandsOf(steps: readonly { readonly run: string }[]): string {
  return steps.length === 0 ? 'none' : steps.map(({ run }) => `\`${run}\``).join(', ');
}

function differs(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}
