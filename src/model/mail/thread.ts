import type { MailDraft, MailMessage } from './envelope.ts';
import type { MailKind } from './kind.ts';
import { answerRule } from './compose.ts';
import { opensTask } from './effects.ts';
import { refused, type MailRefusal } from './refusal.ts';
import { isSameName } from './address.ts';
import type { MailMember } from './route.ts';
import { MAIN, type MailTaskStatus } from './vocabulary.ts';

interface ThreadContext {
  readonly now: number;
  readonly sender: MailMember;
  task(id: string): MailTaskStatus | undefined;
}

type Said = Pick<MailDraft, 'corr' | 'task_id'> & { readonly to: readonly string[] };

/** Whether this message may answer `asked` (the message that `corr` names): its sender, recipients and task. */
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
  if (asked === undefined) return bad('corr', 'must be the id of a message that was sent');
  if (kind.answers === null) return undefined;
  const { address, role } = context.sender;
  if (!asked.to.some((name) => isSameName(name, address) || isSameName(name, role))) {
    return bad('corr', `must be the id of a message to ${address}`);
  }
  const wrong = answerRule(kind, asked.type === 'ask' ? asked.action : '');
  if (wrong !== undefined) return bad('corr', wrong);
  // Otherwise the agent that waits for the answer would never get it.
  if (!said.to.includes(asked.from) && !said.to.includes(MAIN))
    return bad('to', `must hold the sender of the ask, or ${MAIN}`);
  if (said.task_id !== undefined && asked.task_id !== undefined && said.task_id !== asked.task_id) {
    return bad('task_id', 'must be the task of the message that it answers, or absent');
  }
  return kind.taskState === 'done' && opensTask(asked) ? overRefusal(asked, context) : undefined;
}

/** An assignment whose deadline has passed has failed, and MAIN knows it: it cannot be done after that. */
function overRefusal(asked: MailMessage, context: ThreadContext): MailRefusal | undefined {
  if (asked.deadline !== undefined && asked.deadline <= context.now) {
    return refused('deadline_exceeded', 'corr', 'is an assignment whose deadline has passed; ask MAIN for a new one')
      .refusal;
  }
  if (asked.task_id === undefined || context.task(asked.task_id) !== 'failed') return undefined;
  return refused('task_cancelled', 'task_id', 'is a task that has failed; only a new assignment opens it again')
    .refusal;
}

function bad(field: string, rule: string): MailRefusal {
  return { reason: 'invalid_format', field, rule };
}
