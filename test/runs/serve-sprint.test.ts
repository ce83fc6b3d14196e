// @module-tag all
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findService } from '../../src/squad/service/service-lock.ts';
import { readLockHolder } from '../../src/substrate/ledger/index.ts';
import { git } from '../support/git.ts';
import { killAll } from '../support/marked-pids.ts';
import { stateOf } from '../support/state.ts';
import { openTeamBench, teamEndOf, wrongInHistory, type TeamBench } from '../support/team-kills.ts';
import { until } from './serve-bench.ts';

type Status = Readonly<Record<string, unknown>>;

async function status(bench: TeamBench): Promise<Status> {
  return (await bench.run(['sprint', 'status', '--json'])).lines[0] ?? {};
}

function logOf(bench: TeamBench): string {
  return readFileSync(join(stateOf(bench.repository), 'service', 'service.log'), 'utf8');
}

async function serve(bench: TeamBench): Promise<void> {
  const { code, stderr } = await bench.start(['serve', '--detach', '--json']).finished;
  expect(code, stderr).toBe(0);
}

function killService(bench: TeamBench): void {
  const service = findService(stateOf(bench.repository))?.holder?.pid;
  const engine = readLockHolder(stateOf(bench.repository))?.pid;
  killAll([service, engine].filter((pid) => pid !== undefined));
}

async function benchFor(more: Readonly<Record<string, unknown>> = {}): Promise<TeamBench> {
  const bench = await openTeamBench(more);
  onTestFinished(() => {
    killService(bench);
    bench.end();
  });
  const { code, stderr } = await bench.run(['serve', 'check', '--yes']);
  expect(code, stderr).toBe(0);
  return bench;
}

async function requestIs(bench: TeamBench, state: string, most?: number): Promise<void> {
  const isSo = async (): Promise<boolean> =>
    (await bench.run(['request', 'show', bench.request, '--json'])).lines[0]?.['state'] === state;
  await until(isSo, async () => [await status(bench), logOf(bench)], most);
}

it(
  'squad serve plans a request, waits for a line that is held, and ends a sprint over its own death, with no other command',
  { timeout: 400_000 },
  async () => {
    const bench = await benchFor();
    const { repository } = bench;
    // The line and the branch that is checked out change the same line.
    const tree = git(repository, 'rev-parse', 'HEAD');
    writeFileSync(join(repository, 'same.txt'), 'theirs\n');
    git(repository, 'checkout', '-qb', 'sprints');
    git(repository, 'add', 'same.txt');
    git(repository, 'commit', '-qm', 'theirs');
    git(repository, 'checkout', '-q', 'main');
    writeFileSync(join(repository, 'same.txt'), 'ours\n');
    git(repository, 'add', 'same.txt');
    git(repository, 'commit', '-qm', 'ours');
    await serve(bench);
    await requestIs(bench, 'planned');
    const isHeld = async (): Promise<boolean> => JSON.stringify(await status(bench)).includes('conflict in same.txt');
    await until(isHeld, async () => [await status(bench), logOf(bench)]);
    expect(await status(bench)).toMatchObject({ active_sprint_id: null });
    git(repository, 'branch', '-qf', 'sprints', tree);

    const isActive = async (): Promise<boolean> => typeof (await status(bench))['active_sprint_id'] === 'string';
    await until(isActive, () => logOf(bench));
    const begun = performance.now();
    const second = await bench.run(['sprint', 'start', 'another']);
    expect([second.code, second.stderr]).toEqual([75, expect.stringContaining('is active')]);
    expect(performance.now() - begun).toBeLessThan(5_000);
    killService(bench);
    await serve(bench);
    await requestIs(bench, 'done', 240_000);
    const { items, sprints, work } = teamEndOf(bench, false);
    expect([items, sprints, work]).toEqual([['b-one done', 'b-two done'], ['completed'], ['line', 'line']]);
    expect(wrongInHistory(bench)).toEqual([]);
  },
);
