import { describe, expect, it } from 'vitest';
import { newFollow, type FollowRecord } from '../../../src/model/forge/follow-record.ts';
import { decideFollow, nextLook, type FollowView, type SeenPull } from '../../../src/rules/forge/decide-follow.ts';

const [HEAD, NEXT] = ['a'.repeat(40), 'b'.repeat(40)];
const [HOUR, DAY] = [3_600_000, 86_400_000];
const NOW = 100 * DAY;

const CHECK = { name: 'ci', id: '1', state: 'failed', canRepeat: true } as const;
const COMMENT = { id: '7', on: 'line', thread: '7', by: 'ada', at: NOW - HOUR } as const;

function recordOf(more: Partial<FollowRecord> = {}): FollowRecord {
  const of = { run: 'r', name: 'x', number: 1, remote: 'origin', head: HEAD, secret: 's' };
  return { ...newFollow(of, NOW - DAY), ...more };
}

function pullOf(more: Partial<SeenPull> = {}): SeenPull {
  const flags = { isDraft: false, isFork: false, mergesItself: false };
  const base = { base: 'main', baseHead: 'c'.repeat(40), merge: 'other' } as const;
  const roles = new Map([
    ['ada', 'member'],
    ['eve', 'none'],
    ['olga', 'owner'],
  ] as const);
  return { state: 'open', head: HEAD, ...flags, ...base, checks: [], comments: [], approvals: [], roles, ...more };
}

interface Given extends Omit<Partial<FollowView>, 'record' | 'pull' | 'settings'> {
  readonly record?: Partial<FollowRecord>;
  readonly pull?: Partial<SeenPull> | 'gone';
  readonly settings?: Partial<FollowView['settings']>;
}

function decide({ record, pull, settings, ...more }: Given = {}) {
  return decideFollow({
    now: NOW,
    run: { at: 'done', head: HEAD },
    ...more,
    record: recordOf(record),
    pull: pull === 'gone' ? 'gone' : pullOf(pull),
    settings: { days: 14, rounds: 3, by: ['owner', 'member'], merges: false, ...settings },
  });
}

const ROUND = {
  ...{ number: 1, at: NOW - HOUR, head: HEAD, asked: true, problems: [] },
  comments: [{ id: '7', on: 'line', thread: '7' } as const],
};
const AGAIN = { repeated: [{ check: `ci@${HEAD}`, id: '1', at: NOW - HOUR }] };
const TWICE = { ...CHECK, id: '2' };
const PASSED = { ...TWICE, state: 'passed' } as const;

describe('a followed pull request', () => {
  it.each<[string, Given, object]>([
    ['waits for people where nothing is new', {}, { do: 'wait', why: 'it waits for people', soon: false }],
    ['ends once it is merged', { pull: { state: 'merged' } }, { do: 'end', state: 'merged' }],
    ['ends once it is closed', { pull: { state: 'closed' }, record: { round: ROUND } }, { do: 'end', state: 'closed' }],
    ['ends after its days', { record: { since: NOW - 15 * DAY } }, { do: 'end', state: 'over' }],
    ['is not ended by its days in a round', { record: { since: NOW - 15 * DAY, round: ROUND } }, { do: 'answer' }],
    ['is held where it is gone', { pull: 'gone' }, { do: 'hold' }],
    ['is held where it comes from a fork', { pull: { isFork: true } }, { do: 'hold' }],
    ['is held where its branch was pushed to', { pull: { head: NEXT } }, { do: 'hold' }],
    ['is held where the run branch was moved', { run: { at: 'done', head: NEXT } }, { do: 'hold' }],
    ['waits while its run works', { run: { at: 'work', head: HEAD } }, { do: 'wait', soon: false }],
    ['is held where its run failed', { run: { at: 'failed', head: HEAD } }, { do: 'hold' }],
    ['ends without its run', { run: { at: 'gone', head: HEAD } }, { do: 'end', state: 'over' }],

    ['has a failed check run again first', { pull: { checks: [CHECK] } }, { do: 'repeat', check: { name: 'ci' } }],
    [
      'waits for what runs again',
      { pull: { checks: [CHECK] }, record: { repeated: [{ check: `ci@${HEAD}`, id: '1', at: NOW }] } },
      { do: 'wait' },
    ],
    [
      'gives a check that cannot run again to its agent',
      { pull: { checks: [{ ...CHECK, canRepeat: false }] } },
      { do: 'plan' },
    ],
    [
      'gives a check that failed twice to its agent',
      { pull: { checks: [TWICE] }, record: { repeated: [{ check: `ci@${HEAD}`, id: '1', at: NOW }] } },
      { do: 'plan', checks: [{ name: 'ci' }] },
    ],
    [
      'gives it to its agent where nothing ran again in time',
      { pull: { checks: [CHECK] }, record: AGAIN },
      { do: 'plan' },
    ],
    [
      'notes a check that passed on the same commit',
      { pull: { checks: [PASSED] }, record: AGAIN },
      { do: 'note-flaky', check: { name: 'ci' } },
    ],
    [
      'notes that once',
      {
        pull: { checks: [PASSED] },
        record: { ...AGAIN, flaky: [`ci@${HEAD}`] },
      },
      { do: 'wait' },
    ],
    [
      'asks no agent twice about a check of one commit',
      { pull: { checks: [TWICE] }, record: { ...AGAIN, given: [`ci@${HEAD}`] } },
      { do: 'wait', why: 'checks fail, and its agent changed nothing' },
    ],
    [
      'waits for the other checks',
      {
        pull: {
          checks: [
            { ...CHECK, canRepeat: false },
            { ...CHECK, name: 'e2e', state: 'pending' },
          ],
        },
      },
      { do: 'wait', why: 'checks are running' },
    ],

    ['gives a comment to its agent', { pull: { comments: [COMMENT] } }, { do: 'plan', comments: [{ id: '7' }] }],
    ['does nothing for a stranger', { pull: { comments: [{ ...COMMENT, by: 'eve' }] } }, { do: 'wait' }],
    [
      'does nothing for a person who was not looked up',
      { pull: { comments: [{ ...COMMENT, by: 'who' }] } },
      { do: 'wait' },
    ],
    [
      'does nothing for a member where owners count',
      { pull: { comments: [COMMENT] }, settings: { by: ['owner'] } },
      { do: 'wait' },
    ],
    [
      'waits for a person who still writes',
      { pull: { comments: [{ ...COMMENT, at: NOW - 1_000 }] } },
      { do: 'wait', soon: true },
    ],
    [
      'gives comments to an agent although a check never ends',
      { pull: { comments: [COMMENT], checks: [{ ...CHECK, state: 'pending' }] } },
      { do: 'plan' },
    ],
    ['ends after its rounds', { pull: { comments: [COMMENT] }, record: { rounds: 3 } }, { do: 'end', state: 'over' }],

    [
      'answers each comment with the commit',
      { record: { round: ROUND }, run: { at: 'done', head: NEXT }, pull: { head: NEXT } },
      { do: 'answer', comment: { id: '7' }, commit: NEXT },
    ],
    ['answers that nothing was changed', { record: { round: ROUND } }, { do: 'answer', commit: null }],
    ['closes the round then', { record: { round: ROUND, handled: ['7'] } }, { do: 'close-round' }],
    [
      'waits for the push to be seen',
      { record: { round: { ...ROUND, at: NOW } }, run: { at: 'done', head: NEXT } },
      { do: 'wait', soon: true },
    ],
    [
      'is held where the push is not seen',
      { record: { round: ROUND }, run: { at: 'done', head: NEXT } },
      { do: 'hold' },
    ],
    [
      'gives its round to the run first, also while that works',
      { record: { round: { ...ROUND, asked: false } }, run: { at: 'work', head: HEAD } },
      { do: 'rework' },
    ],
    [
      'gives nothing to a run whose pull request is gone',
      { record: { round: { ...ROUND, asked: false } }, pull: 'gone' },
      { do: 'hold' },
    ],

    ['has its base merged where it is behind', { pull: { merge: 'behind' } }, { do: 'catch-up', branch: 'main' }],
    ['has its base merged where it conflicts', { pull: { merge: 'conflict' } }, { do: 'catch-up' }],
    [
      'has one base merged once',
      { pull: { merge: 'behind' }, record: { caughtUp: [`${HEAD}+${'c'.repeat(40)}`] } },
      { do: 'wait' },
    ],
    ['is worked on before its base is merged', { pull: { merge: 'behind', comments: [COMMENT] } }, { do: 'plan' }],

    [
      'is not merged by itself',
      { pull: { approvals: [{ by: 'ada', says: 'approved', commit: HEAD }] } },
      { do: 'wait' },
    ],
    [
      'is merged by an approval where that was asked for',
      { settings: { merges: true }, pull: { approvals: [{ by: 'ada', says: 'approved', commit: HEAD }] } },
      { do: 'ask-merge' },
    ],
    [
      'is not merged by a stranger',
      { settings: { merges: true }, pull: { approvals: [{ by: 'eve', says: 'approved', commit: HEAD }] } },
      { do: 'wait' },
    ],
    [
      'is not merged by an approval of another commit',
      { settings: { merges: true }, pull: { approvals: [{ by: 'ada', says: 'approved', commit: NEXT }] } },
      { do: 'wait' },
    ],
    [
      'is not merged where one asks for changes',
      {
        settings: { merges: true },
        pull: {
          approvals: [
            { by: 'ada', says: 'approved', commit: HEAD },
            { by: 'olga', says: 'changes', commit: HEAD },
          ],
        },
      },
      { do: 'wait' },
    ],
    [
      'is not merged with a failed check',
      {
        settings: { merges: true },
        record: { given: [`ci@${HEAD}`] },
        pull: { checks: [TWICE], approvals: [{ by: 'ada', says: 'approved', commit: HEAD }] },
      },
      { do: 'wait' },
    ],
    [
      'is asked for once',
      {
        settings: { merges: true },
        record: { mergeAsked: HEAD },
        pull: { approvals: [{ by: 'ada', says: 'approved', commit: HEAD }] },
      },
      { do: 'wait' },
    ],
  ])('%s', (_, given, expected) => {
    expect(decide(given)).toMatchObject(expected);
  });

  it('takes 500 comments in rounds of a bounded number', () => {
    const comments = Array.from({ length: 500 }, (_, index) => ({ ...COMMENT, id: `${index}`, thread: `${index}` }));
    const handled = new Set<string>();
    let rounds = 0;
    for (; ; rounds += 1) {
      const action = decide({
        pull: { comments: comments.filter(({ id }) => !handled.has(id)) },
        record: { handled: [...handled] },
        settings: { rounds: 50 },
      });
      if (action.do !== 'plan') break;
      expect(action.comments.length).toBeLessThanOrEqual(25);
      for (const { id } of action.comments) handled.add(id);
    }
    expect([rounds, handled.size]).toEqual([20, 500]);
  });

  it('is looked at ten times an hour at most while it waits for three weeks', () => {
    const looks: number[] = [];
    for (let at = nextLook(0, 0, false); at < 21 * DAY; at = nextLook(at, 0, false)) looks.push(at);
    const most = Math.max(...looks.map((at) => looks.filter((one) => one >= at && one < at + HOUR).length));
    expect(most).toBeLessThanOrEqual(10);
    expect(looks.at(-1)).toBeGreaterThan(21 * DAY - HOUR);
  });
});
