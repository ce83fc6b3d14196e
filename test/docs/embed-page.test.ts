// @module-tag all
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { openRunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, piece, planWithCriteria } from '../runs/run-script.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(ROOT, 'docs/embed-in-ten-minutes.md'), 'utf8');
const isBuilt = process.env['SQUAD_TEST_BUILT'] === '1';
const named = isBuilt ? '' : ' (left out: nothing was built for this test run)';

it.skipIf(!isBuilt)(`the program of the page approves its plan and gets a branch${named}`, { timeout: 120_000 }, () => {
  const [, program = ''] = /^```js\n([^]*?)^```$/m.exec(page) ?? [];
  const script = [planWithCriteria([piece('one')], []), author('one', commits({ 'one.txt': 'one\n' })), APPROVE_ALL];
  const bench = openRunBench({ script });
  onTestFinished(() => bench.end());
  const { root, repository } = bench;
  mkdirSync(join(root, 'app/node_modules'), { recursive: true });
  symlinkSync(ROOT, join(root, 'app/node_modules/agentsquad'));
  writeFileSync(join(root, 'app/run.mjs'), program);
  const env = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') };
  const done = spawnSync(process.execPath, ['run.mjs', repository, 'add a login form', 'scripted'], {
    ...{ cwd: join(root, 'app'), encoding: 'utf8', env },
  });
  expect([done.status, done.stderr]).toEqual([0, expect.stringContaining('Approve the plan?')]);
  expect(JSON.parse(done.stdout)).toMatchObject({ outcome: 'done', branch: 'squad/add-a-login-form' });
  expect(bench.fileOnBranch('one.txt', 'squad/add-a-login-form')).toBe('one');
});
