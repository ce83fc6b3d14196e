// @module-tag all
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { draw, drawOf } from '../simulation/world/draw.ts';
import type { Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, judges, objective, piece, plan, type Entry } from './run-script.ts';
import { SPREAD, spread } from '../support/lane.ts';

// The simulated oracle's little sister: few seeds, but real processes and real git, and commands that log themselves.

const COUNT = Number(process.env['SQUAD_ORACLE_RUNS'] ?? spread(1, 3));
const FROM = Number(process.env['SQUAD_ORACLE_RUN'] ?? 1);
const BRANCH = 'refs/heads/squad/make-things';
/** From a task's folder into the user's git directory. */
const IN_USERS = `cd "$(sed -n '2s|/objects$||p' .git/objects/info/alternates)"`;
const MOVES = {
  none: 'true',
  commit: [
    IN_USERS,
    `blob=$(echo theirs | git hash-object -w --stdin)`,
    `tree=$( (git ls-tree ${BRANCH}; printf "100644 blob %s\\ttheirs.txt\\n" $blob) | git mktree)`,
    `git update-ref ${BRANCH} $(git commit-tree $tree -p ${BRANCH} -m theirs)`,
  ].join(' && '),
  back: `${IN_USERS}; git update-ref ${BRANCH} $(git rev-parse main)`,
  delete: `${IN_USERS}; git update-ref -d ${BRANCH}`,
} as const;

interface World {
  readonly files: readonly (string | undefined)[];
  readonly judged: 'a.txt' | 'nowhere.txt';
  readonly answer: 'restore' | 'take in' | 'give up';
  readonly move: keyof typeof MOVES;
  readonly strict: boolean;
}

function worldOf(seed: number): World {
  const kinds = ['a.txt', 'b.txt', 'fix-1.txt', 'nowhere.txt', undefined, undefined] as const;
  return {
    files: [0, 1].map((index) => drawOf(kinds, seed, 'criterion', index)),
    judged: drawOf(['a.txt', 'a.txt', 'nowhere.txt'], seed, 'judged'),
    answer: drawOf(['restore', 'restore', 'take in', 'give up'], seed, 'answer'),
    move: drawOf(['none', 'commit', 'back', 'delete'], seed, 'move'),
    strict: draw(seed, 'strict') < 0.5,
  };
}

/** Where the command of a criterion writes down on which commit it was run. */
function logOf(root: string, index: number): string {
  return join(root, `criterion-${index}.log`);
}

function openWorld({ files, judged, move, strict }: World): RunBench {
  const made = (id: string): Entry => author(id, commits({ [`${id}.txt`]: `${id}\n` }));
  const verdicts = judges(...files.flatMap((file, index) => (file === undefined ? [index] : [])).map(() => judged));
  const numbers = files.flatMap((file, index) => (file === undefined ? [index] : []));
  const numbered = (verdicts.structured as { verdicts: object[] }).verdicts.map((one, at) => ({
    ...one,
    criterion: `C${(numbers[at] ?? 0) + 1}`,
  }));
  const script = [
    plan([piece('a'), piece('b', { needs: ['a'] })]),
    made('a'),
    author('b', [{ run: ['sh', '-c', MOVES[move]] }, ...commits({ 'b.txt': 'b\n' })]),
    ...['fix-1', 'fix-2'].map(made),
    { ...verdicts, structured: { verdicts: numbered } },
    APPROVE_ALL,
  ];
  const bench = openRunBench({ script, settings: { strict } });
  const criteria = files.map((file, index) =>
    file === undefined
      ? `criterion ${index}`
      : `criterion ${index} (run: \`git rev-parse HEAD >> ${logOf(bench.root, index)}; test -f ${file}\`)`,
  );
  bench.objective(objective({ criteria }));
  return bench;
}

/** Answers what is asked until nothing is. */
async function runThrough(bench: RunBench, { answer, move }: World): Promise<Finished> {
  let ended = await bench.runAll();
  for (let asked = 0; ended.code === 3 && asked < 5; asked += 1) {
    const word = answer === 'take in' && move === 'delete' ? 'restore' : answer;
    expect((await bench.run(['answer', word])).code).toBe(0);
    ended = await bench.run(['resume', '--json']);
  }
  return ended;
}

/** What may be said of it, from git and from what the commands wrote down alone. */
function expectedOf({ repository, root }: RunBench, world: World): { done: boolean; headline: string; code: number } {
  const head = git(repository, 'for-each-ref', '--format=%(objectname)', BRANCH);
  const there = head === '' ? [] : git(repository, 'ls-tree', '-r', '--name-only', head).split('\n');
  const ran = (index: number): boolean => {
    const log = logOf(root, index);
    return existsSync(log) && readFileSync(log, 'utf8').split('\n').includes(head);
  };
  const isTaken = there.includes('theirs.txt');
  const works = ['a.txt', 'b.txt'].every((file) => there.includes(file));
  const met = world.files.every((file, index) => file === undefined || (there.includes(file) && ran(index)));
  const done = works && met && (!isTaken || world.answer === 'take in');
  const unjudged = world.files.filter((file) => file === undefined).length;
  const of = `${unjudged} of ${world.files.length} criteria`;
  const seen = world.judged === 'a.txt';
  const headline =
    unjudged === 0
      ? 'DONE, all work is delivered and verified'
      : seen
        ? `DONE, ${of} judged by reviewer-1, not run`
        : `DONE, ${of} not checked`;
  return { done, headline, code: done && (unjudged === 0 || seen || !world.strict) ? 0 : 1 };
}

describe.concurrent('what a run is said to have done is what git and its commands say', { timeout: 200_000 }, () => {
  const seeds = Array.from({ length: COUNT }, (_, index) => FROM + index);
  it.for(seeds)('in the world of seed %i', SPREAD, async (seed, { onTestFinished }) => {
    const world = worldOf(seed);
    const bench = openWorld(world);
    onTestFinished(() => bench.end());
    const ended = await runThrough(bench, world);
    const { done, headline, code } = expectedOf(bench, world);
    const again = `SQUAD_ORACLE_RUN=${seed} SQUAD_ORACLE_RUNS=1 npx vitest run test/runs/oracle.test.ts`;
    const [status, report, screen] = await Promise.all([bench.status(), bench.report(), bench.run(['status'])]);
    const said = { outcome: done ? 'done' : 'failed', headline: done ? headline : expect.stringMatching(/^FAILED, /) };
    expect([ended.code, ended.lines.at(-1)], again).toEqual([
      code,
      expect.objectContaining({ type: 'run-ended', ...said, exitCode: code }),
    ]);
    expect(status, again).toMatchObject({ phase: 'finished', ...said, exitCode: code });
    expect(report, again).toContain(`Exit code ${code}: `);
    for (const text of [report, screen.stdout]) {
      expect(text.includes('DONE, '), again).toBe(done);
      expect(text.includes('delivered and verified'), again).toBe(done && headline.endsWith('verified'));
    }
  });
});
