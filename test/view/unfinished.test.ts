import { expect, test } from 'vitest';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { listUnfinished } from '../../src/view/unfinished.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
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
