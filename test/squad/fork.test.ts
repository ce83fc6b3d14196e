// @module-tag all
import { afterEach, describe, expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import type { ForkPoint } from '../../src/view/fork-plan.ts';
import type { RunStatus } from '../../src/view/status.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict, type Entry } from '../runs/run-script.ts';
import { footprintOf } from '../support/fork-footprint.ts';
import { git } from '../support/git.ts';
import { ALL, NIGHT, SPREAD, some } from '../support/lane.ts';
import { replayRun } from '../support/replay/replay-run.ts';
import { testHost } from '../support/test-host.ts';
import { stateOf } from '../support/state.ts';

/** Two pieces side by side, one of which its reviewer sends back once, and a third that needs both. */
const SCRIPT: readonly Entry[] = [
  plan([piece('left'), piece('right'), piece('both', { needs: ['left', 'right'] })]),
  again('left', 'review', commits({ 'left.txt': 'better\n' })),
  { ...verdict('left', ['too plain']), when: '# Review of task left: Make left (round 1)' },
  APPROVE_ALL,
  author('left', commits({ 'left.txt': 'plain\n' })),
  author('right', commits({ 'right.txt': 'right\n' })),
  author('both', commits({ 'both.txt': 'both\n' })),
];
const AGENTS = [
  { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
  { name: 'builder-1', role: 'builder', runtime: 'scripted' },
  { name: 'builder-2', role: 'builder', runtime: 'scripted' },
  { name: 'reviewer', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
];

interface MadeFork {
  readonly runId: string;
  readonly parent: { readonly seq: number };
}

let bench: RunBench;
afterEach(() => bench.end());

function openBench(script: readonly Entry[] = SCRIPT): void {
  bench = openRunBench({ script, settings: { agents: AGENTS } });
}

async function pointsOf(run: string): Promise<readonly ForkPoint[]> {
  const { stdout } = await bench.run(['fork', run, '--json']);
  return (JSON.parse(stdout) as { points: ForkPoint[] }).points;
}

async function forkAt(run: string, seq: number, name: string): Promise<MadeFork> {
  const made = await bench.run(['fork', run, '--at', String(seq), '--name', name, '--json']);
  expect(made.code, made.stderr).toBe(0);
  return JSON.parse(made.stdout) as MadeFork;
}

async function statusOf(run: string): Promise<RunStatus> {
  return JSON.parse((await bench.run(['status', run, '--json'])).stdout) as RunStatus;
}

async function expectDone(run: string): Promise<void> {
  const resumed = await bench.run(['resume', run, '--json']);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect((await statusOf(run)).outcome).toBe('done');
  for (const [path, text] of [
    ['left.txt', 'better'],
    ['right.txt', 'right'],
    ['both.txt', 'both'],
  ] as const) {
    expect(bench.fileOnBranch(path, `squad/${run}`)).toBe(text);
  }
}

/** A finished run named `first`, and the numbers of its events. */
async function runFirst(): Promise<readonly number[]> {
  const first = await bench.runAll(['--name', 'first']);
  expect(first.code, first.stderr).toBe(0);
  return eventsOf('first');
}

function eventsOf(run: string): readonly number[] {
  const ledger = bench.ledger();
  try {
    return ledger.events({ stream: ledger.run(run)?.id ?? '' }).map(({ seq }) => seq);
  } finally {
    ledger.close();
  }
}

async function namesOf(): Promise<unknown[]> {
  return (await bench.run(['runs', '--json'])).lines.map(({ name }) => name);
}

async function refusalOf(...args: readonly string[]): Promise<string> {
  const refused = await bench.run(['fork', ...args]);
  // `bad-input`; an unknown run is a matter of the command line.
  expect(refused.code, refused.stderr).toBe(refused.stderr.includes('no run is called') ? 2 : 65);
  return refused.stderr;
}

describe('a fork', () => {
  it('goes on from the middle of a run to its own end, leaves the run as it was, and is refused where there is none', async () => {
    openBench();
    const events = await runFirst();
    expect(await refusalOf('firsd', '--at', '9')).toContain('did you mean first?');
    expect(await refusalOf('first', '--at', '1')).toContain('cannot be forked at 1: nothing was decided by then');
    const beyond = String((events.at(-1) ?? 0) + 1);
    const strange = await refusalOf('first', '--at', beyond);
    expect(strange).toContain(`cannot be forked at ${beyond}: it is not an event of first`);
    expect(strange).toMatch(/There is: \d+ \(the plan began\), .*squad fork first/);
    expect(await refusalOf('first', '--at', String(events.at(-1)), '--name', 'first')).toContain('already exists');
    expect(await refusalOf('first', '--at', '9', '--name', 'No Name')).toContain('--name');
    expect(await namesOf()).toEqual(['first']);
    const points = await pointsOf('first');
    const middle = points.find(({ what }) => what.includes('left was sent back'));
    const before = footprintOf(bench, 'first');
    const { parent } = await forkAt('first', middle?.seq ?? 0, 'second');
    expect(parent.seq).toBe(middle?.seq);
    expect(footprintOf(bench, 'first')).toEqual(before);
    const ready = await statusOf('second');
    expect(ready).toMatchObject({
      phase: 'stopped',
      turns: { started: 0 },
      parent: { name: 'first', seq: middle?.seq },
      next: ['squad resume second'],
      waitingFor: { for: 'resume', why: 'it is a fork that has not been started' },
    });
    expect(ready.tasks.map(({ id, status }) => `${id} ${status}`)).toContain('left ready');
    expect((await bench.run(['resume', '--all'])).code).toBe(0);
    expect((await statusOf('second')).phase).toBe('stopped');
    await expectDone('second');
    expect(footprintOf(bench, 'first')).toEqual(before);
    for (const run of ['first', 'second']) {
      const { recorded, steps, differences } = await replayRun(
        compose(testHost(bench.root)),
        stateOf(bench.repository),
        run,
      );
      expect([steps, differences]).toEqual([recorded, []]);
    }
    expect((await bench.run(['report', 'second'])).stdout).toContain(`A fork of \`first\` at event ${middle?.seq}`);
    expect((await bench.run(['runs'])).stdout).toMatch(/^second .*fork of first: /m);
  });

  it('needs no ref of its parent, and is refused once its commits are gone', ALL, async () => {
    openBench();
    await runFirst();
    const points = await pointsOf('first');
    const middle = points.find(({ what }) => what.includes('left was sent back'))?.seq ?? 0;
    await forkAt('first', middle, 'second');
    const dropped = await bench.run(['drop', 'first', '--all', '--yes']);
    expect(dropped.code, dropped.stderr).toBe(0);
    git(bench.repository, 'reflog', 'expire', '--expire=now', '--all');
    git(bench.repository, 'gc', '--quiet', '--prune=now');
    await forkAt('second', eventsOf('second').at(-1) ?? 0, 'third');
    const last = points.at(-1)?.seq ?? 0;
    expect(await refusalOf('first', '--at', String(last))).toMatch(
      /the repository has no commit [0-9a-f]{12}.* any more/,
    );
    await expectDone('second');
    await expectDone('third');
  });

  it('at a third and at two thirds of a run ends as the run did, also as a fork of a fork', NIGHT, async () => {
    openBench();
    const events = await runFirst();
    const before = footprintOf(bench, 'first');
    for (const [index, part] of [1 / 3, 2 / 3].entries()) {
      const name = `part-${index}`;
      await forkAt('first', events[Math.floor(events.length * part)] ?? 0, name);
      await expectDone(name);
    }
    const fork = footprintOf(bench, 'part-0');
    const its = eventsOf('part-0');
    const { parent } = await forkAt('part-0', its[Math.floor(its.length * 0.8)] ?? 0, 'part-2');
    expect((await statusOf('part-2')).parent).toMatchObject({ name: 'part-0', seq: parent.seq });
    await expectDone('part-2');
    expect(footprintOf(bench, 'part-0')).toEqual(fork);
    expect(footprintOf(bench, 'first')).toEqual(before);
  });

  it('of a failed run can be tried again', ALL, async () => {
    const broken = SCRIPT.map((entry) =>
      entry.when === '# Task right:' ? author('right', [{ fail: { kind: 'bad-request', message: 'no' } }]) : entry,
    );
    openBench(broken);
    expect((await bench.runAll(['--name', 'first'])).code).toBe(1);
    const before = footprintOf(bench, 'first');
    await forkAt('first', eventsOf('first').at(-1) ?? 0, 'second');
    expect((await statusOf('second')).tasks).toContainEqual(expect.objectContaining({ id: 'right', status: 'failed' }));
    bench.rescript(SCRIPT);
    const retried = await bench.run(['retry', 'right', '--run', 'second']);
    expect(retried.code, retried.stderr).toBe(0);
    await expectDone('second');
    expect(footprintOf(bench, 'first')).toEqual(before);
  });

  it('of a run that is running does not disturb it', ALL, async () => {
    const slow = SCRIPT.map((entry) =>
      entry.when === '# Task right:' ? { ...entry, steps: [{ sleep: 4_000 }, ...entry.steps] } : entry,
    );
    openBench(slow);
    const engine = bench.startRun(['--name', 'first']);
    await engine.line(({ type, task, round }) => type === 'review-round' && task === 'left' && round === 1);
    await forkAt('first', eventsOf('first').at(-1) ?? 0, 'second');
    expect((await statusOf('second')).tasks.map(({ id, status }) => `${id} ${status}`)).toContain('right ready');
    expect((await bench.run(['resume', 'second'])).stderr).toContain('end it with `squad stop`');
    const ended = await engine.finished;
    expect(ended.code, ended.stderr).toBe(0);
    bench.rescript(SCRIPT);
    await expectDone('second');
  });

  it.each(
    some(
      [
        'fork.recorded',
        'fork.prepared',
        'ledger.before-commit',
        'ledger.after-commit',
        'git.branch-created',
        'fork.kept',
      ],
      0,
      1,
    ),
  )('killed at %s is finished by the same command again', { ...SPREAD, timeout: 120_000 }, async (point) => {
    openBench();
    await runFirst();
    const before = footprintOf(bench, 'first');
    const middle = (await pointsOf('first')).find(({ what }) => what.includes('left was sent back'))?.seq ?? 0;
    const command = ['fork', 'first', '--at', String(middle), '--name', 'second'];
    const killed = await bench.run(command, { SQUAD_FAILPOINTS: `${point}=kill` });
    expect(killed.signal).toBe('SIGKILL');
    expect(footprintOf(bench, 'first')).toEqual(before);
    if (!(await namesOf()).includes('second'))
      expect(git(bench.repository, 'for-each-ref', 'refs/squad/second/', 'refs/heads/squad/second')).toBe('');
    const { runId } = await forkAt('first', middle, 'second');
    expect((await forkAt('first', middle, 'second')).runId).toBe(runId);
    expect((await namesOf()).map(String).toSorted()).toEqual(['first', 'second']);
    expect(git(bench.repository, 'for-each-ref', 'refs/heads/squad/second')).not.toBe('');
    const other = (await pointsOf('first')).at(-1)?.seq ?? 0;
    expect(await refusalOf('first', '--at', String(other), '--name', 'second')).toContain('already exists');
    await expectDone('second');
    // It has been driven since.
    expect(await refusalOf(...command.slice(1))).toContain('already exists');
    expect(footprintOf(bench, 'first')).toEqual(before);
  });
});
