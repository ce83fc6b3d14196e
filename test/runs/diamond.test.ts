// @module-tag all
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEventSchema } from '../../src/model/run-event.ts';
import { runStatusSchema } from '../../src/view/status.ts';
import type { Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { openRunBench, statusOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from './run-script.ts';

const NASTY =
  '\u001b[31mred\u001b[0m "quoted" \'single\' `touch pwned` $(touch pwned); touch pwned\n# Heading\r| cell | \u202Eevil';

/** All of a checkout that squad must leave as it is; its own folder is squad's. */
function checkoutOf(repository: string): Record<string, string> {
  const read = (path: string): string => readFileSync(join(repository, path)).toString('hex');
  const files = readdirSync(repository, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\/\.(?:git|squad)(?:\/|$)/.test(`${entry.parentPath}/`))
    .map((entry) => join(entry.parentPath, entry.name).slice(repository.length + 1));
  return {
    ...Object.fromEntries([...files, '.git/index', '.git/HEAD', '.git/config'].map((path) => [path, read(path)])),
    branches: git(repository, 'for-each-ref')
      .split('\n')
      .filter((line) => !/\trefs\/(?:heads\/)?squad\//.test(line))
      .join('\n'),
    worktrees: git(repository, 'worktree', 'list'),
  };
}

describe('a diamond, with titles that mean harm', () => {
  let bench: RunBench;
  let ended: Finished;
  let during: string;
  let before: Record<string, string>;
  let plain: string;
  beforeAll(async () => {
    const needs: Record<string, string[]> = { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] };
    bench = openRunBench({
      objective: objective({
        title: `Make things ${NASTY.split('\n')[0]}`,
        criteria: ['d is there (run: `test -f d.txt`)'],
        front: 'name: make-things',
      }),
      script: [
        plan(Object.entries(needs).map(([id, need]) => piece(id, { needs: need, title: `Make ${id} ${NASTY}` }))),
        author('a', [{ sleep: 1500 }, ...commits({ 'a.txt': 'a\n' }, NASTY)]),
        ...['b', 'c'].map((id) => author(id, [{ run: ['test', '-f', 'a.txt'] }, ...commits({ [`${id}.txt`]: id })])),
        author('d', [{ run: ['sh', '-c', 'cat a.txt b.txt c.txt > seen.txt'] }, ...commits({ 'd.txt': 'd\n' })]),
        APPROVE_ALL,
      ],
    });
    before = checkoutOf(bench.repository);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'session-announced' && task === 'a');
    during = (await bench.run(['status', '--json'])).stdout;
    ended = await engine.finished;
    plain = [await bench.report(), (await bench.run(['status'])).stdout].join('\n');
  }, 120_000);
  afterAll(() => bench.end());

  it('gives the last task the code of all before it', () => {
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('seen.txt')).toBe('a\nbc');
    expect(bench.fileOnBranch('d.txt')).toBe('d');
  });

  it('prints lines that its schema knows, the last of them run-ended', () => {
    const wrong = ended.lines.filter((line) => !runEventSchema.safeParse(line).success);
    expect(wrong).toEqual([]);
    expect(ended.lines).toHaveLength(ended.stdout.trim().split('\n').length);
    expect(ended.lines.filter(({ type }) => type === 'run-ended')).toHaveLength(1);
    expect(ended.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0 });
  });

  it('has a status of the same form while a turn runs and when it is over', async () => {
    const live = runStatusSchema.parse(JSON.parse(during));
    expect([live.phase, live.outcome, live.turns.live, statusOf(live, 'a')]).toEqual(['running', null, 1, 'live']);
    const over = runStatusSchema.parse(await bench.status());
    expect(over).toMatchObject({
      phase: 'finished',
      outcome: 'done',
      turns: { live: 0 },
      criteria: [{ state: 'met' }],
    });
  });

  it('leaves the checkout of its user as it was, byte for byte', () => {
    expect(checkoutOf(bench.repository)).toEqual(before);
  });

  it('shows titles as text, and runs nothing of them', () => {
    expect(plain).toContain('Make b');
    // oxlint-disable-next-line no-control-regex -- these are what must not get through
    expect(plain).not.toMatch(/[\u001b\u0007\r\u202e]/);
    expect(plain).not.toMatch(/^# Heading/m);
    const named = readdirSync(bench.root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('pwned'),
    );
    expect(named).toEqual([]);
    expect(git(bench.repository, 'log', '-1', '--format=%s', 'squad/make-things')).not.toContain('\u001b[');
  });
});
