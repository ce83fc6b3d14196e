// Examples of refusals in docs/protocol.md. Each comes from the check itself.
import { checkDraft, type DraftContext } from '../../src/model/mail/check-draft.ts';
import type { MailMessage } from '../../src/model/mail/envelope.ts';
import type { MailPolicy } from '../../src/model/mail/policy.ts';
import { catchRefusal, type MailRefusal } from '../../src/model/mail/refusal.ts';
import { table } from './tables.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const SESSION = '8f14e45f';

const policy: MailPolicy = {
  members: [
    {
      ...{ address: 'MAIN', agent: 'main', role: 'main', writesTo: ['A', 'B'] },
      verbs: ['review', 'assign', 'handoff', 'ask', 'send', 'done', 'fail'],
    },
    ...['A', 'B'].map((address) => ({
      ...{ address, agent: address.toLowerCase(), role: 'member', writesTo: ['MAIN'] },
      verbs: ['report' as const, 'ask' as const, 'done' as const, 'fail' as const],
    })),
  ],
  ttlMs: 24 * HOUR,
};

const sent = (
  seq: number,
  action: MailMessage['action'] & string,
  task_id: string,
  deadline = NOW + HOUR,
): MailMessage => ({
  ...{ v: '1', session: SESSION, epoch: 2, seq, id: `${SESSION}-2-${seq}`, agent_instance: 'MAIN', from: 'MAIN' },
  ...{
    to: ['A'],
    type: 'ask',
    action,
    task_id,
    deadline,
    ttl_ms: policy.ttlMs,
    ts: NOW,
    body_encoding: 'json',
    body: '{}',
  },
});
const messages = [
  sent(1, 'review', 'DOC-1'),
  sent(2, 'assign', 'FEAT-1'),
  sent(3, 'assign', 'FEAT-2', NOW - 1),
  sent(4, 'assign', 'FEAT-3'),
];

const done = { to: ['MAIN'], type: 'done', corr: `${SESSION}-2-2`, body: '{}' };
const assign = {
  ...{ to: ['A'], type: 'ask', action: 'assign', task_id: 'FEAT-9', deadline: NOW + HOUR },
  body: JSON.stringify({ task_type: 'implement', files: [], success_criteria: ['it works'] }),
};
const report = { to: ['MAIN'], type: 'report', corr: `${SESSION}-2-1` };
const review = { to: ['A', 'B'], type: 'ask', action: 'review', task_id: 'DOC-2' };

/** Drafts in words, with their senders, in the order of the checks. */
const EXAMPLES: readonly (readonly [what: string, by: string, draft: unknown])[] = [
  ['no type', 'A', { ...done, type: undefined }],
  ['an action that does not go with its type', 'A', { ...done, action: 'assign' }],
  ['its own number', 'A', { ...done, seq: 12 }],
  ['a sender', 'A', { ...done, from: 'MAIN' }],
  ['an old epoch', 'A', { ...done, epoch: 1 }],
  ['an unknown recipient', 'A', { ...done, to: ['D'] }],
  ['to another member', 'A', { ...done, to: ['B'] }],
  ['an assignment by a member', 'A', { ...assign, to: ['MAIN'] }],
  ['a report without an ask', 'A', { ...report, corr: undefined, body: '{}' }],
  ['an answer to an ask of another member', 'B', done],
  ['a done after the deadline', 'A', { ...done, corr: `${SESSION}-2-3` }],
  ['a done of a task that has failed', 'A', { ...done, corr: `${SESSION}-2-4` }],
  ['an assignment with a deadline in the past', 'MAIN', { ...assign, deadline: NOW - 24 * HOUR }],
  [
    'a question with a deadline',
    'A',
    { to: ['MAIN'], type: 'ask', action: 'clarify', deadline: NOW + HOUR, body: '{}' },
  ],
  ['a body of two lines', 'A', { ...done, body: '{\n}' }],
  ['a body that is not an object', 'A', { ...done, body: '"done"' }],
  ['other reviewers than recipients', 'MAIN', { ...review, body: '{"doc_path":"docs/design.md","reviewers":["A"]}' }],
  ['a wrong count', 'A', { ...report, body: '{"doc_path":"docs/design.md","has_issues":true,"issue_count":1}' }],
  [
    'an unknown dependency',
    'MAIN',
    { ...assign, body: '{"task_type":"implement","files":[],"success_criteria":["works"],"dependencies":["X"]}' },
  ],
];

export function refusalTable(): string {
  const rows = EXAMPLES.map(([what, by, draft]) => {
    const { reason, field, rule } = refusalOf(by, draft);
    return [what, `\`${reason}\``, field === '' ? '–' : `\`${field}\``, rule];
  });
  return table(['a draft with', 'reason', 'field', 'rule'], rows);
}

function refusalOf(by: string, draft: unknown): MailRefusal {
  const sender = policy.members.find(({ address }) => address === by);
  if (sender === undefined) throw new Error(`no member ${by}`);
  const context: DraftContext = {
    ...{ session: SESSION, epoch: 2, now: NOW, sender, policy },
    known: (id) => messages.find((message) => message.id === id),
    openTasks: () => ['DOC-1', 'FEAT-1', 'FEAT-2'],
    task: (id) => (id === 'FEAT-3' ? 'failed' : messages.some(({ task_id }) => task_id === id) ? 'open' : undefined),
  };
  const checked = catchRefusal(() => checkDraft(draft, context));
  if (checked.ok) throw new Error('an example of a refusal was accepted');
  return checked.refusal;
}
