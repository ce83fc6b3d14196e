import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { fieldsOf, REQUEST_VERBS, requestOf, type InterventionRequest, type RequestVerb } from '../model/plan/verbs.ts';
import { nearest } from '../text/nearest.ts';
import { isJsonObject } from '../text/json.ts';

/** The command that an edit of the state stands for. */
export type EditCommand =
  | { readonly do: 'intervene'; readonly request: InterventionRequest }
  /** Without a question, the only open one. */
  | {
      readonly do: 'answer';
      readonly question: string | undefined;
      readonly answer: string;
      /** More paths that the task of the asking agent may change. */
      readonly paths?: readonly string[] | undefined;
    }
  | { readonly do: 'stop' }
  | { readonly do: 'reload' }
  | { readonly do: 'fork' };

export type EditReading =
  | {
      readonly ok: true;
      readonly command: EditCommand;
      /** The client's own name of the command. */
      readonly key: string | undefined;
    }
  | { readonly ok: false; readonly why: string };

/** The part of a state that an edit can change. */
export interface Editable {
  readonly board?: readonly string[];
  readonly questions?: readonly { readonly id: string }[];
}

const text = z.string().min(1);
const key = { key: text.max(200).optional() };
const answerSchema = z.object({ question: text.optional(), answer: text, paths: z.array(text).optional() });

/** Verbs besides those that an engine applies. */
const OTHERS = { stop: {}, reload: {}, answer: answerSchema.shape, fork: {} } as const;
type EditVerb = RequestVerb | keyof typeof OTHERS;

/** For people who have to choose one. */
export const VERB_NAMES: readonly EditVerb[] = [...REQUEST_VERBS, ...(Object.keys(OTHERS) as (keyof typeof OTHERS)[])];

/** Everything that an edit with this verb may say besides it. */
function shapeOf(verb: EditVerb): Readonly<Record<string, z.ZodType>> {
  return { ...(verb in OTHERS ? OTHERS[verb as keyof typeof OTHERS] : fieldsOf(verb as RequestVerb)), ...key };
}

/** The one command that an edit means. Without `verb`, it is the difference to the state that the client saw. */
export function editToCommand(state: Editable, edit: unknown): EditReading {
  if (!isJsonObject(edit)) return refused('an edit is an object');
  if ('verb' in edit) return verbOf(edit);
  const { key: own, ...values } = edit;
  const changed = Object.keys(values).filter((name) => !isDeepStrictEqual(values[name], state[name as keyof Editable]));
  const [first, ...more] = changed;
  if (first === undefined) return refused('the edit changes nothing');
  if (more.length > 0) return refused(`an edit is one command, and this one changes ${changed.join(', ')}`);
  const found =
    first === 'board'
      ? skipIn(state.board ?? [], values[first])
      : first === 'questions'
        ? answerIn(state.questions ?? [], values[first])
        : `\`${first}\` follows from what the run did and cannot be edited`;
  if (typeof found === 'string') return refused(found);
  return { ok: true, command: found, key: typeof own === 'string' ? own : undefined };
}

function verbOf({ verb, ...given }: Readonly<Record<string, unknown>>): EditReading {
  const name = VERB_NAMES.find((known) => known === verb);
  if (name === undefined) {
    const close = typeof verb === 'string' ? nearest(verb, VERB_NAMES) : undefined;
    return refused(`there is no verb ${String(verb)}${close === undefined ? '' : `; did you mean ${close}?`}`);
  }
  const shape = shapeOf(name);
  const parsed = z.strictObject(shape).safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = [name, ...(issue?.path ?? [])].join('.');
    return refused(`${where}: ${issue?.message ?? 'cannot be used'}. ${name} takes ${keysOf(shape)}`);
  }
  if (given['task'] !== undefined && given['agent'] !== undefined && name !== 'retry') {
    return refused(`${name}: give \`task\` or \`agent\`, not both`);
  }
  return { ok: true, command: commandOf(name, given), key: z.object(key).parse(given).key };
}

/** For people: the keys of a verb, those that it needs not with a question mark. */
function keysOf(shape: Readonly<Record<string, z.ZodType>>): string {
  const keys = Object.entries(shape).map(([name, schema]) => (schema.safeParse(undefined).success ? `${name}?` : name));
  return keys.map((one) => `\`${one}\``).join(', ');
}

function commandOf(verb: EditVerb, given: Readonly<Record<string, unknown>>): EditCommand {
  switch (verb) {
    case 'stop':
    case 'reload':
    case 'fork':
      return { do: verb };
    case 'answer': {
      const { question, ...more } = answerSchema.parse(given);
      return { do: 'answer', question, ...more };
    }
    default:
      return { do: 'intervene', request: requestOf(verb, given) };
  }
}

const SKIPPED = ': skipped';

/** The board as it was but for one line, or that line alone. A text says why it has no meaning. */
function skipIn(board: readonly string[], edited: unknown): EditCommand | string {
  const lines = z.array(z.string()).safeParse(edited).data;
  if (lines === undefined) return '`board` is a list of lines “task: status”';
  const changed = lines.filter((line) => !board.includes(line));
  const [line = '', ...more] = changed;
  const task = line.slice(0, line.lastIndexOf(': '));
  const isKnown = board.some((known) => known.slice(0, known.lastIndexOf(': ')) === task);
  const isWhole = lines.length === board.length || lines.length === 1;
  if (more.length > 0 || !isWhole || !isKnown || !line.endsWith(SKIPPED)) {
    return 'a `board` is edited by changing the status of one task to skipped';
  }
  return { do: 'intervene', request: { verb: 'skip', task } };
}

const answeredSchema = z.object({ id: z.string(), answer: text });

/** One of the questions with an `answer`, with the others or alone. */
function answerIn(questions: readonly { readonly id: string }[], edited: unknown): EditCommand | string {
  const entries = z.array(z.record(z.string(), z.unknown())).safeParse(edited).data;
  if (entries === undefined) return '`questions` is a list of questions';
  const answered = entries.flatMap((entry) => answeredSchema.safeParse(entry).data ?? []);
  const [first, ...more] = answered;
  const others = entries.filter(({ id, answer }) => answer === undefined && questions.some((one) => one.id === id));
  const isKnown = questions.some(({ id }) => id === first?.id);
  if (first === undefined || more.length > 0 || !isKnown || others.length + 1 !== entries.length) {
    return 'one of the `questions` is answered by giving it an `answer`';
  }
  return { do: 'answer', question: first.id, answer: first.answer };
}

function refused(reason: string): EditReading {
  return { ok: false, why: reason };
}
