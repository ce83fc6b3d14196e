// @module-tag all
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan } from '../runs/run-script.ts';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';

let bench: RunBench;
let base: string;

beforeAll(async () => {
  bench = openRunBench({ script: [plan([piece('one')]), author('one', commits({ 'one.txt': 'one\n' })), APPROVE_ALL] });
  git(bench.repository, 'checkout', '-q', '-b', 'release');
  git(bench.repository, 'commit', '-q', '--allow-empty', '-m', 'only in the release');
  base = git(bench.repository, 'rev-parse', 'HEAD');
  git(bench.repository, 'checkout', '-q', 'main');
}, 120_000);
afterAll(() => bench.end());

it('begins from the named commit, and dry run, status, show, report and merge say so', async () => {
  const begin = ['run', 'objective.md', '--runtime', 'scripted', '--yes', '--base', 'release'];
  const dry = await bench.run([...begin, '--dry-run']);
  expect(dry.stdout, dry.stderr).toContain(`branch squad/make-things from release at ${base.slice(0, 12)}`);
  const run = await bench.run(begin);
  expect(run.code, run.stderr).toBe(0);
  expect(git(bench.repository, 'merge-base', base, 'squad/make-things')).toBe(base);
  expect((await bench.run(['status'])).stdout).toContain('branch squad/make-things, begun from release');
  expect((await bench.run(['show', '--no-pager'])).stdout).toContain('begun from release');
  const report = readFileSync(join(stateOf(bench.repository), 'runs', await runId(), 'report.md'), 'utf8');
  expect(report).toContain(`It began from \`release\` at \`${base.slice(0, 12)}\``);
  const merged = await bench.run(['merge', '--json']);
  expect(merged.lines, merged.stderr).toMatchObject([{ type: 'merged', branch: 'main', from: 'release', along: 1 }]);
  const again = await bench.run(['merge']);
  expect(again.stdout).not.toContain('came with it');
});

async function runId(): Promise<string> {
  const { lines } = await bench.run(['status', '--json']);
  return String(lines[0]?.['runId']);
}
