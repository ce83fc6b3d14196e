import { expect, it } from 'vitest';
import { newWork } from '../../../src/rules/work.ts';
import { renderReviewPrompt } from '../../../src/rules/prompts/review-prompt.ts';
import type { RoundRecord } from '../../../src/model/plan/round-record.ts';
import type { Prompt, SentBack, Work } from '../../../src/model/plan/work.ts';
import { finding } from '../../support/findings.ts';
import { REVIEWED, stateOf } from '../support.ts';

const round = (commit: string, approved: boolean, more: Partial<RoundRecord> = {}): RoundRecord => ({
  ...{ round: 1, commit, approved, feedback: 'f', findings: approved ? [] : ['it breaks'], by: [] },
  ...(approved ? {} : { open: [finding('it breaks', { file: 'a.js', line: 2 })] }),
  ...more,
});
const LET_THROUGH = round('c1', false, { overruled: true, findings: [], open: [] });
const back = (by: SentBack['by']): SentBack => ({ by, text: 'what went wrong' });

const FIRST = 'Review commit c2, which is checked out here. The change is';
const AGAIN = 'What blocked it in the last round:';
const MERGED = 'Commit c1 passed review. It could not be merged:';
const FIXED = 'Commit c1 passed review. A check then failed';
const REPAIR = 'Your verdict cannot be used:';

/** What a reviewer is asked in its own session, and what besides in a new one. */
it.each<[string, string, Partial<Work>, Prompt?]>([
  ['the first look', FIRST, {}],
  ['after a rejection', AGAIN, { rounds: [round('c1', false)] }],
  ['after a rejection of the same commit', AGAIN, { rounds: [round('c2', false)] }],
  ['after a rejection and missing evidence', AGAIN, { rounds: [round('c1', false)], sentBack: back('evidence') }],
  ['after a conflict', MERGED, { rounds: [round('c1', true)], sentBack: back('conflict') }],
  [
    'after a rejection, an approval and a conflict',
    MERGED,
    { rounds: [round('c0', false), round('c1', true)], sentBack: back('conflict') },
  ],
  ['after an overruled rejection and a conflict', MERGED, { rounds: [LET_THROUGH], sentBack: back('conflict') }],
  ['after a failed check', FIXED, { rounds: [round('c1', true)], sentBack: back('verify') }],
  ['after a failed check, of the same commit', FIRST, { rounds: [round('c2', true)], sentBack: back('verify') }],
  [
    'after a rejection of what a failed check led to',
    AGAIN,
    { rounds: [round('c0', true), round('c1', false)], sentBack: back('verify') },
  ],
  [
    'after the playbook opened it again',
    FIRST,
    { rounds: [round('c0', false), round('c1', true)], sentBack: back('playbook') },
  ],
  ['with an answer to repair', REPAIR, {}, { why: 'repair', text: 'w' }],
])('a review is asked for as it has to be: %s', (_, text, work, prompt = { why: 'start' }) => {
  const state = stateOf('a', REVIEWED, { ...newWork(), ...work, phase: { at: 'reviewing', commit: 'c2', slots: [] } });
  const about = { state, prompt, run: 'The run.', commit: 'c2', since: 'base', changed: {} };
  const resumed = renderReviewPrompt({ ...about, resumed: true });
  expect(resumed).toContain(text);
  for (const other of [AGAIN, MERGED, FIXED, REPAIR].filter((one) => one !== text))
    expect(resumed).not.toContain(other);
  if (text === AGAIN) expect(resumed).toContain('F1: a.js:2: it breaks. Proof: tried');
  const anew = renderReviewPrompt({ ...about, resumed: false });
  expect(anew).toContain('The run.');
  expect(anew).toContain('The task was:');
  expect(anew.split('# Review of task a: a')).toHaveLength(2);
  expect(anew.includes(FIRST)).toBe(text === FIRST || text === REPAIR);
  if (text !== REPAIR) expect(anew).toContain(text);
  // Neither a conflict nor a failed check takes a round.
  if (text === MERGED || text === FIXED) expect(anew).not.toContain('(round ');
});
