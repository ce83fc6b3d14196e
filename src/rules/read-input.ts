import { z } from 'zod';
import { defined } from '../text/defined.ts';
import { isJsonObject, type Json } from '../text/json.ts';
import type { LedgerEvent } from '../model/ledger-event.ts';
import type { MailMessage } from '../model/mail/envelope.ts';
import { baselineCheckedSchema, branchRestoredSchema, gateCheckedSchema, type PlanNews } from '../model/plan/event.ts';
import { interventionSchema, type Intervention } from '../model/plan/intervention.ts';
import type { Look } from '../model/plan/look.ts';
import { WHOLE_RUN } from '../model/plan/scope.ts';
import { workEventSchema, type WorkEvent } from '../model/plan/work.ts';
import { RUN_EVENTS } from '../model/run.ts';
import type { TurnResult } from '../model/turn-result.ts';
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
const answerSchema = z.object({
  question: z.string(),
  answer: z.string(),
  paths: z.array(z.string()).exactOptional(),
});
const timerSchema = z.object({ id: z.string() });
const overdueSchema = z.object({ to: z.union([z.string(), z.array(z.string())]) });
const observedSchema = z.discriminatedUnion('type', [gateCheckedSchema, baselineCheckedSchema, branchRestoredSchema]);
const heldSchema = z.object({ held: z.null() });

/** The settlement keeps the whole text. */
const KEPT_TEXT = 500;

/** Events that need a decision. All others are facts on record. */
export const INPUTS: ReadonlySet<string> = new Set([
  'attempt-settled',
  'timer-fired',
  'operator-command',
  'mail-sent',
  'mail-overdue',
  'mail-task-overdue',
  RUN_EVENTS.work,
  RUN_EVENTS.gate,
  RUN_EVENTS.baseline,
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

/** The plan's events for an input. Empty if it only triggers the next decision, or cannot be read. */
export function readInput({ seq, at, type, data }: LedgerEvent, { turn, mail }: InputRecords): PlanInput[] {
  const moment = { seq, at };
  if (type === RUN_EVENTS.work) {
    return parsed(workSchema, data).map(({ task, event }) => ({ ...moment, task, work: event }));
  }
  if (type !== 'attempt-settled') return newsOf(type, data, mail).map((event) => ({ ...moment, event }));
  if (turn === undefined) return [];
  // Mail comes before the end of the turn that sent it, so that the playbook knows it by then.
  return [...turn.mail.map((one) => ({ ...moment, event: mailOf(one) })), { ...moment, ...settled(turn) }];
}

function newsOf(type: string, data: Json, mail: MailReading | undefined): PlanNews[] {
  switch (type) {
    case 'mail-sent':
      return mail === undefined ? [] : [mailOf(mail)];
    case 'mail-overdue':
    case 'mail-task-overdue':
      return overdueOf(data, mail);
    case 'timer-fired':
      return parsed(timerSchema, data).map(({ id }) => ({ type: 'timer', id }));
    case 'operator-command':
      return commanded(data);
    case RUN_EVENTS.gate:
    case RUN_EVENTS.baseline:
    case RUN_EVENTS.branch:
      return parsed(observedSchema, data);
    case RUN_EVENTS.clockSetBack:
      return parsed(setBackSchema, data).map(({ ms }) => ({ type: 'clock-set-back', ms }));
    case RUN_EVENTS.resumed:
      // Resuming a run ends a pause of the whole run.
      return [{ type: 'intervention', intervention: { verb: 'resume', on: WHOLE_RUN }, by: 'resume' }];
    default:
      return [];
  }
}

/** Empty if the data cannot be read. */
function parsed<T>(schema: z.ZodType<T>, data: unknown): T[] {
  const result = schema.safeParse(data);
  return result.success ? [result.data] : [];
}

function settled({ attempt, task, result, awaits }: SettledTurn): { task: string; work: WorkEvent } {
  const { outcome, failure, structured: output } = result;
  return {
    task,
    work: {
      type: 'attempt-settled',
      attempt,
      outcome,
      text: result.text.slice(0, KEPT_TEXT),
      ...defined({ failure: failure && { ...failure, message: failure.message.slice(0, 2_000) }, output }),
      ...(result.tools === undefined ? {} : { look: lookIn(result.tools) }),
      ...(awaits.length === 0 ? {} : { awaits: [...awaits] }),
    },
  };
}

function lookIn(tools: number | null): Look {
  return tools === null ? 'unknown' : tools > 0 ? 'some' : 'none';
}

function mailOf({ message, body, re, via }: MailReading): PlanNews {
  const { id, from, to, type, action, task_id: task, corr } = message;
  const about = defined({ action, task, corr, re: re && reOf(re), via });
  return { type: 'mail', id, from, to: [...to], kind: type, ...about, body };
}

function reOf({ message, key }: NonNullable<MailReading['re']>) {
  const { id, from, action, task_id: task } = message;
  return { id, from, ...defined({ key, action, task }) };
}

/** `mail`: the ask. */
function overdueOf(data: Json, mail: MailReading | undefined): PlanNews[] {
  if (mail === undefined) return [];
  const { id: message, action, task_id: task } = mail.message;
  const about = defined({ action, key: mail.key, task });
  return parsed(overdueSchema, data)
    .flatMap(({ to }) => to)
    .map((to) => ({ type: 'overdue', message, to, ...about }));
}

function commanded(data: Json): PlanNews[] {
  return parsed(commandSchema, data).flatMap((command): PlanNews[] => {
    const { verb, by, data: about } = command;
    if (verb === 'answer') return parsed(answerSchema, about).map((answer) => ({ type: 'answer', ...answer, by }));
    const request = interventionOf(data);
    return request === undefined ? [] : [{ type: 'intervention', ...request }];
  });
}

/** The command of an operator; undefined if the data is something else or cannot be read. */
export function interventionOf(data: Json): { readonly intervention: Intervention; readonly by: string } | undefined {
  const [command] = parsed(commandSchema, data);
  if (command === undefined) return undefined;
  const { verb, by, data: about } = command;
  const [intervention] = parsed(interventionSchema, { ...(isJsonObject(about) ? about : {}), verb });
  return intervention && { intervention, by };
}
