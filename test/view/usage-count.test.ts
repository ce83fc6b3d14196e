import { expect, it } from 'vitest';
import { moneyText } from '../../src/model/amount.ts';
import { renderStatus } from '../../src/cli/render/status-board.ts';
import { statusOf } from '../../src/view/status.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { totalsOf } from '../../src/view/usage-count.ts';
import { usage } from '../substrate/ledger/support.ts';
import { definition, RecordedRun } from './report/support.ts';
import { renderReport } from './report/render-report.ts';

it('is the ledger’s own: a turn whose agent never ran is none, in status and report', () => {
  const failure = (kind: 'never-started' | 'lost') => ({
    outcome: 'failed' as const,
    failure: { kind, message: 'gone', mayHaveActed: kind === 'lost' },
  });
  const run = new RecordedRun(definition())
    .turn('a', 1, 'bob', { usage: usage(5, 0.0037) })
    .turn('a', 2, 'bob', failure('never-started'))
    .turn('a', 3, 'bob', failure('lost'))
    .turn('b', 1, 'cyd', { usage: usage(7, 0.0037) })
    .turn('b', 2, 'cyd', { usage: usage(1) })
    .turn('b', 3, 'cyd');
  const reading = run.read();
  expect(totalsOf(reading.attempts)).toEqual(reading.totals);
  const status = statusOf(viewOf(reading, { now: run.clock.time }));
  const { turns, usage: used } = status;
  expect(renderStatus(status, run.clock.time)).toMatch(/ · 13\+ tokens in, \d+\+ out · USD 0\.0074\+\n/);
  expect(turns).toEqual({ started: 5, settled: 4, lost: 1, live: 1 });
  expect(used).toMatchObject({ inputTokens: 13, unknownTurns: 1, unknownCostTurns: 2 });
  expect(moneyText(used.costUsd ?? 0)).toBe('USD 0.0074');
  const report = renderReport(reading, run.clock.time);
  expect(report).toContain('| bob | scripted | 2 | 1 | 5, and 1 of 2 turns unknown |');
  expect(report).toMatch(
    /\| \*\*all\*\* \| – \| 5 \| 3 \| 13, and 1 of 4 turns unknown .* USD 0\.0074, and 2 of 4 turns unknown \|/,
  );
});
