import { z } from 'zod';
import { minutesUntil } from '../text/deadline.ts';
import { SquadError } from './errors.ts';
import { STALL_FALLBACKS } from './plan/work.ts';
import { REPORTS_NO_COST } from './runtime-name.ts';

const TWO_WEEKS = 14 * 24 * 60;

export const minutesSchema = z.number().positive().max(TWO_WEEKS);

/** Every limit of `squad.yaml` that is a value of its own, in the order in which people see them. */
const values = z.strictObject({
  minutes: minutesSchema,
  usd: z.number().positive().max(1_000_000),
  turns: z.int().positive().max(100_000),
  tokens: z.int().positive(),
  parallel: z.int().positive().max(64),
  reviewRounds: z.int().positive().max(20),
  retries: z.int().nonnegative().max(20),
  idleMinutes: minutesSchema,
  turnMinutes: minutesSchema,
  firstToolSeconds: z.number().positive().max(86_400),
  walls: z.array(z.enum(STALL_FALLBACKS)).min(1).max(10),
});

const SPENT = { minutes: true, usd: true, turns: true, tokens: true } as const;

/** What each task may use, over all its turns, reviews too. `reviewRounds` and `retries` hold for each task anyway. */
const taskLimitsSchema = values.pick(SPENT).partial();

/** What one agent may use in a run, over all its turns, and what each of its turns may take. */
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
  task: taskLimitsSchema.optional(),
});
export type Limits = z.infer<typeof limitsSchema>;

/** Some limits, from an objective's front matter or the command line. Without defaults: an absent limit changes nothing. */
export const someLimitsSchema = values.partial().extend({ task: taskLimitsSchema.optional() });
export type SomeLimits = z.infer<typeof someLimitsSchema>;

/** The limits in words. `flag`: the option of `run` and `resume`, and commander's name for it. */
export const LIMITS: readonly {
  readonly key: keyof z.infer<typeof values>;
  readonly about: string;
  readonly flag?: { readonly name: string; readonly option: keyof LimitOptions; readonly whole: boolean };
}[] = [
  {
    key: 'minutes',
    about: 'engine time of a run, over all resumes',
    flag: { name: '--max-minutes', option: 'maxMinutes', whole: false },
  },
  {
    key: 'usd',
    about: 'cost of a run, as far as the runtimes report it',
    flag: { name: '--max-usd', option: 'maxUsd', whole: false },
  },
  { key: 'turns', about: 'turns of a run', flag: { name: '--max-turns', option: 'maxTurns', whole: true } },
  {
    key: 'tokens',
    about: 'input and output tokens of a run',
    flag: { name: '--max-tokens', option: 'maxTokens', whole: true },
  },
  {
    key: 'parallel',
    about: 'turns at the same time',
    flag: { name: '--parallel', option: 'parallel', whole: true },
  },
  { key: 'reviewRounds', about: 'review rounds for one task' },
  { key: 'retries', about: 'retries of a task after a broken attempt' },
  { key: 'idleMinutes', about: 'longest silence of a turn' },
  { key: 'turnMinutes', about: 'longest turn' },
  { key: 'firstToolSeconds', about: 'longest time to the first tool call, for agents that have to act' },
  { key: 'walls', about: 'steps when a turn stalls, in this order' },
];

export interface LimitOptions {
  readonly parallel?: number;
  readonly maxMinutes?: number;
  readonly maxUsd?: number;
  readonly maxTurns?: number;
  readonly maxTokens?: number;
}

export function limitsFromOptions(options: LimitOptions): SomeLimits {
  const given = LIMITS.flatMap(({ key, flag }) => {
    const value = flag === undefined ? undefined : options[flag.option];
    return value === undefined ? [] : [[key, value]];
  });
  return checkLimits(Object.fromEntries(given));
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
  const raised = { ...limits, ...given(some) };
  return some?.task === undefined ? raised : { ...raised, task: { ...limits.task, ...given(some.task) } };
}

function given<T extends object>(some: T | undefined): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(some ?? {}).filter((entry) => entry[1] !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

export interface LimitSources {
  /** `squad.yaml`, or the defaults. */
  readonly settings: Limits;
  /** The objective's front matter. */
  readonly objective?: SomeLimits | undefined;
  readonly commandLine?: SomeLimits | undefined;
  /** Both in epoch ms. */
  readonly deadline?: { readonly at: number; readonly now: number };
}

/**
 * The limits of a run, limit by limit: the command line goes before the objective, the objective before `squad.yaml`, that
 * before the defaults. A deadline caps `minutes` in any case, to 0 once it has passed: then nothing may start.
 */
export function mergeLimits({ settings, objective, commandLine, deadline }: LimitSources): Limits {
  const merged = raiseLimits(raiseLimits(settings, objective), commandLine);
  if (deadline === undefined) return merged;
  const left = minutesUntil(deadline.at, deadline.now);
  return left >= merged.minutes ? merged : { ...merged, minutes: left };
}

/** A limit that cannot stop all agents of a run. */
export interface LimitWarning {
  readonly about: 'limits';
  readonly text: string;
  readonly next: string;
}

export function limitWarnings({
  agents,
  limits,
}: {
  readonly agents: readonly { name: string; runtime: string; limits?: SomeLimits | undefined }[];
  readonly limits: Limits;
}): LimitWarning[] {
  const unseen = agents.filter(({ runtime }) => REPORTS_NO_COST.has(runtime));
  if (unseen.length === 0) return [];
  const runtimes = [...new Set(unseen.map(({ runtime }) => runtime))];
  const names = unseen.map(({ name }) => name).join(', ');
  const held = limits.tokens !== undefined || unseen.every((agent) => agent.limits?.tokens !== undefined);
  return [
    {
      about: 'limits',
      text: `${cannotStop(runtimes, 'cost')} (${names})`,
      next: held ? 'Its tokens are limited.' : 'Set `tokens` or `turns`.',
    },
  ];
}

/** Why a limit on something that these runtimes do not report is no help against them. */
export function cannotStop(runtimes: readonly string[], unreported: 'cost' | 'tokens'): string {
  const name = unreported === 'cost' ? 'USD' : 'token';
  return `${runtimes.join(' and ')} ${runtimes.length === 1 ? 'does' : 'do'} not report ${unreported}, so the ${name} limit cannot stop ${runtimes.length === 1 ? 'it' : 'them'}`;
}
