import { z } from 'zod';
import { useText } from '../model/amount.ts';
import { cannotStop } from '../model/limits.ts';
import { CAP_NAMES, engineTime, passedCap, type CapName, type Caps, type Use } from '../model/spending.ts';
import { withoutCost } from '../model/runtime-description.ts';
import type { RunReading } from './read-run.ts';

/** A limit, and the use that counts against it. */
export const capUseSchema = z.strictObject({
  level: z.enum(['run', 'agent', 'task']),
  /** The agent or task; null: the run. */
  name: z.string().nullable(),
  limit: z.enum(CAP_NAMES),
  /** A turn that did not report its use counts as the largest known turn of its runtime. */
  used: z.number().nonnegative(),
  most: z.number().positive(),
  reached: z.boolean(),
  /** Settled turns that did not report their use. */
  unknownTurns: z.int().nonnegative(),
  /** Runtimes that do not report this use, so that the limit cannot stop them. */
  blind: z.array(z.string()),
});
export type CapUse = z.infer<typeof capUseSchema>;

/** The run's limits, then those of agents, then those of tasks that have had turns. */
export function capUseOf(reading: RunReading): CapUse[] {
  const { definition, limits, spending, board } = reading;
  const costless = (runtimes: readonly string[]) => withoutCost(definition.described, runtimes);
  const runtimes = costless(definition.agents.map(({ runtime }) => runtime));
  const ofRun = { ...spending.run, minutes: engineTime(reading.segments) / 60_000 };
  const ofAgents = definition.agents.flatMap(({ name, runtime, limits: own }) =>
    own === undefined ? [] : usesOf({ level: 'agent', name }, own, spending.agent(name), costless([runtime])),
  );
  const ofTasks = [...board.tasks.keys()].flatMap((name) => {
    const use = spending.task(name);
    return limits.task === undefined || use.turns === 0 ? [] : usesOf({ level: 'task', name }, limits.task, use, []);
  });
  return [...usesOf({ level: 'run', name: null }, limits, ofRun, runtimes), ...ofAgents, ...ofTasks];
}

/** `costless`: the runtimes that do not report cost. */
function usesOf(of: Pick<CapUse, 'level' | 'name'>, caps: Caps, use: Use, costless: readonly string[]): CapUse[] {
  return CAP_NAMES.flatMap((limit) => {
    const most = caps[limit];
    if (most === undefined) return [];
    const reached = passedCap(use, { [limit]: most }) !== undefined;
    return [{ ...of, limit, used: use[limit], most, reached, ...doubtsOf(limit, use, costless) }];
  });
}

function doubtsOf(limit: CapName, use: Use, costless: readonly string[]): Pick<CapUse, 'unknownTurns' | 'blind'> {
  if (limit !== 'tokens' && limit !== 'usd') return { unknownTurns: 0, blind: [] };
  const never = limit === 'usd' ? costless : [];
  return { unknownTurns: use.unknown[limit], blind: [...new Set([...never, ...use.blind[limit]])] };
}

/** `USD 2.00 of 20.00`; `USD unknown of 20.00` if turns have settled and none reported its use. */
export function capUseText({ limit, used, most, unknownTurns }: CapUse): string {
  return useText({ cap: limit, used: used === 0 && unknownTurns > 0 ? null : used, most });
}

/** Reasons why the use is uncertain, in words; empty if there are none. */
export function capNotes({ limit, unknownTurns, blind }: CapUse): string[] {
  const unreported = limit === 'usd' ? 'cost' : 'tokens';
  const turns = unknownTurns === 1 ? '1 turn' : `${unknownTurns} turns`;
  const estimate = blind.length === 0 ? '; each counts as the largest known turn of its runtime' : '';
  return [
    ...(unknownTurns === 0 ? [] : [`${turns} did not report ${unreported}${estimate}`]),
    ...(blind.length === 0 ? [] : [cannotStop(blind, unreported)]),
  ];
}
