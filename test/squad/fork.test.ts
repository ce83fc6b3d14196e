import { afterEach, describe, expect, it } from 'vitest';
import type { ForkPoint } from '../../src/read-model/fork-plan.ts';
import type { RunStatus } from '../../src/read-model/status.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { again, APPROVE_ALL, author, commits, piece, plan, verdict, type Entry } from '../runs/run-script.ts';
import { footprintOf } from '../support/fork-footprint.ts';

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

let bench: RunBench;
afterEach(() => bench.end());

function openBench(script: readonly Entry[] = SCRIPT): void {
  bench = openRunBench({ script, settings: { agents: AGENTS } });
}

async function pointsOf(run: string): Promise<readonly ForkPoint[]> {
  const { stdout } = await bench.run(['fork', run, '--json']);
  return (JSON.parse(stdout) as { points: ForkPoint[] }).points;
}

async function forkAt(run: string, seq: number, name: string): Promise<{ parent: { seq: number } }> {
  const made = await bench.run(['fork', run, '--at', String(seq), '--name', name, '--json']);
  expect(made.code, made.stderr).toBe(0);
  return JSON.parse(made.stdout) as { parent: { seq: number } };
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

describe('a fork', () => {
  it('goes on from the middle of a run to its own end, and leaves the run as it was', async () => {
    openBench();
    const first = await bench.runAll(['--name', 'first']);
    expect(first.code, first.stderr).toBe(0);
    const points = await pointsOf('first');
    const middle = points.find(({ what }) => what.includes('left was sent back'));
    const before = footprintOf(bench, 'first');
    const { parent } = await forkAt('first', middle?.seq ?? 0, 'second');
    expect(parent.seq).toBe(middle?.seq);
    expect(footprintOf(bench, 'first')).toEqual(before);
    const ready = await statusOf('second');
    expect(ready).toMatchObject({ turns: { started: 0 } });
    expect(ready.tasks.map(({ id, status }) => `${id} ${status}`)).toContain('left ready');
    await expectDone('second');
    expect(footprintOf(bench, 'first')).toEqual(before);
  });
});
