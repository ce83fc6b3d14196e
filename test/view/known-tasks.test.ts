import { describe, expect, it } from 'vitest';
import { EMPTY_BOARD, type BoardState } from '../../src/cli/board/board-state.ts';
import { takeEvent } from '../../src/cli/board/view.ts';
import { createProgress } from '../../src/cli/board/watch-board.ts';
import type { RunEvent } from '../../src/model/run-event.ts';
import type { RunHistory } from '../../src/view/read-run.ts';
import { summarizeRun } from '../../src/view/run-summary.ts';
import { openRunEvents } from '../../src/view/run-events.ts';
import { statusOf } from '../../src/view/status.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { plainJson } from '../../src/text/json.ts';
import type { Played, Script } from '../playbooks/simulator.ts';
import { play, stage, TEAM } from '../playbooks/stages/support.ts';
import { renderReport } from './report/render-report.ts';
import { definition, RecordedRun } from './report/support.ts';

/** Three stages of one task each, as a session has them: people know the tasks before the plan has them. */
const LIST = {
  stages: ['ONE', 'TWO', 'THREE'].map((id) => stage(id, { shownAs: `${id}-001` })),
};
const FAILS = { outcome: 'failed', failure: { kind: 'model-refused', message: 'no', mayHaveActed: true } } as const;

const STOPPED: RunEvent = {
  ...{
    type: 'run-ended',
    at: 1,
    runId: 'id-tidy',
    name: 'tidy',
    outcome: 'stopped',
    headline: 'STOPPED, no',
    why: 'no',
  },
  ...{ exitCode: 4, branch: 'squad/tidy', report: '', failures: [], rejections: [], questions: [], next: [] },
};

function statesIn({ stages }: BoardState): string[] {
  return [...stages.values()].map(({ state }) => state);
}

/** The second task fails, so that the third never starts. */
function failing(): { run: RecordedRun; played: Played } {
  const turn: Script['turn'] = ({ task }) => (task === 'two' ? FAILS : undefined);
  const played = play(LIST, { script: { turn } });
  const agents = TEAM.map(({ name, role, account }) => {
    return { name, role, account, runtime: 'scripted', access: { level: 'edit' as const }, instructions: '' };
  });
  const options = { list: LIST, folder: 'docs/squad/try', reviewRounds: 4 };
  const about = { ...definition(), playbook: 'stages', options: plainJson(options), agents };
  return { run: new RecordedRun(about).allocate(), played };
}

describe('a stage that never begins', () => {
  const statesOf = (stages: readonly { id: string; state: string }[] = []): string[] =>
    stages.map(({ id, state }) => `${id} ${state}`);

  it('waits while the run may still come to it, and is cancelled at its end, on the board too', () => {
    const { run, played } = failing();
    const view = openRunEvents(run.ledger, run.id);
    let board = EMPTY_BOARD;
    for (const entry of played.entries) {
      const { finished } = run.plan([entry]).read().board;
      board = view.look().reduce(takeEvent, board);
      expect(board.stages.get('THREE-001')?.state ?? 'waiting').toBe(finished === null ? 'waiting' : 'cancelled');
    }
    const { stages, stageHistory } = statusOf(viewOf(run.read(), { now: run.clock.time }));
    expect(statesOf(stages)).toEqual(['ONE-001 done', 'TWO-001 failed', 'THREE-001 cancelled']);
    expect(stageHistory).toEqual(['ONE-001', 'TWO-001']);
  });

  it('is one of those that a merge leaves out', () => {
    const { run, played } = failing();
    run.plan(played.entries).publish();
    run.ledger.releaseLease(run.lease);
    const report = renderReport(run.read(), run.clock.time);
    expect(report).toMatch(/A merge leaves out:\n\n- `two` .*: failed\n- `THREE-001` \(Three\): cancelled\n/);
    expect(report).toContain('| 3/3 | – cancelled | THREE-001: Three |');
  });
});

describe('an open stage', () => {
  const begun = (): RecordedRun => {
    const { run, played } = failing();
    const until = played.steps.findIndex(({ board }) => board.tasks.has('two'));
    expect(until).toBeGreaterThan(0);
    for (const entry of played.entries) {
      if (run.read().stages[1]?.state === 'live') break;
      run.plan([entry]);
    }
    return run;
  };
  const stateOf = (run: RunHistory): string | undefined => statusOf(viewOf(run, { now: 1 })).stages?.[1]?.state;

  it('is live while an engine drives the run or a turn is at work, and waits where neither is', () => {
    const run = begun();
    expect(stateOf(run.read({ since: 0 }))).toBe('live');
    run.turn('two', 1, 'builder-1');
    expect(stateOf(run.read())).toBe('live');
    const rests = begun().read();
    expect([stateOf(rests), statusOf(viewOf(rests, { now: 1 })).stage]).toEqual(['waiting', 'TWO-001']);
    expect(renderReport(rests, 1)).toContain('Stage TWO-001 (2/3), waiting');
  });

  it('waits on a board whose engine has ended', () => {
    const run = begun();
    const board = [...openRunEvents(run.ledger, run.id).look(), STOPPED].reduce(takeEvent, EMPTY_BOARD);
    expect(statesIn(board)).toEqual(['done', 'waiting', 'waiting']);
  });
});

describe('the tasks that are known before the plan has them', () => {
  it('count on the board of a run that another process drives, from its first event to its end', () => {
    const { run, played } = failing();
    const view = openRunEvents(run.ledger, run.id);
    const totals = played.entries.map((entry) => {
      run.plan([entry]);
      view.look();
      return createProgress(run.ledger, run.id, view.board)()?.tasks.all;
    });
    expect(new Set(totals)).toEqual(new Set([3]));
    expect(createProgress(run.ledger, run.id, view.board)()?.tasks).toEqual({ all: 3, ended: 2 });
  });

  it.each(['running', 'failed'] as const)('count in the list of runs: %s', (state) => {
    const { run, played } = failing();
    run.plan(played.entries);
    if (state === 'failed') {
      run.publish().writeEnd();
      run.ledger.releaseLease(run.lease);
    }
    const row = run.ledger.run(run.id)!;
    expect(summarizeRun(run.ledger, row, null, run.clock.time)?.tasks).toEqual({ all: 3, done: 1 });
  });
});
