// @module-tag all
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { openRunBench, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';

const PIECES = [piece('left'), piece('right'), piece('liar', { needs: ['left', 'right'] })];
const MERGE = 'git merge --quiet squad/make-things >/dev/null; printf "LEFT\\nRIGHT\\n" > shared.txt';
const limit = { kind: 'quota-exhausted', message: 'come back later', retryIn: 4_000 };

/** A plan that nobody can carry out, an agent that only says that it is done, a conflict and a usage limit. */
const SCRIPT = [
  plan(PIECES, 'This plan cannot be used'),
  plan([piece('left', { role: 'wizard' })]),
  author('left', commits({ 'shared.txt': 'LEFT\n' })),
  author('right', commits({ 'shared.txt': 'RIGHT\n' })),
  ...['left', 'right'].map((id) => again(id, 'conflict', [{ run: ['sh', '-c', MERGE] }, ...commits({ [id]: id })])),
  author('liar', [{ answer: 'all done, trust me' }], { turn: 1 }),
  again('liar', 'evidence', [{ fail: limit }], 2),
  { turn: 3, steps: commits({ 'liar.txt': 'done\n' }) },
  APPROVE_ALL,
];

describe('what went wrong on the way', { timeout: 300_000 }, () => {
  let bench: RunBench;
  let plain: string;
  let log: string;

  beforeAll(async () => {
    bench = openRunBench({ script: SCRIPT, files: { 'shared.txt': 'middle\n' } });
    const ended = await bench.run(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain']);
    expect(ended.code, ended.stderr + ended.stdout).toBe(0);
    plain = ended.stdout;
    log = (await bench.run(['log', '--raw', '--limit', '1000'])).stdout;
  }, 120_000);
  afterAll(() => bench.end());

  it.each([
    ['a plan that cannot be used', /^back +plan: reopened: This plan cannot be used: .*no agent has the role wizard/m],
    [
      'a conflict, with its files',
      /^back +(?:left|right): conflict: Your commit .* conflicts with .* in: - shared\.txt;/m,
    ],
    ['missing evidence', /^back +liar: evidence is missing: no commit was made; no file was changed$/m],
    ['a limit that is waited for, and until when', /^wait +until \d\d:\d\d: /m],
  ])('is told without a terminal: %s', (_what, line) => {
    expect(plain).toMatch(line);
  });

  it('says once that it waits', () => {
    expect(plain.match(/^wait /gm)).toHaveLength(1);
  });

  it.each([
    [
      'a plan that cannot be used',
      /plan-entry {2}reopen-task plan: This plan cannot be used: .*no agent has the role wizard/,
    ],
    ['a conflict, with its files', /plan-entry {2}(?:left|right) conflict with [0-9a-f]{12} in shared\.txt/],
    ['missing evidence', /plan-entry {2}liar evidence-gathered no commit/],
    ['a limit', /plan-entry {2}liar attempt-settled .* \(quota-exhausted: come back later, until \d{4}-/],
    ['a wait, and until when', /next-decided {2}wait until \d{4}-\d\d-\d\dT[\d:.]+Z: /],
  ])('is in the log: %s', (_what, line) => {
    expect(log).toMatch(line);
  });
});
