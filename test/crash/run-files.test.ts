import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ALL, NIGHT } from '../support/lane.ts';
import { readableFiles } from '../support/readable-files.ts';
import { driveToEnd, endStateOf, expectUnharmed, inRunRoom, type Death, type EndState } from '../support/run-room.ts';
import { REVIEW } from '../support/run-scenarios.ts';
import type { Scenario } from '../support/scenario-parts.ts';
import { STAGE_ENDS, THIRTEEN_STAGES } from '../support/thirteen-stages.ts';
import { newStateOf } from '../support/state.ts';

const MINUTES = 60_000;
/** Kills at each place: `SQUAD_CHAOS_TRIALS=5` makes five. */
const EACH = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? 1);

interface Ended {
  readonly end: EndState;
  readonly files: Readonly<Record<string, string>>;
  readonly killed: number;
}

async function runWith(scenario: Scenario, environments: Record<string, string>[], deaths: Death[]): Promise<Ended> {
  return inRunRoom(scenario, async (room) => {
    const { last, killed } = await driveToEnd(room, environments, deaths);
    expect(last.code, `${last.stdout}${last.stderr}`).toBe(0);
    expect(last.stderr).toBe('');
    expectUnharmed(room);
    return { end: endStateOf(room), files: withoutRoom(readableFiles(room)), killed };
  });
}

/** Prompts name the commands of a run, and those of these runs the folder of their room. */
function withoutRoom(files: Ended['files']): Ended['files'] {
  return JSON.parse(JSON.stringify(files).replaceAll(/squad-engine-\w{6}/g, 'room')) as Ended['files'];
}

let thirteen: Promise<Ended> | undefined;

/** The thirteen stages in a run that nobody killed. Played once in this process. */
async function thirteenStages(): Promise<Ended> {
  return (thirteen ??= runWith(THIRTEEN_STAGES, [], []));
}

function expectSame(ended: Ended, { end, files }: Ended): void {
  expect(ended.end).toEqual(end);
  expect(Object.keys(ended.files)).toEqual(Object.keys(files));
  expect(ended.files).toEqual(files);
}

/** Engines that die between the writing of a file and its renaming, each at another of them. */
function atRenames(passes: readonly number[]): Record<string, string>[] {
  return passes.map((pass) => ({ SQUAD_FAILPOINTS: `files.before-rename:${pass}=kill` }));
}

/** The next end of a stage that the run gets to. `killed`: where engines died. */
function atStageEnds(delayMs: number, killed: Map<string, number>): Death {
  return (engine, room) => {
    const tasks = room.reading()?.board.tasks;
    const left = STAGE_ENDS.filter(({ task, at }) => tasks?.get(task)?.at[at] === undefined);
    const isEnd = (line: Record<string, unknown>): (typeof STAGE_ENDS)[number] | undefined =>
      left.find(({ task, at }) => {
        const status = at === 'ended' ? 'done' : 'reviewing';
        return line['type'] === 'task-changed' && line['task'] === task && line['status'] === status;
      });
    const die = (line: Record<string, unknown>): void => {
      const { stage } = isEnd(line) ?? { stage: '' };
      setTimeout(() => {
        if (engine.child.kill('SIGKILL')) killed.set(stage, (killed.get(stage) ?? 0) + 1);
      }, delayMs);
    };
    // One that ends without such a line has ended by itself.
    void engine.line((line) => isEnd(line) !== undefined).then(die, () => undefined);
  };
}

it('a run that is killed between the writing and the renaming of its files has the same files', ALL, async () => {
  const [reference, crashed] = await Promise.all([runWith(REVIEW, [], []), runWith(REVIEW, atRenames([2, 5]), [])]);
  expect(Object.keys(reference.files)).toEqual(
    expect.arrayContaining([
      'checklist.md 1',
      'history/builder-1-page 1',
      'history/reviewer-1-page 2',
      'objective.md 1',
    ]),
  );
  expect(crashed.killed).toBe(2);
  expectSame(crashed, reference);
});

it(
  'a run that finds a file in the place of the folder of its files puts the folder there, and is as good as any',
  { ...ALL, timeout: 5 * MINUTES },
  async () => {
    await inRunRoom(REVIEW, async (room) => {
      const directory = newStateOf(room.repository);
      writeFileSync(join(directory, 'runs'), 'a file, and no folder');
      const { last } = await driveToEnd(room);
      expect(last.code, `${last.stdout}${last.stderr}`).toBe(0);
      const warnings = last.lines.filter(({ type }) => type === 'warning').map(({ text }) => text);
      expect(warnings.filter((text) => String(text).includes('are not complete: '))).toEqual([]);
      expectUnharmed(room);
      expect((await room.run(['report'])).stdout).toContain('DONE, all work is delivered and verified');
    });
  },
);

it(
  `killed at the end of each of its 13 stages, at each ${EACH} times or more, a run has the same files`,
  { ...NIGHT, timeout: 40 * MINUTES },
  async () => {
    const reference = await thirteenStages();
    const killed = new Map<string, number>();
    const isEnough = (): boolean => STAGE_ENDS.every(({ stage }) => (killed.get(stage) ?? 0) >= EACH);
    // An engine may be past the next end before it dies at this one.
    for (let run = 0; run < EACH * 2 && !isEnough(); run += 1) {
      const deaths = STAGE_ENDS.map(() => atStageEnds(run * 30, killed));
      expectSame(await runWith(THIRTEEN_STAGES, [], deaths), reference);
    }
    expect(isEnough(), JSON.stringify([...killed])).toBe(true);
  },
);

it(
  'killed between the writing and the renaming of files, all along its 13 stages, a run has the same files',
  { ...NIGHT, timeout: 20 * MINUTES },
  async () => {
    const reference = await thirteenStages();
    const all = [
      [1, 2, 3, 4, 5, 6, 7, 8, 9],
      [6, 6, 6, 6, 6, 6, 6, 6],
      [12, 9, 7, 5, 3, 1],
    ];
    for (const passes of all.slice(0, EACH)) {
      const ended = await runWith(THIRTEEN_STAGES, atRenames(passes), []);
      expect(ended.killed).toBeGreaterThanOrEqual(5);
      expectSame(ended, reference);
    }
  },
);
