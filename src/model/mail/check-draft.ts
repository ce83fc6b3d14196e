import { defined } from '../../text/defined.ts';
import { checkBody, type CheckedBody } from './check-body.ts';
import { actionsOf, kindOf, type MailKind, type MailVerb } from './kind.ts';
import type { MailDraft, MailMessage } from './envelope.ts';
import type { MailPolicy } from './policy.ts';
import { checkBase64, readBody } from './read-body.ts';
import { catchRefusal, refuse, type Checked } from './refusal.ts';
import { checkRoute, resolveOwner, resolveTo, type MailMember } from './route.ts';
import { readShape } from './shape.ts';
import { type MailTaskStatus, MAIN } from './vocabulary.ts';
import { answerRule } from './compose.ts';
import { opensTask } from './effects.ts';
import { isSameName } from './address.ts';

/** The router's facts about a draft. */
export interface DraftContext {
  readonly session: string;
  readonly epoch: number;
  /** Epoch ms. */
  readonly now: number;
  /** From the credential. */
  readonly sender: MailMember;
  readonly policy: MailPolicy;
  known(id: string): MailMessage | undefined;
  /** undefined: there is no such task. */
  task(id: string): MailTaskStatus | undefined;
  /** Tasks of mail that are not over, for refusals. */
  openTasks?(): readonly string[];
}

/** A draft after the checks: in its one form, with everything filled in that was left out. */
type Kept = Omit<MailMessage, 'v' | 'session' | 'epoch' | 'seq' | 'id' | 'agent_instance' | 'from' | 'ts' | 'body_ref'>;

export interface CheckedDraft extends Kept {
  readonly verb: MailVerb;
  /** The fields of `body`; null: it is base64. */
  readonly fields: CheckedBody['fields'] | null;
}

/**
 * Refuses what a sender may not send. The order is fixed, so that a draft with several faults is always refused for the same one:
 * form, fields of the router, assertions, addresses, permission, thread, deadlines, body.
 */
export function checkDraft(draft: unknown, context: DraftContext): CheckedDraft {
  const { now, policy, sender } = context;
  const said = readShape(draft);
  // The body of an assignment decides which permission it needs, so it is read before its fields are checked.
  const read = said.body_encoding === 'base64' ? undefined : catchRefusal(() => readBody(said.body));
  const kind = kindOf(said.type, said.action, read?.ok === true ? read.value : undefined);
  if (kind === undefined) refuse('invalid_format', 'action', actionRule(said));
  checkAssertions(said, context);
  const to = resolveTo(said.to, policy, sender);
  const owner = said.owner === undefined ? undefined : resolveOwner(said.owner, policy);
  const asked = said.corr === undefined ? undefined : context.known(said.corr);
  checkRoute(kind, to, policy, sender);
  checkThread(kind, { ...said, to }, asked, context);
  checkTimes(kind, said, context);
  const taskId = said.task_id ?? asked?.task_id;
  const { fields, text } = bodyOf(kind, said, read, {
    now,
    to,
    taskId,
    asked,
    task: (id) => context.task(id),
    openTasks: () => context.openTasks?.() ?? [],
  });
  return {
    to,
    type: kind.type,
    ...defined({
      action: kind.action ?? undefined,
      task_id: taskId,
      owner: owner ?? (kind.type === 'ask' ? sender.address : asked?.owner),
      corr: said.corr,
      deadline: said.deadline && Math.min(said.deadline, now + (policy.assignMs ?? Infinity)),
    }),
    ttl_ms: said.ttl_ms ?? policy.ttlMs,
    body_encoding: fields === null ? 'base64' : 'json',
    body: text,
    verb: kind.verb,
    fields,
  };
}

function actionRule({ type }: MailDraft): string {
  const [first, ...others] = actionsOf(type).map((action) => action ?? 'absent');
  return `must be ${others.length === 0 ? (first ?? '') : `one of ${[first, ...others].join(', ')}`} in a message of type ${type}`;
}

function checkAssertions({ session, epoch }: MailDraft, context: DraftContext): void {
  if (session !== undefined && session !== context.session) {
    refuse('invalid_format', 'session', 'must be the current session, or absent');
  }
  if (epoch !== undefined && epoch !== context.epoch) {
    refuse('invalid_format', 'epoch', 'must be the current epoch, or absent');
  }
}

function checkTimes(kind: MailKind, { deadline, ttl_ms: ttl }: MailDraft, { now, policy }: DraftContext): void {
  const field = kind.answerTime?.field;
  if (field === 'deadline') {
    if (deadline === undefined) refuse('invalid_format', 'deadline', 'is required (epoch ms)');
    if (deadline <= now) refuse('deadline_exceeded', 'deadline', 'must be in the future (epoch ms)');
  } else if (deadline !== undefined) {
    const place = field === undefined ? '' : `; use ${field}`;
    refuse('invalid_format', 'deadline', `is only for assignments${place}`);
  }
  if (ttl !== undefined && ttl > policy.ttlMs) refuse('invalid_format', 'ttl_ms', `must be at most ${policy.ttlMs}`);
}

function bodyOf(
  kind: MailKind,
  said: MailDraft,
  read: Checked<Parameters<typeof checkBody>[1]> | undefined,
  context: Parameters<typeof checkBody>[2],
): { readonly fields: CheckedDraft['fields']; readonly text: string } {
  if (read?.ok === true) return checkBody(kind, read.value, context);
  if (read !== undefined) refuse(read.refusal.reason, read.refusal.field, read.refusal.rule);
  if (kind.base64 !== true) {
    refuse('invalid_format', 'body_encoding', 'must be json; only a send without an action may have base64');
  }
  checkBase64(said.body);
  return { fields: null, text: said.body };
}

interface ThreadContext {
  readonly now: number;
  readonly sender: MailMember;
  task(id: string): MailTaskStatus | undefined;
}

type Said = Pick<MailDraft, 'corr' | 'task_id'> & { readonly to: readonly string[] };

/** Refuses a message that may not answer `asked` (the message that `corr` names): its sender, recipients and task. */
function checkThread(kind: MailKind, said: Said, asked: MailMessage | undefined, context: ThreadContext): void {
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
