import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Step } from './run-script.ts';

/** Its body is over 4 KiB, and so a file of its own. */
const LONG: Step = {
  mcp: 'squad',
  tool: 'handoff',
  arguments: {
    to: ['builder'],
    task_id: 'HANDED',
    summary: 'Make c.',
    files: Array.from({ length: 40 }, (_, number) => `${'long-name-'.repeat(15)}${number}.txt`),
    success_criteria: ['c.txt is there'],
  },
};

const SCRIPT = [
  plan([piece('a'), piece('b', { needs: ['a'] })]),
  author('a', [LONG, ...commits({ 'a.txt': 'a\n' })]),
  author('b', commits({ 'b.txt': 'b\n' })),
  { when: '# Task', steps: commits({ 'c.txt': 'c\n' }) },
  APPROVE_ALL,
];

it(
  'a run that was continued after its backup resumes from the backup, with the bodies of its messages and its turns',
  { ...ALL, timeout: 120_000 },
  async (test) => {
    const bench = openRunBench({ script: [APPROVE_ALL, ...SCRIPT] });
    test.onTestFinished(() => bench.end());
    const first = await bench.startRun([], { SQUAD_FAILPOINTS: 'git.advanced:1=kill' }).finished;
    expect(first.signal, first.stderr).toBe('SIGKILL');
    const directory = stateOf(bench.repository);
    expect(readdirSync(join(directory, 'blobs'))).toHaveLength(1);
    const backup = await bench.run(['db', 'backup', '--json']);
    const [{ restore = [] } = {}] = backup.lines as { restore?: string[] }[];

    const ended = await bench.run(['resume', '--json', '--yes']);
    expect(ended.code, ended.stderr).toBe(0);

    writeFileSync(join(directory, 'squad.db'), 'no database');
    rmSync(join(directory, 'blobs'), { recursive: true });
    expect((await bench.run(['db', 'check'])).code).toBe(65);
    execFileSync('/bin/sh', ['-e'], { input: restore.slice(0, -1).join('\n') });
    expect(checkLedger(join(directory, 'squad.db'))).toMatchObject({ ok: true, problems: [] });

    // The branch has more than this ledger knows, which a person decides about.
    const asked = await bench.run(['resume', '--json', '--yes']);
    const question = asked.lines.find(({ type }) => type === 'question-asked')?.['question'];
    expect([asked.code, question]).toEqual([3, expect.stringContaining('run-branch')]);
    expect((await bench.run(['answer', String(question), 'restore'])).code).toBe(0);
    const again = await bench.run(['resume', '--json', '--yes']);
    expect(again.code, again.stdout + again.stderr).toBe(0);
    expect(again.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' });
    for (const name of ['a', 'b', 'c']) expect(bench.fileOnBranch(`${name}.txt`)).toBe(name);
    expect(readdirSync(join(directory, 'turns')).some((name) => name.endsWith('.lost-1'))).toBe(true);
    expect(existsSync(join(directory, 'blobs'))).toBe(true);
  },
);

it('db check names a message whose body is gone', { ...ALL, timeout: 120_000 }, async (test) => {
  const bench = openRunBench({ script: [APPROVE_ALL, ...SCRIPT] });
  test.onTestFinished(() => bench.close());
  const ended = await bench.runAll();
  expect(ended.code, ended.stderr).toBe(0);
  const blobs = join(stateOf(bench.repository), 'blobs');
  for (const name of readdirSync(blobs)) rmSync(join(blobs, name));
  const check = await bench.run(['db', 'check']);
  expect([check.code, check.stdout]).toEqual([65, expect.stringMatching(/the body of message \d+ is gone/)]);
});
