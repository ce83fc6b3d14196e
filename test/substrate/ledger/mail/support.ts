import type { MailDraft } from '../../../../src/model/mail/envelope.ts';
import type { MailPolicy } from '../../../../src/model/mail/policy.ts';
import { MAIL_VERBS } from '../../../../src/model/mail/kind.ts';
import type { Decision, Lease } from '../../../../src/substrate/ports/ledger.ts';
import type { Mailbox, MailParty, SendAnswer } from '../../../../src/substrate/ports/mailbox.ts';
import { claim, decide, openBench, result, type Bench } from '../support.ts';

export const MINUTE = 60_000;
export const DAY = 24 * 60 * MINUTE;

const MEMBER = ['report', 'ask', 'send', 'done', 'fail'] as const;

/** MAIN is an agent, A and B are members; a tester can be handed work to. */
export const POLICY: MailPolicy = {
  members: [
    { address: 'MAIN', agent: 'main', role: 'main', verbs: [...MAIL_VERBS], writesTo: ['A', 'B', 'tester'] },
    { address: 'A', agent: 'a', role: 'builder', verbs: [...MEMBER], writesTo: ['MAIN'] },
    { address: 'B', agent: 'b', role: 'builder', verbs: [...MEMBER], writesTo: ['MAIN'] },
    { address: 'T', agent: 'tess', role: 'tester', verbs: [...MEMBER], writesTo: ['MAIN'] },
  ],
  ttlMs: DAY,
};

export interface MailRoom extends Bench {
  readonly mail: Mailbox;
  /** Claims a turn of that agent, with these letters in its prompt. */
  turn(id: string, agent: string, letters?: readonly { id: string; recipient: string }[]): void;
  settle(id: string, outcome?: 'completed' | 'failed'): void;
  /** Another engine drives the run from now on. */
  takeOver(): Lease;
}

export function openMailRoom(policy: MailPolicy = POLICY): MailRoom {
  const bench = openBench();
  const { ledger } = bench;
  let { lease } = bench;
  ledger.mail.open(lease, policy);
  return {
    ...bench,
    mail: ledger.mail,
    turn: (id, agent, letters = []) => {
      decide({ ...bench, lease }, claimBy(id, agent), { do: 'hand-mail', attemptId: id, mail: letters });
    },
    settle: (id, outcome = 'completed') => {
      const failure = { kind: 'crashed' as const, message: 'x', mayHaveActed: true };
      ledger.settle(lease, id, outcome === 'completed' ? result() : result({ outcome, failure }));
    },
    takeOver: () => {
      lease = ledger.acquireLease('r', 'next');
      return lease;
    },
  };
}

function claimBy(id: string, agent: string): Decision {
  const decision = claim(id, `task-${id}`);
  if (decision.do !== 'claim-attempt') throw new Error('not a claim');
  return { ...decision, attempt: { ...decision.attempt, agent } };
}

export function person(address: string, runId = 'r', name = 'somebody'): MailParty {
  return { by: 'person', runId, address, name };
}

export function turnOf(address: string, attemptId: string): MailParty {
  return { by: 'turn', runId: 'r', address, attemptId };
}

/** A note to MAIN, or to others: what nothing follows from. */
export function note(text = 'well', to: readonly string[] = ['MAIN']): MailDraft {
  return { to, type: 'send', body: JSON.stringify({ text }) };
}

export function clarify(more: Partial<MailDraft> = {}): MailDraft {
  const body = { code_path: 'src/a.ts#L1', question: 'how?', context: 'here' };
  return { to: ['MAIN'], type: 'ask', action: 'clarify', task_id: 'T1', body: JSON.stringify(body), ...more };
}

export function review(to: readonly string[], more: Partial<MailDraft> = {}, body: object = {}): MailDraft {
  const text = JSON.stringify({ doc_path: 'docs/design.md', focus: ['func'], ...body });
  return { to, type: 'ask', action: 'review', task_id: 'DOC', body: text, ...more };
}

export function verify(to: readonly string[], more: Partial<MailDraft> = {}): MailDraft {
  const body = JSON.stringify({ doc_path: 'docs/design.md', changes_summary: 'all', question: 'well?' });
  return { to, type: 'ask', action: 'verify', task_id: 'DOC', body, ...more };
}

export function assign(
  to: readonly string[],
  deadline: number,
  more: Partial<MailDraft> = {},
  taskType = 'implement',
): MailDraft {
  const body = { task_type: taskType, files: ['a.ts'], success_criteria: ['it works'], dependencies: [] };
  return { to, type: 'ask', action: 'assign', task_id: 'F1', deadline, body: JSON.stringify(body), ...more };
}

export function done(corr: string, more: Partial<MailDraft> = {}): MailDraft {
  return { to: ['MAIN'], type: 'done', corr, body: JSON.stringify({ status: 'no_issues' }), ...more };
}

export function answer(corr: string, to: readonly string[] = ['A']): MailDraft {
  return { to, type: 'send', action: 'answer', corr, body: JSON.stringify({ text: 'so', doc_updated: true }) };
}

/** The id of what was sent; throws with the refusal. */
export function sent(answered: SendAnswer): string {
  if (answered.sent) return answered.message.id;
  throw new Error(JSON.stringify(answered.refusal));
}
