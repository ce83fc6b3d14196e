import { describe, expect, it } from 'vitest';
import { shortId } from '../../../src/cli/mail/mail-text.ts';
import { atMoment, parseMoment } from '../../../src/text/duration.ts';
import { dueReminders } from '../../../src/cli/mail/listen.ts';
import { memberOf, personAs, speakerOf } from '../../../src/cli/mail/party.ts';
import { stateOf } from '../../../src/cli/mail/send.ts';
import { workFrom } from '../../../src/cli/mail/draft.ts';
import { ageOf } from '../../../src/text/time.ts';
import type { MailMessage } from '../../../src/model/mail/envelope.ts';
import type { MailPolicy } from '../../../src/model/mail/policy.ts';
import type { MailAction } from '../../../src/model/mail/kind.ts';
import type { Delivery } from '../../../src/substrate/ports/mailbox.ts';

const MINUTE = 60_000;

describe('a moment', () => {
  it.each([
    ['3600', { in: 3_600_000 }],
    ['90s', { in: 90_000 }],
    ['30m', { in: 30 * MINUTE }],
    ['2h', { in: 120 * MINUTE }],
    ['1d', { in: 24 * 60 * MINUTE }],
    ['2026-12-24T17:00+01:00', { at: Date.UTC(2026, 11, 24, 16) }],
    ['2026-12-24T17:00:05.250Z', { at: Date.UTC(2026, 11, 24, 17, 0, 5, 250) }],
  ])('%s', (text, moment) => {
    expect(parseMoment(text)).toEqual(moment);
  });

  it.each(['', '0', '0s', '-5', '5 m', '5w', 'tomorrow', '2026-12-24', '2026-12-24T17:00', '2026-13-24T17:00Z', '1e9'])(
    '%j is none',
    (text) => {
      expect(parseMoment(text)).toBeUndefined();
    },
  );

  it('counts from now, or does not', () => {
    expect([atMoment({ in: 5 }, 100), atMoment({ at: 5 }, 100)]).toEqual([105, 5]);
  });
});

const POLICY: MailPolicy = {
  members: [
    { address: 'MAIN', agent: null, role: 'main', verbs: [], writesTo: [] },
    { address: 'A', agent: 'a', role: 'member', verbs: [], writesTo: [] },
    { address: 'builder-1', agent: 'builder-1', role: 'builder', verbs: [], writesTo: [] },
  ],
  ttlMs: 1,
};

describe('who is at the keyboard', () => {
  it.each([
    [{}, undefined, { by: 'person', as: undefined }],
    [{}, 'a', { by: 'person', as: 'a' }],
    [{ TEAM_ROLE: 'B', TEAM_AGENT_ID: 'A-1' }, undefined, { by: 'person', as: 'B' }],
    [{ TEAM_AGENT_ID: 'builder-1-x7' }, undefined, { by: 'person', as: 'builder-1' }],
    [{ TEAM_ROLE: 'B' }, 'a', { by: 'person', as: 'a' }],
    [{ TEAM_ROLE: '' }, undefined, { by: 'person', as: undefined }],
    [{ SQUAD_AGENT: 'A', TEAM_ROLE: 'B' }, undefined, { by: 'person', as: 'B' }],
    [{ SQUAD_TOKEN: 't', TEAM_ROLE: 'B' }, undefined, { by: 'token', token: 't', claims: [] }],
    [{ SQUAD_TOKEN: 't', SQUAD_AGENT: 'A' }, 'b', { by: 'token', token: 't', claims: ['b', 'A'] }],
    [{ SQUAD_TOKEN: '' }, 'b', { by: 'person', as: 'b' }],
  ])('%j --as %s', (environment, as, expected) => {
    expect(speakerOf(environment, as)).toEqual(expected);
  });

  it('knows members by address and by the agent’s name, whatever the capitals', () => {
    expect(['a', 'A', 'main', 'BUILDER-1', 'nobody'].map((name) => memberOf(POLICY, name)?.address)).toEqual([
      'A',
      'A',
      'MAIN',
      'builder-1',
      undefined,
    ]);
  });

  it('is MAIN where that is a person, and has to be named where an agent is MAIN', () => {
    expect(personAs(POLICY, undefined)).toMatchObject({ address: 'MAIN' });
    expect(personAs(POLICY, 'a')).toMatchObject({ address: 'A' });
    expect(personAs(POLICY, 'x')).toEqual({ problem: 'no member is called x; members: MAIN, A, builder-1' });
    const led = { ...POLICY, members: POLICY.members.map((one) => ({ ...one, agent: 'lead' })) };
    expect(personAs(led, undefined)).toMatchObject({ problem: expect.stringMatching(/MAIN, A, builder-1$/) as string });
  });
});

function message(action: MailAction | undefined, more: Partial<MailMessage> = {}): MailMessage {
  return {
    v: '1',
    session: 's',
    epoch: 1,
    seq: 7,
    id: 's-1-7',
    agent_instance: 'x',
    from: 'MAIN',
    to: ['A'],
    type: 'ask',
    ...(action === undefined ? {} : { action }),
    ttl_ms: 1,
    ts: 0,
    body_encoding: 'json',
    body: '{}',
    ...more,
  };
}

function delivery(more: Partial<Delivery> = {}, action: MailAction = 'clarify'): Delivery {
  return {
    message: message(action),
    recipient: 'A',
    state: 'waiting',
    retries: 0,
    acceptedAt: null,
    answerDue: null,
    answer: null,
    lastError: null,
    ...more,
  };
}

describe('waiting', () => {
  const accepted = delivery({ state: 'accepted' });
  it.each<[string, Parameters<typeof stateOf>[0], readonly Delivery[], string]>([
    ['delivered is at once', 'delivered', [delivery()], 'reached'],
    ['accepted by one of two', 'accepted', [accepted, delivery()], 'open'],
    ['accepted by all', 'accepted', [accepted, accepted], 'reached'],
    ['with a reader is not accepted', 'accepted', [delivery({ state: 'leased' })], 'open'],
    ['given up', 'accepted', [delivery({ state: 'dead' })], 'failed'],
    ['given up, but another still may', 'accepted', [delivery({ state: 'dead' }), delivery()], 'open'],
    ['the turn that sent it was lost', 'done', [delivery({ state: 'void' })], 'failed'],
    ['read, not answered', 'done', [accepted], 'open'],
    ['answered', 'done', [delivery({ state: 'accepted', answer: 's-1-8' })], 'reached'],
    ['answered without ever being accepted', 'accepted', [delivery({ answer: 's-1-8' })], 'reached'],
    ['answered with a fail', 'done', [delivery({ answer: 's-1-9' })], 'failed'],
    ['an assignment whose time is over', 'done', [delivery({ answer: 'overdue' }, 'assign')], 'failed'],
    ['a reviewer who says nothing', 'done', [delivery({ answer: 'overdue' }, 'review')], 'reached'],
    ['a verification without a word', 'done', [delivery({ answer: 'overdue' }, 'verify')], 'reached'],
  ])('%s', (_title, wait, deliveries, expected) => {
    expect(stateOf(wait, deliveries, new Set(['s-1-9']))).toBe(expected);
  });
});

describe('reminders', () => {
  const asked = [delivery({ acceptedAt: 0, state: 'accepted' })];
  it.each([
    [29 * MINUTE, 0, []],
    [30 * MINUTE, 0, [1]],
    [31 * MINUTE, 1, []],
    [60 * MINUTE, 1, [2]],
    [200 * MINUTE, 0, [6]],
  ])('after %i ms, told of %i times', (now, times, expected) => {
    expect(dueReminders(asked, 'A', now, new Map([['s-1-7', times]])).map((due) => due.times)).toEqual(expected);
  });

  it('are for whoever was asked, and not before it was read', () => {
    expect(dueReminders(asked, 'B', 90 * MINUTE, new Map())).toEqual([]);
    expect(dueReminders([delivery()], 'A', 90 * MINUTE, new Map())).toEqual([]);
  });
});

describe('what somebody is at work on', () => {
  it.each([
    [
      message('assign', { task_id: 'T', owner: 'MAIN' }),
      { files: ['src/a.ts', 'src/b.ts'], success_criteria: ['Tests pass'] },
      { task_id: 'T', owner: 'MAIN', code_path: 'src/a.ts', context: 'Tests pass' },
    ],
    [message('verify'), { doc_path: 'd.md', changes_summary: 'x' }, { owner: 'MAIN', doc_path: 'd.md', context: 'x' }],
    [message(undefined, { type: 'send', task_id: 'T' }), { files: [3], doc_path: '' }, { task_id: 'T' }],
  ])('%#', (about, body, expected) => {
    expect(workFrom(about, body)).toEqual(expected);
  });
});

it('names ages and messages shortly', () => {
  const hour = 60 * MINUTE;
  expect([-5, 0, 59_999, MINUTE, hour - 1, hour, 47 * hour, 48 * hour].map(ageOf)).toEqual([
    '0 s',
    '0 s',
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '47 h',
    '2 days',
  ]);
  expect(shortId('6f1c1a52-3a64-4c3e-9a0e-0c8a8f1f0c11-2-101')).toBe('#101');
});
