import { z } from 'zod';
import { isJsonObject } from '../text/json.ts';
import { lastWords } from './conversation.ts';
import { Refusal } from './refusal.ts';
import { START_INPUT, startInputSchema, type StartInput } from './start-input.ts';

/** A request to run a thread, reduced from LangGraph's input, command and breakpoints. */
export interface Call {
  readonly input: unknown;
  readonly resume?: unknown;
  /** Names of what LangGraph could do with a run and squad does not. */
  readonly beyond: readonly string[];
  /** It begins at a checkpoint that is not the newest. */
  readonly isOld: boolean;
}

/** How the workspace stands. */
export interface Standing {
  /** undefined: the thread is no run. */
  readonly run:
    | {
        readonly name: string;
        readonly driven: boolean;
        /** Its engine ends once its turns have. */
        readonly isEnding: boolean;
        readonly isOver: boolean;
        /** A question is open. What a person says in a chat is the answer to it. */
        readonly asks: boolean;
      }
    | undefined;
  /** The engine that works in this repository, for people; undefined: none does. */
  readonly busy: string | undefined;
}

/** `engine`: a new one is started, once the present one has ended. */
export type CallPlan =
  | { readonly do: 'start'; readonly input: StartInput }
  | { readonly do: 'follow'; readonly engine: boolean }
  | { readonly do: 'answer'; readonly answers: readonly Answer[]; readonly engine: boolean }
  | { readonly do: 'fork' };

interface Answer {
  /** undefined: the only open one. */
  readonly question: string | undefined;
  readonly answer: string;
}

const answersSchema = z.union([z.string(), z.record(z.string(), z.string())]);

/** Throws a `Refusal` that a client can read if squad does not take the call. */
export function decideCall(call: Call, { run, busy }: Standing): CallPlan {
  const [beyond] = call.beyond;
  if (beyond !== undefined) {
    throw new Refusal(422, `squad does not take \`${beyond}\``, 'Pause the run instead: {"verb": "pause"}.');
  }
  if (run === undefined) {
    const input = startInputOf(call);
    if (busy !== undefined) throw busyWith(busy);
    return { do: 'start', input };
  }
  if (!run.driven && busy !== undefined) throw busyWith(busy);
  // A run that works has left the checkpoint that a person looked at; one that rests has not.
  if (call.isOld && !run.driven) return { do: 'fork' };
  const engine = !run.driven || run.isEnding;
  if (call.resume !== undefined) return { do: 'answer', answers: answersIn(call.resume), engine };
  const said = isOnlyMessages(call.input) && run.asks ? lastWords(call.input.messages) : undefined;
  if (said !== undefined) return { do: 'answer', answers: [{ question: undefined, answer: said }], engine };
  if (!isEmpty(call.input)) throw inputRefused(run.name, run.driven ? busy : undefined);
  if (run.isOver) {
    const next = `Retry a task ({"verb": "retry", "task": …}), run an old checkpoint, which is a fork, or use a new thread.`;
    throw new Refusal(422, `${run.name} is over`, next);
  }
  return { do: 'follow', engine };
}

function startInputOf({ input, resume }: Call): StartInput {
  const next = `Start a run with the input ${START_INPUT}.`;
  if (resume !== undefined || isEmpty(input)) throw new Refusal(422, 'this thread is no run yet', next);
  const parsed = startInputSchema.safeParse(input);
  if (parsed.success) {
    const { messages, objective, ...more } = parsed.data;
    if ((messages === undefined) === (objective === undefined))
      throw new Refusal(422, 'the input has to have an objective or messages, and not both', next);
    return { ...more, objective: objective ?? lastWords(messages ?? []) };
  }
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? 'the input' : `the input’s ${issue.path.join('.')}`;
  throw new Refusal(422, `${where}: ${issue?.message ?? 'cannot be used'}`, next);
}

/** A second one to drive the run, or another objective for it. */
function inputRefused(name: string, busy: string | undefined): Refusal {
  if (busy !== undefined)
    return new Refusal(409, `${name} runs already: ${busy}`, 'Follow it: run the thread with no input.');
  return new Refusal(
    422,
    `this thread is the run ${name}, which has its objective`,
    'Continue it with no input, or use a new thread.',
  );
}

function busyWith(busy: string): Refusal {
  return new Refusal(409, busy, 'Wait until it ends, or end it with `squad stop`.');
}

function isOnlyMessages(input: unknown): input is { readonly messages: readonly unknown[] } {
  return isJsonObject(input) && Object.keys(input).join() === 'messages' && Array.isArray(input['messages']);
}

function isEmpty(input: unknown): boolean {
  return input === null || input === undefined || (typeof input === 'object' && Object.keys(input).length === 0);
}

function answersIn(resume: unknown): Answer[] {
  const { data } = answersSchema.safeParse(resume);
  if (data === undefined) {
    throw new Refusal(422, 'this is no answer', 'Resume with a text, or with {"<question>": "<answer>"}.');
  }
  if (typeof data === 'string') return [{ question: undefined, answer: data }];
  return Object.entries(data).map(([question, answer]) => ({ question, answer }));
}
