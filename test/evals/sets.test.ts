import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runHidden } from '../../evals/hidden.ts';
import { bugLines, readSet, SETS, type Change } from '../../evals/items.ts';
import { judgePlan, judgeReview, MOST_BLOCKING } from '../../evals/judge.ts';
import { markdownOf, summaryOf } from '../../evals/report.ts';
import { finding } from '../support/findings.ts';
import { some, SPREAD } from '../support/lane.ts';

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'squad-eval-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }\n', ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

it('each set has its items, each once', () => {
  const changes = readSet('reviewers');
  expect(changes.filter(({ bug }) => bug !== undefined)).toHaveLength(20);
  expect(changes.filter(({ bug }) => bug === undefined)).toHaveLength(10);
  expect([readSet('planners').length, readSet('builders').length]).toEqual([10, 10]);
  for (const set of SETS) {
    const ids = readSet(set).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  }
  for (const change of changes) {
    const [first, last] = bugLines(change) ?? [1, 1];
    expect(first, change.id).toBeGreaterThan(0);
    expect(last - first, change.id).toBeLessThan(6);
    if (change.bug !== undefined)
      expect(change.after.trimEnd().split('\n').length, change.id).toBeGreaterThan(MOST_BLOCKING);
    for (const part of change.bug?.at ?? []) expect(change.after.split(part), `${change.id}: ${part}`).toHaveLength(2);
  }
  for (const { files, shared } of readSet('planners'))
    expect(Object.keys(files)).toEqual(expect.arrayContaining(shared));
});

const PROVEN = readSet('reviewers').filter(({ shows }) => shows !== undefined);

it('each known bug has a proof', () => expect(PROVEN).toHaveLength(20));

it.each(some(PROVEN, 3, 20))('$id shows its bug', SPREAD, ({ file, after, shows = '' }) => {
  const folder = folderWith({ [file]: after, 'shows.mjs': `import assert from 'node:assert/strict';\n${shows}` });
  const { status, stderr } = spawnSync(process.execPath, ['shows.mjs'], { cwd: folder, encoding: 'utf8', env: PATH });
  expect([status, stderr]).toEqual([1, expect.stringMatching(/AssertionError|ERR_ASSERTION/)]);
});

const PATH = { PATH: process.env['PATH'] };

it.each(some(readSet('builders'), 2, 10))('$id: its solution passes, and what is there does not', SPREAD, (item) => {
  const [path = ''] = Object.keys(item.files);
  expect(runHidden(folderWith({ [path]: item.solution }), item.hidden)).toEqual({ right: true, why: 'passes' });
  expect(runHidden(folderWith(item.files), item.hidden).right).toBe(false);
});

it.each([
  ['ends the process with 0', 'process.exit(0);'],
  ['prints what a pass prints', "console.log('passes');"],
  ['writes beside the test', "import { writeFileSync } from 'node:fs'; writeFileSync('x', '');"],
  ['starts a program', "import { execSync } from 'node:child_process'; execSync('true');"],
])('work that %s passes no hidden test', (_, text) => {
  const said = runHidden(
    folderWith({ 'src/a.js': `${text}\nexport const a = 1;` }),
    "import { a } from './src/a.js'; assert.equal(a, 2);",
  );
  expect(said.right).toBe(false);
});

const CHANGE: Change = {
  id: 'x',
  task: 'x',
  file: 'a.js',
  after: '1\n2\n3\n4\n5\n6\n7\n8\n9\nbad\n',
  bug: { at: ['bad'], why: 'it' },
};
const CLEAN: Change = { id: 'y', task: 'y', file: 'a.js', after: '1\n' };
const blocks = (line: number | null, more = {}) => finding('wrong', { file: 'a.js', line, blocks: 'defect', ...more });
const review = (...findings: object[]) => ({ approved: findings.length === 0, findings });

it('a review is right for the place of the bug alone, and for a clean change', () => {
  const isRight = (change: Change, answer: unknown) => judgeReview(change, answer).right;
  expect(isRight(CHANGE, review(blocks(10)))).toBe(true);
  expect(isRight(CHANGE, review(blocks(8), blocks(1)))).toBe(true);
  expect(isRight(CHANGE, review(blocks(7)))).toBe(false);
  expect(isRight(CHANGE, review(blocks(null)))).toBe(false);
  expect(isRight(CHANGE, review(blocks(10, { file: 'b.js' })))).toBe(false);
  expect(isRight(CHANGE, review(blocks(10, { blocks: null })))).toBe(false);
  expect(isRight(CHANGE, { ...review(blocks(10)), approved: true })).toBe(false);
  // One that blocks everywhere has found nothing.
  expect(isRight(CHANGE, review(...[1, 2, 3, 10].map((line) => blocks(line))))).toBe(false);
  expect(isRight(CLEAN, review())).toBe(true);
  expect(judgeReview(CLEAN, review(blocks(1)))).toMatchObject({ right: false, alarms: 1 });
  for (const odd of [undefined, 'found it', { approved: true }, null]) expect(isRight(CLEAN, odd)).toBe(false);
});

it('a plan is right if the parts that meet are one task or wait for each other', () => {
  const task = (id: string, files: string[], needs: string[] = []) => ({ id, files, needs });
  const isRight = (...tasks: object[]) =>
    judgePlan({ id: 'o', title: 'o', goals: [], files: {}, shared: ['src/a.js', 'src/b.js'], why: 'x' }, { tasks })
      .right;
  const both = ['src/a.js', 'src/b.js'];
  expect(isRight(task('all', []))).toBe(true);
  expect(isRight(task('one', both), task('two', ['c.js']))).toBe(true);
  expect(isRight(task('one', ['./src/a.js']), task('two', ['src/b.js'], ['one']))).toBe(true);
  expect(isRight(task('one', ['src']), task('mid', [], ['one']), task('two', ['src/b.js'], ['mid']))).toBe(true);
  expect(isRight(task('one', ['src/a.js']), task('two', ['src/b.js']))).toBe(false);
  expect(isRight(task('one', both), task('two', ['src/']))).toBe(false);
  // Files that no task has are no plan for them.
  expect(isRight(task('one', []), task('two', []))).toBe(false);
  expect(isRight(task('one', ['x'], ['two']), task('two', ['y'], ['one']))).toBe(false);
  expect(isRight()).toBe(false);
});

it('who approves all, or rejects all, has no score', () => {
  const play = (right: (change: Change) => boolean) =>
    readSet('reviewers').map((change) => ({
      ...{ set: 'reviewers' as const, id: change.id, right: right(change), why: '', turns: 1 },
      ...{ usd: null, tokens: 5, promptHash: 'a', end: '' },
    }));
  expect(
    summaryOf(
      'reviewers',
      play(({ bug }) => bug === undefined),
    ),
  ).toMatchObject({ right: 10, score: 0, usd: null });
  expect(
    summaryOf(
      'reviewers',
      play(({ bug }) => bug !== undefined),
    ),
  ).toMatchObject({ right: 20, score: 0 });
  expect(
    summaryOf(
      'reviewers',
      play(() => true),
    ),
  ).toMatchObject({ score: 1, tokens: 150 });
  const facts = { runtime: 'r', model: null, prompts: 'shipped', at: 'now', stopped: 'the cap' };
  const text = markdownOf(
    facts,
    [
      summaryOf(
        'reviewers',
        play(() => true),
      ),
    ],
    [],
  );
  expect(text).toContain('| reviewers | 30 of 30 | 20 of 20 | 10 of 10 | 0 | 1.00 | 30 | 150 | not measured |');
  expect(text).toContain('Not all items were played: the cap.');
});
