import { describe, expect, it } from 'vitest';
import { MAIL_VERBS } from '../../../src/model/mail/kind.ts';
import { POLICY } from '../../substrate/ledger/mail/support.ts';
import { openToolRoom, TURNS, type ToolRoom } from './support.ts';

const MINUTE = 60_000;
const CLARIFY = { to: ['MAIN'], task_id: 'T1', question: 'how?', context: 'here' };
const REVIEW = { to: ['A'], task_id: 'DOC', doc_path: 'docs/a.md' };
const VERIFY = {
  to: ['A'],
  task_id: 'DOC',
  doc_path: 'docs/a.md',
  changes_summary: 'all',
  question: 'well?',
};
const ASSIGN = { to: ['A'], task_id: 'F1', task_type: 'implement', files: ['a.ts'], success_criteria: ['it works'] };
const ISSUE = { doc_path: 'docs/a.md#L3', category: 'docs', severity: 'low', summary: 'typo', suggestion: 'mend it' };

/** What MAIN has asked A; returns its id. */
function asked(room: ToolRoom, tool: string, given: object): string {
  const id = room.made('MAIN', tool, given);
  // What changes the plan takes effect with the turn that sent it.
  if (tool === 'assign') room.settle(TURNS.MAIN);
  return id;
}

describe('a tool makes the message that the protocol has for it', () => {
  it.each([
    ['send', 'A', 'send', { to: ['main'], text: 'well' }, { type: 'send', to: ['MAIN'] }, { text: 'well' }],
    [
      'a question about no place in the code',
      'A',
      'ask',
      CLARIFY,
      { type: 'ask', action: 'clarify', task_id: 'T1' },
      { code_path: '-', question: 'how?', context: 'here' },
    ],
    [
      'a review with its own time',
      'MAIN',
      'review',
      { ...REVIEW, focus: ['func'], minutes: 5 },
      { type: 'ask', action: 'review', task_id: 'DOC' },
      { doc_path: 'docs/a.md', focus: ['func'], reviewers: ['A'], review_deadline: 1_000_000 + 5 * MINUTE },
    ],
    [
      'a verify',
      'MAIN',
      'verify',
      VERIFY,
      { type: 'ask', action: 'verify' },
      { doc_path: 'docs/a.md', changes_summary: 'all', question: 'well?' },
    ],
    [
      'an assignment, an hour where nothing is said',
      'MAIN',
      'assign',
      ASSIGN,
      { type: 'ask', action: 'assign', task_id: 'F1', deadline: 1_000_000 + 60 * MINUTE },
      { task_type: 'implement', files: ['a.ts'], success_criteria: ['it works'], dependencies: [] },
    ],
    [
      'a hand-off to a role',
      'MAIN',
      'handoff',
      { to: ['tester'], task_id: 'F2', summary: 'try it', minutes: 2 },
      { type: 'ask', action: 'assign', to: ['tester'], deadline: 1_000_000 + 2 * MINUTE },
      { task_type: 'hand-off', files: [], success_criteria: [], dependencies: [], summary: 'try it' },
    ],
  ] as const)('%s', (_, member, tool, given, envelope, fields) => {
    const room = openToolRoom();
    const message = room.sent(room.done(member, tool, given));
    expect(message).toMatchObject({ ...envelope, from: member, fields });
    expect(Object.keys(Object(message.fields))).toEqual(expect.arrayContaining(Object.keys(fields)));
  });

  it('may depend on what the same turn has assigned, and on nothing that there is not', () => {
    const room = openToolRoom();
    room.done('MAIN', 'assign', ASSIGN);
    const next = { ...ASSIGN, to: ['B'], task_id: 'F2', dependencies: ['F1'] };
    expect(room.sent(room.done('MAIN', 'assign', next)).fields).toMatchObject({ dependencies: ['F1'] });
    expect(room.refused('MAIN', 'assign', { ...next, task_id: 'F3', dependencies: ['F9'] })).toMatchObject({
      reason: 'missing_dependency',
      field: 'dependencies[0]',
    });
  });

  it('takes no longer than the run lets an assignment take, and says until when', () => {
    const room = openToolRoom({ ...POLICY, assignMs: 5 * MINUTE });
    const deadline = 1_000_000 + 5 * MINUTE;
    for (const minutes of [undefined, 60, 5, 2]) {
      const given = { ...ASSIGN, task_id: `F-${minutes}`, ...(minutes === undefined ? {} : { minutes }) };
      const answer = room.done('MAIN', 'assign', given);
      expect(answer['deadline']).toBe(minutes === 2 ? 1_000_000 + 2 * MINUTE : deadline);
      expect(room.sent(answer).deadline).toBe(answer['deadline']);
    }
  });

  describe('about a task that is another agent’s', () => {
    const handsOff = POLICY.members.map((one) => ({
      ...one,
      verbs: [...MAIL_VERBS],
      writesTo: ['MAIN', 'A', 'B', 'tester'],
    }));
    const handOff = (task_id: string) => ({ to: ['tester'], task_id });

    it.each([
      ['that has begun', 'task-b-1'],
      ['that was assigned to another', 'FOR-B'],
    ])('%s is refused, with what to send in its place', (_title, task) => {
      const room = openToolRoom({ ...POLICY, members: handsOff });
      room.done('MAIN', 'assign', { ...ASSIGN, to: ['B'], task_id: 'FOR-B' });
      room.settle(TURNS.MAIN);
      const { reason, field, rule } = room.refused('A', 'handoff', handOff(task));
      expect({ reason, field }).toEqual({ reason: 'not_authorized', field: 'task_id' });
      expect(rule).toBe(
        `${task} belongs to another agent; A may assign its own task task-a-1 or a new one. To have ${task} changed, use \`send\` or \`ask\` to MAIN or to the agent that has it`,
      );
      expect(room.mail.sentBy(TURNS.A)).toEqual([]);
    });

    it.each(['task-a-1', 'NEW', 'FOR-A', 'LOST'])('%s is its own, and is taken', (task) => {
      const room = openToolRoom({ ...POLICY, members: handsOff });
      room.done('MAIN', 'assign', { ...ASSIGN, to: ['A'], task_id: 'FOR-A' });
      room.settle(TURNS.MAIN);
      // What a turn gave that did not complete was never given.
      room.done('B', 'assign', { ...ASSIGN, to: ['tester'], task_id: 'LOST' });
      room.settle(TURNS.B, 'failed');
      expect(room.made('A', 'handoff', handOff(task))).toMatch(/-\d+$/);
    });

    it('is MAIN’s to assign', () => {
      const room = openToolRoom({ ...POLICY, members: handsOff });
      expect(room.made('MAIN', 'assign', { ...ASSIGN, task_id: 'task-b-1' })).toMatch(/-\d+$/);
    });
  });

  it('says when it takes effect', () => {
    const room = openToolRoom();
    expect(room.done('MAIN', 'assign', ASSIGN)['takes_effect']).toBe('when this turn is completed');
    expect(room.done('MAIN', 'review', REVIEW)['takes_effect']).toBe('now');
  });

  it('takes null for what is left out', () => {
    const room = openToolRoom();
    const message = room.sent(room.done('A', 'send', { to: ['MAIN'], text: 'well', task_id: null }));
    expect(message).not.toHaveProperty('task_id');
  });
});

describe('an answer', () => {
  it.each([
    ['clarify', 'reply', { text: 'so', doc_updated: true }, { type: 'send', action: 'answer' }, { answer: 'so' }],
    [
      'verify',
      'verified',
      { summary: 'all well', new_issue_count: 0 },
      { type: 'done', action: 'verified' },
      { has_new_issues: false, summary: 'all well' },
    ],
    ['verify', 'verified', {}, { type: 'done', action: 'verified' }, { has_new_issues: false }],
    ['review', 'done', {}, { type: 'done' }, { status: 'no_issues' }],
    [
      'review',
      'report',
      { issues: [ISSUE], summary: 'one' },
      { type: 'report', action: 'review_feedback' },
      { doc_path: 'docs/a.md', has_issues: true, issue_count: 1, issues: [ISSUE], summary: 'one' },
    ],
    ['review', 'report', {}, { type: 'report' }, { has_issues: false, issue_count: 0 }],
    ['assign', 'done', { summary: 'built' }, { type: 'done' }, { summary: 'built' }],
    ['assign', 'fail', { reason: 'no' }, { type: 'fail' }, { reason: 'no', blocked_by: [] }],
  ] as const)('to a %s by %s goes to whoever asked, and accepts it', (ask, tool, given, envelope, fields) => {
    const room = openToolRoom();
    const asks = {
      clarify: ['ask', { ...CLARIFY, to: ['A'] }],
      verify: ['verify', VERIFY],
      review: ['review', REVIEW],
      assign: ['assign', ASSIGN],
    } as const;
    const [name, said] = asks[ask];
    const corr = asked(room, name, said);
    const message = room.sent(room.done('A', tool, given));
    expect(message).toMatchObject({ ...envelope, from: 'A', to: ['MAIN'], corr, fields });
    expect(room.mail.deliveries(corr)).toMatchObject([{ state: 'accepted' }]);
  });

  it('is refused where nothing or several things are asked, and says which', () => {
    const room = openToolRoom();
    expect(room.refused('A', 'reply', { text: 'so', reason: 'none' })).toMatchObject({ field: 'corr' });
    const first = asked(room, 'review', REVIEW);
    const second = asked(room, 'review', { ...REVIEW, task_id: 'OTHER' });
    const { reason, rule } = room.refused('A', 'report', {});
    expect({ reason, rule }).toEqual({
      reason: 'invalid_format',
      rule: expect.stringMatching(new RegExp(`${first}.*${second}`)),
    });
    expect(room.sent(room.done('A', 'report', { task_id: 'OTHER' })).corr).toBe(second);
    expect(room.sent(room.done('A', 'report', { corr: first })).corr).toBe(first);
  });

  it.each([
    ['a review', 'review', REVIEW, /report/],
    ['a verify', 'verify', VERIFY, /report.*verified/],
    ['an assignment', 'assign', ASSIGN, /done.*fail/],
  ] as const)('to %s is not a `reply`: that says which tool is', (_, tool, given, rule) => {
    const room = openToolRoom();
    asked(room, tool, given);
    expect(room.refused('A', 'reply', { text: 'so' })).toMatchObject({
      field: 'corr',
      rule: expect.stringMatching(rule),
    });
  });

  it('learns nothing of a message to others', () => {
    const room = openToolRoom();
    const corr = asked(room, 'verify', { ...VERIFY, to: ['B'] });
    const unknown = room.refused('A', 'report', { corr: 'nobody-1-9', doc_path: 'a.md' });
    expect(room.refused('A', 'report', { corr, doc_path: 'a.md' })).toMatchObject({ field: 'corr' });
    expect(unknown).toMatchObject({ field: 'corr' });
    expect(room.refused('A', 'reply', { corr, text: 'so', reason: 'none' })).toMatchObject({ field: 'corr' });
  });

  it('counts issues for a verify only', () => {
    const room = openToolRoom();
    asked(room, 'review', REVIEW);
    expect(room.refused('A', 'done', { has_new_issues: true })).toMatchObject({ field: 'has_new_issues' });
    expect(room.refused('A', 'done', { new_issue_count: 1 })).toMatchObject({ field: 'new_issue_count' });
  });
});

describe('what is refused', () => {
  it.each([
    [
      'a field that says who sends',
      'send',
      { to: ['MAIN'], text: 'x', from: 'MAIN' },
      'from',
      /is not an argument of send/,
    ],
    ['that field with nothing in it', 'send', { to: ['MAIN'], text: 'x', from: null }, 'from', /is not an argument/],
    ['a field of the router', 'ask', { ...CLARIFY, seq: 1 }, 'seq', /is not an argument of ask/],
    ['a name that is no name', 'send', { to: ['MAIN'], text: 'x', 'a\nb': 1 }, '', /is not an argument/],
    ['a text that is none', 'send', { to: ['MAIN'], text: 7 }, 'text', /must be text/],
    ['something that is missing', 'send', { to: ['MAIN'] }, 'text', /is required/],
    ['no object at all', 'send', ['MAIN', 'x'], '', /must be one JSON object/],
    ['a question without its words', 'ask', { to: ['MAIN'], context: 'here' }, 'question', /is required/],
    ['what another tool takes', 'ask', { ...CLARIFY, minutes: 5 }, 'minutes', /is not an argument of ask/],
    ['a member who may not be written to', 'send', { to: ['B'], text: 'x' }, 'to[0]', /is not allowed: A may write to/],
    ['nobody', 'send', { to: ['Z'], text: 'x' }, 'to[0]', /must be one of the addresses/],
    ['what the role may not', 'assign', { ...ASSIGN, to: ['MAIN'] }, 'action', /is not allowed for A/],
  ])('%s is named, and on record', (_, tool, given, field, rule) => {
    const room = openToolRoom();
    expect(room.refused('A', tool, given)).toMatchObject({ field, rule: expect.stringMatching(rule) });
    expect(room.refusals()).toMatchObject([{ by: 'turn', address: 'A', rule: expect.stringMatching(rule) }]);
    expect([...room.mail.trace({})]).toEqual([]);
  });

  it('leaves a call under the same key one message', () => {
    const room = openToolRoom();
    const [first, again] = [0, 1].map(() => room.call('A', 'send', { to: ['MAIN'], text: 'once' }, 'the-same'));
    expect(first).toMatchObject({ ok: true, content: { repeated: false } });
    expect(again).toMatchObject({ ok: true, content: { repeated: true } });
    expect(room.mail.status('r').counts.messages).toBe(1);
  });
});
