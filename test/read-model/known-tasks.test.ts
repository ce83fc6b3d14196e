import { describe, expect, it } from 'vitest';
import { createProgress } from '../../src/cli/board/watch-board.ts';
import { countTasks } from '../../src/graph/decisions/conclude.ts';
import { summarizeRun } from '../../src/read-model/run-summary.ts';
import { openRunView } from '../../src/read-model/run-view.ts';
import { plainJson } from '../../src/text/json.ts';
import type { Played, Script } from '../playbooks/simulator.ts';
import { play, stage, TEAM } from '../playbooks/stages/support.ts';
import { definition, RecordedRun } from '../report/support.ts';

/** Three stages of one task each, as a session has them: people know the tasks before the plan has them. */
const LIST = {
  stages: ['ONE', 'TWO', 'THREE'].map((id) => stage(id, { shownAs: `${id}-001` })),
};
const FAILS = { outcome: 'failed', failure: { kind: 'model-refused', message: 'no', mayHaveActed: true } } as const;

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

describe('the tasks that are known before the plan has them', () => {
  it('count on the board of a run that another process drives, from its first event to its end', () => {
    const { run, played } = failing();
    const view = openRunView(run.ledger, run.id);
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
      const { board } = run.read();
      run.publish({ summary: { outcome: 'failed', headline: 'FAILED, no', tasks: countTasks(board) } });
      run.ledger.releaseLease(run.lease);
    }
    const row = run.ledger.run(run.id)!;
    expect(summarizeRun(run.ledger, row, null, run.clock.time)?.tasks).toEqual({ all: 3, done: 1 });
  });
});
