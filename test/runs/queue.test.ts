import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, vi } from 'vitest';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { findService } from '../../src/squad/service/service-lock.ts';
import { stateOf } from '../support/state.ts';
import { ALL } from '../support/lane.ts';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, piece, plan, type Entry } from './run-script.ts';

/** Also on top of what another run has delivered. */
const MORE = { run: ['sh', '-c', 'echo a >>a.txt && git add a.txt && git commit --quiet --message work'] };
const SCRIPT: readonly Entry[] = [plan([piece('a')]), author('a', [MORE, { answer: 'done' }]), APPROVE_ALL];

function benchFor({ onTestFinished }: { onTestFinished: (end: () => void) => void }): RunBench {
  const bench = openRunBench({ script: SCRIPT });
  onTestFinished(() => bench.end());
  return bench;
}

async function json(bench: RunBench, args: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const said = await bench.run([...args, '--json']);
  expect(said.code, said.stderr).toBe(0);
  return said.lines;
}

const WAITS = { timeout: 120_000, interval: 500 };

const ADD = ['add', 'objective.md', '--runtime', 'scripted', '--yes'];

async function add(bench: RunBench, name: string, ...more: readonly string[]): Promise<Record<string, unknown>> {
  return (await json(bench, [...ADD, '--name', name, ...more]))[0] ?? {};
}

async function names(bench: RunBench): Promise<unknown[]> {
  return (await json(bench, ['queue'])).map(({ name }) => name);
}

async function states(bench: RunBench): Promise<Record<string, unknown>> {
  const runs = await json(bench, ['runs']);
  return Object.fromEntries(runs.map(({ name, state }) => [name, state]));
}

describe.concurrent('the queue', { timeout: 300_000 }, () => {
  it('keeps runs until an engine takes them, in the order that a person gives it', ALL, async (test) => {
    const bench = benchFor(test);
    expect(await add(bench, 'one', '--key', 'k')).toMatchObject({ type: 'run-queued', place: 1, known: false });
    expect(await add(bench, 'again', '--key', 'k')).toMatchObject({ name: 'one', known: true });
    await add(bench, 'two');
    expect(await add(bench, 'first', '--priority', 'high')).toMatchObject({ place: 1 });
    expect(await names(bench)).toEqual(['first', 'one', 'two']);
    await json(bench, ['queue', 'move', 'two', '1']);
    expect(await names(bench)).toEqual(['two', 'first', 'one']);
    await json(bench, ['queue', 'drop', 'first']);
    expect(await names(bench)).toEqual(['two', 'one']);
    expect(await states(bench)).toEqual({ one: 'queued', two: 'queued', first: 'stopped' });
    expect((await json(bench, ['status', 'two']))[0]).toMatchObject({ phase: 'queued' });

    const swept = await json(bench, ['resume', '--all']);
    expect(swept.at(-1)?.['runs']).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }]);
    const started = swept.filter(({ type }) => type === 'run-started');
    expect(started.map(({ name, resumed }) => [name, resumed])).toEqual([
      ['two', false],
      ['one', false],
    ]);
    expect(await states(bench)).toEqual({ one: 'done', two: 'done', first: 'stopped' });
    expect(bench.fileOnBranch('a.txt', 'squad/two')).toBe('a');
    expect(git(bench.repository, 'branch', '--list', 'squad/first')).toBe('');

    // A person starts it all the same.
    expect((await json(bench, ['resume', 'first'])).at(-1)).toMatchObject({ outcome: 'done' });
  });

  it(
    'begins where it was said: with a commit, with a branch as it is then, or with what another run delivered',
    ALL,
    async (test) => {
      const bench = benchFor(test);
      const { repository } = bench;
      git(repository, 'branch', 'line');
      git(repository, 'branch', 'gone');
      const head = git(repository, 'rev-parse', 'HEAD');
      await add(bench, 'commit');
      await add(bench, 'line', '--base', 'line');
      await add(bench, 'gone', '--base', 'gone');
      await add(bench, 'after', '--after', 'commit');
      await add(bench, 'after-gone', '--after', 'gone');
      const queue = await json(bench, ['queue']);
      expect(queue.map(({ name, state, base }) => ({ name, state, base }))).toEqual([
        { name: 'commit', state: 'ready', base: { of: 'commit', commit: head } },
        { name: 'line', state: 'ready', base: { of: 'ref', ref: 'line' } },
        { name: 'gone', state: 'ready', base: { of: 'ref', ref: 'gone' } },
        { name: 'after', state: 'waits', base: { of: 'run', run: 'commit' } },
        { name: 'after-gone', state: 'waits', base: { of: 'run', run: 'gone' } },
      ]);
      git(repository, 'commit', '--allow-empty', '--quiet', '--message', 'later');
      git(repository, 'branch', '--force', 'line');
      const moved = git(repository, 'rev-parse', 'line');
      git(repository, 'branch', '--delete', '--force', 'gone');

      await bench.run(['resume', '--all', '--json']);
      expect(await states(bench)).toEqual({
        commit: 'done',
        line: 'done',
        gone: 'stopped',
        after: 'done',
        'after-gone': 'queued',
      });
      const rest = await json(bench, ['queue']);
      expect(rest.map(({ name, state, why }) => [name, state, why])).toEqual([
        ['gone', 'held', expect.stringContaining('could not start: ')],
        ['after-gone', 'waits', 'it waits for gone'],
      ]);
      const parentOf = (run: string): string => git(repository, 'rev-parse', `squad/${run}~1`);
      expect([parentOf('commit'), parentOf('line')]).toEqual([head, moved]);
      expect(git(repository, 'merge-base', '--is-ancestor', 'squad/commit', 'squad/after')).toBe('');

      // What was in its way is gone.
      git(repository, 'branch', 'gone', head);
      // In a process, which leaves the rest of the queue to one in the background.
      const resumed = await bench.run(['resume', 'gone', '--json'], {});
      expect([resumed.lines.at(-1)?.['outcome'], resumed.stderr]).toEqual([
        'done',
        expect.stringContaining('in the background'),
      ]);
      await vi.waitFor(async () => expect(await states(bench)).toMatchObject({ 'after-gone': 'done' }), WAITS);
    },
  );

  it('holds a run whose beginning or consent is gone, says which, and starts the next one', ALL, async (test) => {
    const bench = benchFor(test);
    const { repository } = bench;
    git(repository, 'commit', '--allow-empty', '--quiet', '--message', 'soon gone');
    await add(bench, 'pruned');
    git(repository, 'reset', '--quiet', '--hard', 'HEAD~1');
    git(repository, 'reflog', 'expire', '--expire=now', '--all');
    git(repository, 'gc', '--quiet', '--prune=now');
    await add(bench, 'unagreed');
    const trust = join(stateOf(repository), 'trust.json');
    rmSync(trust);
    await add(bench, 'fine');
    await bench.run(['resume', '--all', '--json']);
    expect(await states(bench)).toEqual({ pruned: 'stopped', unagreed: 'stopped', fine: 'done' });
    const held = await json(bench, ['queue']);
    expect(held.map(({ name, state, why }) => [name, state, why])).toEqual([
      ['pruned', 'held', expect.stringMatching(/could not start: .*(?:gone|agreed)/)],
      ['unagreed', 'held', expect.stringContaining('no person has agreed')],
    ]);
    expect((await bench.run(['resume', 'pruned', '--yes'])).stderr).toContain('is gone');
    expect((await json(bench, ['resume', 'unagreed', '--yes'])).at(-1)).toMatchObject({ outcome: 'done' });
  });

  it(
    'holds a run whose skill or runtime is gone, or the result that it begins with, and starts the next one',
    ALL,
    async (test) => {
      const files = { 'skills/x/SKILL.md': '---\nname: x\ndescription: does x for all\n---\nDo x.\n' };
      const bench = openRunBench({ script: SCRIPT, files });
      test.onTestFinished(() => bench.end());
      const { repository, root } = bench;
      const { runtimes } = JSON.parse(readFileSync(join(repository, 'squad.yaml'), 'utf8')) as { runtimes: unknown };
      await add(bench, 'one');
      await json(bench, ['resume', '--all']);
      await add(bench, 'two', '--after', 'one');
      // Its skill is a copy of its own, which only a damage takes away.
      const agents = ['planner', 'builder', 'reviewer'].map((role) => ({
        ...{ name: `${role}-1`, role, runtime: 'scripted', skills: ['skills/x'] },
        access: role === 'builder' ? 'edit' : 'read-only',
      }));
      bench.settings({ runtimes, agents });
      const skilled = (await json(bench, ['add', 'objective.md', '--yes', '--name', 'skilled']))[0];
      rmSync(join(stateOf(repository), 'runs', String(skilled?.['runId']), 'armory'), { recursive: true });
      const script = join(root, 'other-script.json');
      writeFileSync(script, '{"turns":[]}');
      bench.settings({ runtimes: { scripted: { config: { script } } } });
      await add(bench, 'unplayed');
      rmSync(script);
      bench.settings({ runtimes });
      await add(bench, 'fine');

      const kept = await bench.run(['drop', 'one', '--all', '--yes']);
      expect([kept.code, kept.stderr]).toEqual([2, expect.stringContaining('two, in the queue, begins with what one')]);
      git(repository, 'branch', '--delete', '--force', 'squad/one');
      for (const ref of git(repository, 'for-each-ref', '--format=%(refname)', 'refs/squad').split('\n'))
        git(repository, 'update-ref', '-d', ref);
      git(repository, 'reflog', 'expire', '--expire=now', '--all');
      git(repository, 'gc', '--quiet', '--prune=now');

      await bench.run(['resume', '--all', '--json']);
      expect(await states(bench)).toEqual({
        ...{ one: 'done', fine: 'done' },
        ...{ two: 'stopped', skilled: 'waiting', unplayed: 'failed' },
      });
      expect((await json(bench, ['queue'])).map(({ name, why }) => [name, why])).toEqual([
        ['two', expect.stringMatching(/could not start: the result of one that it begins with is gone/)],
      ]);
      const status = async (run: string): Promise<string> => (await bench.run(['status', run])).stdout;
      expect(await status('skilled')).toContain('the skill x');
      expect(await status('unplayed')).toContain('other-script.json');
    },
  );

  it('says what a run waits for that will not end by itself', ALL, async (test) => {
    const bench = benchFor(test);
    const states = async (): Promise<unknown[]> =>
      (await json(bench, ['queue'])).map(({ name, state, why }) => [name, state, why]);
    await add(bench, 'one');
    await add(bench, 'two', '--after', 'one');
    expect(await states()).toContainEqual(['two', 'waits', 'it waits for one']);
    const status = async (): Promise<string> => (await bench.run(['status', 'two'])).stdout;
    expect(await status()).toContain('queued\n  it waits for one\n');
    await json(bench, ['queue', 'drop', 'one']);
    expect(await states()).toEqual([['two', 'held', expect.stringContaining('`squad resume one` starts it')]]);
    expect(await status()).toContain('one, which it waits for, is out of the queue');
    // Killed before it was defined: there is nothing that another run could begin with.
    const run = ['run', ...ADD.slice(1), '--name', 'cut'];
    expect((await bench.run(run, { SQUAD_FAILPOINTS: 'run.created:1=kill' })).signal).toBe('SIGKILL');
    const refused = await bench.run([...ADD, '--after', 'cut']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('its start was cut short')]);
  });

  it('leaves a ledger of a newer version alone', ALL, async (test) => {
    const bench = benchFor(test);
    await add(bench, 'one');
    const path = ledgerPath(stateOf(bench.repository));
    const version = (to?: number): unknown => {
      const db = new Database(path);
      try {
        return to === undefined ? db.pragma('user_version', { simple: true }) : db.pragma(`user_version = ${to}`);
      } finally {
        db.close();
      }
    };
    const known = Number(version());
    version(known + 1);
    const looks = [ADD, ['queue'], ['queue', 'drop', 'one'], ['resume', '--all']];
    for (const command of [...looks, ['serve'], ['serve', '--detach'], ['serve', 'status']]) {
      const said = await bench.run(command);
      expect([command, said.code, said.stdout, said.stderr]).toEqual([
        ...[command, 78, ''],
        expect.stringMatching(/^squad: [^\n]* written by a newer squad [^\n]*\nNext: [^\n]*\n$/),
      ]);
    }
    expect(findService(stateOf(bench.repository))).toBeNull();
    expect(version()).toBe(known + 1);
    version(known);
    expect(await names(bench)).toEqual(['one']);
  });

  it('refuses what can never start', ALL, async (test) => {
    const bench = benchFor(test);
    const refused = async (...more: readonly string[]): Promise<[number | null, string]> => {
      const said = await bench.run([...ADD, ...more]);
      return [said.code, said.stderr];
    };
    expect(await refused('--after', 'nothing')).toEqual([2, expect.stringContaining('no run')]);
    await add(bench, 'one');
    expect(await refused('--after', 'on')).toEqual([2, expect.stringContaining('one')]);
    expect(await refused('--after', 'one', '--base', 'main')).toEqual([2, expect.stringContaining('together')]);
    expect(await refused('--priority', 'soon')).toEqual([2, expect.stringContaining('high, medium, low')]);
    expect(await refused('--name', 'one')).toEqual([65, expect.stringContaining('already exists')]);
    expect((await bench.run(['queue', 'move', 'one', '0'])).code).toBe(2);
    expect((await bench.run(['queue', 'drop', 'two'])).code).toBe(2);
    // An engine would start it without them.
    const files = await bench.run(['drop', 'one', '--all', '--yes']);
    expect([files.code, files.stderr]).toEqual([2, expect.stringContaining('squad queue drop one')]);
    expect(await names(bench)).toEqual(['one']);
    await json(bench, ['queue', 'drop', 'one']);
    expect((await bench.run(['queue', 'drop', 'nothing'])).stderr).toContain('There is: one.');
    expect((await bench.run(['drop', 'one', '--yes'])).stderr).toContain('it has never started, and can still');
  });
});
