import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { objectiveStages } from '../../src/playbooks/objective/stages.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import type { Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { expectCaptured } from './captured.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { APP_FILES, NOTES, PAGE } from './objective-app.ts';
import { NOTES_FINDING, objectiveSteps, objectiveTurns, PAGE_FINDING, SPEC_FINDING } from './objective-script.ts';
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
const RUN = 'a-guest-book';
const BRANCH = `squad/${RUN}`;
const MINUTES = 10;

/** The six personas. Who writes on one runtime is reviewed on the other. */
function settingsOf(one: Cli, other: Cli, baseUrl: string): object {
  const agent = (name: string, role: string, runtime: Cli, access = 'edit') => ({
    ...{ name, role, runtime, access },
    ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}),
  });
  return {
    version: 1,
    playbook: 'objective',
    agents: [
      agent('pm', 'pm', one),
      agent('ba', 'ba', other),
      agent('writer', 'writer', one),
      agent('builder-1', 'builder', one),
      agent('builder-2', 'builder', other),
      agent('reviewer', 'reviewer', other, 'read-only'),
    ],
    runtimes: runtimesAt(baseUrl),
  };
}

let room: WholeRunRoom;
afterEach(() => room.close());

const CASES: readonly [Cli, Cli][] = [
  ['claude', 'codex'],
  ['codex', 'claude'],
];

describe('a web app through all stages of objective, by the real claude and codex', () => {
  test.each(CASES)(
    'pm and builder-1 are %s, ba and reviewer are %s',
    { timeout: MINUTES * 60_000 },
    async (one, other) => {
      room = await openModelRoom({
        files: APP_FILES,
        turns: objectiveTurns,
        settings: (baseUrl) => settingsOf(one, other, baseUrl),
      });
      const { repository, root } = room.engine;
      const before = snapshotOf(repository);
      void room.gate.reached.then(() => room.gate.open());
      const end = await room.engine.run(['run', 'objective.md', '--json', '--yes'], room.environment);
      const taken = turnsTaken(room.engine);

      expect(room.model.strange).toEqual([]);
      expect(end.lines.at(-1), end.stderr).toMatchObject({
        type: 'run-ended',
        outcome: 'done',
        exitCode: 0,
        branch: BRANCH,
      });
      expect(end.code).toBe(0);
      expect(room.model.asked.toSorted()).toEqual(objectiveSteps(objectiveTurns(room.gate)).toSorted());
      expectWork();
      expectTwoAtOnce(taken);
      expectOthersReview(taken);
      expectDocuments();
      expectFiles(taken);
      expectReport(end);
      expect(snapshotOf(repository)).toEqual(before);
      const check = checkLedger(ledgerPath(stateOf(repository)));
      expect([...check.problems, ...check.violations]).toEqual([]);
      for (const name of ['pm', 'ba', 'writer', 'builder-1', 'reviewer'])
        await expectCaptured(room, `objective-${name}`, ({ attempt }) => attempt.agent === name);
      expect(await processesOf(root)).toEqual([]);
    },
  );
});

const onBranch = (path: string): string => git(room.engine.repository, 'show', `${BRANCH}:${path}`);

/** What the two builders and the fix made, and nothing but documents beside it. */
function expectWork(): void {
  const { repository } = room.engine;
  expect(`${onBranch(NOTES.path)}\n`).toBe(NOTES.right);
  expect(`${onBranch(PAGE.path)}\n`).toBe(PAGE.right);
  const changed = git(repository, 'diff', '--name-only', 'main', BRANCH).split('\n');
  expect(changed.filter((path) => !path.startsWith(`docs/squad/${RUN}/`))).toEqual([PAGE.path, NOTES.path]);
}

/** Neither could go on before the other was there, and the ledger knows both as live at that time. */
function expectTwoAtOnce(taken: readonly Taken[]): void {
  const [notes, page] = [NOTES, PAGE].map(({ id }) => turnsOf(taken, id)[0]);
  if (notes === undefined || page === undefined) throw new Error('somebody built nothing');
  expect(new Set([notes, page].map(({ attempt }) => attempt.agent))).toEqual(new Set(['builder-1', 'builder-2']));
  const spawned = [notes, page].map(({ attempt }) => attempt.spawnedAt ?? Infinity);
  expect(Math.max(...spawned)).toBeLessThan(Math.min(notes.settledAt, page.settledAt));
}

/** Nobody judges what they wrote, and work of each runtime is judged on the other one. */
function expectOthersReview(taken: readonly Taken[]): void {
  const pairs = taken
    .filter(isReview)
    .flatMap(({ attempt: by }) => turnsOf(taken, by.taskId).map(({ attempt: author }) => ({ author, by })));
  expect(pairs.filter(({ author, by }) => author.agent === by.agent)).toEqual([]);
  const runtimes = new Set(pairs.map(({ author, by }) => `${author.runtime} by ${by.runtime}`));
  expect([...runtimes]).toEqual(expect.arrayContaining(['claude by codex', 'codex by claude']));
}

/** The turns of a task's author. */
function turnsOf(taken: readonly Taken[], task: string): readonly Taken[] {
  return taken.filter((one) => one.attempt.taskId === task && !isReview(one));
}

function isReview({ attempt }: Taken): boolean {
  return attempt.request.includes('# Review of task ');
}

/** Each is on the run branch, with the headings of its stage in order, and among the run's files byte for byte. */
function expectDocuments(): void {
  const index = JSON.parse(runFile('artifacts/index.json')) as IndexEntry[];
  const documents = objectiveStages('keep', 4).flatMap(({ id, makes }) =>
    'document' in makes ? [{ stage: id, ...makes }] : [],
  );
  expect(index.map(({ stage }) => stage)).toEqual(documents.map(({ stage }) => stage));
  for (const { stage, document, headings = [] } of documents) {
    const path = `docs/squad/${RUN}/${document}`;
    const lines = onBranch(path).split('\n');
    expect(
      lines.filter((line) => headings.includes(line.replace(/^#+ /, ''))),
      path,
    ).toHaveLength(headings.length);
    const entry = index.find((one) => one.stage === stage);
    const sha256 = createHash('sha256')
      .update(`${onBranch(path)}\n`)
      .digest('hex');
    expect(entry).toMatchObject({ path, sha256 });
    expect(runFile(`artifacts/${document}`)).toBe(`${onBranch(path)}\n`);
  }
}

interface IndexEntry {
  readonly stage: string;
  readonly path: string;
  readonly commit: string;
  readonly sha256: string;
}

/** The history has a file of every turn, and the state says what each stage took. */
function expectFiles(taken: readonly Taken[]): void {
  const history = readdirSync(join(runFolder(), 'history'));
  expect(history).toHaveLength(taken.length);
  for (const name of history) expect(runFile(`history/${name}`)).toMatch(/^---\n[^]*\n---\n/);
  expect(JSON.parse(runFile('state.json'))).toMatchObject({
    objective_title: 'A guest book',
    current_stage: 'COMPLETE',
    review_iterations: { SPEC_REVIEW: 2, PLAN_REVIEW: 1, IMPLEMENTATION_REVIEW: 2, POST_REVIEW: 2 },
    status: 'completed',
  });
}

function runFolder(): string {
  const runs = join(stateOf(room.engine.repository), 'runs');
  return join(runs, readdirSync(runs)[0] ?? '');
}

function runFile(path: string): string {
  return readFileSync(join(runFolder(), path), 'utf8');
}

function expectReport(end: Finished): void {
  expect(end.lines.at(-1)?.['headline']).toMatch(/^DONE, /);
  const report = readFileSync(String(end.lines.at(-1)?.['report']), 'utf8');
  const said = [
    'SPEC_REVIEW',
    'POST_REVIEW',
    SPEC_FINDING,
    NOTES_FINDING,
    PAGE_FINDING,
    'node check.mjs notes',
    'judged',
    BRANCH,
  ];
  for (const text of said) expect(report).toContain(text);
}
