// @module-tag all
import { writeFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { openRunBench, startsOf, statusOf, turnsOf, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, verdict, waitFor, type Entry } from './run-script.ts';
import { ALL } from '../support/lane.ts';
import { stateOf } from '../support/state.ts';

function benchFor(
  { onTestFinished }: { onTestFinished: (end: () => void) => void },
  script: readonly Entry[],
  settings: Record<string, unknown> = {},
): RunBench {
  const bench = openRunBench({ script: [...script, APPROVE_ALL], settings });
  onTestFinished(() => bench.end());
  return bench;
}

const HANGS = [{ run: ['true'] }, { hang: true }];
const made = (id: string): Entry => author(id, commits({ [`${id}.txt`]: `${id}\n` }));
const CHAIN = [plan([piece('a'), piece('b', { needs: ['a'] })]), made('b')];

async function told(bench: RunBench, args: readonly string[]): Promise<Record<string, unknown>> {
  const said = await bench.run([...args, '--json']);
  expect(said.code, said.stderr).toBe(0);
  return said.lines[0] ?? {};
}

describe.concurrent('from another terminal', { timeout: 300_000 }, () => {
  it('a run is paused, outlives its engine’s death so, and goes on', async (test) => {
    const bench = benchFor(test, CHAIN);
    const open = join(bench.root, 'open');
    bench.rescript([...CHAIN, author('a', [waitFor(open), ...commits({ 'a.txt': 'a\n' })]), APPROVE_ALL]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'a');
    expect(await told(bench, ['pause'])).toMatchObject({ verb: 'pause', driven: true, heard: true });
    writeFileSync(open, '');
    // What lives may end; nothing follows it.
    await engine.line(({ type, task }) => type === 'attempt-ended' && task === 'a');
    await engine.line(({ type, why }) => type === 'decided' && String(why).startsWith('paused by'));
    expect(await bench.status()).toMatchObject({ phase: 'waiting', waitingFor: { for: 'resume' } });
    engine.child.kill('SIGKILL');
    const ended = await engine.finished;
    expect(turnsOf(ended, 'a')).toMatchObject([{ outcome: 'completed' }]);
    expect(await bench.status()).toMatchObject({
      phase: 'stopped',
      waitingFor: { why: expect.stringMatching(/^paused by/) },
    });
    // No sweep takes up what a person holds back.
    expect((await told(bench, ['resume', '--all'])).runs).toEqual([]);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual(['a', 'b']);
  });

  it('a paused run keeps its engine, and `resume` lets it go on there', ALL, async (test) => {
    const bench = benchFor(test, [...CHAIN, made('a')]);
    const engine = bench.startRun();
    await engine.line(({ type }) => type === 'run-started');
    await told(bench, ['pause']);
    await engine.line(({ type, why }) => type === 'decided' && String(why).startsWith('paused by'));
    const again = await bench.run(['pause', '--task', 'nothing']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('there is no task nothing')]);
    expect(await told(bench, ['resume'])).toMatchObject({ verb: 'resume', heard: true });
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
  });

  it('an agent and a task are paused alone, also while no engine lives', ALL, async (test) => {
    const two = [plan([piece('a'), piece('b')]), made('a'), made('b')];
    const agents = ['builder-1', 'builder-2'].map((name) => ({ name, role: 'builder', runtime: 'scripted' }));
    const bench = benchFor(test, two, {
      agents: [...agents, { name: 'reviewer', role: 'reviewer', runtime: 'scripted' }],
    });
    const first = bench.startRun([], { SQUAD_FAILPOINTS: 'attempt.settled:1=kill' });
    await first.finished;
    expect(await told(bench, ['pause', '--agent', 'builder-1'])).toMatchObject({ driven: false });
    const engine = bench.start(['resume', '--json']);
    await engine.line(({ type, task }) => type === 'task-changed' && task === 'a');
    await told(bench, ['pause', '--task', 'b']);
    await told(bench, ['resume', '--task', 'b']);
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    expect(new Set([...turnsOf(ended, 'a'), ...turnsOf(ended, 'b')].map(({ agent }) => agent))).toEqual(
      new Set(['builder-2', 'reviewer']),
    );
  });

  it('a run is drained: the live turn ends, and then the engine, with exit 4', ALL, async (test) => {
    const bench = benchFor(test, CHAIN);
    const open = join(bench.root, 'open');
    bench.rescript([...CHAIN, author('a', [waitFor(open), ...commits({ 'a.txt': 'a\n' })]), APPROVE_ALL]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-started' && task === 'a');
    await told(bench, ['drain']);
    writeFileSync(open, '');
    const ended = await engine.finished;
    expect([ended.code, ended.lines.at(-1)?.['outcome']], ended.stderr).toEqual([4, 'stopped']);
    expect(turnsOf(ended, 'a')).toMatchObject([{ outcome: 'completed' }]);
    expect((await told(bench, ['resume', '--all'])).runs).toEqual([]);
    expect((await bench.run(['resume', '--json'])).code).toBe(0);
  });

  it('a task is skipped, and what needs it goes on', ALL, async (test) => {
    const bench = benchFor(test, [...CHAIN, author('a', HANGS)]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    await told(bench, ['skip', 'a', '--reason', 'not needed']);
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    const status = await bench.status();
    expect([statusOf(status, 'a'), statusOf(status, 'b')]).toEqual(['skipped', 'done']);
    expect(await bench.report()).toContain('not needed');
  });

  it('a run is cancelled for good, with and without an engine', ALL, async (test) => {
    const bench = benchFor(test, [...CHAIN, author('a', HANGS)]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    await told(bench, ['cancel', '--reason', 'wrong idea']);
    const ended = await engine.finished;
    expect([ended.code, ended.lines.at(-1)?.['outcome']], ended.stderr).toEqual([1, 'cancelled']);
    expect(ended.lines.at(-1)?.['why']).toContain('wrong idea');
    expect((await bench.run(['resume'])).code).toBe(2);
    const second = bench.startRun(['--name', 'second']);
    await second.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    second.child.kill('SIGKILL');
    await second.finished;
    expect(bench.alive()).not.toEqual([]);
    const cancelled = await bench.run(['cancel', '--json']);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    expect(cancelled.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'cancelled' });
    expect(cancelled.stdout).not.toContain('squad resume');
    expect(bench.alive()).toEqual([]);
    // Nothing was delivered, so its branch is gone, and a retry makes it again.
    expect(git(bench.repository, 'branch', '--list', 'squad/*')).toBe('');
    bench.rescript([...CHAIN, made('a'), APPROVE_ALL]);
    expect((await bench.run(['retry', 'a', '--fresh'])).code).toBe(0);
    const again = await bench.run(['resume', '--json']);
    expect([again.code, again.lines.at(-1)?.['outcome']], String(again.lines.at(-1)?.['why'])).toEqual([0, 'done']);
  });
});

describe.concurrent('what went wrong is put right', { timeout: 300_000 }, () => {
  it('a run that failed is opened again by a retry, and delivers', async (test) => {
    const bench = benchFor(test, [...CHAIN, author('a', [{ fail: { kind: 'model-refused', message: 'no' } }])]);
    expect((await bench.runAll()).code).toBe(1);
    expect(await bench.status()).toMatchObject({ phase: 'finished', outcome: 'failed' });
    bench.rescript([...CHAIN, { when: 'use the old way', steps: commits({ 'a.txt': 'a\n' }) }, APPROVE_ALL]);
    expect(await told(bench, ['retry', 'a', '--note', 'use the old way'])).toMatchObject({ driven: false });
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stderr).toBe(0);
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual(['a', 'b']);
    expect(await bench.status()).toMatchObject({ phase: 'finished', outcome: 'done' });
    expect((await bench.run(['retry', 'a', '--fresh'])).stderr).toContain('delivered');
    // Nothing that could be resumed.
    const late = await bench.run(['switch', 'scripted', '--task', 'a']);
    expect([late.code, late.stdout], late.stderr).toEqual([0, expect.stringMatching(/over[^]*squad retry/)]);
    expect(late.stdout).not.toContain('squad resume');
  });

  it('fresh: in a new session from the delivered state, and what was there is kept', ALL, async (test) => {
    const mess = [{ write: { path: 'mess.txt', text: 'mess\n' } }, { run: ['git', 'add', '--all'] }, ...HANGS];
    const bench = benchFor(test, [...CHAIN, author('a', mess)]);
    const engine = bench.startRun();
    // Written, staged, and a third one: from here on it hangs.
    let tools = 0;
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a' && ++tools === 3);
    bench.rescript([
      ...CHAIN,
      author('a', [{ run: ['test', '!', '-e', 'mess.txt'] }, ...commits({ 'a.txt': 'a\n' })]),
      APPROVE_ALL,
    ]);
    await told(bench, ['retry', 'a', '--fresh']);
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    const announced = ended.lines.filter(({ type, task }) => type === 'session-announced' && task === 'a');
    expect(new Set(announced.map(({ id }) => id)).size).toBe(announced.length);
    expect(bench.fileOnBranch('mess.txt')).toBeUndefined();
    const refs = git(bench.repository, 'for-each-ref', '--format=%(objecttype) %(refname)', 'refs/squad').split('\n');
    const all = refs.flatMap((line) => /^commit (.+)$/.exec(line)?.[1] ?? []);
    const kept = all.filter((ref) => git(bench.repository, 'ls-tree', '--name-only', ref).includes('mess.txt'));
    expect(kept, refs.join(' ')).not.toEqual([]);
  });

  it('an override delivers past reviewers who never agree', ALL, async (test) => {
    const bench = benchFor(test, [
      ...CHAIN,
      made('a'),
      verdict('b', []),
      verdict('a', ['not good enough']),
      { when: 'was rejected in review', steps: HANGS },
    ]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'review-round' && task === 'a');
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    await told(bench, ['override', 'a', 'done', '--reason', 'I read it']);
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    expect(bench.fileOnBranch('a.txt')).toBe('a');
    expect(await bench.report()).toContain('I read it');
  });
});

describe.concurrent('a usage limit that is not waited for', { timeout: 300_000 }, () => {
  it(
    'ends the engine with exit 4; a sweep leaves it alone until its reset, and then takes it up',
    ALL,
    async (test) => {
      const limit = { kind: 'quota-exhausted', message: 'come back later', retryIn: 90_000 };
      const bench = benchFor(test, [plan([piece('a')]), author('a', [{ fail: limit }])]);
      const ended = await bench.runAll(['--no-wait']);
      expect([ended.code, ended.lines.at(-1)?.['outcome']], ended.stderr).toEqual([4, 'stopped']);
      expect(await bench.status()).toMatchObject({ phase: 'stopped', waitingFor: { for: 'time' } });
      expect((await told(bench, ['resume', '--all'])).runs).toEqual([]);
      const waiting = bench.start(['resume', '--wait', '--json']);
      await waiting.line(({ type, next }) => type === 'decided' && next === 'wait');
      waiting.child.kill('SIGTERM');
      expect((await waiting.finished).code).toBe(143);
    },
  );
});

describe('which run is gone on with', { timeout: 300_000 }, () => {
  it('is none once a sweep is told to end, also while it takes them up', ALL, async (test) => {
    const bench = benchFor(test, [...CHAIN, author('a', HANGS)]);
    const engine = bench.startRun();
    await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
    engine.child.kill('SIGKILL');
    await engine.finished;
    const sweep = bench.start(['resume', '--all', '--json']);
    // It has found the run, and has yet to load what drives it.
    await new Promise((resolve) => sweep.child.stderr?.once('data', resolve));
    sweep.child.kill('SIGTERM');
    const { code, stderr } = await sweep.finished;
    expect(code, stderr).toBe(143);
    expect((await bench.run(['stop', '--json'])).code).toBe(0);
  });

  it('is the one that needs it; a sweep takes up all of them side by side', ALL, async (test) => {
    const bench = benchFor(test, [...CHAIN, author('a', HANGS)]);
    for (const name of ['one', 'two', 'three']) {
      const engine = bench.startRun(['--name', name]);
      await engine.line(({ type, task }) => type === 'tool-ended' && task === 'a');
      engine.child.kill(name === 'two' ? 'SIGKILL' : 'SIGTERM');
      await engine.finished;
    }
    await told(bench, ['pause', 'three']);
    await told(bench, ['retry', 'a', '--run', 'one', '--fresh']);
    bench.rescript([...CHAIN, made('a'), { when: 'was cut short', steps: commits({ 'a.txt': 'a\n' }) }, APPROVE_ALL]);
    const picked = bench.start(['resume', '--json']);
    await picked.line(({ type }) => type === 'run-started');
    picked.child.kill('SIGKILL');
    const { stderr, lines } = await picked.finished;
    expect(stderr).toContain('Resuming one: retry was requested (2 others unfinished');
    expect(lines[0]).toMatchObject({ name: 'one' });
    await told(bench, ['retry', 'a', '--run', 'two', '--fresh']);
    const swept = await bench.run(['resume', '--all', '--json']);
    expect(swept.code, swept.stderr).toBe(0);
    expect(swept.lines.at(-1)).toMatchObject({ type: 'sweep-ended' });
    const names = startsOf(swept).map(({ attemptId }) => String(attemptId).split('.')[0]);
    expect(new Set(names)).toEqual(new Set(['one', 'two']));
    for (const name of ['one', 'two']) expect(bench.fileOnBranch('b.txt', `squad/${name}`)).toBe('b');
    expect(existsSync(join(stateOf(bench.repository), 'lock.json'))).toBe(false);
    expect((await bench.run(['resume', '--json'])).code).toBe(0);
  });
});
