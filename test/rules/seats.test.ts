import { describe, expect, it } from 'vitest';
import { isSilent, nextJudge } from '../../src/rules/seats.ts';
import { newRequest } from '../../src/rules/agent-request.ts';
import type { ReviewSlot } from '../../src/model/plan/work.ts';
import { liveRequest, UNUSED } from './support.ts';

const NEW = newRequest({ why: 'start' });
const TEAM: Readonly<Record<string, readonly string[]>> = {
  reviewer: ['rex', 'rea'],
  pm: ['pam'],
  qa: ['quin'],
  builder: ['bob'],
};

function slot(role: string, more: Partial<ReviewSlot> & { by?: string } = {}): ReviewSlot {
  const { by, ...own } = more;
  return { role, request: by === undefined ? NEW : liveRequest('t-1', by), answer: null, tried: [], ...own };
}

interface Row {
  readonly others?: readonly ReviewSlot[];
  readonly tried?: readonly string[];
  readonly authors?: readonly string[];
  readonly busy?: readonly string[];
  readonly team?: Readonly<Record<string, readonly string[]>>;
  readonly is: string | undefined;
}

describe('who judges in place of a reviewer without a verdict', () => {
  it.each<[string, Row]>([
    ['another one of its role', { is: 'rea' }],
    ['who is no author of the work', { authors: ['bob', 'rea'], is: 'quin' }],
    ['who has not tried', { tried: ['rex', 'rea'], is: 'quin' }],
    ['who is free, before one of a nearer role', { busy: ['rea'], is: 'quin' }],
    ['who is not free, if there is no other', { busy: ['rea', 'quin'], is: 'rea' }],
    [
      'of another role of the review',
      {
        tried: ['rex', 'rea'],
        others: [slot('pm', { by: 'pam' }), slot('qa')],
        team: { ...TEAM, qa: ['quin', 'quy'] },
        is: 'quin',
      },
    ],
    [
      'not the one that sits on another place',
      { tried: ['rex', 'rea'], others: [slot('qa', { by: 'quin' })], is: undefined },
    ],
    ['not the only one for a place that is open', { tried: ['rex', 'rea'], others: [slot('qa')], is: undefined }],
    [
      'not who judges in place of another one',
      { others: [slot('pm', { instead: 'rea', tried: ['pam'] })], is: 'quin' },
    ],
    ['not who was silent on another place', { others: [slot('pm', { tried: ['rea'] })], is: 'quin' }],
    ['nobody whose role does not judge', { team: { reviewer: ['rex'], builder: ['bob', 'bo'] }, is: undefined }],
  ])('is %s', (_, { others = [], tried = ['rex'], authors = ['bob'], busy = [], team = TEAM, is }) => {
    const silent = slot('reviewer', { by: 'rex', tried });
    const bench = {
      membersOf: (role: string) => team[role] ?? [],
      judges: ['reviewer', 'qa'],
      isFree: (name: string) => !busy.includes(name),
    };
    expect(nextJudge(silent, [silent, ...others], authors, bench)).toBe(is);
  });
});

describe('a reviewer is silent', () => {
  it.each([
    ['before any turn', 'queued', {}, false],
    ['after one turn', 'queued', { retries: 1 }, false],
    ['after an answer of the wrong form', 'queued', { repairs: 1 }, false],
    ['after two turns', 'queued', { retries: 2 }, true],
    ['after two turns, each for another reason', 'queued', { retries: 1, repairs: 1 }, true],
    ['after turns that were lost', 'queued', { infrastructure: 5, transient: 5, waits: 9, asks: 9 }, false],
    ['with an answer in the end', 'answered', { retries: 1, repairs: 1 }, false],
  ] as const)('%s: %s, %j → %s', (_, at, used, is) => {
    expect(isSilent({ ...NEW, state: { at }, used: { ...UNUSED, ...used } })).toBe(is);
  });

  it('whatever it used, once its request has failed', () => {
    expect(isSilent({ ...NEW, state: { at: 'failed', cause: 'attempts', why: 'w' } })).toBe(true);
  });
});
