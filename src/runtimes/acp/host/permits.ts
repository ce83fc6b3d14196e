import { errorText } from '../../../model/errors.ts';
import { asObject, fieldsOf } from '../../../text/json.ts';
import { realPath } from '../../../substrate/system/files/real-path.ts';
import { writeLine, lineOf } from './lines.ts';
import type { HostPlan } from './plan.ts';
import { decide, nameOf, optionFor } from './policy.ts';
import type { Fields, RequestId } from '../../../substrate/system/process/json-rpc.ts';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

interface Answer {
  readonly answer: 'allowed' | 'rejected' | 'cancelled';
  readonly by: 'policy' | 'person' | 'deadline';
  readonly reason: string;
}

/** Questions to a person in one turn; more are rejected. */
const MOST_ASKS = 100;
const MOST_TITLES = 1000;

/** Answers every request for permission, and prints each answer. `isOfTurn`: a session's prompt is at work. */
export class Permits {
  readonly #cancelled = new AbortController();
  readonly #titles = new Map<unknown, string>();
  #asks = 0;
  readonly #plan: HostPlan;
  readonly #isOfTurn: (session: unknown) => boolean;

  constructor(plan: HostPlan, isOfTurn: (session: unknown) => boolean) {
    this.#plan = plan;
    this.#isOfTurn = isOfTurn;
  }

  /** From now on, the turn is cancelled: so are all requests, the open ones too. */
  cancel(): void {
    this.#cancelled.abort();
  }

  /** Remembers what an agent calls a tool before it asks for it by another title. */
  saw({ toolCallId, title }: Fields): void {
    if (typeof toolCallId !== 'string' || typeof title !== 'string' || this.#titles.size >= MOST_TITLES) return;
    if (!this.#titles.has(toolCallId)) this.#titles.set(toolCallId, title.slice(0, 200));
  }

  /** The outcome to send. `params` is undefined if the request was too long to read. */
  async outcomeOf(id: RequestId, params: Fields | undefined): Promise<object> {
    const asked = asObject(params?.['toolCall']);
    const { kind, title, toolCallId } = asked;
    const isNamedBefore = this.#plan.quirks.toolName === 'first-title';
    const toolCall = isNamedBefore ? { ...asked, title: this.#titles.get(toolCallId) ?? title } : asked;
    const judged = await this.#judge(params, toolCall).catch((error: unknown) =>
      no(`it cannot be judged: ${errorText(error)}`),
    );
    const wanted = judged.answer === 'allowed' ? 'allow' : 'reject';
    // A lasting permission would outlive what this one was judged by.
    const lasting = wanted === 'reject' || this.#plan.policy.access === 'full';
    const option = judged.answer === 'cancelled' ? undefined : optionFor(params?.['options'], wanted, lasting);
    const given: Answer =
      wanted === 'allow' && option === undefined
        ? { answer: 'rejected', by: 'policy', reason: 'it offers no option that permits this once' }
        : judged;
    const tool = nameOf(toolCall, this.#plan.quirks);
    const of = { id: textOf(toolCallId) ?? String(id), tool, kind: textOf(kind), title: textOf(title) };
    writeLine({ type: 'permission', ...of, ...given });
    return { outcome: option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option } };
  }

  async #judge(params: Fields | undefined, toolCall: Fields): Promise<Answer> {
    if (this.#cancelled.signal.aborted) return CANCELLED;
    if (params === undefined) return no('it is too large to judge');
    if (!this.#isOfTurn(params['sessionId'])) return no('it belongs to no prompt of this turn');
    const verdict = decide(toolCall, this.#plan, realPath);
    if (verdict.answer !== 'unknown') return { answer: verdict.answer, by: 'policy', reason: verdict.reason };
    return this.#plan.ask === undefined || this.#asks >= MOST_ASKS
      ? no(verdict.reason)
      : this.#ask(toolCall, this.#plan.ask);
  }

  async #ask(toolCall: Fields, { folder, deadlineMs }: NonNullable<HostPlan['ask']>): Promise<Answer> {
    const { rawInput: input, toolCallId, kind } = toolCall;
    const question = {
      n: (this.#asks += 1),
      tool: nameOf(toolCall, this.#plan.quirks),
      title: textOf(toolCall['title']),
      deadline: Date.now() + deadlineMs,
    };
    const isAsked = () => writeLine({ type: 'ask', id: textOf(toolCallId), kind: textOf(kind), ...question });
    const yes = await askPerson(folder, { ...question, input }, isAsked, this.#cancelled.signal);
    if (this.#cancelled.signal.aborted) return CANCELLED;
    if (yes === undefined) return { answer: 'rejected', by: 'deadline', reason: 'no answer came in time' };
    return { answer: yes ? 'allowed' : 'rejected', by: 'person', reason: `a person said ${yes ? 'yes' : 'no'}` };
  }
}

function no(reason: string): Answer {
  return { answer: 'rejected', by: 'policy', reason };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 1000).toWellFormed() : undefined;
}

const CANCELLED: Answer = { answer: 'cancelled', by: 'policy', reason: 'the turn is cancelled' };

const LOOK_MS = 200;

/**
 * Asks a person by `ask-<n>.json` in a folder, and waits for `answer-<n>.json` (`{"allow": true}`), which whatever answers
 * writes by rename. undefined: no answer came in time.
 */
async function askPerson(
  folder: string,
  question: Readonly<Record<string, unknown>> & { readonly n: number; readonly deadline: number },
  isAsked: () => void,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { n, deadline } = question;
  const path = join(folder, `ask-${n}.json`);
  writeFileSync(`${path}.tmp`, lineOf(question), { mode: 0o600, flush: true });
  renameSync(`${path}.tmp`, path);
  isAsked();
  while (!signal.aborted && Date.now() < deadline) {
    const answer = read(join(folder, `answer-${n}.json`));
    if (answer !== undefined) return fieldsOf(answer)['allow'] === true;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not yet.
    return undefined;
  }
}
