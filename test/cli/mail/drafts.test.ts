import { describe, expect, it } from 'vitest';
import { composeFlags } from '../../../src/cli/mail/draft.ts';
import type { SendOptions } from '../../../src/cli/mail/options.ts';
import { SEND_COMMANDS } from '../../../src/cli/mail/send-command.ts';
import type { Given } from '../../../src/model/mail/compose.ts';
import { checkDraft } from '../../../src/model/mail/check-draft.ts';
import type { MailMessage } from '../../../src/model/mail/envelope.ts';
import type { MailPolicy } from '../../../src/model/mail/policy.ts';
import { MAIL_KINDS, MAIL_VERBS } from '../../../src/model/mail/kind.ts';

const NOW = 1_700_000_000_000;
const SESSION = '6f1c1a52-3a64-4c3e-9a0e-0c8a8f1f0c11';

const POLICY: MailPolicy = {
  members: [
    { address: 'MAIN', agent: null, role: 'main', verbs: [...MAIL_VERBS], writesTo: ['A', 'B'] },
    { address: 'A', agent: 'a', role: 'member', verbs: [...MAIL_VERBS], writesTo: ['MAIN'] },
    { address: 'B', agent: 'b', role: 'member', verbs: [...MAIL_VERBS], writesTo: ['MAIN'] },
  ],
  ttlMs: 86_400_000,
};

function ask(action: 'review' | 'assign' | 'clarify' | 'verify', more: Partial<MailMessage> = {}): MailMessage {
  return {
    v: '1',
    session: SESSION,
    epoch: 1,
    seq: 12,
    id: `${SESSION}-1-12`,
    agent_instance: 'ada',
    from: 'MAIN',
    to: ['A'],
    type: 'ask',
    action,
    task_id: 'T-1',
    ttl_ms: 1000,
    ts: NOW - 1000,
    body_encoding: 'json',
    body: '{}',
    ...more,
  };
}

interface Facts {
  readonly from: string;
  readonly asked?: MailMessage;
  readonly askedBody?: object;
  readonly text?: string;
  readonly work?: Given;
  readonly byHand?: boolean;
}

interface Case {
  readonly verb: string;
  readonly options: SendOptions;
  readonly facts?: Partial<Facts>;
  readonly draft: object;
  /** What the router keeps of its body. */
  readonly body: object;
}

const HAND = { byHand: true };
const CASES: Record<string, Case> = {
  review: {
    verb: 'review',
    options: {
      to: ['A', 'B'],
      task: 'DOC-1',
      owner: 'MAIN',
      file: 'docs/design.md',
      focus: ['func', 'ux'],
      reviewDeadline: { in: 3_600_000 },
    },
    facts: { from: 'MAIN' },
    draft: { to: ['A', 'B'], type: 'ask', action: 'review', task_id: 'DOC-1', owner: 'MAIN' },
    body: {
      doc_path: 'docs/design.md',
      focus: ['func', 'ux'],
      reviewers: ['A', 'B'],
      review_deadline: NOW + 3_600_000,
    },
  },
  'review with the deadline that every ask knows': {
    verb: 'review',
    options: { to: ['A'], task: 'DOC-1', file: 'a.md', deadline: { at: NOW + 5 } },
    facts: { from: 'MAIN' },
    draft: { to: ['A'], type: 'ask', action: 'review', task_id: 'DOC-1' },
    body: { doc_path: 'a.md', focus: [], reviewers: ['A'], review_deadline: NOW + 5 },
  },
  'assign: --action is the task’s type': {
    verb: 'assign',
    options: {
      to: ['B'],
      task: 'FEAT-1',
      action: 'implement',
      files: ['src/router.ts'],
      successCriteria: ['Tests pass', 'Code reviewed'],
      deadline: { in: 3_600_000 },
    },
    facts: { from: 'MAIN' },
    draft: { to: ['B'], type: 'ask', action: 'assign', task_id: 'FEAT-1', deadline: NOW + 3_600_000 },
    body: {
      task_type: 'implement',
      files: ['src/router.ts'],
      success_criteria: ['Tests pass', 'Code reviewed'],
      dependencies: [],
    },
  },
  'assign hand-off': {
    verb: 'assign',
    options: { to: ['member'], task: 'FEAT-1', action: 'hand-off', deadline: { in: 1000 }, summary: 'the rest' },
    facts: { from: 'MAIN' },
    draft: { to: ['member'], type: 'ask', action: 'assign', task_id: 'FEAT-1', deadline: NOW + 1000 },
    body: { task_type: 'hand-off', files: [], success_criteria: [], dependencies: [], summary: 'the rest' },
  },
  'ask to clarify': {
    verb: 'ask',
    options: {
      action: 'clarify',
      task: 'T-1',
      codePath: 'src/router.ts#L145',
      question: 'which?',
      context: 'acks',
      expected: 'b',
    },
    draft: { to: ['MAIN'], type: 'ask', action: 'clarify', task_id: 'T-1' },
    body: { code_path: 'src/router.ts#L145', question: 'which?', context: 'acks', expected: 'b' },
  },
  'ask to verify': {
    verb: 'ask',
    options: { action: 'verify', to: ['A'], docPath: 'd.md', changesSummary: 'retries', question: 'complete?', ttl: 5 },
    facts: { from: 'MAIN' },
    draft: { to: ['A'], type: 'ask', action: 'verify', ttl_ms: 5 },
    body: { doc_path: 'd.md', changes_summary: 'retries', question: 'complete?' },
  },
  'report with issues': {
    verb: 'report',
    options: {
      issues: [{ doc_path: 'd.md#L1', category: 'docs', severity: 'low', summary: 'x', suggestion: 'y' }],
      summary: 'one',
    },
    facts: { asked: ask('review'), askedBody: { doc_path: 'd.md' } },
    draft: { to: ['MAIN'], type: 'report', action: 'review_feedback', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: {
      doc_path: 'd.md',
      has_issues: true,
      issue_count: 1,
      issues: [{ doc_path: 'd.md#L1', category: 'docs', severity: 'low', summary: 'x', suggestion: 'y' }],
      summary: 'one',
      questions: [],
    },
  },
  'report without issues': {
    verb: 'report',
    options: { file: 'd.md' },
    facts: { asked: ask('review') },
    draft: { to: ['MAIN'], type: 'report', action: 'review_feedback', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { doc_path: 'd.md', has_issues: false, issue_count: 0, issues: [], summary: '', questions: [] },
  },
  'send: a structured answer': {
    verb: 'send',
    options: { to: ['A'], task: 'T-1', body: '{"strategy":"exponential","doc_updated":true}' },
    facts: { from: 'MAIN', asked: ask('clarify', { from: 'A', to: ['MAIN'] }), ...HAND },
    draft: { to: ['A'], type: 'send', action: 'answer', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { strategy: 'exponential', doc_updated: true },
  },
  'send: a note answers nothing': {
    verb: 'send',
    options: { to: ['A'], action: 'note', summary: 'I am away until noon' },
    facts: { from: 'MAIN', ...HAND },
    draft: { to: ['A'], type: 'send' },
    body: { text: 'I am away until noon' },
  },
  'done in answer to an assignment': {
    verb: 'done',
    options: { task: 'T-1', summary: 'as agreed' },
    facts: { asked: ask('assign', { deadline: NOW + 1000 }) },
    draft: { to: ['MAIN'], type: 'done', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { summary: 'as agreed' },
  },
  'done in answer to a review': {
    verb: 'done',
    options: {},
    facts: { asked: ask('review') },
    draft: { to: ['MAIN'], type: 'done', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { status: 'no_issues' },
  },
  'done: verified': {
    verb: 'done',
    options: { action: 'verified', newIssues: 2 },
    facts: { asked: ask('verify') },
    draft: { to: ['MAIN'], type: 'done', action: 'verified', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { has_new_issues: true, new_issue_count: 2 },
  },
  fail: {
    verb: 'fail',
    options: { reason: 'no such API', blockedBy: ['FEAT-0'] },
    facts: { asked: ask('assign', { deadline: NOW + 1000 }) },
    draft: { to: ['MAIN'], type: 'fail', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { reason: 'no such API', blocked_by: ['FEAT-0'] },
  },
  'say: what its sender is at work on is filled in': {
    verb: 'say',
    options: {},
    facts: {
      text: 'which port?',
      work: { task_id: 'T-1', owner: 'MAIN', code_path: 'src/a.ts', context: 'Tests pass' },
    },
    draft: { to: ['MAIN'], type: 'ask', action: 'clarify', task_id: 'T-1', owner: 'MAIN' },
    body: { code_path: 'src/a.ts', question: 'which port?', context: 'Tests pass' },
  },
  'say: flags come before what is known, and `-` where nothing is': {
    verb: 'say',
    options: { task: 'T-2', docPath: 'd.md' },
    facts: { text: 'so?', work: { task_id: 'T-1' } },
    draft: { to: ['MAIN'], type: 'ask', action: 'clarify', task_id: 'T-2' },
    body: { code_path: '-', question: 'so?', context: '-', doc_path: 'd.md' },
  },
  'reply by a person': {
    verb: 'reply',
    options: {},
    facts: { from: 'MAIN', text: 'it takes 4711', asked: ask('clarify', { from: 'A', to: ['MAIN'] }), ...HAND },
    draft: { to: ['A'], type: 'send', action: 'answer', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { answer: 'it takes 4711', reason: 'answered by a person, in words' },
  },
  'reply that names a document': {
    verb: 'reply',
    options: { docUpdated: true, docPath: 'd.md#L3' },
    facts: { from: 'MAIN', text: 'see there', asked: ask('clarify', { from: 'A', to: ['MAIN'] }), ...HAND },
    draft: { to: ['A'], type: 'send', action: 'answer', task_id: 'T-1', corr: `${SESSION}-1-12` },
    body: { answer: 'see there', doc_updated: true, doc_path: 'd.md#L3' },
  },
};

function draftOf(verb: string, options: SendOptions, facts: Partial<Facts> = {}) {
  const { from = 'A', asked, askedBody = {}, text, work, byHand = false } = facts;
  return composeFlags(verb, options, {
    now: NOW,
    from,
    person: byHand && options.body === undefined,
    ...(asked === undefined ? {} : { asked: { ...asked, body: { ...askedBody } } }),
    words: text,
    ...(work === undefined ? {} : { known: work }),
  });
}

describe('the flags of a verb', () => {
  it.each(Object.entries(CASES))('%s', (_title, { verb, options, facts: known, draft }) => {
    const { body: _, ...rest } = draftOf(verb, options, known);
    expect(rest).toEqual(draft);
  });

  it.each(Object.entries(CASES))(
    '%s: the router takes it, and keeps its body',
    (_title, { verb, options, facts: known = {}, body }) => {
      const sender = POLICY.members.find(({ address }) => address === (known.from ?? 'A'));
      if (sender === undefined) throw new Error('nobody');
      const context = {
        session: SESSION,
        epoch: 1,
        now: NOW,
        sender,
        policy: POLICY,
        known: (id: string) => (id === known.asked?.id ? known.asked : undefined),
        task: () => undefined,
      };
      expect(checkDraft(draftOf(verb, options, known), context).fields).toEqual(body);
    },
  );
});

describe('what is refused before anything is sent', () => {
  it.each<[string, SendOptions, RegExp, Partial<Facts>?]>([
    ['review', { to: ['A'], task: 'T' }, /needs --file/],
    ['review', { file: 'd.md', task: 'T' }, /needs --to/],
    ['assign', { to: ['A'], task: 'T', files: [], successCriteria: ['x'] }, /needs --deadline/],
    ['assign', { to: ['A'], task: 'T', deadline: { in: 1 }, successCriteria: ['x'] }, /needs --files/],
    ['assign', { to: ['A'], task: 'T', deadline: { in: 1 }, files: ['a'] }, /needs --success-criteria/],
    ['ask', { action: 'clarify', question: 'q', context: 'c' }, /needs --code-path/],
    ['ask', { action: 'clarify', codePath: 'p', context: 'c' }, /needs --question/],
    ['ask', { action: 'clarify', codePath: 'p', question: 'q' }, /needs --context/],
    ['ask', { action: 'verify', docPath: 'p', question: 'q' }, /needs --changes-summary/],
    ['ask', { action: 'verify', changesSummary: 'p', question: 'q' }, /needs --doc-path/],
    ['report', {}, /needs --file/],
    ['fail', {}, /needs --reason/],
    ['send', { body: '[1]' }, /--body must be a JSON object/],
    ['send', { body: '{' }, /--body must be a JSON object/],
    ['say', {}, /needs --to/, { from: 'MAIN', text: 'x' }],
    ['ask', { action: 'clarify', changesSummary: 'x' }, /--changes-summary is not for clarify/],
    ['reply', {}, /--corr is .* the action review: answer it with `report` or/, { asked: ask('review'), text: 'x' }],
    ['done', {}, /--corr is .* the action clarify: answer it with `reply` or `fail`/, { asked: ask('clarify') }],
  ])('%s %j', (verb, options, expected, more) => {
    expect(() => draftOf(verb, options, more)).toThrow(expected);
  });

  it('takes from --body what flags have not said', () => {
    const draft = draftOf('fail', { body: '{"reason":"gone","more":1}' });
    expect(JSON.parse(draft.body)).toEqual({ reason: 'gone', more: 1 });
  });

  it('sends base64 as it is, as a note only', () => {
    const options = { to: ['A'], action: 'note', body: 'aGk=', bodyEncoding: 'base64' } as const;
    const draft = draftOf('send', options, { from: 'MAIN' });
    expect(draft).toEqual({ to: ['A'], type: 'send', body: 'aGk=', body_encoding: 'base64' });
  });

  it('keeps an id that is nobody’s, so that the router refuses it and has it on record', () => {
    expect(draftOf('done', { corr: 'nobody-1-1' })).toMatchObject({ corr: 'nobody-1-1' });
  });
});

it('has a command for every kind of message, and the flags that docs/mail.md names', () => {
  const flags = Object.fromEntries(SEND_COMMANDS.map(({ name, flags: own }) => [name, own.map((flag) => flag.name)]));
  expect(flags).toEqual({
    review: ['file', 'focus', 'review-deadline', 'deadline'],
    assign: ['action', 'files', 'success-criteria', 'dependencies', 'summary', 'deadline'],
    ask: ['code-path', 'question', 'context', 'expected', 'doc-path', 'changes-summary'],
    say: ['code-path', 'context', 'expected', 'doc-path'],
    report: ['file', 'issues', 'summary', 'questions'],
    send: ['summary', 'doc-updated', 'reason', 'paths', 'doc-path'],
    reply: ['doc-updated', 'reason', 'paths', 'doc-path'],
    done: ['summary', 'new-issues'],
    fail: ['reason', 'blocked-by'],
  });
  expect(SEND_COMMANDS.flatMap(({ makes }) => makes.map(({ kind }) => kind.name)).toSorted()).toEqual(
    [...MAIL_KINDS.map(({ name }) => name), 'answer', 'clarify'].toSorted(),
  );
});
