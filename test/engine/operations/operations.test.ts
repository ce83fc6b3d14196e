import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compose } from '../../../src/engine/compose.ts';
import { applyChanges } from '../../../src/rules/apply-changes.ts';
import { createBoard } from '../../../src/rules/board.ts';
import { applyWork } from '../../../src/rules/plan-step.ts';
import { factsOf } from '../../../src/rules/run-facts.ts';
import type { LedgerEvent } from '../../../src/model/ledger-event.ts';
import type { Board } from '../../../src/model/plan/board.ts';
import type { WorkEvent } from '../../../src/model/plan/work.ts';
import { RUN_EVENTS } from '../../../src/model/run.ts';
import type { OperationPorts } from '../../../src/engine/operations/operation-ports.ts';
import { createOperations } from '../../../src/engine/operations/operations.ts';
import { checkGate } from '../../../src/engine/operations/check-gate.ts';
import { problemsOf } from '../../../src/rules/gate.ts';
import { allocateWorkspace, publishRun } from '../../../src/engine/operations/publish-run.ts';
import { createSystemClock } from '../../../src/substrate/system/clock/system-clock.ts';
import { openChecksBench } from '../checks/checks-bench.ts';
import { newTask } from '../../rules/support.ts';
import { definition } from '../../view/report/support.ts';
import { commitIn, openBench, removeFolders } from '../../substrate/git/bench.ts';
import { testHost } from '../../support/test-host.ts';
import { ALL } from '../../support/lane.ts';

afterEach(removeFolders);

const CLOCK = createSystemClock();
const IDLE = { isStarting: () => false };

interface Noted {
  readonly task: string;
  readonly event: WorkEvent;
}

/** A task whose author has committed and said that it is done, in a real repository with a real ledger. */
async function openAnswered(test: { onTestFinished(work: () => Promise<void>): void }) {
  const bench = await openBench();
  const checks = openChecksBench();
  test.onTestFinished(() => checks.close());
  const { report, workspaces } = bench;
  const site: OperationPorts = {
    ...checks.engine,
    definition: { ...definition(), name: 'run', repository: { root: report.root, base: report.head, branch: 'main' } },
    workspaces,
    forge: compose(testHost(bench.root, {})).forge(report),
    emptyFolder: join(bench.root, 'empty'),
    copies: { put: async () => undefined, takeOut: async () => undefined },
    pure: new Set(),
  };
  await allocateWorkspace(site);
  const folder = await workspaces.addFolder({ run: 'run', task: 'a', commit: report.head });
  const work = commitIn(folder, { 'a.txt': 'a\n' });
  await workspaces.snapshot(folder);
  const moment = { seq: site.ledger.lastSeq(), at: 0 };
  const tell = (before: Board, ...events: WorkEvent[]): Board =>
    events.reduce((board, event) => applyWork(board, 'a', event, moment).board, before);
  const planned = applyChanges(createBoard(factsOf(site.definition)), [{ do: 'add-task', task: newTask('a') }], moment);
  const board = tell(
    planned.board,
    { type: 'attempt-started', attempt: 'a-1', agent: 'builder', account: 'one', session: 'a', review: null },
    { type: 'attempt-settled', attempt: 'a-1', outcome: 'completed', text: '' },
    { type: 'integration-started' },
  );
  const events = (after = moment.seq): LedgerEvent[] => [
    ...site.ledger.events({ stream: site.lease.runId, after }).filter(({ type }) => type === RUN_EVENTS.work),
  ];
  const types = (): string[] => events().map(({ data }) => (data as unknown as Noted).event.type);
  /** Resolves once the running operation has ended. */
  const run = async (from: Board, cursor: number, ports = site): Promise<void> => {
    const ended = Promise.withResolvers<void>();
    const operations = createOperations(ports, CLOCK, { ...IDLE, onNoted: ended.resolve, onBroken: ended.reject });
    operations.ensure(from, cursor);
    await ended.promise;
  };
  return { ...bench, site, board, work, tell, types, events, run, cursor: moment.seq };
}

describe('an operation on work that holds the queue', () => {
  it(
    'gathers, integrates and delivers in one go, and has the candidate on record before the branch moves',
    ALL,
    async (test) => {
      const { site, board, work, run, types, workspaces, cursor } = await openAnswered(test);
      const before: string[][] = [];
      const advance: typeof workspaces.advance = async (...parameters) => {
        before.push(types());
        return workspaces.advance(...parameters);
      };
      await run(board, cursor, { ...site, workspaces: { ...workspaces, advance } });
      expect(before).toEqual([['evidence-gathered', 'integrated']]);
      expect(types()).toEqual(['evidence-gathered', 'integrated', 'branch-advanced']);
      expect(await workspaces.runHead('run')).toBe(work);
    },
  );

  it(
    'leaves the delivery to the graph when an input came in between, because it may stop the task',
    ALL,
    async (test) => {
      const { site, board, run, types, tell, events, workspaces, report, cursor } = await openAnswered(test);
      const integrate: typeof workspaces.integrate = async (...parameters) => {
        site.ledger.command(site.lease.runId, 'cancel', { on: 'task/a' }, 'operator');
        return workspaces.integrate(...parameters);
      };
      await run(board, cursor, { ...site, workspaces: { ...workspaces, integrate } });
      expect(types()).toEqual(['evidence-gathered', 'integrated']);
      expect(await workspaces.runHead('run')).toBe(report.head);
      // Without a command that stops it, the next operation delivers the recorded candidate.
      const recorded = events().map(({ data }) => (data as unknown as Noted).event);
      await run(tell(board, ...recorded), site.ledger.lastSeq());
      expect(types()).toEqual(['evidence-gathered', 'integrated', 'branch-advanced']);
    },
  );

  it('leaves the delivery to the graph when a newer board shows the task elsewhere', ALL, async (test) => {
    const { site, board, types, tell, workspaces, report, cursor } = await openAnswered(test);
    const ended = Promise.withResolvers<void>();
    const integrate: typeof workspaces.integrate = async (...parameters) => {
      operations.ensure(tell(board, { type: 'settle-asked', as: 'cancelled', why: 'by the operator' }), cursor);
      return workspaces.integrate(...parameters);
    };
    const ports = { ...site, workspaces: { ...workspaces, integrate } };
    const operations = createOperations(ports, CLOCK, { ...IDLE, onNoted: ended.resolve, onBroken: ended.reject });
    operations.ensure(board, cursor);
    await ended.promise;
    expect(types()).toEqual(['evidence-gathered', 'integrated']);
    expect(await workspaces.runHead('run')).toBe(report.head);
  });

  it(
    'delivers after a crash between the record and the move, and after one between the move and its record',
    ALL,
    async (test) => {
      const { board, work, run, types, tell, events, workspaces, report, site } = await openAnswered(test);
      const facts = { commit: work, commits: 1, base: report.head, changedPaths: ['a.txt'], uncommitted: [] };
      const recorded: WorkEvent[] = [
        { type: 'evidence-gathered', facts: { ...facts, files: [], commands: [], pr: null } },
        { type: 'integrated', candidate: work },
      ];
      const resumed = tell(board, ...recorded);
      await run(resumed, site.ledger.lastSeq());
      expect(await workspaces.runHead('run')).toBe(work);
      await run(resumed, site.ledger.lastSeq());
      expect(types()).toEqual(['branch-advanced', 'branch-advanced']);
      expect(events()).toHaveLength(2);
    },
  );

  it('stops where the evidence is missing', async (test) => {
    const { board, run, types, workspaces, report, cursor } = await openAnswered(test);
    const gone = await workspaces.addFolder({ run: 'run', task: 'a', commit: report.head });
    await workspaces.resetFolder(gone, { commit: report.head, attempt: 'a-1', rescueAs: 'a-1-before' });
    await run(board, cursor);
    expect(types()).toEqual(['evidence-gathered']);
    expect(await workspaces.runHead('run')).toBe(report.head);
  });
});

describe('the check of the run branch', () => {
  it('names each delivered task whose commit the branch does not have', ALL, async (test) => {
    const { site, board, run, tell, events, work, report } = await openAnswered(test);
    await run(board, site.ledger.lastSeq());
    const delivered = tell(board, ...events().map(({ data }) => (data as unknown as Noted).event));
    expect(await checkGate(site, delivered)).toMatchObject({ facts: { head: work, missing: [] } });
    // As if another program had moved the branch, and squad had it on record as its own.
    const { workspaces } = site;
    const runHead: typeof workspaces.runHead = () => Promise.resolve(report.head);
    const moved = { ...delivered, branch: { ...delivered.branch, head: report.head } };
    const { facts } = await checkGate({ ...site, workspaces: { ...workspaces, runHead } }, moved);
    expect(facts).toMatchObject({ head: report.head, missing: ['a'] });
  });
});

describe('what is thrown while the engine works for a task', () => {
  const boom = (): never => {
    throw new TypeError('boom');
  };
  const fault = (): Promise<string> => Promise.resolve('it went wrong');

  it('while its files are looked at, costs no commit', ALL, async (test) => {
    const { site, board, run, types, events, work, cursor } = await openAnswered(test);
    await run(board, cursor, { ...site, fault, workspaces: { ...site.workspaces, rescue: boom } });
    expect(types()).toEqual(['evidence-gathered', 'integrated', 'branch-advanced']);
    const [noted] = events().map(({ data }) => data as unknown as Noted);
    expect(noted?.event).toMatchObject({ facts: { commit: work, unread: 'it went wrong' } });
  });

  it('while its commits are kept, goes back to its author as what is missing', async (test) => {
    const { site, board, run, events, tell, cursor } = await openAnswered(test);
    await run(board, cursor, { ...site, fault, workspaces: { ...site.workspaces, keepCommits: boom } });
    const [noted] = events().map(({ data }) => data as unknown as Noted);
    expect(noted?.event).toMatchObject({
      type: 'evidence-gathered',
      facts: { problem: 'it went wrong', commit: null },
    });
    const after = tell(board, noted!.event).tasks.get('a')?.work;
    expect(after?.author.prompt).toEqual({ why: 'feedback', from: 'evidence', text: 'it went wrong' });
  });

  it('while it is merged, fails the task, and its evidence stays on record', ALL, async (test) => {
    const { site, board, run, types, events, tell, cursor } = await openAnswered(test);
    await run(board, cursor, { ...site, fault, workspaces: { ...site.workspaces, integrate: boom } });
    expect(types()).toEqual(['evidence-gathered', 'settle-asked']);
    const noted = events().map(({ data }) => (data as unknown as Noted).event);
    expect(tell(board, ...noted).tasks.get('a')?.work.phase).toMatchObject({ as: 'failed', why: 'it went wrong' });
  });

  it('while the user’s branch is moved, ends the engine: the next one moves it', ALL, async (test) => {
    const { site, board, run, types, work, events, tell, cursor } = await openAnswered(test);
    const broken = { ...site, fault, workspaces: { ...site.workspaces, advance: boom } };
    await expect(run(board, cursor, broken)).rejects.toThrow('boom');
    expect(types()).toEqual(['evidence-gathered', 'integrated']);
    const noted = events().map(({ data }) => (data as unknown as Noted).event);
    await run(tell(board, ...noted), site.ledger.lastSeq());
    expect(await site.workspaces.runHead('run')).toBe(work);
  });

  it('without a place for its error, ends the engine, and nothing is on record', ALL, async (test) => {
    const { site, board, run, types, cursor } = await openAnswered(test);
    await expect(run(board, cursor, { ...site, workspaces: { ...site.workspaces, rescue: boom } })).rejects.toThrow(
      'boom',
    );
    expect(types()).toEqual([]);
  });

  it('at the end of the run keeps the folder, and says why', ALL, async (test) => {
    const { site, board } = await openAnswered(test);
    const published = publishRun({ ...site, fault, workspaces: { ...site.workspaces, removeFolder: boom } }, board);
    expect((await published).kept).toEqual([
      { path: expect.stringContaining('/run/a') as string, why: 'it went wrong' },
    ]);
  });

  it('while the run branch is checked, refuses the end and not the engine', ALL, async (test) => {
    const { site, board } = await openAnswered(test);
    const definition = { ...site.definition, verify: [{ run: 'true', minutes: 1 }] };
    const broken = { ...site, definition, fault, workspaces: { ...site.workspaces, integrationAt: boom } };
    const { facts } = await checkGate(broken, board);
    expect(problemsOf(facts, board.gate, [])).toEqual(['setup: it went wrong']);
  });
});
