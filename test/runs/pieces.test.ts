// @module-tag all
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/view/status.ts';
import type { Finished } from '../support/engine.ts';
import { openRunBench, statusOf, turnsOf, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict } from './run-script.ts';

const SHARED = 'one\ntwo\nthree\n';
const done = [{ run: ['true'] }, { answer: 'all done, trust me' }];

/** Merges the commit that the conflict is with: whatever the run branch is, as its feedback names it. */
const MERGE = 'git merge --quiet squad/make-things >/dev/null; printf "one\\nLEFT\\nRIGHT\\nthree\\n" > shared.txt';

/** Pieces that each meet another fate, all in one run. */
const SCRIPT = [
  plan(
    ['good', 'liar', 'left', 'right', 'rejected', 'stuck', 'breaks', 'broken']
      .map((id) => piece(id))
      .concat(piece('heir', { needs: ['liar'] }), piece('late', { needs: ['good'] })),
  ),
  author('late', commits({ 'late.txt': 'late\n' })),
  author('good', commits({ 'good.txt': 'good\n' })),
  author('liar', done),
  again('liar', 'evidence', done),
  author('left', commits({ 'shared.txt': 'one\nLEFT\nthree\n' })),
  author('right', commits({ 'shared.txt': 'one\nRIGHT\nthree\n' })),
  ...['left', 'right'].map((id) =>
    again(id, 'conflict', [{ run: ['sh', '-c', MERGE] }, ...commits({ [`${id}-mended.txt`]: '{prompt}' })], 2),
  ),
  author('rejected', commits({ 'rejected.txt': '1\n' })),
  ...[2, 3, 4].map((turn) => again('rejected', 'review', commits({ 'rejected.txt': `${turn}\n` }), turn)),
  ...[1, 2, 3, 4].map((turn) => verdict('rejected', [`flaw number ${'abcd'[turn - 1] ?? ''} of it`], turn)),
  author('stuck', commits({ 'stuck.txt': '1\n' })),
  ...[2, 3, 4].map((turn) => again('stuck', 'review', commits({ 'stuck.txt': `${turn}\n` }), turn)),
  ...[1, 2].map((turn) => verdict('stuck', [`src/a.ts:${turn}0 The name is wrong.`], turn)),
  author('breaks', commits({ 'breaks.txt': 'bad\n' })),
  again('breaks', 'verify', commits({ 'breaks.txt': 'ok\n', 'told.txt': '{prompt}' }), 2),
  author('broken', commits({ 'broken.txt': 'bad\n', 'turn.txt': '1\n' })),
  ...[2, 3, 4].map((turn) => again('broken', 'verify', commits({ 'turn.txt': `${turn}\n` }), turn)),
  APPROVE_ALL,
];

const VERIFY = `for f in breaks.txt broken.txt; do if grep -qs bad $f; then echo "$f is bad: the output"; exit 7; fi; done`;

describe('pieces of one run that meet different fates', () => {
  let bench: RunBench;
  let ended: Finished;
  let status: RunStatus;
  let report: string;
  beforeAll(async () => {
    bench = openRunBench({ script: SCRIPT, settings: { verify: [{ run: VERIFY }] }, files: { 'shared.txt': SHARED } });
    ended = await bench.runAll();
    [status, report] = await Promise.all([bench.status(), bench.report()]);
  }, 120_000);
  afterAll(() => bench.end());

  it('ends as failed, and delivers what is good', () => {
    expect(ended.code, ended.stderr).toBe(1);
    expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'failed', exitCode: 1 });
    expect(status).toMatchObject({ phase: 'finished', outcome: 'failed' });
    expect(bench.fileOnBranch('good.txt')).toBe('good');
    expect(statusOf(status, 'good')).toBe('done');
  });

  it('does not believe an agent that twice says “done” and changed nothing', () => {
    expect(statusOf(status, 'liar')).toBe('failed');
    expect(turnsOf(ended, 'liar')).toHaveLength(2);
    expect(report).toContain('no commit was made');
    expect(report).toMatch(/`liar`[^\n]*failed/);
    expect(report).toContain('no-evidence');
  });

  it('starts nothing that needs what has failed, and goes on with all else', () => {
    expect(status.tasks.find(({ id }) => id === 'heir')).toMatchObject({ status: 'cancelled', attempts: 0 });
    expect(bench.fileOnBranch('late.txt')).toBe('late');
    expect(report).toContain('1 task that needs it was cancelled: heir');
  });

  it('sends a conflict back to the session of its author, and delivers both sides', () => {
    expect([statusOf(status, 'left'), statusOf(status, 'right')]).toEqual(['done', 'done']);
    expect(bench.fileOnBranch('shared.txt')).toBe('one\nLEFT\nRIGHT\nthree');
    const mended = ['left', 'right'].filter((id) => bench.fileOnBranch(`${id}-mended.txt`) !== undefined);
    expect(mended).toHaveLength(1);
    expect(bench.fileOnBranch(`${mended[0]}-mended.txt`)).toContain('shared.txt');
  });

  it('fails after four rejected rounds, and reports what was said in each', () => {
    expect(status.tasks.find(({ id }) => id === 'rejected')).toMatchObject({ status: 'failed', round: 4, attempts: 4 });
    expect(status.reviewRounds['rejected']).toBe(4);
    for (const letter of 'abcd') expect(report).toContain(`flaw number ${letter} of it`);
    expect(report).toContain('rejected in round 4 of 4');
    expect(bench.fileOnBranch('rejected.txt')).toBeUndefined();
  });

  it('says that a review does not converge when it finds the same again', () => {
    expect(report).toContain('not converging');
    expect(statusOf(status, 'stuck')).toBe('done');
    expect(bench.fileOnBranch('stuck.txt')).toBe('3');
  });

  it('sends what fails on the merged candidate back with the output, and delivers it once it passes', () => {
    expect(statusOf(status, 'breaks')).toBe('done');
    expect(bench.fileOnBranch('breaks.txt')).toBe('ok');
    expect(bench.fileOnBranch('told.txt')).toContain('breaks.txt is bad: the output');
  });

  it('fails what never passes, and the branch holds only what did', () => {
    expect(status.tasks.find(({ id }) => id === 'broken')).toMatchObject({ status: 'failed' });
    expect(turnsOf(ended, 'broken').filter(({ agent }) => agent === 'builder-1')).toHaveLength(4);
    expect([bench.fileOnBranch('broken.txt'), bench.fileOnBranch('turn.txt')]).toEqual([undefined, undefined]);
  });
});
