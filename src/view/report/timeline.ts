import type { AttemptReading, RunHistory } from '../read-run.ts';
import type { RunWait } from '../run-waits.ts';
import { howEnded } from '../sentence.ts';

/** When each agent worked, and what the run waited for. All times in epoch ms. */
export interface Timeline {
  readonly from: number;
  readonly to: number;
  readonly waits: readonly (RunWait & { readonly until: number })[];
  /** One for each agent, in the order of their first turns, and one for the commands that squad ran. */
  readonly lanes: readonly { readonly agent: string; readonly bars: readonly Bar[] }[];
  /** Attempts that are left out, because there are too many to draw. */
  readonly left: number;
}

export interface Bar {
  readonly attempt: string;
  readonly task: string;
  readonly from: number;
  readonly to: number;
  /** `limit`: a limit of the account, the run or the turn ended it. `wall`: it gave no sign of life. */
  readonly kind: 'completed' | 'failed' | 'limit' | 'wall' | 'live';
  /** Outcome, with the kind of its failure. */
  readonly ended: string;
  /** The turn before it at the same task did not complete. */
  readonly retry: boolean;
  readonly why: string;
}

const MOST_BARS = 1_000;
const LIMITS: ReadonlySet<string> = new Set([
  'rate-limited',
  'quota-exhausted',
  'step-limit',
  'cost-limit',
  'wall-timeout',
  'output-flood',
]);

export function timelineOf(reading: RunHistory, now: number): Timeline {
  const { row, attempts, waits } = reading;
  const to = reading.driven ? now : endOf(reading, now);
  const shown = attempts.slice(0, MOST_BARS);
  const walls = new Map(reading.walls.map(({ attempt, why }) => [attempt, why]));
  const retries = retriesOf(attempts);
  const lanes = Map.groupBy(shown, ({ attempt }) => (attempt.kind === 'check' ? 'squad' : attempt.agent));
  return {
    from: row.createdAt,
    to: Math.max(to, row.createdAt + 1),
    waits: waits.map((wait) => ({ ...wait, until: wait.until ?? Math.max(wait.from, to) })),
    lanes: [...lanes].map(([agent, own]) => ({
      agent,
      bars: own.map((one) => barOf(one, { retries, walls, end: to })),
    })),
    left: attempts.length - shown.length,
  };
}

/** The turns whose predecessor at the same task did not complete. */
function retriesOf(attempts: readonly AttemptReading[]): ReadonlySet<string> {
  const last = new Map<string, AttemptReading>();
  const retries = new Set<string>();
  for (const one of attempts.filter(({ attempt }) => attempt.kind === 'turn')) {
    const { id, taskId } = one.attempt;
    const before = last.get(taskId)?.settlement;
    if (before !== undefined && before.result.outcome !== 'completed') retries.add(id);
    last.set(taskId, one);
  }
  return retries;
}

interface Notes {
  readonly retries: ReadonlySet<string>;
  readonly walls: ReadonlyMap<string, string>;
  readonly end: number;
}

function barOf({ attempt, settlement }: AttemptReading, { retries, walls, end }: Notes): Bar {
  const { id, taskId, claimedAt } = attempt;
  const name = id.slice(id.lastIndexOf('.') + 1);
  const wall = walls.get(id) ?? walls.get(name);
  const bar = { attempt: name, task: taskId, from: claimedAt, retry: retries.has(id) };
  if (settlement === undefined) {
    const to = Math.max(claimedAt, end);
    return { ...bar, to, kind: wall === undefined ? 'live' : 'wall', ended: 'not over', why: wall ?? '' };
  }
  const why = wall ?? settlement.result.failure?.message ?? '';
  const to = Math.max(claimedAt, settlement.at);
  return { ...bar, to, kind: kindOf(settlement, wall), ended: howEnded(settlement.result), why };
}

function kindOf({ result }: NonNullable<AttemptReading['settlement']>, wall: string | undefined): Bar['kind'] {
  if (wall !== undefined || result.failure?.kind === 'stalled') return 'wall';
  if (result.outcome === 'completed') return 'completed';
  return LIMITS.has(result.failure?.kind ?? '') ? 'limit' : 'failed';
}

/** When the last engine was last seen at work. It is not released before it has written the report. */
export function endOf({ segments, attempts }: Pick<RunHistory, 'segments' | 'attempts'>, now: number): number {
  const last = segments.at(-1);
  if (last === undefined) return now;
  if (last.releasedAt !== null) return last.releasedAt;
  const settled = attempts.map(({ settlement }) => settlement?.at ?? 0);
  return Math.min(
    now,
    settled.reduce((latest, at) => Math.max(latest, at), last.acquiredAt + last.workedMs),
  );
}
