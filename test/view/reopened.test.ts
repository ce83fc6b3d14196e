import { describe, expect, it } from 'vitest';
import type { PlanEntry } from '../../src/model/plan/entry.ts';
import { phaseOf } from '../../src/model/run-state.ts';
import { standingOf } from '../../src/view/run-state.ts';
import { isOver } from '../../src/view/read-run.ts';
import { unfinishedOf } from '../../src/view/unfinished.ts';
import { rejects } from '../playbooks/simulator.ts';
import { definition, play, RecordedRun } from './report/support.ts';

const AT = { seq: 1, at: 1 };
const RETRY = { verb: 'retry', task: 'a', fresh: false } as const;
const HEARD: PlanEntry = {
  entry: 'event',
  ...AT,
  event: { type: 'intervention', ...AT, intervention: RETRY, by: 'ada' },
};
const FINISHED: PlanEntry = {
  entry: 'changes',
  ...AT,
  changes: [{ do: 'finish', outcome: 'failed', why: 'again not' }],
};

/** One that failed and was published; its engine is gone. */
function ended(): RecordedRun {
  const about = definition();
  const { entries, end } = play(about, { turn: ({ review }) => (review === null ? undefined : rejects('no')) });
  const run = new RecordedRun(about).allocate().plan(entries).decide('finish', end.why).publish();
  run.ledger.releaseLease(run.lease);
  return run;
}

const over = (run: RecordedRun): boolean => isOver(run.read());
const phase = (run: RecordedRun): string => phaseOf(standingOf(run.read(), run.clock.time).state);
const need = (run: RecordedRun): string | undefined => unfinishedOf(run.read(), run.clock.time)?.need;

/** As the next engine leaves it: the retry is heard. */
function driven(more: readonly PlanEntry[]): RecordedRun {
  const run = ended();
  run.lease = run.ledger.acquireLease(run.id, 'next');
  return run.plan([HEARD, ...more]);
}

describe('a run that a person opened again', () => {
  it('is over before, and no longer once the request is stored', () => {
    const run = ended();
    expect([over(run), phase(run), need(run)]).toEqual([true, 'finished', undefined]);
    run.ledger.command(run.id, 'retry', { task: 'a', fresh: false }, 'ada');
    expect([over(run), phase(run), need(run)]).toEqual([false, 'stopped', 'answered']);
  });

  it.each<[string, readonly PlanEntry[]]>([
    ['at work', []],
    ['at its second end, which nobody has published yet', [FINISHED]],
  ])('is not over where its engine ended %s', (_when, more) => {
    const run = driven(more).decide('stop', 'drained by ada');
    run.ledger.releaseLease(run.lease);
    expect(run.read().published).toBeUndefined();
    expect([over(run), phase(run)]).toEqual([false, 'stopped']);
    expect(need(run)).toBeDefined();
  });

  it('goes on to be cancelled', () => {
    const run = driven([]).decide('stop', 'drained by ada');
    run.ledger.releaseLease(run.lease);
    run.ledger.command(run.id, 'cancel', { on: 'run', why: '' }, 'ada');
    expect([over(run), need(run)]).toEqual([false, 'answered']);
  });

  it('is over once it is published again', () => {
    const run = driven([FINISHED])
      .decide('finish', 'again not')
      .publish({ head: 'e'.repeat(40) });
    run.ledger.releaseLease(run.lease);
    expect([over(run), phase(run)]).toEqual([true, 'finished']);
    expect(run.read().published?.head).toBe('e'.repeat(40));
  });
});
