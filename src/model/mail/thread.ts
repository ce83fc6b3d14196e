import type { MailDraft, MailMessage } from './envelope.ts';
import type { MailKind } from './kind.ts';
import { answerRule } from './compose.ts';
import { opensTask } from './effects.ts';
import { refuse } from './refusal.ts';
import { isSameName } from './address.ts';
import type { MailMember } from './route.ts';
import { MAIN, type MailTaskStatus } from './vocabulary.ts';

interface ThreadContext {
  readonly now: number;
  readonly sender: MailMember;
  task(id: string): MailTaskStatus | undefined;
}

type Said = Pick<MailDraft, 'corr' | 'task_id'> & { readonly to: readonly string[] };

/** Refuses a message that may not answer `asked` (the message that `corr` names): its sender, recipients and task. */
export function checkThread(kind: MailKind, said: Said, asked: MailMessage | undefined, context: ThreadContext): void {
  if (said.corr !== undefined) checkAnswer(kind, said, asked, context);
  else if (kind.answers !== null) bad('corr', `is required: the id of the ask (${kind.answers.join(', ')})`);
  if (kind.task === 'required' && (said.task_id ?? asked?.task_id) === undefined) bad('task_id', 'is required');
}

function checkAnswer(kind: MailKind, said: Said, asked: MailMessage | undefined, context: ThreadContext): void {
  if (asked === undefined) return bad('corr', 'must be the id of a message that was sent');
  if (kind.answers === null) return;
  const { address, role } = context.sender;
  if (!asked.to.some((name) => isSameName(name, address) || isSameName(name, role))) {
    bad('corr', `must be the id of a message to ${address}`);
  }
  const wrong = answerRule(kind, asked.type === 'ask' ? asked.action : '');
  if (wrong !== undefined) bad('corr', wrong);
  // Otherwise the agent that waits for the answer would never get it.
  if (!said.to.includes(asked.from) && !said.to.includes(MAIN))
    bad('to', `must hold the sender of the ask, or ${MAIN}`);
  if (said.task_id !== undefined && asked.task_id !== undefined && said.task_id !== asked.task_id) {
    bad('task_id', 'must be the task of the message that it answers, or absent');
  }
  if (kind.taskState === 'done' && opensTask(asked)) refuseOver(asked, context);
}

/** An assignment whose deadline has passed has failed, and MAIN knows it: it cannot be done after that. */
function refuseOver(asked: MailMessage, context: ThreadContext): void {
  if (asked.deadline !== undefined && asked.deadline <= context.now) {
    refuse('deadline_exceeded', 'corr', 'is an assignment whose deadline has passed; ask MAIN for a new one');
  }
  if (asked.task_id === undefined || context.task(asked.task_id) !== 'failed') return;
  refuse('task_cancelled', 'task_id', 'is a task that has failed; only a new assignment opens it again');
}

function bad(field: string, rule: string): never {
  return refuse('invalid_format', field, rule);
}
