import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { RunHistory } from '../../src/view/read-run.ts';
import { FAILPOINTS } from '../../src/substrate/system/failpoint.ts';
import type { Finished } from '../../test/support/engine.ts';
import { endStateOf, harmTo, openRunRoom, type EndState, type RunRoom } from '../../test/support/run-room.ts';
import type { Passes, Strike } from './faults.ts';
import { LABELS, RECOVERY } from './scenario.ts';
import { hasResult, turnsBegun, type Begun } from './turns.ts';

/** A run that nobody killed. */
export interface Uncrashed {
  readonly end: EndState;
  readonly ms: number;
  readonly passes: Passes;
}

export interface Trial {
  readonly at: string;
  /** Why it is not the uncrashed run's final state; empty: it is. */
  readonly wrong: readonly string[];
  /** Turns begun for a piece of work that a finished turn had done already. */
  readonly rerun: number;
  /** Turns whose agent had given its result, and whose result did not count. */
  readonly lost: number;
  /** Turns that were begun and not finished. Where agents die too, this is what the kill itself cost. */
  readonly cutShort: number;
  /** Turns counted, rounds counted and the limits, beside the uncrashed run; turns cut short come on top. */
  readonly sameCounts: boolean;
  /** From `squad resume` to the first decision or adopted attempt. */
  readonly movingMs: number;
  /** From `squad resume` to its end. */
  readonly resumedMs: number;
  /** What both engines took. */
  readonly tookMs: number;
}

export async function uncrashedRun(): Promise<Uncrashed> {
  const room = openRunRoom(RECOVERY);
  try {
    const trace = join(room.root, 'trace');
    const begun = performance.now();
    const ended = await room.begin({ SQUAD_FAILPOINTS: `trace=${trace}` }).finished;
    const ms = performance.now() - begun;
    const harm = harmTo(room);
    if (ended.code !== 0 || harm.length > 0) throw new Error(`the uncrashed run: ${ended.stderr}${harm.join('\n')}`);
    const passed = readFileSync(trace, 'utf8').split('\n');
    const counts = FAILPOINTS.map((point) => [point, passed.filter((line) => line === point).length] as const);
    return { end: endStateOf(room), ms, passes: new Map(counts.filter(([, count]) => count > 0)) };
  } finally {
    room.close();
  }
}

/** One run that is struck once, and resumed at once. undefined: the kill did not meet its instant, so nothing was tried. */
export async function tryOnce(one: Strike, wanted: EndState): Promise<Trial | undefined> {
  const { at, environment, strike, met } = one;
  const room = openRunRoom(RECOVERY);
  try {
    const begun = performance.now();
    const engine = room.begin(environment);
    await strike(engine, room);
    if ((await engine.finished).signal !== 'SIGKILL' || !met(room)) return undefined;
    const killedMs = performance.now() - begun;
    const resumedAt = performance.now();
    const second = room.resume();
    const moving = second
      .line(({ type }) => type === 'decided' || type === 'attempt-taken')
      .then(
        () => performance.now() - resumedAt,
        () => Number.POSITIVE_INFINITY,
      );
    const ended = await second.finished;
    const resumedMs = performance.now() - resumedAt;
    return {
      at,
      ...judge(room, ended, wanted),
      movingMs: Math.round(await moving),
      resumedMs: Math.round(resumedMs),
      tookMs: Math.round(killedMs + resumedMs),
    };
  } finally {
    room.close();
  }
}

type Judgement = Pick<Trial, 'wrong' | 'rerun' | 'lost' | 'cutShort' | 'sameCounts'>;

function judge(room: RunRoom, ended: Finished, wanted: EndState): Judgement {
  const reading = room.reading();
  if (reading === undefined) {
    return { wrong: ['there is no run'], rerun: 0, lost: 0, cutShort: 0, sameCounts: false };
  }
  const end = endStateOf(room);
  const begun = turnsBegun(room);
  const finished = new Set(begun.map(({ id }) => id).filter((id) => hasResult(room, id)));
  const cutShort = begun.length - finished.size + killedUnheard(reading, begun);
  // What a turn wrote before it was cut short stays written, and its successor writes it again.
  const keys = ['tree', 'outcome', 'kept', 'tasks', ...(cutShort === 0 ? (['mail'] as const) : [])] as const;
  const differs = keys.filter((key) => !isDeepStrictEqual(end[key], wanted[key]));
  const counted = { ...end.counted, turns: end.counted.turns - cutShort };
  return {
    wrong: [
      ...(ended.code === 0 ? [] : [`exit ${ended.code}: ${ended.stderr}`]),
      ...differs.map((key) => `${key}: ${JSON.stringify(end[key])}`),
      ...harmTo(room),
    ],
    rerun: LABELS.reduce((sum, label) => sum + begunAfterFinished(label, begun, finished), 0),
    lost: [...finished].filter((id) => !isCounted(reading, id)).length,
    cutShort,
    sameCounts: isDeepStrictEqual(counted, wanted.counted),
  };
}

function begunAfterFinished(label: string, begun: readonly Begun[], finished: ReadonlySet<string>): number {
  const ofLabel = begun.filter((turn) => turn.label === label);
  const first = ofLabel.findIndex(({ id }) => finished.has(id));
  return first === -1 ? 0 : ofLabel.length - first - 1;
}

/** Their agents were let go, and killed before their first line: what they did nobody can know, so they count. */
function killedUnheard({ attempts }: RunHistory, begun: readonly Begun[]): number {
  const heard = new Set(begun.map(({ id }) => id));
  return attempts.filter(
    ({ attempt, settlement }) =>
      attempt.kind === 'turn' && settlement?.result.failure?.kind === 'lost' && !heard.has(attempt.id),
  ).length;
}

function isCounted({ attempts }: RunHistory, id: string): boolean {
  return attempts.find(({ attempt }) => attempt.id === id)?.settlement?.result.outcome === 'completed';
}
