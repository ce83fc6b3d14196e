import { setTimeout as sleep } from 'node:timers/promises';
import { driveToEnd, endStateOf, harmTo, inRunRoom, type EndState } from './run-room.ts';
import { fanOut } from './run-scenarios.ts';
import { livingTurns } from './marked-pids.ts';
import { createRandom } from './random.ts';
import { openShiftedClock, underClock, type ShiftedClock } from './shifted-clock.ts';
import { stateOf } from './state.ts';

/** Long enough that the clock is set while agents work. */
const SCENARIO = fanOut(400);
const DAY = 86_400;
/** Seconds: a correction by NTP, summer time, a machine that was restored, a flat battery. */
const STEPS = [1, 2, 5, 30, 3_600, 7_200, DAY, 3 * DAY, 400 * DAY];

interface ClockTrial {
  readonly afterMs: number;
  /** Seconds, one after the other while the run works. */
  readonly steps: readonly number[];
  readonly kills: boolean;
}

/** How the run ends without a set clock, and how long it takes. */
async function steadyRun(clock: ShiftedClock): Promise<{ readonly reference: EndState; readonly ms: number }> {
  clock.set(0);
  return inRunRoom(underClock(SCENARIO, clock), async (room) => {
    const engine = room.begin(clock.environment);
    await engine.line(({ type }) => type === 'run-started');
    const since = performance.now();
    await engine.finished;
    return { reference: endStateOf(room), ms: performance.now() - since };
  });
}

/** As many trials as are asked for: every step, forth and back, some of them twice, killed or not. */
function clockTrials(count: number, ms: number, seed: number): ClockTrial[] {
  const random = createRandom(seed);
  const sign = (place: number): number => (Math.floor(place / 2) % 2 === 0 ? -1 : 1);
  return Array.from({ length: count }, (_, place) => {
    const first = sign(place) * (STEPS[Math.floor(random() * STEPS.length)] ?? 1);
    // Back again, or on from there.
    const second = random() < 0.3 ? [0] : random() < 0.3 ? [first * 2] : [];
    return { afterMs: Math.floor(random() * ms * 0.9), steps: [first, ...second], kills: place % 2 === 1 };
  });
}

/** Runs it; what went wrong. */
async function clockTrial(clock: ShiftedClock, trial: ClockTrial, reference: EndState): Promise<string[]> {
  clock.set(0);
  const { afterMs, steps, kills } = trial;
  const about = `clock set to ${steps.join(', then ')} s after ${afterMs} ms${kills ? ', killed' : ''}`;
  return inRunRoom(underClock(SCENARIO, clock), async (room) => {
    const engine = room.begin(clock.environment);
    await engine.line(({ type }) => type === 'run-started');
    await sleep(afterMs);
    for (const [place, seconds] of steps.entries()) {
      if (place > 0) await sleep(200);
      clock.set(seconds);
    }
    if (kills) engine.child.kill('SIGKILL');
    const first = await engine.finished;
    const problems: string[] = [];
    if (!kills && first.code !== 0)
      problems.push(`it ended with ${first.code}: ${first.stderr}${first.stdout.slice(-400)}`);
    if (!kills) problems.push(...livingTurns(stateOf(room.repository)).map((pid) => `an agent lives: ${pid}`));
    if (first.code !== 0) {
      const { last } = await driveToEnd(room, [clock.environment], [undefined]);
      if (last.code !== 0 && last.code !== 2) problems.push(`a resume ended with ${last.code}: ${last.stderr}`);
    }
    const end = endStateOf(room);
    for (const name of ['tree', 'outcome', 'tasks', 'turns', 'effects', 'mail'] as const) {
      const [found, wanted] = [end[name], reference[name]].map((one) => JSON.stringify(one));
      if (found !== wanted) problems.push(`${name}: ${found} and not ${wanted}`);
    }
    return [...problems, ...harmTo(room)].map((problem) => `${about}: ${problem}`);
  });
}

/** What went wrong in so many trials, by trial; undefined: there is no C compiler here for the library that shifts the clock. */
export async function setClocks(count: number, seed: number): Promise<string[] | undefined> {
  const clock = openShiftedClock();
  if (clock === undefined) return undefined;
  try {
    const { reference, ms } = await steadyRun(clock);
    if (reference.outcome !== 'done') throw new Error(`without a set clock it ends as ${reference.outcome}`);
    const failures: string[] = [];
    for (const trial of clockTrials(count, ms, seed)) {
      const problems = await clockTrial(clock, trial, reference).catch((error: unknown) => [String(error)]);
      if (problems.length > 0) failures.push(problems.join('\n'));
    }
    return failures;
  } finally {
    clock.close();
  }
}
