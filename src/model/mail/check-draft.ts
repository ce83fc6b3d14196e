import { defined } from '../../text/defined.ts';
import { checkBody, type CheckedBody } from './check-body.ts';
import { actionsOf, kindOf, type MailKind, type MailVerb } from './kind.ts';
import type { MailDraft, MailMessage } from './envelope.ts';
import type { MailPolicy } from './policy.ts';
import { checkBase64, readBody } from './read-body.ts';
import { refused, type Checked, type MailRefusal, type Refused } from './refusal.ts';
import { resolveOwner, resolveTo, routeRefusal, type MailMember } from './route.ts';
import { readShape } from './shape.ts';
import { threadRefusal } from './thread.ts';
import type { MailTaskStatus } from './vocabulary.ts';

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

export type DraftCheck = { readonly ok: true; readonly draft: CheckedDraft } | Refused;

/**
 * Whether a sender may send this. The order is fixed, so that a draft with several faults is always refused for the same one:
 * form, fields of the router, assertions, addresses, permission, thread, deadlines, body.
 */
export function checkDraft(draft: unknown, context: DraftContext): DraftCheck {
  const shape = readShape(draft);
  if (!shape.ok) return shape;
  const said = shape.value;
  // The body of an assignment decides which permission it needs, so it is read before its fields are checked.
  const body = said.body_encoding === 'base64' ? undefined : readBody(said.body);
  const kind = kindOf(said.type, said.action, body?.ok === true ? body.value : undefined);
  if (kind === undefined) return refused('invalid_format', 'action', actionRule(said));
  const asserted = assertionRefusal(said, context);
  if (asserted !== undefined) return { ok: false, refusal: asserted };
  const to = resolveTo(said.to, context.policy, context.sender);
  if (!to.ok) return to;
  const owner = said.owner === undefined ? undefined : resolveOwner(said.owner, context.policy);
  if (owner?.ok === false) return owner;
  const asked = said.corr === undefined ? undefined : context.known(said.corr);
  const wrong =
    routeRefusal(kind, to.value, context.policy, context.sender) ??
    threadRefusal(kind, { ...said, to: to.value }, asked, context) ??
    timeRefusal(kind, said, context);
  if (wrong !== undefined) return { ok: false, refusal: wrong };
  const taskId = said.task_id ?? asked?.task_id;
  const checked = bodyOf(kind, said, body, {
    now: context.now,
    to: to.value,
    taskId,
    asked,
    task: (id) => context.task(id),
    openTasks: () => context.openTasks?.() ?? [],
  });
  if (!checked.ok) return checked;
  return {
    ok: true,
    draft: kept(kind, said, { ...checked.value, to: to.value, taskId, asked, owner: owner?.value }, context),
  };
}

function actionRule({ type }: MailDraft): string {
  const [first, ...others] = actionsOf(type).map((action) => action ?? 'absent');
  return `must be ${others.length === 0 ? (first ?? '') : `one of ${[first, ...others].join(', ')}`} in a message of type ${type}`;
}

function assertionRefusal({ session, epoch }: MailDraft, context: DraftContext): MailRefusal | undefined {
  if (session !== undefined && session !== context.session) {
    return refused('invalid_format', 'session', 'must be the current session, or absent').refusal;
  }
  if (epoch !== undefined && epoch !== context.epoch) {
    return refused('invalid_format', 'epoch', 'must be the current epoch, or absent').refusal;
  }
  return undefined;
}

function timeRefusal(
  kind: MailKind,
  { deadline, ttl_ms: ttl }: MailDraft,
  context: DraftContext,
): MailRefusal | undefined {
  const field = kind.answerTime?.field;
  if (field === 'deadline') {
    if (deadline === undefined) return refused('invalid_format', 'deadline', 'is required (epoch ms)').refusal;
    if (deadline <= context.now)
      return refused('deadline_exceeded', 'deadline', 'must be in the future (epoch ms)').refusal;
  } else if (deadline !== undefined) {
    const place = field === undefined ? '' : `; use ${field}`;
    return refused('invalid_format', 'deadline', `is only for assignments${place}`).refusal;
  }
  const most = context.policy.ttlMs;
  return ttl === undefined || ttl <= most
    ? undefined
    : refused('invalid_format', 'ttl_ms', `must be at most ${most}`).refusal;
}

function bodyOf(
  kind: MailKind,
  said: MailDraft,
  read: ReturnType<typeof readBody> | undefined,
  context: Parameters<typeof checkBody>[2],
): Checked<Pick<Resolved, 'fields' | 'text'>> {
  if (read !== undefined) return read.ok ? checkBody(kind, read.value, context) : read;
  if (kind.base64 !== true) {
    return refused('invalid_format', 'body_encoding', 'must be json; only a send without an action may have base64');
  }
  const text = checkBase64(said.body);
  return text.ok ? { ok: true, value: { fields: null, text: text.value } } : text;
}

interface Resolved {
  readonly fields: CheckedDraft['fields'];
  readonly text: string;
  readonly to: readonly string[];
  readonly taskId: string | undefined;
  readonly asked: MailMessage | undefined;
  readonly owner: string | undefined;
}

function kept(kind: MailKind, said: MailDraft, resolved: Resolved, context: DraftContext): CheckedDraft {
  const { fields, text, to, taskId, asked } = resolved;
  const latest = context.now + (context.policy.assignMs ?? Infinity);
  const owner = resolved.owner ?? (kind.type === 'ask' ? context.sender.address : asked?.owner);
  return {
    to,
    type: kind.type,
    ...defined({ action: kind.action ?? undefined, task_id: taskId, owner, corr: said.corr }),
    ...(said.deadline === undefined ? {} : { deadline: Math.min(said.deadline, latest) }),
    ttl_ms: said.ttl_ms ?? context.policy.ttlMs,
    body_encoding: fields === null ? 'base64' : 'json',
    body: text,
    verb: kind.verb,
    fields,
  };
}
