// @module-tag all
import { stateOf } from '../support/state.ts';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan } from './run-script.ts';

let bench: RunBench;
const marks = (): string[] =>
  ['setup', 'verify', 'notify'].filter((name) => existsSync(join(bench.root, `ran-${name}`)));
const trustFile = (): string => join(stateOf(bench.repository), 'trust.json');

beforeEach(() => {
  bench = openRunBench({
    script: [plan([piece('a')]), APPROVE_ALL, author('a', commits({ 'a.txt': 'a\n' }))],
    objective: objective(),
  });
  const touch = (name: string): string => `touch ${join(bench.root, `ran-${name}`)}`;
  bench.settings({
    setup: [{ run: touch('setup') }],
    verify: [{ run: touch('verify') }],
    notify: touch('notify'),
    limits: { usd: 30 },
  });
});
afterEach(() => bench.end());

/** The ledger as a stranger's repository would bring it: agreed to by somebody else. */
function forgetConsent(): void {
  rmSync(trustFile());
  for (const name of marks()) rmSync(join(bench.root, `ran-${name}`));
}

describe('consent to a run', () => {
  it('given with --yes is for that run and its resumes, and is kept outside of the repository', async () => {
    expect((await bench.runAll(['--max-turns', '1'])).code).toBe(4);
    const run = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    const [, line = ''] = readFileSync(trustFile(), 'utf8').split('}\n');
    expect(JSON.parse(`${line}}`)).toMatchObject({ run });
    expect((await bench.run(['resume', '--json', '--max-turns', '2'])).code).toBe(4);
    const done = await bench.run(['resume', '--json', '--max-turns', '9']);
    expect(done.stderr).not.toContain('consent');
    expect(done.code).toBe(0);
    const again = await bench.run(['run', 'objective.md', '--runtime', 'scripted', '--name', 'other']);
    expect(again.code).toBe(78);
  });

  it('is asked for where the run came from elsewhere, before anything of it starts', async () => {
    expect((await bench.runAll(['--max-turns', '1'])).code).toBe(4);
    forgetConsent();
    const refused = await bench.run(['resume', '--json', '--max-turns', '9']);
    expect(refused.code).toBe(78);
    const error = refused.lines.find(({ type }) => type === 'error');
    expect(error).toMatchObject({
      code: 'not-trusted',
      next: expect.stringContaining('squad resume make-things --yes'),
    });
    for (const item of [
      'setup: touch',
      'verify: touch',
      'notify: touch',
      'runtime: scripted',
      'limits.usd 30, the default of squad is 20',
    ])
      expect(String(error?.['message'])).toContain(item);
    expect(marks()).toEqual([]);
    expect(existsSync(trustFile())).toBe(false);
    const done = await bench.run(['resume', '--json', '--yes', '--max-turns', '9']);
    expect(done.code).toBe(0);
    expect(marks()).toEqual(['setup', 'verify', 'notify']);
  });

  it('is looked up for a run whose engine is gone: a sweep skips it with a sentence', async () => {
    const engine = bench.startRun();
    // All that `setup` and the check of the baseline start is over by then.
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'a');
    engine.child.kill('SIGKILL');
    await engine.finished;
    forgetConsent();
    const swept = await bench.run(['resume', '--all']);
    expect(swept.stderr).toMatch(/make-things is skipped: no person has agreed to it on this machine/);
    expect(swept.stdout).toBe('');
    expect(marks()).toEqual([]);
    expect((await bench.run(['resume', '--json', '--yes'])).code).toBe(0);
  });

  it('holds for a fork of a run, though a crash came before it was recorded', async () => {
    expect((await bench.runAll(['--max-turns', '1'])).code).toBe(4);
    const kept = readFileSync(trustFile(), 'utf8');
    const { points } = JSON.parse((await bench.run(['fork', '--json'])).stdout) as { points: { seq: number }[] };
    expect((await bench.run(['fork', '--at', String(points.at(-1)?.seq), '--name', 'second'])).code).toBe(0);
    // A crash right after the fork was made: nothing recorded it.
    writeFileSync(trustFile(), kept);
    expect((await bench.run(['resume', 'second', '--json', '--max-turns', '9'])).code).toBe(0);
  });
});
