import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../model/errors.ts';
import type { RunEvent } from '../../model/run-event.ts';
import { asksPermission } from '../../view/occasions.ts';
import { openProposal } from '../../view/proposed-plan.ts';
import type { OpenQuestion } from '../../view/open-questions.ts';
import { questionOf } from '../../view/permission-ask.ts';
import { squadOn } from '../../squad/squad.ts';
import { type OpenedRun, openRun } from '../../squad/open-run.ts';
import { openAsks } from '../../squad/permission-asks.ts';
import { plainLine, plainText } from '../../text/plain-text.ts';
import type { CommandContext } from '../command-context.ts';
import { askPlan } from './ask-plan.ts';
import { planPorts } from './plan-ports.ts';
import type { Prompts } from './prompts.ts';

export interface AskingPorts extends Pick<CommandContext, 'host' | 'output'> {
  readonly prompts: Prompts;
  /** Gives the terminal to `work`. */
  away<T>(work: () => Promise<T>): Promise<T>;
}

interface Open {
  readonly opened: OpenedRun;
  readonly question: OpenQuestion;
  /** An agent asks in the middle of its turn. */
  readonly isAsk: boolean;
}

/** Between two looks whether an agent still waits. */
const LOOK_MS = 1_000;

/** Asks the questions of a run that this process drives, one after the other. */
export class Asking {
  readonly #ports: AskingPorts;
  readonly #leaving = new AbortController();
  /** Closes the prompt when the run ends. */
  readonly #ending = new AbortController();
  readonly #putOff = new Set<string>();
  /** The question on the terminal, and what closes it once it has an answer. */
  #asked: { readonly question: string; readonly elsewhere: AbortController } | undefined;
  #runId = '';
  /** Nothing else in the run can move. */
  #isStill = false;
  #working: Promise<void> = Promise.resolve();

  constructor(ports: AskingPorts) {
    this.#ports = ports;
  }

  /** Until it is aborted, a person answers here. */
  get attended(): AbortSignal {
    return this.#leaving.signal;
  }

  hear(event: RunEvent): void {
    this.#runId = event.runId;
    if (event.type === 'question-answered' && event.question === this.#asked?.question) {
      this.#asked.elsewhere.abort();
    }
    if (event.type === 'question-asked' || asksPermission(event)) this.#start();
    if (event.type !== 'decided') return;
    this.#isStill = event.next === 'ask';
    if (!this.#isStill || this.#leaving.signal.aborted) return;
    // The run waits for these alone now.
    this.#putOff.clear();
    this.#start();
  }

  /** The run has ended: closes the prompt that is open. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#working;
  }

  /** Asks every open question, also those that were put off. */
  async ask(): Promise<void> {
    this.#putOff.clear();
    this.#start();
    await this.#working;
  }

  #start(): void {
    this.#working = this.#working
      .then(async () => this.#askAll())
      .catch((error: unknown) => this.#ports.output.problem(errorText(error)));
  }

  async #askAll(): Promise<void> {
    let next = await this.#nextOpen();
    if (next !== undefined) {
      await this.#ports.away(async () => {
        for (; next !== undefined; next = await this.#nextOpen()) await this.#askOne(next);
      });
    }
    if (this.#isStill && this.#putOff.size > 0) this.#leaving.abort();
  }

  async #nextOpen(): Promise<Open | undefined> {
    if (this.#ending.signal.aborted) return undefined;
    const opened = await openRun(this.#ports, this.#runId);
    const isNext = ({ id, recorded }: OpenQuestion): boolean => recorded === null && !this.#putOff.has(id);
    // An agent in the middle of its turn waits only so long.
    const asks = (await openAsks(opened)).map(questionOf);
    const question = asks.find(isNext) ?? opened.reading.questions.find(isNext);
    return question === undefined ? undefined : { opened, question, isAsk: asks.includes(question) };
  }

  async #askOne({ opened, question, isAsk }: Open): Promise<void> {
    const { host, output } = this.#ports;
    const say = (line: string): void => output.problem(plainText(line));
    const elsewhere = new AbortController();
    this.#asked = { question: question.id, elsewhere };
    const signal = AbortSignal.any([elsewhere.signal, this.#ending.signal]);
    const asked = new AbortController();
    if (isAsk) void this.#watch(question.id, elsewhere, asked.signal);
    try {
      const given = await this.#prompt(opened, question, say, signal);
      // An agent whose run has ended waits for nothing: its prompt may not have looked since.
      if (elsewhere.signal.aborted || (isAsk && this.#ending.signal.aborted)) {
        const how = isAsk ? 'needs no answer any more' : 'was answered elsewhere';
        return say(`${plainLine(question.id, 80)} ${how}.`);
      }
      if (this.#ending.signal.aborted) return say('The run has ended meanwhile.');
      if (given === undefined) return void this.#putOff.add(question.id);
      await squadOn(host).answer(opened.reading.row.id, given, question.id);
    } catch (error) {
      // Asked at once again, a broken machine would ask for ever.
      this.#putOff.add(question.id);
      say(errorText(error));
    } finally {
      asked.abort();
      this.#asked = undefined;
    }
  }

  /** No event says that an agent has its answer from elsewhere, or does not wait any more. */
  async #watch(ask: string, elsewhere: AbortController, asked: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await sleep(LOOK_MS, undefined, { signal: asked });
        const open = await openAsks(await openRun(this.#ports, this.#runId));
        if (!open.some(({ id }) => id === ask)) return elsewhere.abort();
      }
    } catch {
      // The prompt is closed, or the ledger cannot be read now: the answer finds out.
    }
  }

  async #prompt(
    opened: OpenedRun,
    question: OpenQuestion,
    say: (line: string) => void,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { prompts } = this.#ports;
    const proposal = openProposal(opened.reading);
    if (proposal?.question !== question.id) return askQuestion(question, { prompts, say }, signal);
    return askPlan(proposal, { ...(await planPorts(this.#ports, opened)), prompts, say }, signal);
  }
}

const LATER = '\u0000later';
const WRITE = '\u0000write';

/** Asks one question at the terminal. undefined: the person puts it off. */
export async function askQuestion(
  { id, text, options, freeText }: OpenQuestion,
  { prompts, say }: { readonly prompts: Prompts; readonly say: (line: string) => void },
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const line of plainText(text).split('\n')) say(line);
  const message = `Your answer to ${plainLine(id, 80)}`;
  if (options.length === 0) return prompts.write(`${message} (Ctrl-C: later)`, signal);
  const choices = [
    ...options.map((value) => ({ value, label: value })),
    ...(freeText ? [{ value: WRITE, label: 'Something else' }] : []),
    { value: LATER, label: 'Later' },
  ];
  for (;;) {
    const chosen = await prompts.choose(message, choices, signal);
    if (chosen === undefined || chosen === LATER) return undefined;
    if (chosen !== WRITE) return chosen;
    const written = await prompts.write(message, signal);
    if (written !== undefined || signal.aborted) return written;
  }
}
