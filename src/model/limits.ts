import { z } from 'zod';
import { defined } from '../text/defined.ts';
import { SquadError } from './errors.ts';
import { wholeMicros } from './money.ts';
import { LIMITS, type LimitKey, type LimitOptions } from './limit-table.ts';
import { STALL_FALLBACKS } from './plan/work.ts';
import { withoutCost, type DescribedRuntimes } from './runtime-description.ts';

const TWO_WEEKS = 14 * 24 * 60;

export const minutesSchema = z.number().positive().max(TWO_WEEKS);

/** Every limit of `squad.yaml` that is a value of its own, in the order in which people see them. */
const values = z.strictObject({
  minutes: minutesSchema,
  usd: z.number().positive().max(1_000_000).overwrite(wholeMicros),
  turns: z.int().positive().max(100_000),
  tokens: z.int().positive(),
  parallel: z.int().positive().max(64),
  reviewRounds: z.int().positive().max(20),
  retries: z.int().nonnegative().max(20),
  idleMinutes: minutesSchema,
  turnMinutes: minutesSchema,
  firstToolSeconds: z.number().positive().max(86_400),
  walls: z.array(z.enum(STALL_FALLBACKS)).min(1).max(10),
  /** GB that stay free on the disk of squad's folders; below that it keeps none for the next tasks. */
  freeDisk: z.number().nonnegative().max(100_000),
  /** Minutes in which a worker of a pool works on although nothing of that can be kept there. */
  unreplicated: minutesSchema,
} satisfies Record<LimitKey, z.ZodType>);

const SPENT = { minutes: true, usd: true, turns: true, tokens: true } as const;

/** Limits of each task over all its turns, including reviews. `reviewRounds` and `retries` hold for each task anyway. */
const taskLimitsSchema = values.pick(SPENT).partial();

/** Limits of one agent over all its turns in a run, and limits of each turn. */
export const agentLimitsSchema = values
  .pick({ ...SPENT, parallel: true, idleMinutes: true, turnMinutes: true, firstToolSeconds: true })
  .partial();

const { shape } = values;

export const limitsSchema = z.strictObject({
  minutes: shape.minutes.default(480),
  usd: shape.usd.default(20),
  turns: shape.turns.default(200),
  /** No limit unless given. */
  tokens: shape.tokens.optional(),
  parallel: shape.parallel.default(6),
  reviewRounds: shape.reviewRounds.default(4),
  retries: shape.retries.default(2),
  idleMinutes: shape.idleMinutes.default(10),
  turnMinutes: shape.turnMinutes.default(60),
  firstToolSeconds: shape.firstToolSeconds.default(120),
  walls: shape.walls.default(['retry', 'workspace-reset', 'fail']),
  freeDisk: shape.freeDisk.default(2),
  unreplicated: shape.unreplicated.default(10),
  task: taskLimitsSchema.optional(),
});
export type Limits = z.infer<typeof limitsSchema>;

/** Some limits, from an objective's front matter or the command line. Without defaults: an absent limit changes nothing. */
export const someLimitsSchema = values.partial().extend({ task: taskLimitsSchema.optional() });
export type SomeLimits = z.infer<typeof someLimitsSchema>;

export function limitsFromOptions(options: LimitOptions): SomeLimits {
  const given = LIMITS.map(({ key, flag: of }) => [key, of && options[of.option]]);
  return checkLimits(defined(Object.fromEntries(given) as SomeLimits));
}

/** Limits from the command line. Throws `usage`, naming the option, for a value that squad.yaml would not take either. */
export function checkLimits(limits: SomeLimits): SomeLimits {
  const parsed = someLimitsSchema.safeParse(limits);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = LIMITS.find(({ key }) => key === issue?.path[0])?.flag?.name ?? String(issue?.path[0]);
  throw new SquadError({
    code: 'usage',
    message: `${name}: ${issue?.message ?? 'cannot be used'}`,
    next: 'Run the command with --help for its options.',
  });
}

/** `limits` with those of `some` in place; an absent limit stays as it is. */
export function raiseLimits(limits: Limits, some: SomeLimits | undefined): Limits {
  const raised = { ...limits, ...defined(some ?? {}) };
  return some?.task === undefined ? raised : { ...raised, task: { ...limits.task, ...defined(some.task) } };
}

/** A limit that cannot stop all agents of a run. */
export interface LimitWarning {
  readonly about: 'limits';
  readonly text: string;
  readonly next: string;
  /** Names the fact: a person reads it once on a machine. */
  readonly once: string;
}

export function limitWarnings({
  agents,
  limits,
  described,
}: {
  readonly described: DescribedRuntimes;
  readonly agents: readonly { name: string; runtime: string; limits?: SomeLimits | undefined }[];
  readonly limits: Limits;
}): LimitWarning[] {
  const runtimes = withoutCost(
    described,
    agents.map(({ runtime }) => runtime),
  );
  const unseen = agents.filter(({ runtime }) => runtimes.includes(runtime));
  if (unseen.length === 0) return [];
  const names = unseen.map(({ name }) => name).join(', ');
  const held = limits.tokens !== undefined || unseen.every((agent) => agent.limits?.tokens !== undefined);
  const next = held ? 'Its tokens are limited.' : 'Set `tokens` or `turns`.';
  const once = `no-cost ${runtimes.toSorted().join(' ')}`;
  return [{ about: 'limits', text: `${cannotStop(runtimes, 'cost')} (${names})`, next, once }];
}

/** Why a limit on something that these runtimes do not report is no help against them. */
export function cannotStop(runtimes: readonly string[], unreported: 'cost' | 'tokens'): string {
  const name = unreported === 'cost' ? 'USD' : 'token';
  return `${runtimes.join(' and ')} ${runtimes.length === 1 ? 'does' : 'do'} not report ${unreported}, so the ${name} limit cannot stop ${runtimes.length === 1 ? 'it' : 'them'}`;
}
