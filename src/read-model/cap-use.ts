import { z } from 'zod';
import { CAP_NAMES, passedCap, type CapName, type Caps, type Use } from '../model/caps.ts';
import { TELL_NO_COST } from '../model/runtime-name.ts';
import { engineTimeOf } from './phase.ts';
import type { RunReading } from './read-run.ts';

/** One limit, and what is used of it. */
export const capUseSchema = z.strictObject({
  level: z.enum(['run', 'agent', 'task']),
  /** Of the agent or task; null: the run. */
  name: z.string().nullable(),
  limit: z.enum(CAP_NAMES),
  /** Turns that did not say it count as the largest known one of their runtime. */
  used: z.number().nonnegative(),
  most: z.number().positive(),
  reached: z.boolean(),
  /** Settled turns that `used` only guesses at. */
  unknownTurns: z.int().nonnegative(),
  /** Runtimes that tell nothing of the kind: the limit does not see their turns. */
  blind: z.array(z.string()),
});
export type CapUse = z.infer<typeof capUseSchema>;

/** Of the run, then of agents that have limits, then of tasks that turns were taken for, where each task has limits. */
export function capUseOf(reading: RunReading): CapUse[] {
  const { definition, limits, spending, board } = reading;
  const runtimes = definition.agents.map(({ runtime }) => runtime);
  const ofRun = { ...spending.run, minutes: engineTimeOf(reading) / 60_000 };
  const ofAgents = definition.agents.flatMap(({ name, runtime, limits: own }) =>
    own === undefined ? [] : usesOf({ level: 'agent', name }, own, spending.agent(name), [runtime]),
  );
  const ofTasks = [...board.tasks.keys()].flatMap((name) => {
    const use = spending.task(name);
    return limits.task === undefined || use.turns === 0 ? [] : usesOf({ level: 'task', name }, limits.task, use, []);
  });
  return [...usesOf({ level: 'run', name: null }, limits, ofRun, runtimes), ...ofAgents, ...ofTasks];
}

function usesOf(of: Pick<CapUse, 'level' | 'name'>, caps: Caps, use: Use, runtimes: readonly string[]): CapUse[] {
  return CAP_NAMES.flatMap((limit) => {
    const most = caps[limit];
    if (most === undefined) return [];
    const reached = passedCap(use, { [limit]: most }) !== undefined;
    return [{ ...of, limit, used: use[limit], most, reached, ...doubtsOf(limit, use, runtimes) }];
  });
}

function doubtsOf(limit: CapName, use: Use, runtimes: readonly string[]): Pick<CapUse, 'unknownTurns' | 'blind'> {
  if (limit !== 'tokens' && limit !== 'usd') return { unknownTurns: 0, blind: [] };
  const never = limit === 'usd' ? runtimes.filter((runtime) => TELL_NO_COST.has(runtime)) : [];
  return { unknownTurns: use.unknown[limit], blind: [...new Set([...never, ...use.blind[limit]])] };
}
