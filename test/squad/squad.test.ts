import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunEvent } from '../../src/model/run-event.ts';
import { createSquad, type Squad } from '../../src/squad/squad.ts';
import { runIdOf } from '../../src/squad/open-workspace.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Entry, type Step } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';
import { CLI_ENTRY } from '../support/cli-entry.ts';
import { newStateOf, stateOf } from '../support/state.ts';

const STEPS = commits({ 'one.txt': 'one\n' });

function scriptWith(steps: readonly Step[]): Entry[] {
  return [plan([piece('one')]), author('one', steps), APPROVE_ALL];
}

function benchFor(steps: readonly Step[] = STEPS, settings: Readonly<Record<string, unknown>> = {}): RunBench {
  const bench = openRunBench({ script: scriptWith(steps), settings });
  onTestFinished(() => bench.end());
  return bench;
}

function environmentOf({ root }: RunBench) {
  return { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state'), USER: 'ada' };
}

function squadIn(bench: RunBench): Squad {
  return createSquad({ cwd: bench.repository, environment: environmentOf(bench) });
}

/** Resolves with the first event that fits. */
function watcher() {
  const seen: RunEvent[] = [];
  const waiting = new Set<() => void>();
  return {
    seen,
    onEvent: (event: RunEvent): void => {
      seen.push(event);
      for (const look of waiting) look();
    },
    first: async (fits: (event: RunEvent) => boolean): Promise<RunEvent> =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = seen.find(fits);
          if (found !== undefined) resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

const isTaken = (event: RunEvent): boolean => event.type === 'attempt-taken' && event.task === 'one';
const scripted = { runtime: 'scripted', trust: 'yes' } as const;

describe('createSquad', { timeout: 120_000 }, () => {
  it('shows, ejects and compares prompts, and gives a run prompts of its own', ALL, async () => {
    const bench = benchFor();
    const squad = squadIn(bench);
    const { prompts } = squad;
    const { file, replaced } = await prompts.eject('builder/role');
    expect([file, replaced]).toEqual(['squad/prompts/builder/role.md', false]);
    await expect(prompts.eject('builder/role')).rejects.toMatchObject({ code: 'bad-input' });
    await expect(prompts.show('bilder/role')).rejects.toMatchObject({ code: 'usage' });
    expect(await prompts.diff()).toMatchObject([{ name: 'builder/role', changed: false, hasMoved: false, lines: [] }]);
    expect(await prompts.show('builder/role')).toMatchObject({ file, changed: false, facts: [] });
    expect((await prompts.list()).problems).toEqual([]);
    const own = { 'builder/role': 'You build boats.' };
    const running = await squad.run('objective.md', { ...scripted, prompts: own });
    expect((await running.done).outcome).toBe('done');
    expect((await squad.status()).prompts.changed).toEqual(['builder/role']);
  });

  it('runs an objective that is no file, and answers for it', ALL, async () => {
    const bench = benchFor();
    const squad = squadIn(bench);
    expect(await squad.runs()).toEqual([]);
    const before = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal));
    const { seen, onEvent } = watcher();
    const run = await squad.run({ text: objective() }, { ...scripted, limits: { turns: 9 }, onEvent });
    const end = await run.done;
    expect(end).toMatchObject({ outcome: 'done', exitCode: 0, name: run.name });
    expect(bench.fileOnBranch('one.txt')).toBe('one');
    expect(seen[0]).toMatchObject({ type: 'run-started', runId: run.runId });
    expect(await squad.status(run.runId)).toMatchObject({ phase: 'finished', outcome: 'done', limits: { turns: 9 } });
    expect(await squad.runs()).toMatchObject([{ runId: run.runId, name: run.name, need: null, why: null }]);
    expect(['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => process.listenerCount(signal))).toEqual(before);
  });

  it('refuses commands without consent and lists them, and asks a function once', ALL, async () => {
    const bench = benchFor(STEPS, { verify: [{ run: 'test -s one.txt' }] });
    const squad = squadIn(bench);
    await expect(squad.run('objective.md', { runtime: 'scripted' })).rejects.toMatchObject({
      code: 'not-trusted',
      message: expect.stringContaining('verify: test -s one.txt'),
      next: expect.stringContaining("trust: 'yes'"),
    });
    expect(await squad.runs()).toEqual([]);
    const asked: string[] = [];
    const trust = async (commands: readonly { run: string }[]) => {
      asked.push(...commands.map(({ run }) => run));
      return true;
    };
    const run = await squad.run('objective.md', { runtime: 'scripted', trust });
    expect(asked).toContain('test -s one.txt');
    expect((await run.done).outcome).toBe('done');
  });

  it('has several squads in one process at once', ALL, async () => {
    const benches = [benchFor(), benchFor()];
    const runs = await Promise.all(benches.map(async (bench) => squadIn(bench).run('objective.md', scripted)));
    const ends = await Promise.all(runs.map(async ({ done }) => done));
    expect(ends.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
    for (const [index, bench] of benches.entries()) {
      expect((await squadIn(bench).runs()).map(({ runId }) => runId)).toEqual([runs[index]?.runId]);
    }
  });
});

describe('a run with an id of the caller’s own', { timeout: 120_000 }, () => {
  it('is continued by a second `run`, which gives its end again once it is over', ALL, async () => {
    const bench = benchFor([{ sleep: 60_000 }]);
    const { onEvent, first } = watcher();
    const one = await squadIn(bench).run('objective.md', { ...scripted, id: 'job 7', onEvent });
    await first(isTaken);
    await expect(squadIn(bench).run('objective.md', { ...scripted, id: 'job 7' })).rejects.toMatchObject({
      code: 'workspace-busy',
    });
    await one.cancel('the host ends');
    expect((await one.done).outcome).toBe('interrupted');
    // The turn may have been cut short before its agent had a session.
    bench.rescript([...scriptWith(STEPS), { when: 'was cut short', steps: STEPS }]);
    const two = await squadIn(bench).run('another objective.md', { ...scripted, id: 'job 7' });
    expect(two.runId).toBe(one.runId);
    const end = await two.done;
    expect(end.outcome).toBe('done');
    const three = await squadIn(bench).run('objective.md', { ...scripted, id: 'job 7' });
    expect(await three.done).toEqual({ ...end, why: expect.any(String) });
    expect(await squadIn(bench).status('job 7')).toMatchObject({ runId: one.runId, outcome: 'done' });
    expect(await squadIn(bench).runs()).toHaveLength(1);
  });

  it('begins anew where the first was cut short before it was defined', ALL, async () => {
    const bench = benchFor();
    const runId = runIdOf(newStateOf(bench.repository), 'job');
    const ledger = openLedger(stateOf(bench.repository), { clock: createSystemClock() });
    ledger.createRun({ id: runId, name: 'make-things' });
    ledger.close();
    const run = await squadIn(bench).run('objective.md', { ...scripted, id: 'job' });
    expect(run).toMatchObject({ runId, name: 'make-things' });
    expect((await run.done).outcome).toBe('done');
  });

  it('has that very id if it is a UUID, also from the command line', ALL, async () => {
    const bench = benchFor([{ sleep: 60_000 }]);
    const runId = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const { onEvent, first } = watcher();
    const one = await squadIn(bench).run('objective.md', { ...scripted, runId: runId.toUpperCase(), onEvent });
    expect(one.runId).toBe(runId);
    await first(isTaken);
    const busy = await bench.runAll(['--run-id', runId]);
    expect([busy.code, busy.lines.at(-1)]).toEqual([75, expect.objectContaining({ code: 'workspace-busy' })]);
    await one.cancel('the host ends');
    await one.done;
    bench.rescript([...scriptWith(STEPS), { when: 'was cut short', steps: STEPS }]);
    const two = await bench.runAll(['--run-id', runId]);
    expect([two.code, two.lines[0]]).toEqual([0, expect.objectContaining({ runId, resumed: true })]);
    const three = await squadIn(bench).run('objective.md', { ...scripted, runId });
    expect(await three.done).toMatchObject({ runId, outcome: 'done' });
    expect(await squadIn(bench).runs()).toHaveLength(1);
  });

  it.each([
    [{ runId: 'job 7' }, 'job 7 is no id of a run'],
    [{ runId: '0f8fad5b-d9cb-469f-a165-70867728950e', id: 'job' }, '`id` and `runId` cannot be given together'],
  ])('is refused where it cannot be one: %o', async (ids, message) => {
    const bench = benchFor();
    await expect(squadIn(bench).run('objective.md', { ...scripted, ...ids })).rejects.toMatchObject({
      code: 'usage',
      message,
    });
    expect(await squadIn(bench).runs()).toEqual([]);
  });

  it('is another run in another repository', () => {
    expect(runIdOf('/one', 'job')).not.toBe(runIdOf('/two', 'job'));
    expect(runIdOf('/one', 'job')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('a run that this process drives', { timeout: 120_000 }, () => {
  it('is looked at, paused and stopped, and keeps its lock', ALL, async () => {
    const bench = benchFor([{ sleep: 60_000 }]);
    const squad = squadIn(bench);
    const { onEvent, first } = watcher();
    const run = await squad.run('objective.md', { ...scripted, onEvent });
    await first(isTaken);
    expect(await squad.runs()).toMatchObject([{ need: 'driven' }]);
    expect(await squad.status()).toMatchObject({ runId: run.runId, phase: 'running' });
    expect(await squad.intervene(run.runId, { verb: 'pause' })).toMatchObject({ driven: true, heard: true, by: 'ada' });
    expect(await squad.status()).toMatchObject({ held: [{ scope: 'run', verb: 'pause', by: 'ada' }] });
    const other = spawnSync(process.execPath, [CLI_ENTRY, 'run', 'objective.md', '--runtime', 'scripted', '--yes'], {
      cwd: bench.repository,
      env: environmentOf(bench),
      encoding: 'utf8',
    });
    expect([other.status, other.stderr]).toEqual([75, expect.stringContaining('Another squad')]);
    expect(await squad.stop(run.runId)).toMatchObject({ runId: run.runId, over: false, ended: [expect.any(String)] });
    expect((await run.done).outcome).toBe('stopped');
    expect(await squad.runs()).toMatchObject([{ need: 'held' }]);
  });

  it('asks, gets its answer and is resumed', ALL, async () => {
    const bench = openRunBench({
      script: [author('one', [{ fail: { kind: 'auth', message: 'log in' } }]), plan([piece('one')])],
    });
    onTestFinished(() => bench.end());
    const squad = squadIn(bench);
    const end = await (await squad.run('objective.md', scripted)).done;
    expect(end).toMatchObject({ outcome: 'waiting', exitCode: 3 });
    const [question] = end.questions;
    await expect(squad.answer(end.runId, 'no such option')).rejects.toMatchObject({ code: 'usage' });
    expect(await squad.answer(end.runId, 'try again')).toMatchObject({
      question: question?.id,
      answer: 'try again',
      driven: false,
      open: [],
    });
    expect(await squad.runs()).toMatchObject([{ need: 'answered' }]);
    bench.rescript(scriptWith(STEPS));
    const resumed = await squad.resume();
    expect(resumed.runId).toBe(end.runId);
    expect((await resumed.done).outcome).toBe('done');
    await expect(squad.resume(end.runId)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('what a squad refuses', () => {
  it('is a SquadError', async () => {
    const bench = benchFor();
    const squad = squadIn(bench);
    await expect(squad.status()).rejects.toMatchObject({ code: 'usage', next: expect.any(String) });
    await expect(squad.resume()).rejects.toMatchObject({ code: 'usage' });
    await expect(squad.run({ text: ' \n' }, scripted)).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('the objective:1'),
    });
    await expect(squad.run('gone.md', scripted)).rejects.toMatchObject({ code: 'bad-input' });
    await expect(squad.run('objective.md', { ...scripted, limits: { turns: -1 } })).rejects.toMatchObject({
      code: 'usage',
    });
    const elsewhere = createSquad({ cwd: bench.root, environment: environmentOf(bench) });
    await expect(elsewhere.runs()).rejects.toMatchObject({ code: 'not-a-repository' });
  });
});
