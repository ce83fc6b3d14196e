import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unfinishedOf } from '../../src/substrate/system/files/run-files.ts';
import { ALL, some } from '../support/lane.ts';
import { driveToEnd, endStateOf, expectUnharmed, inRunRoom, type Death, type EndState } from '../support/run-room.ts';
import { folderTexts, SESSION } from '../support/session-scenario.ts';
import { DIAMOND, fullAnswer } from '../support/session-folder.ts';

/*
 * SIGKILL of the engine of a session, again and again: after `squad resume` every file of the folder is as in the run that
 * nobody killed, no task is done twice, and nothing stands twice in it.
 */

const MINUTES = 60_000;
/** Kills at each kind of place, at least: `SQUAD_CHAOS_TRIALS=10` makes ten. */
const EACH = Number(process.env['SQUAD_CHAOS_TRIALS'] ?? 2);

interface Ended {
  readonly end: EndState;
  readonly files: Readonly<Record<string, string>>;
  readonly killed: number;
  /** Of those that were killed, how many have left a file of the folder half written. */
  readonly halves: number;
}

async function runWith(environments: readonly Record<string, string>[]): Promise<Ended> {
  return inRunRoom(SESSION, async (room) => {
    const halves = new Set<string>();
    const look: Death = ({ finished }) => {
      void finished.then(() =>
        Object.keys(folderTexts(room))
          .filter(isUnfinished)
          .forEach((name) => halves.add(name)),
      );
    };
    const { last, killed } = await driveToEnd(
      room,
      environments,
      environments.map(() => look),
    );
    expect(last.code, `${last.stdout}${last.stderr}`).toBe(0);
    expect(last.stderr).toBe('');
    expectUnharmed(room);
    return { end: endStateOf(room), files: folderTexts(room), killed, halves: halves.size };
  });
}

function isUnfinished(path: string): boolean {
  return unfinishedOf(basename(path)) !== undefined;
}

let reference: Promise<Ended> | undefined;

async function uncrashed(): Promise<Ended> {
  reference ??= runWith([]);
  return reference;
}

/** Engines that die one after the other, each at one of these places. */
const dying = (places: readonly string[]): Record<string, string>[] =>
  places.map((place) => ({ SQUAD_FAILPOINTS: `${place}=kill` }));

/** As many of these as are wanted, from all along a run. */
const along = (places: readonly string[]): readonly string[] =>
  EACH >= places.length
    ? places
    : Array.from({ length: EACH }, (_, index) => places[Math.floor(((index + 0.5) * places.length) / EACH)] ?? '');

const KINDS: readonly { where: string; places: readonly string[]; counts: 'killed' | 'halves' }[] = [
  {
    where: 'after a settlement',
    // Ten or more: after each one that there is.
    places:
      EACH < 10
        ? Array<string>(EACH).fill(`attempt.settled:${Math.floor(12 / EACH)}`)
        : Array<string>(30).fill('attempt.settled'),
    counts: 'killed',
  },
  {
    where: 'between the writing of a file and its renaming',
    // Some are files of the run in `.squad`.
    places: [3, 2, 4, 5, 7, 3, 6, 8, 4, 2, 5, 3, 7, 4, 6]
      .slice(0, 2 * EACH)
      .map((pass) => `files.before-rename:${pass}`),
    counts: 'halves',
  },
  {
    where: 'in the middle of a merge',
    places: along([
      ...['git.branch-created', 'git.candidate-made', 'git.merged', 'git.before-checkout', 'git.checked-out'],
      ...['git.before-advance', 'git.advanced', 'git.merged', 'git.before-advance', 'git.advanced'],
    ]),
    counts: 'killed',
  },
];

describe('a session whose engine is killed', () => {
  it.each(some(KINDS, 0, 1))(
    `$where, ${EACH} times or more, leaves the folder of one that nobody killed`,
    { ...ALL, timeout: 20 * MINUTES },
    async ({ places, counts }) => {
      const { end, files } = await uncrashed();
      let count = 0;
      // Not every place is passed again once an engine has died, and not every one counts.
      for (let run = 0; run < EACH && count < EACH; run += 1) {
        const crashed = await runWith(dying(places));
        expect(crashed.end).toEqual(end);
        expect(crashed.files).toEqual(files);
        count += crashed[counts];
      }
      expect(count).toBeGreaterThanOrEqual(EACH);
    },
  );

  it('that nobody kills leaves each entry once, and one turn for each task', ALL, async () => {
    const { end, files } = await uncrashed();
    expect(end.turns).toHaveLength(DIAMOND.tasks.length);
    for (const turns of end.turns) expect(turns).toMatch(/: 1 of 1 turns, sessions: 1$/);
    for (const name of ['learnings', 'decisions', 'issues'] as const) {
      for (const { id } of DIAMOND.tasks) {
        expect(files[`wisdom/${name}.md`]?.split(fullAnswer(id)[name][0] ?? '')).toHaveLength(2);
      }
    }
    expect(JSON.parse(files['team-session.json'] ?? '')).toMatchObject({
      status: 'completed',
      completed_tasks: ['SPEC-001', 'IMPL-001', 'DOC-001', 'IMPL-002', 'IMPL-003', 'CHECK-001'],
      pipeline: { tasks_total: 6, tasks_completed: 6 },
    });
  });
});
