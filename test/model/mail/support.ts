import { checkDraft, type CheckedDraft, type DraftContext } from '../../../src/model/mail/check-draft.ts';
import { catchRefusal, type Refused } from '../../../src/model/mail/refusal.ts';
import type { MailMessage } from '../../../src/model/mail/envelope.ts';
import type { MailPolicy } from '../../../src/model/mail/policy.ts';
import type { MailTaskStatus } from '../../../src/model/mail/vocabulary.ts';

export const NOW = 1_700_000_000_000;
export const SESSION = 'sess-123';
export const EPOCH = 2;
export const HOUR = 3_600_000;

const MEMBER_VERBS = ['report', 'ask', 'done', 'fail'] as const;

/** MAIN, three members who write to MAIN only, and one who may hand on what it has. */
export const POLICY: MailPolicy = {
  members: [
    {
      ...{ address: 'MAIN', agent: 'main', role: 'main', writesTo: ['member', 'builder-1'] },
      verbs: ['review', 'assign', 'handoff', 'ask', 'send', 'done', 'fail'],
    },
    ...['A', 'B', 'C'].map((address) => ({
      ...{ address, agent: address.toLowerCase(), role: 'member', verbs: [...MEMBER_VERBS], writesTo: ['MAIN'] },
    })),
    {
      ...{ address: 'builder-1', agent: 'builder-1', role: 'builder', writesTo: ['MAIN', 'reviewer'] },
      verbs: [...MEMBER_VERBS, 'handoff', 'send'],
    },
  ],
  ttlMs: 24 * HOUR,
};

const asks: readonly Pick<MailMessage, 'seq' | 'from' | 'to' | 'type' | 'action' | 'task_id' | 'deadline'>[] = [
  { seq: 1, from: 'MAIN', to: ['A', 'B'], type: 'ask', action: 'review', task_id: 'DOC-1' },
  { seq: 2, from: 'MAIN', to: ['A'], type: 'ask', action: 'assign', task_id: 'FEAT-1', deadline: NOW + HOUR },
  { seq: 3, from: 'MAIN', to: ['A', 'B'], type: 'ask', action: 'verify', task_id: 'DOC-1' },
  { seq: 4, from: 'A', to: ['MAIN'], type: 'ask', action: 'clarify', task_id: 'FEAT-1' },
  { seq: 5, from: 'MAIN', to: ['A'], type: 'ask', action: 'assign', task_id: 'LATE-1', deadline: NOW },
  { seq: 6, from: 'MAIN', to: ['A'], type: 'ask', action: 'assign', task_id: 'FAILED-1', deadline: NOW + HOUR },
  { seq: 7, from: 'MAIN', to: ['builder'], type: 'ask', action: 'assign', task_id: 'FEAT-2', deadline: NOW + HOUR },
  { seq: 8, from: 'ROUTER', to: ['MAIN'], type: 'fail', task_id: 'FEAT-1' },
];

/** What was said before: `idOf(1)` is a review of A and B, then an assignment, a verify, a question and so on. */
const MESSAGES: ReadonlyMap<string, MailMessage> = new Map(
  asks.map((ask) => [
    idOf(ask.seq),
    {
      ...{ v: '1', session: SESSION, epoch: EPOCH, id: idOf(ask.seq), agent_instance: 'someone', ts: NOW - HOUR },
      ...{ ...ask, ttl_ms: POLICY.ttlMs, body_encoding: 'json', body: '{}' },
    },
  ]),
);

const TASKS: ReadonlyMap<string, MailTaskStatus> = new Map([
  ['DOC-1', 'verify_pending'],
  ['FEAT-1', 'open'],
  ['FEAT-2', 'open'],
  ['LATE-1', 'open'],
  ['FAILED-1', 'failed'],
]);

export function idOf(seq: number): string {
  return `${SESSION}-${EPOCH}-${seq}`;
}

export function contextOf(address: string, policy = POLICY): DraftContext {
  const sender = policy.members.find((member) => member.address === address);
  if (sender === undefined) throw new Error(`nobody has the address ${address}`);
  const open = [...TASKS].flatMap(([id, status]) => (status === 'failed' ? [] : [id]));
  const known = {
    known: (id: string) => MESSAGES.get(id),
    task: (id: string) => TASKS.get(id),
    openTasks: () => open,
  };
  return { session: SESSION, epoch: EPOCH, now: NOW, sender, policy, ...known };
}

type DraftCheck = { readonly ok: true; readonly draft: CheckedDraft } | Refused;

export function checkIn(context: DraftContext, draft: unknown): DraftCheck {
  const checked = catchRefusal(() => checkDraft(draft, context));
  return checked.ok ? { ok: true, draft: checked.value } : checked;
}

export function check(address: string, draft: unknown): DraftCheck {
  return checkIn(contextOf(address), draft);
}
