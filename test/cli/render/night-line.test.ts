import { expect, test } from 'vitest';
import { nightLine } from '../../../src/cli/render/night-line.ts';
import type { Night, NightRun } from '../../../src/view/night.ts';

const NOW = new Date('2026-11-28T07:30:00').getTime();
const SINCE = new Date('2026-11-27T18:00:00').getTime();
const TWO = new Date('2026-11-28T02:14:00').getTime();

function night(runs: readonly Partial<NightRun>[], more: Partial<Night> = {}): Night {
  const all = runs.map(
    (run, at) => ({ runId: `r${at}`, name: `run-${at}`, state: 'done', why: null, at: TWO, ...run }) as const,
  );
  return { since: SINCE, runs: all, turns: 4, costUsd: 1.5, unknownCostTurns: 0, ...more };
}

test.each<[string, Night, string]>([
  ['nothing', night([]), 'since 2026-11-27 18:00: no run was at work'],
  ['two that are done', night([{}, {}]), 'since 2026-11-27 18:00: 2 done (run-0, run-1); USD 1.50'],
  [
    'a question, and why it does not continue',
    night([
      { state: 'waiting', why: 'Which port?' },
      { state: 'interrupted', why: 'its engine is gone', at: null },
    ]),
    'since 2026-11-27 18:00: 2 waiting (run-0: Which port?, since 02:14 | run-1: its engine is gone); USD 1.50',
  ],
  [
    'a failure, a cancelled run, one at work, and unknown cost',
    night(
      [
        { state: 'failed', why: 'a\u001b[2J\nb' },
        { state: 'cancelled', why: 'by ada: the plan was not approved' },
        { state: 'running', at: null },
      ],
      { unknownCostTurns: 1 },
    ),
    'since 2026-11-27 18:00: 1 failed (run-0: a b); 1 cancelled (run-1: by ada: the plan was not approved); 1 at work (run-2); USD 1.50+',
  ],
  ['no turn', night([{}], { turns: 0, costUsd: 0 }), 'since 2026-11-27 18:00: 1 done (run-0); no turn ended'],
  [
    'unknown cost alone',
    night([{}], { costUsd: null, unknownCostTurns: 4 }),
    'since 2026-11-27 18:00: 1 done (run-0); cost unknown',
  ],
])('a night with %s', (_, given, line) => {
  expect(nightLine(given, NOW)).toBe(line);
});
