import { z } from 'zod';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { LedgerEvent } from '../../model/ledger-event.ts';
import type { PlanNews } from '../../model/plan/event.ts';
import { interventionSchema, WHOLE_RUN, type Intervention } from '../../model/plan/intervention.ts';
import { workEventSchema } from '../../model/plan/work.ts';
import { RUN_EVENTS } from '../../model/run.ts';
import type { TurnResult } from '../../model/turn-result.ts';
import type { PlanInput } from './plan-step.ts';

/** What the ledger keeps beside the event of a settlement. */
export interface SettledTurn {
  /** Id within the plan. */
  readonly attempt: string;
  readonly task: string;
  readonly result: TurnResult;
  readonly messages: readonly {
    readonly id: string;
    readonly from: string;
    readonly to: readonly string[];
    readonly type: string;
    readonly body: Json;
  }[];
}

const workSchema = z.object({ task: z.string(), event: workEventSchema });
/** What its data is depends on the verb. Not looked into before that is known: nesting could be deeper than the stack. */
const commandSchema = z.object({ id: z.number(), verb: z.string(), data: z.unknown(), by: z.string() });
const answerSchema = z.object({ question: z.string(), answer: z.string() });
const timerSchema = z.object({ id: z.string() });

/** Longer texts stay in the settlement; the plan needs none of them. */
const KEPT_TEXT = 500;

/** Types of events that somebody has to decide on; all others are facts on record. */
const INPUTS: ReadonlySet<string> = new Set([
  'attempt-settled',
  'timer-fired',
  'operator-command',
  RUN_EVENTS.work,
  RUN_EVENTS.workspaceAllocated,
  RUN_EVENTS.resumed,
  RUN_EVENTS.woken,
]);

export function isInput({ cause, type, data }: LedgerEvent): boolean {
  if (cause !== null || !INPUTS.has(type)) return false;
  // A check is a part of an operation, whose result is an input of its own.
  return type !== 'attempt-settled' || (isJsonObject(data) && data['kind'] === 'turn');
}

/**
 * What an input means to the plan; nothing, where it is only there to have the next step decided anew. `turn` is there for
 * settlements of turns. A record that cannot be read is nothing too: it never becomes something else.
 */
export function readInput(event: LedgerEvent, turn: SettledTurn | undefined): PlanInput[] {
  const { seq, at, data } = event;
  switch (event.type) {
    case 'attempt-settled':
      return turn === undefined
        ? []
        : [settled(turn, seq, at), ...turn.messages.map((one) => ({ seq, at, event: mailOf(one, turn.task) }))];
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
    case RUN_EVENTS.resumed:
      // Whoever takes a run up wants it to go on; a sweep leaves alone what is held.
      return [
        { seq, at, event: { type: 'intervention', intervention: { verb: 'resume', on: WHOLE_RUN }, by: 'resume' } },
      ];
    default:
      return [];
  }
}

function settled({ attempt, task, result }: SettledTurn, seq: number, at: number): PlanInput {
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
    },
  };
}

function mailOf(message: SettledTurn['messages'][number], task: string): PlanNews {
  const { id, from, to, type, body } = message;
  return { type: 'mail', id, from, to: [...to], kind: type, task, body, fingerprint: id };
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

/** What a person wants, as an operator's command says it; undefined: it is something else, or cannot be read. */
export function interventionOf(data: Json): { readonly intervention: Intervention; readonly by: string } | undefined {
  const command = commandSchema.safeParse(data);
  if (!command.success) return undefined;
  const { verb, by, data: about } = command.data;
  const wish = interventionSchema.safeParse({ ...(isJsonObject(about) ? about : {}), verb });
  return wish.success ? { intervention: wish.data, by } : undefined;
}
