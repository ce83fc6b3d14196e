import { expect, it } from 'vitest';
import type { PlannerReview } from '../../../src/model/sprint/request.ts';
import { looksFirst } from '../../../src/rules/sprint/looks-first.ts';

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;

type Seen = Pick<PlannerReview, 'requests' | 'findings' | 'at'>;

const asked = (ago: number): Seen => ({ requests: ['r-1'], findings: [], at: NOW - ago * MINUTE });
const found = (ago: number): Seen => ({ requests: [], findings: ['f-1'], at: NOW - ago * MINUTE });

it.each([
  ['before a sprint', 'open-sprint', [], true],
  ['before a slot is skipped', 'skip-slot', [], true],
  ['not before a plan', 'plan', [], false],
  ['not where it only waits', 'wait', [], false],
  ['requests that were planned just now are no findings', 'open-sprint', [asked(1)], true],
  ['findings of a moment ago were planned', 'open-sprint', [found(0)], false],
  ['so for half an hour', 'skip-slot', [found(29), asked(1)], false],
  ['and then again', 'open-sprint', [found(30)], true],
  ['the newest findings count', 'open-sprint', [found(90), found(5)], false],
  ['a clock that was set back keeps nothing away', 'open-sprint', [found(-60)], true],
] as const)('the sourcer looks: %s', (_, next, reviews, wanted) => {
  const review = new Map(reviews.map((one, index) => [`plan-${index + 1}`, { run: `x${index}`, ...one }]));
  expect(looksFirst(next, { review }, NOW)).toBe(wanted);
});
