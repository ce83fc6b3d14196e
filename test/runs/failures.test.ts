// @module-tag all
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TaskFailure } from '../../src/model/task-failure.ts';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, again, author, commits, piece, plan, verdict, type Entry, type Step } from './run-script.ts';
import { ALL } from '../support/lane.ts';

let bench: RunBench;
let hooks: string;
beforeAll(() => {
  hooks = mkdtempSync(join(tmpdir(), 'squad-hooks-'));
  writeFileSync(join(hooks, 'pre-commit'), '#!/bin/sh\necho "the licence header is missing" >&2\nexit 1\n');
  chmodSync(join(hooks, 'pre-commit'), 0o755);
});
afterEach(() => bench.end());
afterAll(() => rmSync(hooks, { recursive: true }));

const RUN = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--plain'];
const WRITE: Step = { write: { path: 'a.txt', text: 'a\n' } };

interface Told {
  /** What the terminal shows from the run's end on. */
  readonly end: string;
  readonly status: string;
  readonly report: string;
  readonly failures: readonly TaskFailure[];
}

async function runToFailure(script: readonly Entry[], more: Parameters<typeof openRunBench>[0] | object = {}) {
  bench = openRunBench({ script, files: { '.gitattributes': '*.broken filter=broken\n' }, ...more });
  const { code, stdout } = await bench.run(RUN);
  expect(code, stdout).toBe(1);
  const { failures } = await bench.status();
  const end = stdout.slice(stdout.indexOf('FAILED'));
  const told: Told = { end, status: (await bench.run(['status'])).stdout, report: await bench.report(), failures };
  return told;
}

/** Of a plan of one task, whose agent is told once that there is nothing to show for its work. */
async function fails(first: readonly Step[], second: readonly Step[]): Promise<Told & { failure: TaskFailure }> {
  const script = [plan([piece('a')]), author('a', first), again('a', 'evidence', second), APPROVE_ALL];
  const told = await runToFailure(script);
  const [failure, ...others] = told.failures;
  expect(others).toEqual([]);
  if (failure === undefined) throw new Error('no failure is told');
  return { ...told, failure };
}

/** Each surface names them. Markdown's escapes are left out. */
function expectEverywhere({ end, status, report }: Told, texts: readonly string[]): void {
  const plain = report.replaceAll(/\\(.)/g, '$1');
  for (const text of texts) for (const surface of [end, status, plain]) expect(surface).toContain(text);
}

describe('a failed task says why, and where its work is', { timeout: 300_000 }, () => {
  it('a pre-commit hook that fails', async () => {
    const commit = { run: ['git', '-c', `core.hooksPath=${hooks}`, 'commit', '--message', 'a'] };
    const told = await fails(
      [WRITE, { run: ['git', 'add', '--all'] }, commit, { answer: 'I could not commit.' }],
      [commit, { answer: 'The hook refuses every commit.' }],
    );
    expectEverywhere(told, [
      'no commit was made',
      'the licence header is missing',
      'The hook refuses every commit.',
      'squad retry a --run make-things',
    ]);
    const { failure } = told;
    expect(failure).toMatchObject({ task: 'a', as: 'failed', cause: 'no-evidence', agent: 'builder-1' });
    expect(failure.errors).toMatchObject([{ tool: 'run', denied: false }]);
    // What was written is not lost, and the command that is told shows it.
    expect(failure.work?.ref).toBe('refs/squad/make-things/a-2');
    expectEverywhere(told, [failure.work?.show ?? 'no command']);
    expect(git(bench.repository, ...String(failure.work?.show).split(' ').slice(1))).toContain('+a');
    expect(told.report).not.toContain('git merge squad/');
  });

  it('every write is denied', ALL, async () => {
    const told = await fails(
      [{ deny: 'Write' }, { deny: 'Bash' }, { answer: 'I am not allowed to write.' }],
      [{ answer: 'Nothing can be written here.' }],
    );
    expectEverywhere(told, ['no commit was made', 'refused by the script', 'Nothing can be written here.']);
    expect(told.failure.errors.map(({ tool, denied }) => [tool, denied])).toEqual([
      ['Write', true],
      ['Bash', true],
    ]);
    expect(told.failure.work).toBeNull();
  });

  it('a clean filter that is broken', ALL, async () => {
    const add = [
      'git',
      ...['-c', 'filter.broken.clean=no-such-filter', '-c', 'filter.broken.required=true'],
      ...['add', '--all'],
    ];
    const write = { write: { path: 'a.broken', text: 'a\n' } };
    const told = await fails([write, { run: add }, { answer: 'tried' }], [{ run: add }, { answer: 'git add fails.' }]);
    expectEverywhere(told, ['no commit was made', 'no-such-filter', 'git add fails.', 'squad retry a']);
    expect(git(bench.repository, 'show', `${told.failure.work?.ref}:a.broken`)).toBe('a');
  });

  it('a rejection: what it was, the judged work, and what a person can do', async () => {
    const tries = [1, 2].map((turn) => ({ steps: commits({ 'a.txt': `${turn}\n` }), turn }));
    const told = await runToFailure(
      [
        plan([piece('a')]),
        author('a', tries[0]!.steps),
        again('a', 'review', tries[1]!.steps),
        verdict('a', ['a.txt is wrong']),
      ],
      { settings: { limits: { reviewRounds: 2 } } },
    );
    expect(told.failures).toMatchObject([{ task: 'a', cause: 'rejected', agent: 'builder-1', lastWords: 'done' }]);
    expectEverywhere(told, ['rejected in round 2 of 2', 'squad retry a --run', 'squad override a done --run']);
    expect(git(bench.repository, 'show', `${told.failures[0]?.work?.ref}:a.txt`)).toBe('2');
  });

  it('the report of a run that delivered a part says what a merge does not bring', ALL, async () => {
    const told = await runToFailure([
      plan([piece('a'), piece('b')]),
      author('b', commits({ 'b.txt': 'b\n' })),
      author('a', [{ answer: 'tried' }]),
      again('a', 'evidence', [{ answer: 'I cannot.' }]),
      APPROVE_ALL,
    ]);
    const get = told.report.split('\n## ').find((section) => section.startsWith('Get the work')) ?? '';
    expect(get).toContain('git merge squad/make-things');
    expect(get).toContain('**This is not all of the work.**');
    expect(get).toMatch(/- `a` \(Make a\): failed/);
    expect(get).not.toMatch(/- `b`/);
  });
});

describe('a run that stopped at a limit', { timeout: 300_000 }, () => {
  it('is resumed with a higher one: the command that is told goes on', ALL, async () => {
    bench = openRunBench({
      script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL],
    });
    const { code, stdout } = await bench.run([...RUN, '--max-turns', '2']);
    expect(code).toBe(4);
    expect(stdout).toContain('continue  squad resume make-things --max-turns 4');
    const { next } = await bench.status();
    expect(next).toEqual(['squad resume make-things --max-turns 4']);
    const resumed = await bench.run(['resume', 'make-things', '--max-turns', '4', '--plain']);
    expect(resumed.code, resumed.stdout).toBe(0);
  });
});
