import { describe, expect, it } from 'vitest';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { readFigures } from '../../src/view/run-summary.ts';
import type { Ledger } from '../../src/substrate/ports/ledger.ts';
import { rejects } from '../playbooks/simulator.ts';
import { definition, play, RecordedRun } from './report/support.ts';

/** A run whose one task was rejected once. */
function rejectedOnce(): RecordedRun {
  const about = definition();
  let reviews = 0;
  const script = {
    turn: ({ review }: { review: string | null }) => {
      if (review === null) return undefined;
      reviews += 1;
      return reviews === 1 ? rejects('no test') : undefined;
    },
  };
  return new RecordedRun(about).allocate().plan(play(about, script).entries);
}

function end(run: RecordedRun): RecordedRun {
  run.decide('finish', 'all is done');
  run.publish().writeEnd();
  run.ledger.releaseLease(run.lease);
  return run;
}

function nextEngine(run: RecordedRun): RecordedRun {
  run.clock.time += 60_000;
  run.lease = run.ledger.acquireLease(run.id, 'next');
  return run;
}

function figuresOf(run: RecordedRun, lockedBy: { since: number } | null = null) {
  let whole = false;
  const events: Ledger['events'] = (where) => {
    whole ||= where.types?.includes(RUN_EVENTS.plan) === true;
    return run.ledger.events(where);
  };
  const row = run.ledger.run(run.id);
  if (row === undefined) throw new Error('no such run');
  return { figures: readFigures({ ...run.ledger, events }, row, lockedBy, run.clock.time), whole };
}

describe('the figures of a run', () => {
  it('are its rounds of review and its time, without reading its plan again', () => {
    const run = rejectedOnce();
    run.clock.time += 5_000;
    const { figures, whole } = figuresOf(end(run));
    expect(whole).toBe(false);
    expect(figures).toMatchObject({
      ...{ playbook: 'delivery', state: 'done', interrupted: false, reviews: [{ stage: null, reviews: 1, rounds: 2 }] },
    });
    expect(figures?.wallMs).toBeGreaterThanOrEqual(5_000);
  });

  it('that has not ended are read from its plan', () => {
    const { figures, whole } = figuresOf(rejectedOnce());
    expect([whole, figures?.reviews]).toEqual([true, [{ stage: null, reviews: 1, rounds: 2 }]]);
  });

  it.each<[string, boolean, (run: RecordedRun) => RecordedRun]>([
    ['was killed and resumed', true, (run) => end(nextEngine(run))],
    ['was killed', true, (run) => run],
    [
      'a person interrupted and resumed',
      true,
      (run) => {
        run.decide('start', 'there is work').ledger.releaseLease(run.lease);
        return end(nextEngine(run));
      },
    ],
    [
      'a person drained',
      true,
      (run) => {
        run.ledger.note(run.lease, RUN_EVENTS.decided, { next: 'stop', because: 'drained', why: 'drained by ada' });
        run.ledger.releaseLease(run.lease);
        return end(nextEngine(run));
      },
    ],
    [
      'reached a limit',
      false,
      (run) => {
        run.ledger.note(run.lease, RUN_EVENTS.decided, { next: 'stop', because: 'limit', why: 'at its limit' });
        run.ledger.releaseLease(run.lease);
        return end(nextEngine(run));
      },
    ],
    [
      'asked a person',
      false,
      (run) => {
        run.decide('ask', 'which?').ledger.releaseLease(run.lease);
        return end(nextEngine(run));
      },
    ],
    ['was never left', false, (run) => end(run)],
  ])('say whether it was interrupted: it %s', (_what, interrupted, then) => {
    expect(figuresOf(then(rejectedOnce())).figures?.interrupted).toBe(interrupted);
  });

  it('of a run that an engine drives say nothing of that engine', () => {
    const run = rejectedOnce();
    expect(figuresOf(run, { since: 0 }).figures).toMatchObject({ interrupted: false, wallMs: null });
  });
});
