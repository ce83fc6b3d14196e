import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { chaosSeed, reportTrials, trialsOf } from '../support/chaos-row.ts';
import { isHalfMade, openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { scriptedTurn } from '../cli/room.ts';
import { markedPids } from '../support/marked-pids.ts';
import { createRandom } from '../support/random.ts';
import { stateOf } from '../support/state.ts';

const TRIALS = trialsOf({ commit: 60, nightly: 1_000, release: 4_000 });
/** Resumes of one turn that are killed too, before one may live. */
const KILLS_IN_A_ROW = 3;

it('T2 single turns whose engine is SIGKILLed at random instants: each settles once, its agent runs once', async () => {
  const seed = chaosSeed();
  console.log(`seed ${seed} (--seed ${seed} repeats it)`);
  const random = createRandom(seed);
  const counts = { kills: 0, beforeRun: 0, turns: 0 };
  const failures: unknown[] = [];
  const wholeMs = await turnMs();
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const room = openEngineRoom();
    try {
      // Most of the first part is the start of the program.
      await oneTurn(room, () => (0.3 + 0.7 * random()) * wholeMs, counts);
    } catch (error) {
      failures.push(new Error(`trial ${trial} of seed ${seed}`, { cause: error }));
    } finally {
      room.close();
    }
  }
  const { kills, turns, beforeRun } = counts;
  console.log(`${turns} turns, ${kills} kills, ${beforeRun} of them before there was a run`);
  const fault = 'T2 SIGKILL at random instants of a single turn';
  reportTrials({ fault, trials: kills, failures: failures.length, bound: '0 turns settled or run twice', seed });
  expect(failures).toEqual([]);
  expect(beforeRun, 'kills before there was a run').toBeLessThan(kills);
});

/** How long a turn takes that nobody kills, in ms. */
async function turnMs(): Promise<number> {
  const room = openEngineRoom();
  try {
    const from = performance.now();
    expect((await room.run(turnIn(room))).code).toBe(0);
    return performance.now() - from;
  } finally {
    room.close();
  }
}

/** The agent leaves one line a run outside its folder. */
function turnIn(room: EngineRoom): string[] {
  const steps = [{ run: ['sh', '-c', 'echo ran >> "$0"', traceOf(room)] }, { sleep: 200 }, { answer: 'done' }];
  return scriptedTurn(room, steps, '--json');
}

function traceOf({ root }: EngineRoom): string {
  return join(root, 'trace');
}

async function oneTurn(
  room: EngineRoom,
  killAfterMs: () => number,
  counts: { kills: number; beforeRun: number; turns: number },
): Promise<void> {
  let args = turnIn(room);
  for (let kill = 0; kill < KILLS_IN_A_ROW; kill += 1) {
    const engine = room.start(args);
    const timer = setTimeout(() => engine.child.kill('SIGKILL'), killAfterMs());
    const end = await engine.finished;
    clearTimeout(timer);
    if (end.signal !== 'SIGKILL') break;
    counts.kills += 1;
    if (hasRun(room)) args = ['resume', '--json'];
    else counts.beforeRun += 1;
  }
  if (args.includes('resume') || !hasRun(room)) await room.run(args);
  counts.turns += 1;
  expect(readFileSync(traceOf(room), 'utf8')).toBe('ran\n');
  expect(hasUnsettled(room)).toBe(false);
  const check = checkLedger(ledgerPath(stateOf(room.repository)));
  expect([...check.problems, ...check.violations]).toEqual([]);
  for (const marker of readdirSync(join(stateOf(room.repository), 'turns'))) expect(markedPids(marker)).toEqual([]);
}

/** From then on the turn is resumed: asked for again, it would be another one. */
function hasRun(room: EngineRoom): boolean {
  return read(room, (ledger) => ledger.events({}).some(({ type }) => type === 'run-defined'));
}

function hasUnsettled(room: EngineRoom): boolean {
  return read(room, (ledger) => ledger.attempts({}).some(({ status }) => status !== 'settled'));
}

/** false: there is nothing to read yet. */
function read({ ledger }: EngineRoom, ask: (ledger: Ledger) => boolean): boolean {
  const open = openOr(ledger);
  if (open === undefined) return false;
  try {
    return ask(open);
  } finally {
    open.close();
  }
}

/** undefined: the engine was killed before there was anything to read. */
function openOr(ledger: () => Ledger): Ledger | undefined {
  try {
    return ledger();
  } catch (error) {
    if (isHalfMade(error)) return undefined;
    throw error;
  }
}
