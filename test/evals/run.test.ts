// @module-tag all
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { hashOfPrompts } from '../../src/squad/preflight/changed-prompts.ts';
import { promptFile } from '../../src/squad/repository-prompts.ts';
import { ALL } from '../support/lane.ts';
import { scriptOf } from './models.ts';

const RUN = fileURLToPath(new URL('../../evals/run.ts', import.meta.url));
const SHIPPED = hashOfPrompts({});
const built = process.env['SQUAD_TEST_BUILT'] === '1';

function evals(home: string, ...args: string[]) {
  const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: home };
  return spawnSync(process.execPath, [RUN, ...args], { cwd: home, env, encoding: 'utf8', input: '' });
}

function homeForTest(): string {
  const home = mkdtempSync(join(tmpdir(), 'squad-eval-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return home;
}

it('starts nothing without a runtime, a cap and consent', () => {
  const home = homeForTest();
  for (const args of [[], ['--runtime', 'claude'], ['--runtime', 'claude', '--max-usd', '0'], ['--max-usd', '5']]) {
    expect(evals(home, ...args)).toMatchObject({ status: 2, stderr: expect.stringContaining('usage: npm run evals') });
  }
  const asked = evals(home, '--runtime', 'claude', '--max-usd', '5', '--set', 'builders');
  expect([asked.status, asked.stderr]).toEqual([2, 'Give your consent with --yes.\n']);
  expect(asked.stdout).toMatch(
    /^10 items \(10 of builders\), one turn each .* about USD 2\.50\. It stops before USD 5\./,
  );
  expect(readdirSync(home)).toEqual([]);
});

it.skipIf(!built)('writes a table and JSON of what was played, up to the cap', { ...ALL, timeout: 120_000 }, () => {
  const home = homeForTest();
  const settings = join(home, '.config/squad');
  mkdirSync(settings, { recursive: true });
  const script = join(home, 'script.json');
  writeFileSync(script, JSON.stringify(scriptOf('planners', 'good')));
  writeFileSync(join(settings, 'config.yaml'), JSON.stringify({ runtimes: { scripted: { config: { script } } } }));
  mkdirSync(join(home, 'mine/planner'), { recursive: true });
  writeFileSync(join(home, 'mine/planner/role.md'), `${promptFile('planner/role')}Plan boldly.\n`);
  const flags = ['--runtime', 'scripted', '--set', 'planners', '--max-usd', '5', '--prompts', 'mine', '--out', 'out'];
  const said = evals(home, ...flags, '--yes');
  expect([said.status, said.stderr]).toEqual([0, '']);
  const [json = '', markdown = ''] = readdirSync(join(home, 'out')).toSorted();
  expect(JSON.parse(readFileSync(join(home, 'out', json), 'utf8'))).toMatchObject({
    ...{ runtime: 'scripted', prompts: 'mine', stopped: null },
    items: expect.arrayContaining([expect.objectContaining({ promptHash: expect.not.stringMatching(SHIPPED) })]),
    summaries: [{ set: 'planners', played: 10, right: 10, score: 1, usd: 0.2 }],
  });
  const table = readFileSync(join(home, 'out', markdown), 'utf8');
  expect(table).toContain('| planners | 10 of 10 |  |  |  | 1.00 | 10 | 10000 | USD 0.2000 |');
  expect(said.stdout).toContain(table.trim());
});
