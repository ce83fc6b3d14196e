import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { git } from '../support/git.ts';
import { fullAnswer, sessionTexts, writeSession } from '../support/session-folder.ts';
import { expectCaptured } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { FILES, LIVE_SESSION, sessionTurns } from './session-script.ts';
import {
  openModelRoom,
  processesOf,
  runtimesAt,
  snapshotOf,
  turnsTaken,
  type Cli,
  type Taken,
  type WholeRunRoom,
} from './whole-run-room.ts';
import { stateOf } from '../support/state.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const BRANCH = 'squad/a-greeting';
const FOLDER = '.workflow/.team/TC-a-greeting-2026-02-27';
const TASKS = LIVE_SESSION.tasks.map(({ id }) => id);
const MINUTES = 5;

function settingsOf(loop: Cli, other: Cli, baseUrl: string): object {
  const agent = (name: string, runtime: Cli, access: string) => ({
    ...{ name, role: name, runtime, access },
    ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}),
  });
  return {
    version: 1,
    agents: [agent('analyst', other, 'read-only'), agent('implementer', loop, 'edit'), agent('writer', other, 'edit')],
    runtimes: runtimesAt(baseUrl),
  };
}

let room: WholeRunRoom;
afterEach(() => room.close());

const CASES: readonly [Cli, Cli][] = [
  ['claude', 'codex'],
  ['codex', 'claude'],
];

describe('a session of three roles and six tasks, by the real claude and codex', () => {
  test.each(CASES)(
    'the inner loop is of %s, the other two roles are of %s',
    { timeout: MINUTES * 60_000 },
    async (loop, other) => {
      const missed: string[] = [];
      room = await openModelRoom({
        files: {},
        turns: (gate) => sessionTurns(gate, missed),
        settings: (baseUrl) => settingsOf(loop, other, baseUrl),
      });
      const { engine, environment, model } = room;
      const folder = writeSession(join(engine.repository, FOLDER), LIVE_SESSION);
      const before = withoutSession(snapshotOf(engine.repository));
      void room.gate.reached.then(() => room.gate.open());
      const end = await engine.run(['run', `--session=${FOLDER}`, '--json', '--yes'], environment);
      const taken = turnsTaken(engine);

      expect(model.strange).toEqual([]);
      expect(end.lines.at(-1), end.stderr).toMatchObject({
        ...{ type: 'run-ended', outcome: 'done', exitCode: 0, branch: BRANCH },
      });
      expect(end.code).toBe(0);
      expect(model.asked.toSorted()).toEqual(
        sessionTurns(room.gate, missed)
          .flatMap(({ name, acts }) => acts.map((_, step) => `${name} ${step}`))
          .toSorted(),
      );
      expect(missed).toEqual([]);
      expectSessions(taken);
      expectTwoAtOnce(taken);
      expectCommits();
      expectFolder(folder);
      const checked = await engine.run(['session', 'check', FOLDER], environment);
      expect(checked.code, checked.stderr).toBe(0);
      expect(withoutSession(snapshotOf(engine.repository))).toEqual(before);
      const { problems, violations } = checkLedger(ledgerPath(stateOf(engine.repository)));
      expect([...problems, ...violations]).toEqual([]);
      for (const name of ['analyst', 'implementer', 'writer'])
        await expectCaptured(room, `session-${name}`, ({ attempt }) => attempt.agent === name);
      expect(await processesOf(engine.root)).toEqual([]);
    },
  );
});

/** The one place outside `.squad` that a run of a session writes. */
function withoutSession(snapshot: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(snapshot).filter(([path]) => !path.startsWith('.workflow/')));
}

/** One turn for each task: those of the inner loop in one session, each of the others in its own. */
function expectSessions(taken: readonly Taken[]): void {
  expect(taken.map(({ attempt }) => attempt.taskId).toSorted()).toEqual(TASKS.map((id) => id.toLowerCase()).toSorted());
  const sessionOf = (task: string): unknown => turnOf(taken, task).result?.session?.id;
  const loop = ['IMPL-001', 'IMPL-002', 'IMPL-003'].map(sessionOf);
  expect(loop[0]).toEqual(expect.any(String));
  expect(new Set(loop).size).toBe(1);
  expect(new Set(TASKS.map(sessionOf)).size).toBe(4);
}

/** Neither could go on before the other was there, and the ledger knows both as live at that time. */
function expectTwoAtOnce(taken: readonly Taken[]): void {
  const both = ['IMPL-001', 'DOC-001'].map((task) => turnOf(taken, task));
  const spawned = both.map(({ attempt }) => attempt.spawnedAt ?? Infinity);
  expect(Math.max(...spawned)).toBeLessThan(Math.min(...both.map(({ settledAt }) => settledAt)));
}

function turnOf(taken: readonly Taken[], task: string): Taken {
  const found = taken.find(({ attempt }) => attempt.taskId === task.toLowerCase());
  if (found === undefined) throw new Error(`${task} had no turn`);
  return found;
}

/** What each task that writes has written, and nothing else. */
function expectCommits(): void {
  const { repository } = room.engine;
  expect(git(repository, 'diff', '--name-only', 'main', BRANCH).split('\n')).toEqual(Object.values(FILES).toSorted());
  const subjects = git(repository, 'log', '--format=%s', `main..${BRANCH}`).split('\n');
  const committed = Object.entries(FILES).map(([task, file]) => `Add ${file}: ${task} asks for it`);
  expect(subjects).toEqual(expect.arrayContaining(committed));
}

/** The folder says what was done, and keeps what squad does not know. */
function expectFolder(folder: string): void {
  const text = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const before = sessionTexts(LIVE_SESSION);
  const first = JSON.parse(before['team-session.json'] ?? '') as Record<string, unknown>;
  const state = JSON.parse(text('team-session.json')) as Record<string, unknown>;
  expect(Object.keys(state)).toEqual(Object.keys(first));
  expect(state).toMatchObject({
    status: 'completed',
    active_workers: [],
    pipeline: { tasks_total: TASKS.length, tasks_completed: TASKS.length },
    mode: LIVE_SESSION.extra?.['mode'],
  });
  const done = state['completed_tasks'] as string[];
  expect(done.toSorted()).toEqual(TASKS.toSorted());
  expect([done[0], done.at(-1)]).toEqual(['SPEC-001', 'CHECK-001']);
  const memory = TASKS.map((task) => [task, fullAnswer(task).memory[0]?.value]);
  expect(JSON.parse(text('shared-memory.json'))).toEqual({ ...Object.fromEntries(memory), last: 'CHECK-001' });
  expect(readdirSync(join(folder, 'artifacts'))).toHaveLength(TASKS.length);
  expect(readdirSync(join(folder, 'discussions'))).toHaveLength(TASKS.length);
  for (const name of ['learnings', 'decisions', 'issues'] as const) {
    const wisdom = text(`wisdom/${name}.md`);
    for (const task of TASKS) expect(wisdom.split(fullAnswer(task)[name][0] ?? '')).toHaveLength(2);
  }
  for (const path of ['task-analysis.json', ...LIVE_SESSION.roles.map(({ name }) => `roles/${name}.md`)]) {
    expect(text(path)).toBe(before[path]);
  }
}
