// @module-tag all
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { openRunBench, statusOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from './run-script.ts';
import { ALL } from '../support/lane.ts';

let bench: RunBench;
afterEach(() => bench.end());

const NAMES = ['a', 'b', 'c'];
const RUN = ['run', 'objective.md', '--yes', '--plain', '--parallel', '1'];

/** A squad whose first builder is codex, with the recorded output of the real one whose login had expired. */
function benchWith(
  login: 'expired' | 'missing',
  fallback: boolean,
  reviewer: 'codex' | 'scripted' = 'scripted',
): { tries: () => number } {
  bench = openRunBench({
    script: [
      plan(NAMES.map((name) => piece(name))),
      ...NAMES.map((name) => author(name, commits({ [name]: name }))),
      APPROVE_ALL,
    ],
  });
  const { runtimes } = JSON.parse(readFileSync(join(bench.repository, 'squad.yaml'), 'utf8')) as { runtimes: object };
  const counter = join(bench.root, 'tries');
  const codex = join(bench.root, 'codex');
  const recorded = fileURLToPath(new URL('../fixtures/captures/codex/expired-login', import.meta.url));
  const lines = [
    '#!/bin/sh',
    'case "$1" in',
    '--version) echo "codex-cli 0.169.0";;',
    `login) exit ${login === 'missing' ? 1 : 0};;`,
    'sandbox) exit 0;;',
    `*) cat > /dev/null; echo try >> '${counter}'; cat '${recorded}.jsonl'; cat '${recorded}.err' >&2; exit 1;;`,
    'esac',
  ];
  writeFileSync(codex, lines.join('\n'));
  chmodSync(codex, 0o755);
  writeFileSync(counter, '');
  const agent = (name: string, role: string, runtime: string) => ({ name, role, runtime });
  bench.settings({
    agents: [
      agent('planner', 'planner', 'scripted'),
      agent('builder-1', 'builder', 'codex'),
      agent('reviewer', 'reviewer', reviewer),
    ],
    runtimes: { ...runtimes, codex: { command: codex, ...(fallback ? { fallback: 'scripted' } : {}) } },
  });
  return { tries: () => readFileSync(counter, 'utf8').split('\n').length - 1 };
}

const HOME = { CODEX_HOME: '/nonexistent' };

describe('a runtime whose login has expired', { timeout: 300_000 }, () => {
  it('is tried once; every agent of it works on the fallback, and no question is asked', ALL, async () => {
    const { tries } = benchWith('expired', true, 'codex');
    const { code, stdout, stderr } = await bench.run(RUN, { CODEX_API_KEY: 'key' });
    expect(code, stdout + stderr).toBe(0);
    expect(tries()).toBe(1);
    for (const name of NAMES) expect(bench.fileOnBranch(name)).toBe(name);
    expect(stdout).not.toContain('question ');
    expect(stdout).toContain('account   codex: cannot be used (auth); scripted stands in');
    expect(stdout).toContain('started: reviewer (scripted in place of codex)');
    const end = stdout.slice(stdout.lastIndexOf('DONE'));
    expect(end).toContain('; scripted stood in for codex (builder-1, reviewer)');
    expect(end).toContain(`; reviewed on the author's own runtime: ${NAMES.join(', ')}`);
    const report = await bench.report();
    expect(report).toContain('## Stand-ins');
    expect(report).toContain("reviewed on the author's own runtime");
    expect((await bench.run(['log'])).stdout).toContain('cannot be used (auth); scripted stands in');
  });

  it(
    'without a fallback, the question names everyone who is locked out, and its command helps them all',
    ALL,
    async () => {
      const { tries } = benchWith('expired', false, 'codex');
      const { code, stdout } = await bench.run(RUN, { CODEX_API_KEY: 'key' });
      expect(code, stdout).toBe(3);
      const end = stdout.slice(stdout.lastIndexOf('WAITING'));
      expect(end).toContain('builder-1, reviewer cannot work (auth)');
      const [, command = ''] = /`squad (switch [^`]*)`/.exec((await bench.run(['status'])).stdout) ?? [];
      expect(command).toBe('switch scripted --agent builder-1 --agent reviewer');
      expect((await bench.run(command.split(' '))).code).toBe(0);
      // Before an engine has heard of it, too.
      expect((await bench.run(['status'])).stdout).not.toContain('cannot work');
      const resumed = await bench.run(['resume', '--plain']);
      expect(resumed.code, resumed.stdout).toBe(0);
      expect(tries()).toBe(1);
    },
  );

  it(
    'without a stand-in asks once after one try, with the commands that help, in terminal, status and report',
    ALL,
    async () => {
      const { tries } = benchWith('expired', false);
      const { code, stdout } = await bench.run(RUN, { CODEX_API_KEY: 'key' });
      expect(code, stdout).toBe(3);
      expect(tries()).toBe(1);
      const end = stdout.slice(stdout.lastIndexOf('WAITING'));
      const status = (await bench.run(['status'])).stdout;
      const report = (await bench.report()).replaceAll(/\\(.)/g, '$1');
      for (const surface of [end, status, report]) {
        expect(surface).toContain('sign in again');
        expect(surface).toContain('`codex login`');
        expect(surface).toContain('`squad switch scripted --agent builder-1`');
      }
      expect(end).toContain('squad answer engine/auth/codex "try again"');
      expect(status).toContain("squad answer engine/auth/codex 'try again'");
      // The command that was told goes on.
      expect((await bench.run(['switch', 'scripted', '--agent', 'builder-1'])).code).toBe(0);
      const resumed = await bench.run(['resume', '--plain']);
      expect(resumed.code, resumed.stdout).toBe(0);
      for (const name of NAMES) expect(statusOf(await bench.status(), name)).toBe('done');
      expect(tries()).toBe(1);
    },
  );
});

describe('a runtime without a login', { timeout: 300_000 }, () => {
  it('does not stop a run whose agents have stand-ins', ALL, async () => {
    const { tries } = benchWith('missing', true);
    const { code, stdout, stderr } = await bench.run(RUN, HOME);
    expect(code, stdout + stderr).toBe(0);
    expect(tries()).toBe(1);
  });

  it('stops one without, before anything is spent, and says what to do', async () => {
    const { tries } = benchWith('missing', false);
    const { code, stderr } = await bench.run(RUN, HOME);
    expect(code).toBe(78);
    expect(stderr).toMatch(/builder-1 cannot work: codex cannot be used here: codex is not logged in/);
    expect(stderr).toContain('`codex login`');
    expect(tries()).toBe(0);
  });
});
