import { expect, test } from 'vitest';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { listUnfinished, type StillRuns } from '../../src/view/unfinished.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { plainJson } from '../../src/text/json.ts';
import { definition, play, RecordedRun } from './report/support.ts';

/** The needs of what is unfinished, and whether a plan was read for it. */
function unfinishedIn({ ledger, clock }: RecordedRun) {
  let folds = false;
  const events: Ledger['events'] = (where) => {
    folds ||= where.types === undefined || where.types.includes(RUN_EVENTS.plan);
    return ledger.events(where);
  };
  const needs = listUnfinished({ ...ledger, events }, null, clock.time).map(({ need }) => need);
  return { needs, folds };
}

function ended(): RecordedRun {
  const about = definition();
  return new RecordedRun(about).allocate().plan(play(about).entries).publish().writeEnd();
}

test('a run that has ended is not folded to see whether it is unfinished', () => {
  const run = ended();
  run.ledger.releaseLease(run.lease);
  expect(unfinishedIn(run)).toEqual({ needs: [], folds: false });
});

test('a run that was asked for something after its end, or whose engine was killed there, is folded', () => {
  const asked = ended();
  asked.ledger.releaseLease(asked.lease);
  asked.ledger.command(asked.id, 'retry', { task: 'a', fresh: false }, 'ada');
  expect(unfinishedIn(asked)).toEqual({ needs: [], folds: true });
  expect(unfinishedIn(ended())).toEqual({ needs: ['gone'], folds: true });
});

test('a run that SIGTERM ended between two turns was interrupted, and one that a person drained is held', () => {
  const drained = { next: 'stop', because: 'drained', why: 'the run was asked to stop' };
  const cut = new RecordedRun(definition()).allocate();
  cut.ledger.append(cut.id, RUN_EVENTS.decided, drained);
  cut.ledger.releaseLease(cut.lease);
  expect(unfinishedIn(cut).needs).toEqual(['cut']);
  const held = new RecordedRun(definition()).allocate();
  held.ledger.command(held.id, 'drain', {}, 'ada');
  held.ledger.append(held.id, RUN_EVENTS.decided, drained);
  held.ledger.releaseLease(held.lease);
  expect(unfinishedIn(held).needs).toEqual(['held']);
});

test('a process that looks again and again reads no run of the queue twice, and sees each change', () => {
  const { ledger, clock, ...run } = ended();
  const queue = (id: string, after?: string): void => {
    ledger.createRun({ id, name: id });
    const submitted = { at: 1, by: 'ada', ...(after === undefined ? {} : { after }) };
    ledger.submit({ id, definition: plainJson({ ...definition(), name: id, submitted }) });
  };
  const still: StillRuns = new Map();
  let reads = 0;
  const events: Ledger['events'] = (where) => {
    reads += 1;
    return ledger.events(where);
  };
  /** As one that looks for the first time sees it. `read`: it read more than whether something is new. */
  const look = (): { needs: unknown[]; read: boolean } => {
    const anew = listUnfinished(ledger, null, clock.time);
    reads = 0;
    const seen = listUnfinished({ ...ledger, events }, null, clock.time, { still });
    expect(seen).toEqual(anew);
    return { needs: seen.map(({ runId, need }) => `${runId} ${need}`), read: reads > 0 };
  };
  ledger.releaseLease(run.lease);
  queue('one');
  queue('two', 'one');
  expect(look()).toEqual({ needs: ['two waits', 'one queued'], read: true });
  expect(look()).toEqual({ needs: ['two waits', 'one queued'], read: false });
  ledger.append('one', RUN_EVENTS.startRefused, { why: 'its branch is gone' });
  expect(look()).toEqual({ needs: ['two waits', 'one held'], read: true });
  ledger.append('one', RUN_EVENTS.startRefused, { why: 'ada took it out', dropped: true });
  // Known as it was: what it waits for is looked up each time.
  expect(look()).toEqual({ needs: ['two held', 'one held'], read: true });
  queue('three');
  expect(look()).toEqual({ needs: ['three queued', 'two held', 'one held'], read: true });
  expect(look().read).toBe(false);
});
