import { LIMITS } from '../../model/limit-table.ts';
import { fallbackFor, type StallFallback } from '../../model/plan/work.ts';
import { limitsSchema, type Limits, type SomeLimits } from '../../model/limits.ts';
import { asObject, isJsonObject } from '../../text/json.ts';
import { defined } from '../../text/defined.ts';

/** Limits that a file of a repository or an objective sets, which may come from a stranger. */
export interface LimitSource {
  /** `squad.yaml:3`. */
  readonly where: string;
  readonly limits: SomeLimits | undefined;
}

/** A limit, as it is written in a file: `usd`, `task.turns`. */
export interface ChangedLimit {
  readonly key: string;
  readonly value: LimitValue;
  /** Value in force without the file; undefined: no limit. */
  readonly instead: LimitValue | undefined;
  /** `own`: `instead` is from the user's own settings; `default`: from squad. */
  readonly whose: 'own' | 'default';
  readonly where: string;
}

export interface DecidedLimits {
  /** In force once a person has agreed to `raised`. */
  readonly asked: Limits;
  /** In force until then. */
  readonly held: Limits;
  /** Above what the person's own settings say, or else squad's defaults: these need consent. */
  readonly raised: readonly ChangedLimit[];
  readonly lowered: readonly ChangedLimit[];
}

export type LimitValue = number | readonly StallFallback[];
type Flat = Readonly<Record<string, LimitValue | undefined>>;

const SPENT_BY_TASK = ['minutes', 'usd', 'turns', 'tokens'];

/** Every limit that a file can set. */
export const LIMIT_PATHS: readonly string[] = [
  ...LIMITS.map(({ key }) => key),
  ...SPENT_BY_TASK.map((key) => `task.${key}`),
];

/**
 * The limits of a run. Key by key, the smallest value of the sources counts. Below the person's own word (`own`, or else squad's
 * default) it needs nothing; above that it needs consent. The command line is the person's word and counts over all.
 */
export function decideLimits({
  own,
  sources,
  commandLine,
}: {
  readonly own: SomeLimits | undefined;
  readonly sources: readonly LimitSource[];
  readonly commandLine: SomeLimits;
}): DecidedLimits {
  const base = ownLimits(own);
  const [ofBase, ofOwn, flags] = [flat(base), flat(own), flat(commandLine)];
  const changed = LIMIT_PATHS.flatMap((key): ChangedLimit[] => {
    const found = smallest(key, sources);
    const instead = ofBase[key];
    if (found === undefined || flags[key] !== undefined || isSame(found.value, instead)) return [];
    return [{ key, ...found, instead, whose: ofOwn[key] === undefined ? 'default' : 'own' }];
  });
  const isRaised = ({ value, instead }: ChangedLimit): boolean => exceeds(value, instead);
  const raised = changed.filter(isRaised);
  const lowered = changed.filter((one) => !isRaised(one));
  const values = (some: readonly ChangedLimit[]) => Object.fromEntries(some.map(({ key, value }) => [key, value]));
  return {
    asked: whole({ ...ofBase, ...values(changed), ...defined(flags) }),
    held: whole({ ...ofBase, ...values(lowered), ...defined(flags) }),
    raised,
    lowered,
  };
}

/** The limits that the person's own settings give, over squad's defaults. */
export function ownLimits(own: SomeLimits | undefined): Limits {
  return limitsSchema.parse(own ?? {});
}

/** The limits in `limits` that are above the person's own word. */
export function limitsAbove(limits: SomeLimits, own: SomeLimits | undefined, where: string): readonly ChangedLimit[] {
  return decideLimits({ own, sources: [{ where, limits }], commandLine: {} }).raised;
}

/** Whether the first lets a run use more than the second. undefined: no limit. */
export function exceeds(value: LimitValue, than: LimitValue | undefined): boolean {
  if (than === undefined) return false;
  if (typeof value === 'number') return typeof than === 'number' && value > than;
  if (typeof than === 'number') return false;
  const stalls = Array.from({ length: Math.max(value.length, than.length) }, (_, index) => index + 1);
  return stalls.some((count) => COSTS[fallbackFor(value, count)] > COSTS[fallbackFor(than, count)]);
}

/** Ranks by what another stall of a turn uses: nothing, a turn, or a turn that starts over. */
const COSTS: Readonly<Record<StallFallback, number>> = { fail: 0, skip: 0, retry: 1, 'workspace-reset': 2 };

export function limitText(value: LimitValue | undefined): string {
  return value === undefined ? 'none' : typeof value === 'number' ? String(value) : `[${value.join(', ')}]`;
}

function smallest(key: string, sources: readonly LimitSource[]) {
  const found = sources.flatMap(({ where, limits }) => {
    const value = flat(limits)[key];
    return value === undefined ? [] : [{ where, value }];
  });
  // The last one is the nearest to the run: an objective counts before the settings where both say the same.
  return found.reduce<(typeof found)[number] | undefined>(
    (least, one) => (least === undefined || !exceeds(one.value, least.value) ? one : least),
    undefined,
  );
}

function isSame(one: LimitValue, other: LimitValue | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function flat(limits: SomeLimits | undefined): Flat {
  const { task, ...others } = limits ?? {};
  const ofTask = Object.entries(task ?? {}).map(([key, value]) => [`task.${key}`, value]);
  return { ...others, ...Object.fromEntries(ofTask) } as Flat;
}

function whole(values: Flat): Limits {
  const task = SPENT_BY_TASK.map((key) => [key, values[`task.${key}`]] as const).filter(
    ([, value]) => value !== undefined,
  );
  const others = Object.entries(values).filter(([key, value]) => !key.includes('.') && value !== undefined);
  return { ...Object.fromEntries(others), ...(task.length === 0 ? {} : { task: Object.fromEntries(task) }) } as Limits;
}

interface LimitedAgent {
  readonly name: string;
  readonly limits?: SomeLimits | undefined;
}

/** Limits of one turn, which an agent's own take the place of. Those of all its turns stand beside those of the run. */
const OF_A_TURN = ['idleMinutes', 'turnMinutes', 'firstToolSeconds'] as const;

/**
 * The agents of a repository. An agent of the same name in the person's own settings limits it too. What is above that, or for one
 * turn above the person's own limits of a turn, needs consent. `run`: the person's own word about the whole run.
 */
export function decideAgentLimits<Agent extends LimitedAgent>(
  agents: readonly Agent[],
  own: { readonly agents: readonly LimitedAgent[]; readonly run: SomeLimits | undefined },
  where: string,
): { readonly agents: readonly Agent[]; readonly raised: readonly (ChangedLimit & { readonly agent: string })[] } {
  const [ofRun, named] = [flat(ownLimits(own.run)), flat(own.run)];
  const decided = agents.map((agent) => {
    const limits = own.agents.find(({ name }) => name === agent.name)?.limits;
    const ofAgent = { ...Object.fromEntries(OF_A_TURN.map((key) => [key, ofRun[key]])), ...flat(limits) };
    const raised = Object.entries(flat(agent.limits)).flatMap(([key, value]) => {
      const instead = ofAgent[key];
      if (value === undefined || !exceeds(value, instead)) return [];
      const isOwn = (limits as Flat | undefined)?.[key] !== undefined || named[key] !== undefined;
      const whose = isOwn ? ('own' as const) : ('default' as const);
      return [{ key, value, instead, whose, where, agent: agent.name }];
    });
    return { raised, agent: limits === undefined ? agent : { ...agent, limits: { ...limits, ...agent.limits } } };
  });
  return { agents: decided.map(({ agent }) => agent), raised: decided.flatMap(({ raised }) => raised) };
}

/** Rounds that the stages of a list name for themselves, above the person's own word about a task's reviews. */
export function roundsAbove(
  stages: readonly RoundedStage[],
  own: SomeLimits | undefined,
  where: string,
): readonly (ChangedLimit & { readonly agent: string })[] {
  const instead = ownLimits(own).reviewRounds;
  const whose = own?.reviewRounds === undefined ? ('default' as const) : ('own' as const);
  return stages.flatMap(({ id, review, judges }) => {
    const value = Math.max(...[review ?? []].flat().map((one) => one.rounds ?? 0), judges?.rounds ?? 0);
    return value <= instead ? [] : [{ key: 'reviewRounds', value, instead, whose, where, agent: `stage ${id}` }];
  });
}

interface Rounds {
  readonly rounds?: number | undefined;
}

interface RoundedStage {
  readonly id: string;
  readonly review?: Rounds | readonly Rounds[] | undefined;
  readonly judges?: { readonly rounds?: number | undefined } | undefined;
}

/** Limits that a settings file names, as they are written there. The file was checked when it was read. */
export function limitsIn(raw: Readonly<Record<string, unknown>> | undefined): SomeLimits | undefined {
  const limits = asObject(raw)['limits'];
  return isJsonObject(limits) ? limits : undefined;
}
