import { z } from 'zod';
import { isJsonObject, type Json } from '../../text/json.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { MailMessage } from '../../model/mail/envelope.ts';
import { branchRestoredSchema, gateCheckedSchema, type PlanNews } from '../../model/plan/event.ts';
import { interventionSchema, WHOLE_RUN, type Intervention } from '../../model/plan/intervention.ts';
import { workEventSchema } from '../../model/plan/work.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { PlanInput } from './plan-step.ts';

/** A settled turn with everything that the plan needs of it. */
export interface SettledTurn {
  /** Id within the plan. */
  readonly attempt: string;
  readonly task: string;
  readonly result: TurnResult;
  /** Its mail that takes effect because it completed. */
  readonly mail: readonly MailReading[];
  /** Its questions whose answers it has not read. */
  readonly awaits: readonly string[];
}

/** A message with what it replies to and the task whose turn sent it. */
export interface MailReading {
  readonly message: MailMessage;
  /** null if it is no JSON or too large to plan with. */
  readonly body: Json;
  readonly re?: { readonly message: MailMessage; readonly key?: string };
  /** The key that a playbook gave it. */
  readonly key?: string;
  readonly via?: string;
}

/** Records of the ledger that belong to an input. */
export interface InputRecords {
  readonly turn?: SettledTurn | undefined;
  readonly mail?: MailReading | undefined;
}

const workSchema = z.object({ task: z.string(), event: workEventSchema });
/** Parsed once the verb is known: unknown data may be nested deeper than the stack. */
const setBackSchema = z.object({ ms: z.number().nonnegative() });
const commandSchema = z.object({ id: z.number(), verb: z.string(), data: z.unknown(), by: z.string() });
const answerSchema = z.object({ question: z.string(), answer: z.string() });
const timerSchema = z.object({ id: z.string() });
const overdueSchema = z.object({ to: z.union([z.string(), z.array(z.string())]) });
const observedSchema = z.discriminatedUnion('type', [gateCheckedSchema, branchRestoredSchema]);
const heldSchema = z.object({ held: z.null() });

/** The settlement keeps the whole text. */
const KEPT_TEXT = 500;

/** Events that need a decision. All others are facts on record. */
const INPUTS: ReadonlySet<string> = new Set([
  'attempt-settled',
  'timer-fired',
  'operator-command',
  'mail-sent',
  'mail-overdue',
  'mail-task-overdue',
  RUN_EVENTS.work,
  RUN_EVENTS.gate,
  RUN_EVENTS.branch,
  RUN_EVENTS.workspaceAllocated,
  RUN_EVENTS.resumed,
  RUN_EVENTS.woken,
  RUN_EVENTS.clockSetBack,
]);

export function isInput({ cause, type, data }: LedgerEvent): boolean {
  if (cause !== null || !INPUTS.has(type)) return false;
  // The operation that a check is part of has a result of its own.
  if (type === 'attempt-settled') return isJsonObject(data) && data['kind'] === 'turn';
  // Deferred mail takes effect when its turn is settled.
  return type !== 'mail-sent' || heldSchema.safeParse(data).success;
}

/** What an input means to the plan. Empty if it only triggers the next decision, or cannot be read. */
export function readInput(event: LedgerEvent, { turn, mail }: InputRecords): PlanInput[] {
  const { seq, at, data } = event;
  switch (event.type) {
    case 'attempt-settled':
      if (turn === undefined) return [];
      // Mail comes before the end of the turn that sent it, so that the playbook knows it by then.
      return [...turn.mail.map((one) => ({ seq, at, event: mailOf(one) })), settled(turn, seq, at)];
    case 'mail-sent':
      return mail === undefined ? [] : [{ seq, at, event: mailOf(mail) }];
    case 'mail-overdue':
    case 'mail-task-overdue':
      return overdueOf(data, mail).map((news) => ({ seq, at, event: news }));
    case 'timer-fired': {
      const timer = timerSchema.safeParse(data);
      return timer.success ? [{ seq, at, event: { type: 'timer', id: timer.data.id } }] : [];
    }
    case 'operator-command':
      return commanded(data).map((news) => ({ seq, at, event: news }));
    case RUN_EVENTS.work: {
      const work = workSchema.safeParse(data);
      return work.success ? [{ seq, at, task: work.data.task, work: work.data.event }] : [];
    }
    case RUN_EVENTS.gate:
    case RUN_EVENTS.branch: {
      const news = observedSchema.safeParse(data);
      return news.success ? [{ seq, at, event: news.data }] : [];
    }
    case RUN_EVENTS.clockSetBack: {
      const back = setBackSchema.safeParse(data);
      return back.success ? [{ seq, at, event: { type: 'clock-set-back', ms: back.data.ms } }] : [];
    }
    case RUN_EVENTS.resumed:
      // Resuming a run ends a pause of the whole run.
      return [
        { seq, at, event: { type: 'intervention', intervention: { verb: 'resume', on: WHOLE_RUN }, by: 'resume' } },
      ];
    default:
      return [];
  }
}

function settled({ attempt, task, result, awaits }: SettledTurn, seq: number, at: number): PlanInput {
  const { outcome, failure, structured } = result;
  return {
    seq,
    at,
    task,
    work: {
      type: 'attempt-settled',
      attempt,
      outcome,
      text: result.text.slice(0, KEPT_TEXT),
      ...(failure === undefined ? {} : { failure: { ...failure, message: failure.message.slice(0, 2_000) } }),
      ...(structured === undefined ? {} : { output: structured }),
      ...(awaits.length === 0 ? {} : { awaits: [...awaits] }),
    },
  };
}

function mailOf({ message, body, re, via }: MailReading): PlanNews {
  const { id, from, to, type, action, task_id: task, corr } = message;
  return {
    type: 'mail',
    id,
    from,
    to: [...to],
    kind: type,
    ...(action === undefined ? {} : { action }),
    ...(task === undefined ? {} : { task }),
    ...(corr === undefined ? {} : { corr }),
    ...(re === undefined ? {} : { re: reOf(re) }),
    ...(via === undefined ? {} : { via }),
    body,
  };
}

function reOf({ message, key }: NonNullable<MailReading['re']>) {
  const { id, from, action, task_id: task } = message;
  return {
    id,
    ...(key === undefined ? {} : { key }),
    from,
    ...(action === undefined ? {} : { action }),
    ...(task === undefined ? {} : { task }),
  };
}

/** `mail`: the ask. */
function overdueOf(data: Json, mail: MailReading | undefined): PlanNews[] {
  const overdue = overdueSchema.safeParse(data);
  if (!overdue.success || mail === undefined) return [];
  const { id, action, task_id: task } = mail.message;
  return [overdue.data.to].flat().map((to) => ({
    type: 'overdue',
    message: id,
    to,
    ...(action === undefined ? {} : { action }),
    ...(mail.key === undefined ? {} : { key: mail.key }),
    ...(task === undefined ? {} : { task }),
  }));
}

function commanded(data: Json): PlanNews[] {
  const command = commandSchema.safeParse(data);
  if (!command.success) return [];
  const { verb, by, data: about } = command.data;
  if (verb === 'answer') {
    const answer = answerSchema.safeParse(about);
    return answer.success ? [{ type: 'answer', ...answer.data, by }] : [];
  }
  const wish = interventionOf(data);
  return wish === undefined ? [] : [{ type: 'intervention', ...wish }];
}

/** The command of an operator; undefined if the data is something else or cannot be read. */
export function interventionOf(data: Json): { readonly intervention: Intervention; readonly by: string } | undefined {
  const command = commandSchema.safeParse(data);
  if (!command.success) return undefined;
  const { verb, by, data: about } = command.data;
  const wish = interventionSchema.safeParse({ ...(isJsonObject(about) ? about : {}), verb });
  return wish.success ? { intervention: wish.data, by } : undefined;
}
