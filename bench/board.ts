import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mean, median, percentile, round, rowOf, type Bench, type Row } from './shared/row.ts';
import { chainOf, ended, openScriptedRoom } from './shared/scripted-room.ts';
import { momentsOf, openStagesRoom } from './shared/stages-room.ts';
import { attemptsOf } from './shared/stored-events.ts';
import { stateOf } from '../test/support/state.ts';

const CHAINS = 8;
const STEPS = 4;
const RUNS = 3;
/** A board draws at most that often. */
const FRAME_MS = 250;
/** An agent that says and does something all the time is what a board costs most with. */
const FIRST = Array.from({ length: 20 }, (_, index) => ({
  say: `I look at part ${index + 1} of the work, and go on.`,
}));

/** What a board costs the run that it shows, beside the same run with plain lines at the same terminal. */
export const board: Bench = {
  name: 'board',
  run: async (folder) => {
    const measured = { board: [] as Measured[], plain: [] as Measured[] };
    for (let run = 0; run < RUNS; run += 1) {
      // In turns, so that a change of the machine's load meets both.
      measured.plain.push(await measure(join(folder, `plain-${run}`), '--plain'));
      measured.board.push(await measure(join(folder, `board-${run}`)));
    }
    const ms = { board: mean(measured.board.map((one) => one.ms)), plain: mean(measured.plain.map((one) => one.ms)) };
    const cpu = {
      board: mean(measured.board.map((one) => one.cpuMs)),
      plain: mean(measured.plain.map((one) => one.cpuMs)),
    };
    const mb = { board: mean(measured.board.map((one) => one.mb)), plain: mean(measured.plain.map((one) => one.mb)) };
    const each = ({ board: own, plain }: typeof measured): string =>
      own.map((one, index) => (one.ms / (plain[index]?.ms ?? NaN)).toFixed(3)).join(', ');
    return [
      rowOf('8 chains × 4 turns × 0.5 s at 6 with a board, over plain lines', 'ms', ms.board, ms.plain, {
        target: { of: 'ratio', most: 1.03 },
        note: `each pair: ${each(measured)}`,
      }),
      rowOf('CPU of the engine for that, with a board, over plain lines', 'ms', cpu.board, cpu.plain),
      rowOf('memory of the engine beyond that with plain lines', 'MB', mb.board - mb.plain, mb.plain, {
        target: { of: 'squad', most: 10 },
      }),
      await measureFrames(join(folder, 'frames')),
    ];
  },
};

const STAGES = 20;
const STAGE_MS = 1_500;

/** From the claim of a stage's first turn, as the ledger has it, until the terminal is told that the run is in this stage. */
async function measureFrames(folder: string): Promise<Row> {
  const room = openStagesRoom(folder, STAGES, STAGE_MS);
  const child = room.startAtTerminal([], 'pipe');
  const shownAt = new Map<string, number>();
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    for (const [, place = ''] of text.matchAll(/\bS\d+(?:_REVIEW)? \((\d+)\/\d+\)/g)) {
      if (!shownAt.has(place)) shownAt.set(place, Date.now());
    }
  });
  await ended(child);
  const times = momentsOf(room, 'attempt-claimed').map(
    (at, index) => (shownAt.get(String(index + 1)) ?? Infinity) - at,
  );
  return rowOf(
    `from the claim of a stage’s turn to the frame that shows the stage, p95 of ${times.length}; beside the shortest time between two frames`,
    'ms',
    percentile(times, 0.95),
    FRAME_MS,
    {
      target: { of: 'squad', most: 1_000 },
      asked: '< 1 s',
      note: `median ${round(median(times))} ms, longest ${round(Math.max(...times))} ms`,
    },
  );
}

interface Measured {
  /** From the first claim to the last settlement, by the ledger's own times. */
  readonly ms: number;
  /** Of the engine, until shortly before its end. */
  readonly cpuMs: number;
  /** The most that the engine had resident. */
  readonly mb: number;
}

const TICK_MS = 10;

async function measure(folder: string, ...options: string[]): Promise<Measured> {
  const pieces = Array.from({ length: CHAINS }, (_, chain) => chainOf(STEPS, `chain-${chain + 1}`)).flat();
  const room = openScriptedRoom(folder, { pieces, turnMs: 500, parallel: 6, first: FIRST });
  const child = room.startAtTerminal(options);
  const done = ended(child);
  let use = { mb: 0, cpuMs: 0 };
  while (child.exitCode === null) {
    await sleep(100);
    use = useOfEngine(room.repository) ?? use;
  }
  await done;
  const events = room.events();
  const last = attemptsOf(events, 'attempt-settled').at(-1)?.at ?? NaN;
  return { ms: last - (attemptsOf(events, 'attempt-claimed')[0]?.at ?? NaN), ...use };
}

/** What the process has used that drives the repository; undefined: there is none. */
function useOfEngine(repository: string): Pick<Measured, 'mb' | 'cpuMs'> | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(join(stateOf(repository), 'lock.json'), 'utf8')) as { pid: number };
    const mb = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name, which may hold anything: the 14th and the 15th field.
    const ticks = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return { mb, cpuMs: ticks.reduce((sum, one) => sum + Number(one) * TICK_MS, 0) };
  } catch {
    // It has not begun, or has ended since.
    return undefined;
  }
}
