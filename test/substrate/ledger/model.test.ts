// @module-tag all
import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { isSquadError } from '../../../src/model/errors.ts';
import { foldRun } from './fold.ts';
import { checkHistory } from '../../support/ledger-history.ts';
import { SPREAD, spread } from '../../support/lane.ts';
import { claim, openBench, result, usage } from './support.ts';

const LIMITS = { turns: 12, tokens: 60 };

const operation = fc.oneof(
  fc.record({ op: fc.constant('append' as const) }),
  fc.record({
    op: fc.constant('apply' as const),
    /** How far the driver's cursor is off, and whether it is the last one that asks again. */
    off: fc.constantFrom(0, 0, 0, 0, -1, 1),
    again: fc.boolean(),
    stale: fc.boolean(),
    claims: fc.array(
      fc.record({ task: fc.constantFrom('a', 'b', 'c'), session: fc.constantFrom(undefined, 's', 't') }),
      {
        maxLength: 3,
      },
    ),
    timer: fc.option(fc.constantFrom('t1', 't2')),
  }),
  fc.record({
    op: fc.constant('settle' as const),
    pick: fc.nat(20),
    text: fc.constantFrom('x', 'y'),
    tokens: fc.option(fc.nat(9)),
    stale: fc.boolean(),
  }),
  fc.record({ op: fc.constant('observe' as const), pick: fc.nat(20), type: fc.constantFrom('first-tool', 'session') }),
  fc.record({ op: fc.constant('fire' as const), id: fc.constantFrom('t1', 't2') }),
  fc.record({ op: fc.constant('take-over' as const) }),
);

describe('a ledger', SPREAD, () => {
  test.prop([fc.array(operation, { minLength: 5, maxLength: 60 })], { numRuns: spread(20, 60) })(
    'whatever is asked, in whatever order, the checker finds nothing and fold and tables agree',
    (operations) => {
      const bench = openBench();
      const { ledger } = bench;
      let lease = bench.lease;
      let stale = lease;
      let made = 0;
      let last: Parameters<typeof ledger.apply>[0] | undefined;
      const results = new Map<string, string>();
      for (const step of operations) {
        const before = ledger.lastSeq();
        try {
          switch (step.op) {
            case 'append':
              ledger.append('r', 'poke', null);
              break;
            case 'apply': {
              if (step.again && last !== undefined) {
                expect(ledger.apply({ ...last, lease }).repeated).toBe(true);
                expect(ledger.lastSeq()).toBe(before);
                break;
              }
              const cursor = ledger.run('r')!.applied + step.off;
              const seq = ledger
                .events({ stream: 'r', after: Math.max(cursor, 0) })
                .findLast((event) => event.cause === null)?.seq;
              const decisions = step.claims.map(({ task, session }) => {
                made += 1;
                const more = session === undefined ? { limits: LIMITS } : { sessionKey: session, limits: LIMITS };
                return claim(`${task}-${made}`, task, more);
              });
              const timer = { do: 'set-timer' as const, id: step.timer ?? '', dueAt: 0, data: null };
              const input = {
                lease: step.stale ? stale : lease,
                cursor,
                seq: seq ?? cursor,
                driver: `d${before}`,
                decisions: step.timer === null ? decisions : [...decisions, timer],
              };
              expect(ledger.apply(input).repeated).toBe(false);
              last = input;
              break;
            }
            case 'settle': {
              const attempts = ledger.attempts({ runId: 'r' });
              const attempt = attempts[step.pick % Math.max(attempts.length, 1)];
              if (attempt === undefined) break;
              const more = step.tokens === null ? {} : { usage: usage(step.tokens) };
              const given = result({ text: step.text, ...more });
              const answer = ledger.settle(step.stale ? stale : lease, attempt.id, given);
              const first = results.get(attempt.id);
              expect(answer.settled).toBe(first === undefined);
              if (!answer.settled) expect(answer.lateRecorded).toBe(first !== JSON.stringify(given));
              if (answer.settled) results.set(attempt.id, JSON.stringify(given));
              break;
            }
            case 'observe': {
              const attempts = ledger.attempts({ status: 'claimed' });
              const attempt = attempts[step.pick % Math.max(attempts.length, 1)];
              if (attempt !== undefined) ledger.observe(lease, attempt.id, step.type, null);
              break;
            }
            case 'fire':
              ledger.fireTimer(lease, step.id);
              break;
            case 'take-over':
              stale = lease;
              lease = ledger.acquireLease('r', 'next');
              break;
          }
        } catch (error) {
          // A refusal is an answer too, as long as nothing was written but what a fenced engine brought.
          if (!isSquadError(error)) throw error;
          expect(['cursor-refused', 'lease-fenced']).toContain(error.code);
          const written = ledger.events({ after: before }).map(({ type, epoch }) => [type, epoch]);
          if (step.op === 'settle' && error.code === 'lease-fenced')
            expect([[], [['late-result', null]]]).toContainEqual(written);
          else expect(written).toEqual([]);
        }
      }
      expect(checkHistory(bench.path, { r: [{ since: 0, limits: LIMITS }] })).toEqual([]);
      const applied = ledger.run('r')!.applied;
      const events = ledger.events({ stream: 'r' });
      const view = foldRun(events, Math.max(applied, ledger.lastSeq()));
      expect(view.totals).toEqual(ledger.totals('r'));
      expect([...view.timers.keys()].sort()).toEqual(
        ledger
          .dueTimers(1)
          .map((timer) => timer.id)
          .sort(),
      );
    },
    60_000,
  );
});
