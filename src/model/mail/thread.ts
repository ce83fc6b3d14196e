import type { MailDraft, MailMessage } from './envelope.ts';
import type { MailKind } from './kind.ts';
import { refused, type MailRefusal } from './refusal.ts';
import { isSameName, type MailMember } from './route.ts';
import { MAIN, type MailTaskStatus } from './vocabulary.ts';

interface ThreadContext {
  readonly now: number;
  readonly sender: MailMember;
  task(id: string): MailTaskStatus | undefined;
}

type Said = Pick<MailDraft, 'corr' | 'task_id'> & { readonly to: readonly string[] };

/** Whether `asked` (what its `corr` names) can be answered so, by this sender, to these, and about this task. */
export function threadRefusal(
  kind: MailKind,
  said: Said,
  asked: MailMessage | undefined,
  context: ThreadContext,
): MailRefusal | undefined {
  const refusal = said.corr === undefined ? missing(kind) : corrRefusal(kind, said, asked, context);
  if (refusal !== undefined) return refusal;
  const taskId = said.task_id ?? asked?.task_id;
  return kind.task === 'required' && taskId === undefined ? bad('task_id', 'is required') : undefined;
}

function missing(kind: MailKind): MailRefusal | undefined {
  return kind.answers === null ? undefined : bad('corr', `is required: the id of the ask (${kind.answers.join(', ')})`);
}

function corrRefusal(
  kind: MailKind,
  said: Said,
  asked: MailMessage | undefined,
  context: ThreadContext,
): MailRefusal | undefined {
  if (asked === undefined) return bad('corr', 'is the id of a message that was sent');
  if (kind.answers === null) return undefined;
  const { address, role } = context.sender;
  if (!asked.to.some((name) => isSameName(name, address) || isSameName(name, role))) {
    return bad('corr', `is the id of a message to ${address}`);
  }
  if (asked.type !== 'ask' || !kind.answers.some((action) => action === asked.action)) {
    return bad('corr', `is the id of an ask that this answers (${kind.answers.join(', ')})`);
  }
  // Otherwise nobody who waits for it would learn of it.
  if (!said.to.includes(asked.from) && !said.to.includes(MAIN)) return bad('to', `holds whoever asked, or ${MAIN}`);
  if (said.task_id !== undefined && asked.task_id !== undefined && said.task_id !== asked.task_id) {
    return bad('task_id', 'is the task of what it answers, or absent');
  }
  return kind.name === 'done' && asked.action === 'assign' ? overRefusal(asked, context) : undefined;
}

/** An assignment whose time is over has failed, and MAIN was told so: it cannot be done behind MAIN's back. */
function overRefusal(asked: MailMessage, context: ThreadContext): MailRefusal | undefined {
  if (asked.deadline !== undefined && asked.deadline <= context.now) {
    return refused('deadline_exceeded', 'corr', 'is an assignment whose deadline has not passed').refusal;
  }
  if (asked.task_id === undefined || context.task(asked.task_id) !== 'failed') return undefined;
  return refused('task_cancelled', 'task_id', 'is a task that has not failed; only a new assignment opens it again')
    .refusal;
}

function bad(field: string, rule: string): MailRefusal {
  return { reason: 'invalid_format', field, rule };
}
