import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { createSystemClock } from '../../src/substrate/system/clock/system-clock.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { createSystemProcesses } from '../../src/substrate/system/process/system-processes.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY } from './codex-harness.ts';
import {
  openWholeRunRoom,
  processesOf,
  snapshotOf,
  turnsTaken,
  type Cli,
  type Taken,
  type WholeRunRoom,
} from './whole-run-room.ts';
import { ALL_STEPS, FINDING, PRODUCT, RIGHT_SUM } from './whole-run-script.ts';
import type { Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { stateOf } from '../support/state.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const BRANCH = 'squad/sums-and-products';
const RUN = ['run', 'objective.md', '--json', '--yes'];
const processes = createSystemProcesses({ clock: createSystemClock() });

let room: WholeRunRoom;
afterEach(() => room.close());

const CLIS: { planner: Cli; reviewer: Cli }[] = [
  { planner: 'claude', reviewer: 'codex' },
  { planner: 'codex', reviewer: 'claude' },
];

describe('a whole run with the real claude and codex', () => {
  test.each(CLIS)('planned by $planner, built by both, reviewed by $reviewer, published', async (clis) => {
    room = await openWholeRunRoom(clis);
    const before = snapshotOf(room.engine.repository);
    void room.gate.reached.then(() => room.gate.open());
    const end = await room.engine.run(RUN, room.environment);
    await expectDone(end);
    expect(snapshotOf(room.engine.repository)).toEqual(before);
    const [sum, product] = buildersOf(turnsTaken(room.engine));
    // Neither could go on before the other was there, and the ledger knows both as live at that time.
    expect(Math.max(spawn(sum), spawn(product))).toBeLessThan(Math.min(sum.settledAt, product.settledAt));
    expectSessions(turnsTaken(room.engine));
    expectUsage(end);
    expectReport(end);
  });

  test('kill -9 while both build: both turns are adopted and none runs twice', async () => {
    room = await openWholeRunRoom({ planner: 'claude', reviewer: 'codex' });
    const before = snapshotOf(room.engine.repository);
    const first = room.engine.start(RUN, room.environment);
    await Promise.race([room.gate.reached, first.finished.then(endedEarly)]);
    first.child.kill('SIGKILL');
    await first.finished;
    const killed = buildersOf(turnsTaken(room.engine));
    for (const { attempt } of killed) {
      expect(attempt.status).toBe('spawned');
      expect(attempt.process === null ? false : await processes.isAlive(attempt.process)).toBe(true);
    }
    const second = room.engine.start(['resume', '--json'], room.environment);
    for (const { attempt } of killed) {
      const taken = await second.line((line) => line['attemptId'] === attempt.id && line['type'] === 'attempt-taken');
      expect(taken).toMatchObject({ how: 'attached' });
    }
    room.gate.open();
    const end = await second.finished;
    await expectDone(end);
    expect(snapshotOf(room.engine.repository)).toEqual(before);
    const after = buildersOf(turnsTaken(room.engine));
    expect(after.map(({ attempt }) => attempt.process)).toEqual(killed.map(({ attempt }) => attempt.process));
    expectSessions(turnsTaken(room.engine));
    expectUsage(end);
  });
});

describe('a run branch that a person moves while the real CLIs build', () => {
  test('stops the run with a question; put back, exactly the reviewed work is delivered and published', async () => {
    room = await openWholeRunRoom({ planner: 'codex', reviewer: 'claude' });
    const { repository } = room.engine;
    const first = room.engine.start(RUN, room.environment);
    await Promise.race([room.gate.reached, first.finished.then(endedEarly)]);
    const tree = git(repository, 'rev-parse', `${BRANCH}^{tree}`);
    const foreign = git(repository, 'commit-tree', tree, '-p', BRANCH, '-m', 'nobody reviewed this');
    git(repository, 'update-ref', `refs/heads/${BRANCH}`, foreign);
    room.gate.open();
    const asked = await first.finished;
    expect([asked.code, asked.lines.at(-1)?.['outcome']], asked.stderr).toEqual([3, 'waiting']);
    expect(git(room.remote, 'for-each-ref')).toBe('');
    const answered = await room.engine.run(['answer', 'restore'], room.environment);
    expect(answered.code, answered.stderr).toBe(0);
    const end = await room.engine.run(['resume', '--json'], room.environment);
    await expectDone(end);
    const kept = `refs/squad/sums-and-products/foreign-${foreign.slice(0, 12)}`;
    expect(git(repository, 'rev-parse', kept)).toBe(foreign);
    expect(end.lines.at(-1)?.['headline']).toBe('DONE, all work is delivered and verified');
  });
});

/** However the run went: the same work, published, each turn once, a sound ledger and nobody left. */
async function expectDone(end: Finished): Promise<void> {
  const { engine, remote, model } = room;
  const last = end.lines.at(-1);
  expect(model.strange).toEqual([]);
  expect(last, end.stderr).toMatchObject({ type: 'run-ended', outcome: 'done', exitCode: 0, branch: BRANCH });
  expect(end.code).toBe(0);
  expect(model.asked.toSorted(), askedBy()).toEqual(ALL_STEPS.toSorted());

  const head = git(engine.repository, 'rev-parse', BRANCH);
  expect(last?.['head']).toBe(head);
  expect(git(remote, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(`refs/heads/${BRANCH} ${head}`);
  const changed = ['A\tlib/product.mjs', 'A\tlib/sum.mjs'].join('\n');
  expect(git(engine.repository, 'diff', '--name-status', 'main', BRANCH)).toBe(changed);
  expect(`${git(remote, 'show', `${BRANCH}:lib/sum.mjs`)}\n`).toBe(RIGHT_SUM);
  expect(`${git(remote, 'show', `${BRANCH}:lib/product.mjs`)}\n`).toBe(PRODUCT);
  expect(git(engine.repository, 'log', '--no-merges', '--format=%s', `main..${BRANCH}`).split('\n').toSorted()).toEqual(
    [
      'Add product: the objective asks for it',
      'Add sum: the objective asks for it',
      'Add, not subtract: found in review',
    ],
  );

  const turns = turnsTaken(engine);
  const taken = turns.map(({ attempt, result }) => `${attempt.taskId}: ${attempt.agent} ${result?.outcome}`);
  expect(taken.toSorted()).toEqual([
    'plan: planner completed',
    'product: builder-2 completed',
    'product: reviewer completed',
    'sum: builder-1 completed',
    'sum: builder-1 completed',
    'sum: reviewer completed',
    'sum: reviewer completed',
  ]);
  for (const { result } of turns) expect(result?.denials).toEqual([]);
  const check = checkLedger(ledgerPath(stateOf(engine.repository)));
  expect([...check.problems, ...check.violations]).toEqual([]);
  expect(notSettledOnce()).toEqual([]);
  expect(await processesOf(engine.root)).toEqual([]);
}

/** Which attempts there were, and which requests a CLI sent again by itself: why a step was asked for twice. */
function askedBy(): string {
  const attempts = turnsTaken(room.engine).map(
    ({ attempt, result }) => `${attempt.id} ${result?.outcome} ${result?.failure?.message ?? ''}`,
  );
  const again = room.anthropic.requests.map(({ headers, step }) => `${step}/${headers['x-stainless-retry-count']}`);
  return `${attempts.join('\n')}\nstep/retries of claude: ${again.join(' ')}`;
}

/** The author keeps its session from the draft to the fix, the reviewer from its rejection to its approval. */
function expectSessions(turns: readonly Taken[]): void {
  const sessions = (task: string, agent: string): (string | undefined)[] =>
    turns
      .filter(({ attempt }) => attempt.taskId === task && attempt.agent === agent)
      .map(({ result }) => result?.session?.id);
  const [draft, fix] = sessions('sum', 'builder-1');
  const [rejected, approved] = sessions('sum', 'reviewer');
  expect(draft).toMatch(/^[0-9a-f-]{36}$/);
  expect(fix).toBe(draft);
  expect(rejected).toMatch(/^[0-9a-f-]{36}$/);
  expect(approved).toBe(rejected);
  const all = new Set(turns.map(({ result }) => result?.session?.id));
  // Planner, two authors, and the reviewer once for each piece.
  expect(all.size).toBe(5);
}

/** The ledger has what both servers reported, no more and no less. */
function expectUsage(end: Finished): void {
  const { engine, anthropic, openai } = room;
  const runId = String(end.lines.at(-1)?.['runId']);
  const ledger = engine.ledger();
  const totals = ledger.totals(runId);
  ledger.close();
  expect(totals).toMatchObject({ turnsClaimed: 7, turnsSettled: 7, turnsLost: 0, turnsLive: 0, unknownUsage: 0 });
  expect({ ...totals }).toMatchObject({
    inputTokens: anthropic.used.input + openai.used.input - openai.used.cached,
    cachedInputTokens: anthropic.used.cached + openai.used.cached,
    outputTokens: anthropic.used.output + openai.used.output,
  });
  for (const [runtime, used] of [
    ['claude', anthropic.used],
    ['codex', { ...openai.used, input: openai.used.input - openai.used.cached }],
  ] as const) {
    const of = turnsTaken(engine).filter(({ attempt }) => attempt.runtime === runtime);
    const sum = (key: 'inputTokens' | 'cachedInputTokens' | 'outputTokens') =>
      of.reduce((total, { result }) => total + (result?.usage?.[key] ?? 0), 0);
    expect([sum('inputTokens'), sum('cachedInputTokens'), sum('outputTokens')]).toEqual([
      used.input,
      used.cached,
      used.output,
    ]);
  }
}

function expectReport(end: Finished): void {
  const report = readFileSync(String(end.lines.at(-1)?.['report']), 'utf8');
  for (const text of [
    '**DONE, all work is delivered and verified.**',
    'builder-1',
    'builder-2',
    'claude',
    'codex',
    BRANCH,
    FINDING,
    'node check.mjs',
  ]) {
    expect(report).toContain(text);
  }
}

function endedEarly({ code, stdout, stderr }: Finished): never {
  throw new Error(`the engine ended with ${code} before both builders were at work: ${stdout.slice(-4000)}\n${stderr}`);
}

/** The first turns of both pieces: `sum`, `product`. */
function buildersOf(turns: readonly Taken[]): [Taken, Taken] {
  const of = (task: string): Taken => {
    const found = turns.find(({ attempt }) => attempt.taskId === task && attempt.number === 1);
    if (found === undefined) throw new Error(`nobody builds ${task}`);
    return found;
  };
  return [of('sum'), of('product')];
}

function spawn({ attempt }: Taken): number {
  return attempt.spawnedAt ?? Infinity;
}

/** Attempts that have not exactly one settlement in the history. */
function notSettledOnce(): string[] {
  const ledger = room.engine.ledger();
  try {
    const settled = ledger.events({}).filter(({ type }) => type === 'attempt-settled');
    return ledger
      .attempts({})
      .map(({ id }) => id)
      .filter((id) => settled.filter(({ data }) => JSON.stringify(data).includes(`"${id}"`)).length !== 1);
  } finally {
    ledger.close();
  }
}
