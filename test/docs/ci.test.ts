// @module-tag all
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, planWithCriteria } from '../runs/run-script.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { git } from '../support/git.ts';

interface Step {
  readonly name?: string;
  readonly run?: string;
}
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [, printed = ''] = /^```yaml\n([^]*?)^```$/m.exec(readFileSync(join(ROOT, 'docs/ci.md'), 'utf8')) ?? [];
const { jobs } = parse(printed) as { jobs: { run: { env: Record<string, string>; steps: readonly Step[] } } };
const AGENTS = ['planner', 'builder', 'reviewer'].map((role) => ({ name: role, role, runtime: 'scripted' }));

/** The commands of the workflow, one shell each, as a runner plays them; the packages that it installs are those of this build. */
function play(settings: object): {
  codes: Record<string, number | null>;
  summary: string;
  branches: string;
  log: string;
} {
  const script = [planWithCriteria([piece('one')], []), author('one', commits({ 'one.txt': 'one\n' })), APPROVE_ALL];
  const bench = openRunBench({ script, settings: { agents: AGENTS, ...settings } });
  onTestFinished(() => bench.end());
  const { repository, root } = bench;
  const [bin, temp] = [join(root, 'bin'), join(root, 'temp')];
  for (const folder of [bin, temp]) mkdirSync(folder);
  git(root, 'init', '--quiet', '--bare', 'origin.git');
  git(repository, 'remote', 'add', 'origin', join(root, 'origin.git'));
  writeFileSync(join(bin, 'squad'), `#!/bin/sh\nexec '${process.execPath}' '${CLI_ENTRY}' "$@"\n`, { mode: 0o755 });
  const file = (name: string): string => join(temp, name);
  for (const name of ['env', 'summary']) writeFileSync(file(name), '');
  const { steps, env } = jobs.run;
  const own = Object.entries(env).filter(([, value]) => !value.includes('${{'));
  const runner = {
    GITHUB_ENV: file('env'),
    GITHUB_STEP_SUMMARY: file('summary'),
    GITHUB_RUN_ID: '7',
    RUNNER_TEMP: temp,
  };
  const path = { PATH: `${bin}:${process.env['PATH']}`, HOME: root, OBJECTIVE: 'make one' };
  const codes: Record<string, number | null> = {};
  let log = '';
  for (const { name = '', run } of steps) {
    if (run === undefined || name === 'install') continue;
    const kept = readFileSync(file('env'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split('='));
    const all = {
      ...path,
      ...Object.fromEntries(own),
      ...runner,
      ...Object.fromEntries(kept.filter(([key]) => key !== '')),
    };
    const done = spawnSync('bash', ['-e', '-c', run], {
      cwd: repository,
      env: all as Record<string, string>,
      encoding: 'utf8',
    });
    codes[name] = done.status;
    log += done.stdout + done.stderr;
  }
  return {
    codes,
    summary: readFileSync(file('summary'), 'utf8'),
    branches: git(join(root, 'origin.git'), 'branch'),
    log,
  };
}

it.each([
  ['whose checks pass pushes its branch and ends with 0', { verify: [{ run: 'test -s one.txt' }] }, 0, 'verified'],
  ['that checked nothing pushes its branch too, and ends with 1', {}, 1, 'nothing was checked'],
] as const)('a run %s', { timeout: 120_000 }, (_, settings, end, headline) => {
  const { codes, summary, branches, log } = play(settings);
  expect(codes, log).toEqual({ run: 0, report: 0, push: 0, end });
  expect(summary).toContain(headline);
  expect(branches).toContain('squad/ci-7');
});
