// @module-tag all
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { comparisonSchema, type Comparison } from '../../src/view/comparison.ts';
import type { RunStatus } from '../../src/view/status.ts';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { again, APPROVE_ALL, author, commits, objective, piece, plan, verdict, type Entry } from './run-script.ts';

const AGENTS = [
  { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
  { name: 'builder', role: 'builder', runtime: 'scripted' },
  { name: 'reviewer', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
];
const USAGE = { inputTokens: 100, outputTokens: 10, costUsd: 0.01 };

/** A reviewer whose prompt says to be kind approves at once; another one after a fix. */
const SCRIPT: readonly Entry[] = [
  // A planner that hears it plans one task less.
  { ...plan([piece('one')], 'Split little.'), usage: USAGE },
  { ...plan([piece('one'), piece('two')]), usage: USAGE },
  again('one', 'review', commits({ 'one.txt': 'good\n' })),
  { ...APPROVE_ALL, when: 'Be kind.' },
  { ...verdict('one', ['it is bad']), when: '# Review of task one: Make one (round 1)' },
  APPROVE_ALL,
  author('two', commits({ 'two.txt': 'good\n' }), { usage: USAGE }),
  author('one', commits({ 'one.txt': 'bad\n' }), { usage: USAGE }),
];

function openCompareBench(script: readonly Entry[] = SCRIPT): RunBench {
  const bench = openRunBench({
    script,
    objective: objective({ criteria: ['one is there (run: `test -e one.txt`)'] }),
    settings: { agents: AGENTS, verify: [{ run: 'true' }] },
  });
  onTestFinished(bench.end);
  return bench;
}

async function prompts(bench: RunBench, folder: string, name: string, more: string): Promise<void> {
  const { stdout } = await bench.run(['prompts', 'show', name, '--json']);
  const { role, occasion, facts, body } = JSON.parse(stdout) as Record<string, string> & { facts: { name: string }[] };
  const head = `role: ${role}\noccasion: ${occasion}\nneeds: [${facts.map((one) => one.name).join(', ')}]\nbudget: 9000`;
  const path = join(bench.root, folder, name.split('/')[0] ?? '');
  mkdirSync(path, { recursive: true });
  writeFileSync(join(bench.root, folder, `${name}.md`), `---\n${head}\n---\n${body}\n${more}\n`);
}

async function compare(bench: RunBench): Promise<Comparison> {
  const { stdout, stderr } = await bench.run([...commandOf(bench), '--json']);
  expect(stdout, stderr).not.toBe('');
  return comparisonSchema.parse(JSON.parse(stdout));
}

it(
  'plays one plan from one commit with two sets of prompts, and counts what is on record',
  { timeout: 90_000 },
  async () => {
    const bench = openCompareBench();
    await prompts(bench, 'mine', 'reviewer/first', 'Be kind.');
    const head = git(bench.repository, 'rev-parse', 'HEAD');
    const found = await compare(bench);
    const { runs } = found;
    expect(found).toMatchObject({
      base: head,
      plan: { name: 'make-things-plan', tasks: 2 },
      stopped: null,
      enough: false,
    });
    const [a, b] = runs;
    expect(runs.map(({ name, branch, state }) => [name, branch, state])).toEqual([
      ['make-things-a-1', 'squad/make-things-a-1', 'done'],
      ['make-things-b-1', 'squad/make-things-b-1', 'done'],
    ]);
    const same = { failedChecks: 0, conflicts: 0, criteria: { part: 1, of: 1 }, costUsd: null };
    expect(a?.measures).toMatchObject({
      ...same,
      firstTry: { part: 2, of: 2 },
      rounds: 2,
      held: { part: 0, of: 0 },
      withdrawn: { part: 0, of: 0 },
    });
    const { measures } = b ?? {};
    expect(measures).toMatchObject({ ...same, firstTry: { part: 1, of: 2 }, rounds: 3, held: { part: 1, of: 1 } });
    expect(found.rows.map(({ apart }) => apart)).not.toContain(true);
    // Each is what a fork with these prompts is, and the plan waits for no one any more.
    const [one, two] = await Promise.all(runs.map(async ({ name }) => statusOf(bench, name)));
    expect([one?.prompts.changed, two?.prompts.changed]).toEqual([['reviewer/first'], []]);
    expect([one?.prompts.hash, two?.prompts.hash]).toEqual([found.sides.A.hash, found.sides.B.hash]);
    expect((await statusOf(bench, 'make-things-plan')).outcome).toBe('cancelled');
    expect(git(bench.repository, 'rev-parse', 'HEAD')).toBe(head);
  },
);

it('lets each side plan for itself with --replan, and prints a table', { timeout: 90_000 }, async () => {
  const bench = openCompareBench();
  await prompts(bench, 'mine', 'planner/first', 'Split little.');
  const { stdout, code } = await bench.run([...commandOf(bench), '--replan', '--runtime', 'scripted']);
  expect(code).toBe(0);
  expect(stdout).toMatch(/merged at the first try +0 of 1 +1 of 2\n/);
  expect(stdout).toMatch(/cost +not measured +not measured\n/);
  expect(stdout).toMatch(/runs that ended as +1 done +1 done\n/);
  expect(stdout).toContain('1 of A and 1 of B are over, and counted.\nThat is too few to call one better: take 5');
  expect(stdout).toMatch(/B +make-things-b-1 +squad\/make-things-b-1 +DONE/);
  expect(stdout).not.toContain('make-things-plan');
});

it('ends at Ctrl-C, and prints what there is', { timeout: 90_000 }, async () => {
  const slow = SCRIPT.map((entry) =>
    entry.when?.startsWith('# Review of task one') === true ? { ...entry, steps: [{ sleep: 60_000 }] } : entry,
  );
  const bench = openCompareBench(slow);
  await prompts(bench, 'mine', 'reviewer/first', 'Be kind.');
  const engine = bench.start([...commandOf(bench), '--times', '3']);
  await seen(engine.child, /run 1 of 3 with B[^]*reviewer/);
  engine.child.kill('SIGINT');
  engine.child.kill('SIGINT');
  const { code, stdout } = await engine.finished;
  expect(code).toBe(130);
  expect(stdout).toMatch(/runs that ended as +1 done +1 (?:interrupted|stopped)\n/);
  expect(stdout).toContain('Not all runs were made: a person ended them.');
  expect((await bench.run(['runs', '--json'])).lines).toHaveLength(3);
});

it.each<[sides: string[], code: number, said: string]>([
  [['shipped'], 2, 'squad compare takes --prompts twice'],
  [['shipped', 'shipped'], 2, 'both sides have the same prompts'],
  [['shipped', 'nowhere'], 2, 'nowhere has no prompts'],
  [['shipped', 'below/broken'], 65, ' below/broken/builder/role.md:1'],
])('refuses %j before anything runs', async (sides, code, said) => {
  const bench = openCompareBench();
  mkdirSync(join(bench.repository, 'below/broken/builder'), { recursive: true });
  writeFileSync(join(bench.repository, 'below/broken/builder/role.md'), 'Build boats.');
  const flags = sides.flatMap((side) => ['--prompts', side]);
  const refused = await bench.run(['compare', 'objective.md', ...flags, '--yes']);
  expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(said)]);
  expect(refused.stderr).toMatch(/^squad: /);
  expect((await bench.run(['runs', '--json'])).lines).toEqual([]);
});

function commandOf(bench: RunBench): string[] {
  return ['compare', 'objective.md', '--prompts', join(bench.root, 'mine'), '--prompts', 'shipped', '--yes'];
}

async function seen({ stdout }: ChildProcess, text: RegExp): Promise<void> {
  let all = '';
  await new Promise<void>((resolve) => {
    stdout?.on('data', (part: Buffer) => {
      all += part.toString();
      if (text.test(all)) resolve();
    });
  });
}

async function statusOf(bench: RunBench, run: string): Promise<RunStatus> {
  return JSON.parse((await bench.run(['status', run, '--json'])).stdout) as RunStatus;
}
