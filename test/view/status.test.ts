import { describe, expect, it } from 'vitest';
import { armoryFactsOf } from '../../src/model/armory-facts.ts';
import { createBoard } from '../../src/rules/board.ts';
import { criteriaOf } from '../../src/rules/conclude.ts';
import { foldEntry } from '../../src/rules/plan-step.ts';
import { factsOf } from '../../src/rules/run-facts.ts';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { readRun } from '../../src/view/read-run.ts';
import type { WorkPlace } from '../../src/model/work-place.ts';
import { runStatusSchema, statusOf, type RunStatus } from '../../src/view/status.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { openRunEvents } from '../../src/view/run-events.ts';
import { renderStatus } from '../../src/cli/render/status-board.ts';
import { failed, rejects } from '../playbooks/simulator.ts';
import { squadError, usage } from '../substrate/ledger/support.ts';
import { definition, play, RecordedRun } from './report/support.ts';
import { renderReport } from './report/render-report.ts';

const CHECKED = { criteria: [{ text: 'tests pass', command: 'npm test', done: false, line: 4 }] };

/** Checked against the schema that is API, as JSON would carry it. */
function statusFrom(run: RecordedRun, lockedBy: { since: number } | null = null): RunStatus {
  const found = statusOf(viewOf(run.read(lockedBy), { now: run.clock.time }));
  return runStatusSchema.parse(JSON.parse(JSON.stringify(found)));
}

/** A run that was played to its end, in the ledger. */
function finished(about = definition(), script: Parameters<typeof play>[1] = {}): RecordedRun {
  const played = play(about, script);
  return new RecordedRun(about).allocate().plan(played.entries).decide('finish', played.end.why);
}

describe('status', () => {
  it('has exactly the fields that are API', () => {
    const about = definition({ deadline: 5_000_000, criteria: [] });
    expect(statusFrom(finished(about).publish())).toEqual({
      runId: 'id-tidy',
      name: 'tidy',
      pastDeadline: null,
      rejections: [],
      parent: null,
      folder: null,
      written: [],
      prompts: { hash: null, changed: [] },
      phase: 'finished',
      outcome: 'done',
      playbook: 'delivery',
      objective: 'Tidy up',
      source: 'objective.md',
      reviewRounds: { a: 1 },
      baseline: [],
      criteria: [],
      checkers: [],
      checksAtBase: [],
      reported: [],
      armory: about.agents.map(armoryFactsOf),
      exitCode: 0,
      headline: 'DONE, nothing was checked',
      artifacts: [],
      tasks: [
        { id: 'plan', title: 'Plan the work', role: 'planner', status: 'done', round: 1, attempts: 1 },
        { id: 'a', title: 'Do a', role: 'builder', status: 'done', round: 1, attempts: 1 },
      ],
      failures: [],
      turns: { started: 0, settled: 0, lost: 0, live: 0 },
      usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, unknownTurns: 0, unknownCostTurns: 0 },
      limits: about.limits,
      caps: [
        ['minutes', 60],
        ['turns', 200],
        ['usd', 20],
      ].map(([limit, most]) => ({
        level: 'run',
        name: null,
        limit,
        used: 0,
        most,
        reached: false,
        unknownTurns: 0,
        blind: [],
      })),
      accounts: [],
      startedAt: 1_000_000,
      elapsedSeconds: 0,
      maxSeconds: 3_600,
      deadline: 5_000_000,
      held: [],
      switched: [],
      asks: [],
      waitingFor: null,
      mail: null,
      branch: 'squad/tidy',
      next: ['squad diff tidy', 'squad merge tidy'],
    });
  });

  it.each<[WorkPlace, string[]]>([
    [{ at: 'branch' }, ['squad diff tidy', 'squad merge tidy']],
    [{ at: 'branch', before: 'git switch main' }, ['squad diff tidy', 'git switch main && squad merge tidy']],
    [{ at: 'moved' }, ['squad diff tidy', 'squad merge tidy --unverified']],
    [{ at: 'reset' }, ['squad show tidy']],
    [{ at: 'merged' }, ['squad drop tidy']],
    [{ at: 'merged', before: 'git -C x switch --detach' }, ['git -C x switch --detach && squad drop tidy']],
    [{ at: 'gone' }, []],
    [{ at: 'line', line: 'sprints' }, ['squad merge sprints']],
    [{ at: 'line' }, ['squad sprint status']],
  ])('names what follows for work that is %o', (place, next) => {
    const run = finished(definition()).publish();
    const reading = run.read();
    expect(statusOf(viewOf(reading, { now: 0, place })).next).toEqual(next);
  });

  it('says that the files of a session are not complete, until they are or an engine writes them', () => {
    const [sink, folder] = ['session', '/team'];
    const run = finished({ ...definition(), folder }).publish();
    const left = (problem: string | null) => run.ledger.append(run.id, RUN_EVENTS.folder, { sink, folder, problem });
    const report = (): string => renderReport(run.read(), run.clock.time).replaceAll('\\', '');
    expect(report()).toContain('Session `/team`, whose files say what it has done');
    left('it is gone');
    expect(statusFrom(run)).toMatchObject({
      written: [{ sink, folder, problem: 'it is gone' }],
      next: ['squad resume tidy', 'squad diff tidy', 'squad merge tidy'],
    });
    expect(renderStatus(statusFrom(run), run.clock.time).split('\n')).toEqual(
      expect.arrayContaining([
        '  its files are not complete: it is gone. `squad resume tidy` writes them again',
        'Next: squad resume tidy',
      ]),
    );
    expect(report()).toContain(
      'Session `/team`, whose files are not complete: it is gone. `squad resume tidy` writes them again',
    );
    expect(statusFrom(run, { since: 0 }).written).toEqual([{ sink, folder, problem: null }]);
    left(null);
    expect(statusFrom(run)).toMatchObject({
      written: [{ problem: null }],
      next: ['squad diff tidy', 'squad merge tidy'],
    });
    expect(openRunEvents(run.ledger, run.id).look().slice(-2)).toMatchObject([
      {
        type: 'warning',
        text: 'the files in /team are not complete: it is gone. `squad resume tidy` writes them again',
      },
      { type: 'warning', text: 'the files in /team are complete' },
    ]);
  });

  it('counts turns, and knows the unknown from zero', () => {
    const run = new RecordedRun(definition());
    expect(statusFrom(run).usage).toMatchObject({ inputTokens: 0, outputTokens: 0, costUsd: 0, unknownTurns: 0 });
    run.turn('a', 1, 'bob', {});
    expect(statusFrom(run).usage).toEqual({
      inputTokens: null,
      outputTokens: null,
      costUsd: null,
      unknownTurns: 1,
      unknownCostTurns: 1,
    });
    run.turn('a', 2, 'bob', { usage: usage(7) });
    expect(statusFrom(run).usage).toMatchObject({ inputTokens: 7, outputTokens: 0, costUsd: null, unknownTurns: 1 });
    const failure = { kind: 'lost', message: 'gone', mayHaveActed: true } as const;
    run.turn('a', 3, 'bob', { outcome: 'failed', failure, usage: usage(1, 0.5) }).turn('a', 4, 'bob');
    expect(statusFrom(run)).toMatchObject({
      usage: { inputTokens: 8, costUsd: 0.5 },
      turns: { started: 4, settled: 3, lost: 1, live: 1 },
    });
  });

  it('merges raised limits, the last one for each', () => {
    const run = new RecordedRun(definition());
    for (const raised of [{ minutes: 90, usd: 30 }, { minutes: 120 }]) {
      run.ledger.note(run.lease, RUN_EVENTS.limitsRaised, raised);
    }
    expect(statusFrom(run)).toMatchObject({ maxSeconds: 7_200, limits: { minutes: 120, usd: 30, turns: 200 } });
  });

  it('counts engine time only, of a dead engine up to its last sign', () => {
    const run = new RecordedRun(definition());
    run.ledger.releaseLease(run.lease, 10_000);
    run.clock.time += 100_000;
    run.lease = run.ledger.acquireLease(run.id, 'second');
    run.ledger.renewLease(run.lease, 5_000);
    run.clock.time += 3_000;
    expect(statusFrom(run).elapsedSeconds).toBe(15);
  });
});

describe('phase', () => {
  const held = { since: 0 };
  const asked = () => {
    const about = definition();
    const played = play(about, { turn: ({ task }) => (task === 'a' ? failed('auth') : undefined) });
    expect(played.end.next).toBe('ask');
    return new RecordedRun(about).allocate().plan(played.entries).decide('ask', played.end.why);
  };
  /** As it stood when the account had just been parked. */
  const limited = () => {
    const about = definition();
    let limit: ReturnType<typeof failed> | undefined = failed('quota-exhausted', { retryAt: 9_000_000 });
    const turn = ({ task }: { task: string }) => {
      if (task !== 'a') return undefined;
      const ended = limit;
      limit = undefined;
      return ended;
    };
    const { entries } = play(about, { turn });
    const parked = entries.findIndex(
      (entry) => entry.entry === 'work' && entry.event.type === 'attempt-settled' && entry.event.outcome === 'failed',
    );
    return new RecordedRun(about)
      .allocate()
      .plan(entries.slice(0, parked + 1))
      .decide('start', '1 task ready');
  };

  it.each<[string, () => RecordedRun, { since: number } | null, Partial<RunStatus>]>([
    ['an engine begins', () => new RecordedRun(definition()), held, { phase: 'preparing', branch: null }],
    ['an engine works', () => new RecordedRun(definition()).allocate().turn('a', 1, 'bob'), held, { phase: 'running' }],
    [
      'its engine died',
      () => new RecordedRun(definition()).allocate(),
      null,
      { phase: 'stopped', waitingFor: { for: 'resume', why: 'its engine is gone' } },
    ],
    [
      'its engine died and another one drives something else',
      () => new RecordedRun(definition()).allocate(),
      { since: 2_000_000 },
      { phase: 'stopped' },
    ],
    [
      'it stopped at a limit',
      () => new RecordedRun(definition()).allocate().decide('stop', 'usd: 20 of 20 used'),
      null,
      { phase: 'stopped', outcome: null, waitingFor: { for: 'resume', why: 'usd: 20 of 20 used' } },
    ],
    ['it is over for the plan and not published', () => finished(), held, { phase: 'running', outcome: null }],
    ['it is published', () => finished().publish(), null, { phase: 'finished', outcome: 'done', waitingFor: null }],
    [
      'it could not be published',
      () => finished().publish({ problem: 'the remote refused it' }),
      null,
      { phase: 'finished', outcome: 'failed' },
    ],
    [
      'work failed',
      () => finished(definition(), { turn: ({ review }) => (review === null ? undefined : rejects('no')) }).publish(),
      null,
      { phase: 'finished', outcome: 'failed' },
    ],
    [
      'it waits for a reset',
      limited,
      held,
      {
        phase: 'waiting',
        waitingFor: expect.objectContaining({ for: 'time', until: 9_000_000, account: 'account-bob' }),
        accounts: [{ account: 'account-bob', until: 9_000_000, probing: false }],
      },
    ],
    [
      'it waits for a reset without an engine',
      limited,
      null,
      { phase: 'stopped', waitingFor: expect.objectContaining({ for: 'time' }) },
    ],
  ])('%s', (_title, arrange, lockedBy, expected) => {
    expect(statusFrom(arrange(), lockedBy)).toMatchObject(expected);
  });

  it('waits for a person, and no longer once the answer is recorded', () => {
    const run = asked();
    const question = { id: 'engine/auth/account-bob', options: ['try again', 'give up'] };
    expect(statusFrom(run)).toMatchObject({ phase: 'waiting', waitingFor: { for: 'answer', questions: [question] } });
    run.ledger.command(run.id, 'answer', { question: 'engine/other', answer: 'give up' }, 'eve');
    expect(statusFrom(run).phase).toBe('waiting');
    run.ledger.command(run.id, 'answer', { question: question.id, answer: 'try again' }, 'eve');
    expect(statusFrom(run)).toMatchObject({
      phase: 'stopped',
      waitingFor: { for: 'resume', why: 'an answer is recorded' },
    });
    expect(run.read().questions).toMatchObject([{ id: question.id, recorded: 'try again' }]);
  });

  it('has no reason left from before an engine took it up again', () => {
    const run = new RecordedRun(definition()).allocate().decide('stop', 'usd: 20 of 20 used');
    run.ledger.note(run.lease, RUN_EVENTS.resumed, {});
    expect(statusFrom(run).waitingFor).toEqual({ for: 'resume', why: 'its engine is gone' });
  });
});

describe('success criteria', () => {
  it('a checkbox and an agent’s word are no evidence; a judge’s is, with file, line and commit', () => {
    const silent = finished(definition(), { turn: ({ task }) => (task === 'judge' ? { output: {} } : undefined) });
    expect(statusFrom(silent.publish()).criteria).toEqual([
      { text: 'it is tidy', state: 'not-checked', by: null, evidence: null },
    ]);
    expect(statusFrom(silent)).toMatchObject({ headline: 'DONE, 1 of 1 criterion not checked', exitCode: 0 });
    const judged = statusFrom(finished({ ...definition(), name: 'judged' }).publish());
    expect(judged.criteria).toEqual([
      {
        text: 'it is tidy',
        state: 'judged',
        by: 'rex',
        evidence: 'src/a.ts:1 at m-c1-a has “it is there”: it is there',
      },
    ]);
    expect(judged.headline).toBe('DONE, 1 of 1 criterion judged by rex, not run');
  });

  it('are met by a command that the engine ran on the run branch', () => {
    const run = statusFrom(finished(definition(CHECKED)).publish());
    expect(run.criteria).toEqual([
      { text: 'tests pass', state: 'met', by: 'engine', evidence: 'npm test: exited with 0' },
    ]);
    expect(run).toMatchObject({ headline: 'DONE, all work is delivered and verified', exitCode: 0 });
  });

  it('are failed by it, with the last line it printed', () => {
    const run = statusFrom(finished(definition(CHECKED), { gate: () => ({ failing: ['npm test'] }) }).publish());
    expect(run.criteria).toEqual([
      { text: 'tests pass', state: 'failed', by: 'engine', evidence: 'npm test: failed: npm test fails' },
    ]);
    expect(run).toMatchObject({ outcome: 'failed', exitCode: 1 });
    expect(run.headline).toMatch(/^FAILED, /);
  });

  it('are not checked before the engine has looked, and no longer once the run branch moved on', () => {
    const about = definition(CHECKED);
    let looks = 0;
    const { entries } = play(about, {
      gate: () => {
        looks += 1;
        return looks > 1 ? {} : { failing: ['npm test'] };
      },
    });
    const states = entries.map((_, index) => {
      const board = entries.slice(0, index + 1).reduce(foldEntry, createBoard(factsOf(about)));
      return criteriaOf(board)[0]?.state;
    });
    const seen = states.filter((state, index) => state !== states[index - 1]);
    expect(seen).toEqual(['not-checked', 'failed', 'not-checked', 'met']);
  });
});

describe('reading a run', () => {
  it('takes the newest run that has an objective', () => {
    const run = new RecordedRun(definition());
    run.ledger.createRun({ id: 'turn', name: 'turn-1' });
    expect(run.read().row.name).toBe('tidy');
  });

  it('knows it by name and by id', () => {
    const run = new RecordedRun(definition());
    for (const name of ['tidy', 'id-tidy']) expect(readRun(run.ledger, name, null).row.id).toBe('id-tidy');
  });

  it('ignores plan entries that no engine decided', () => {
    const run = finished();
    const before = run.read().board;
    run.ledger.append(run.id, RUN_EVENTS.plan, {
      entry: 'changes',
      seq: 1,
      at: 1,
      changes: [{ do: 'finish', outcome: 'failed', why: 'planted' }],
    });
    expect(run.read().board).toEqual(before);
  });

  it.each([
    ['nobody', /no run is called nobody/, /There is: .*tidy/],
    ['turn-1', /turn-1 has no objective/, /squad log turn-1/],
  ])('refuses %s as usage', (name, message, next) => {
    const run = new RecordedRun(definition());
    run.ledger.createRun({ id: 'turn', name: 'turn-1' });
    const error = squadError(() => readRun(run.ledger, name, null));
    expect(error.code).toBe('usage');
    expect(error.message).toMatch(message);
    expect(error.next).toMatch(next);
  });

  it('names the event that cannot be read', () => {
    const run = new RecordedRun(definition());
    run.ledger.append(run.id, RUN_EVENTS.published, { branch: 7 });
    expect(squadError(() => run.read())).toMatchObject({
      code: 'database-corrupt',
      message: expect.stringMatching(/event \d+ \(run-published\).*branch/),
    });
  });
});
