import {
  type BaseCheckpointSaver,
  Command,
  type CompiledStateGraph,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  type Pregel,
  START,
  StateGraph,
  StateSchema,
} from '@langchain/langgraph';
import { z } from 'zod';
import { shownGraph } from '../graph/shown-graph.ts';
import { isSquadError } from '../model/errors.ts';
import { type AskedQuestion, askedQuestionSchema } from '../model/plan/asked-question.ts';
import type { RunEvent } from '../model/run-event.ts';
import type { Squad } from '../squad/squad.ts';
import { plainLine } from '../text/plain-text.ts';
import type { RunEnd, RunningRun } from '../view/running-run.ts';
import { nestedTrace } from './nested-trace.ts';
import { chooseRunId, identityOf } from './run-identity.ts';
import { type EmbedOptions, type SquadRequest, squadRequestSchema } from './squad-request.ts';

/** Each question's id with its answer. */
type Answers = readonly (readonly [string, string])[];

/** Resumes an interrupt: the answer to the only question, or `{question: answer}`. */
const givenSchema = z.union([z.string(), z.record(z.string(), z.string())]);

/** Three steps for each time that a person is asked. LangGraph's own limit is 25, and a node gets the one of its parent. */
export const RECURSION_LIMIT = 1_000_000;

const askedSchema = z.array(askedQuestionSchema);

const RunState = new StateSchema({
  request: squadRequestSchema,
  runId: z.string().nullable().default(null),
  questions: askedSchema.default(() => []),
  problem: z.string().nullable().default(null),
  end: z.custom<RunEnd>().nullable().default(null),
});

/** The state of the graph of one run. */
export interface SquadGraphState {
  request: SquadRequest;
  /** null: not chosen yet. */
  runId: string | null;
  /** Open questions of the run to a person. */
  questions: AskedQuestion[];
  /** Why the last answer was refused. */
  problem: string | null;
  /** null: the run has not ended. */
  end: RunEnd | null;
}

type Compiled = CompiledStateGraph<SquadGraphState, Partial<SquadGraphState>>;

/** A compiled graph of LangGraph. Its input is `{ request }`, its output the state. */
export type SquadGraph = Pick<Compiled, 'getGraphAsync'> &
  Pregel<
    Compiled['nodes'],
    Compiled['channels'],
    Record<string, unknown>,
    Pick<SquadGraphState, 'request'>,
    SquadGraphState
  >;

/** How `createSquadGraph` keeps and reports runs. */
export interface SquadGraphOptions extends EmbedOptions {
  /** Where the graph is kept if it is no part of another one, whose checkpointer it then uses. */
  readonly checkpointer?: BaseCheckpointSaver | undefined;
  /** Gets everything that happens in a run, in order. Must not throw. Absent: it goes to the graph's `custom` stream. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined;
}

/**
 * The graph of one run as an application sees it: `choose_run → drive_run ⇄ ask_person`. Its input is `{ request }`; its state
 * then has the run's id, open questions and `end`. The engine works in this process with checkpoints of its own: a graph that was
 * killed continues the same run. Draw it (with `xray`, it shows the engine's own graph), invoke it with a checkpointer, or make
 * it a node of a graph.
 */
export function createSquadGraph(squad: Squad, options: SquadGraphOptions = {}): SquadGraph {
  return graphOfCall(squad, options);
}

/** `toolCallId`: makes a repeat of the same tool call continue its run. */
export function graphOfCall(squad: Squad, options: SquadGraphOptions, toolCallId?: string): SquadGraph {
  const { checkpointer } = options;
  return new StateGraph(RunState)
    .addNode('choose_run', async (state: SquadGraphState, config: LangGraphRunnableConfig) =>
      chooseRun(squad, state, config, toolCallId),
    )
    .addNode(
      'drive_run',
      async (state: SquadGraphState, config: LangGraphRunnableConfig) => driveRun(squad, options, state, config),
      {
        ends: ['ask_person', END],
        // For drawings only: LangGraph would draw the engine, which runs in this node, as one opaque box.
        subgraphs: [shownGraph()],
      },
    )
    .addNode('ask_person', async (state: SquadGraphState) => askPerson(squad, state), {
      ends: ['ask_person', 'drive_run', END],
    })
    .addEdge(START, 'choose_run')
    .addEdge('choose_run', 'drive_run')
    .compile({ name: 'squad', ...(checkpointer === undefined ? {} : { checkpointer }) })
    .withConfig({ recursionLimit: RECURSION_LIMIT }) as unknown as SquadGraph;
}

async function chooseRun(
  squad: Squad,
  { request }: SquadGraphState,
  { executionInfo }: LangGraphRunnableConfig,
  toolCallId: string | undefined,
) {
  const fresh = { questions: [], problem: null, end: null };
  const { threadId, checkpointNs = '' } = executionInfo ?? {};
  const identity = identityOf({ threadId, checkpointNs, toolCallId }, request);
  if (identity === undefined) return { ...fresh, runId: crypto.randomUUID() };
  return { ...fresh, runId: chooseRunId(identity, await squad.runs()) };
}

async function driveRun(
  squad: Squad,
  options: SquadGraphOptions,
  state: SquadGraphState,
  config: LangGraphRunnableConfig,
) {
  const { signal } = config;
  const runId = state.runId ?? '';
  const end = await inTurn(runId, async () => {
    signal?.throwIfAborted();
    const { trust, allowFullAccess, plan, patienceMs, nestTrace, onEvent: report = reportTo(config.writer) } = options;
    const nested = nestTrace === false ? undefined : await nestedTrace(config);
    const onEvent = (event: RunEvent): void => {
      nested?.take(event);
      report(event);
    };
    const { objective, ...request } = state.request;
    const drive = { trust, allowFullAccess, plan, patienceMs, onEvent, runId };
    try {
      return await endOf(await squad.run(objective, { ...request, ...drive }), signal);
    } finally {
      await nested?.end();
    }
  });
  // LangGraph could take an update of an aborted node as its result, and would never continue the run.
  signal?.throwIfAborted();
  const questions = [...end.questions];
  const isAsking = end.outcome === 'waiting' && questions.length > 0;
  return new Command({ goto: isAsking ? 'ask_person' : END, update: { questions, problem: null, end } });
}

/** By run: the newest that waits for it or drives it in this process. */
const turns = new Map<string, Promise<unknown>>();

/** An aborted graph does not wait until its run has ended, so that the next one has to. */
async function inTurn<T>(runId: string, work: () => Promise<T>): Promise<T> {
  const before = turns.get(runId);
  const turn = (async () => {
    await before?.catch(() => undefined);
    return work();
  })();
  turns.set(runId, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(runId) === turn) turns.delete(runId);
  }
}

async function endOf(running: RunningRun, signal: AbortSignal | undefined): Promise<RunEnd> {
  const cancel = (): void => void running.cancel('the graph that it is a part of was aborted');
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted === true) cancel();
  return running.done;
}

/** A stream that its reader left refuses chunks, which must not end the run. */
export function reportTo(writer: LangGraphRunnableConfig['writer']): (event: RunEvent) => void {
  return (event) => {
    try {
      writer?.(event);
    } catch {
      // The ledger has the event.
    }
  };
}

/**
 * Looks at the run first: `squad answer` may have come before the graph was resumed. A graph that nothing keeps cannot be resumed:
 * it ends while the run waits.
 */
async function askPerson(squad: Squad, { runId, questions, problem }: SquadGraphState) {
  const open = await openOf(squad, runId ?? '', questions);
  if (open.length === 0) return new Command({ goto: 'drive_run' });
  const given = ask(runId ?? '', open, problem);
  if (given === undefined) return new Command({ goto: END });
  const read = readAnswers(given.answer, open);
  const refused = read.problem ?? (await record(squad, runId ?? '', read.answers));
  if (refused === undefined) return new Command({ goto: 'drive_run' });
  return new Command({ goto: 'ask_person', update: { problem: refused } });
}

async function openOf(squad: Squad, runId: string, asked: readonly AskedQuestion[]): Promise<readonly AskedQuestion[]> {
  const { waitingFor } = await squad.status(runId);
  const open = waitingFor?.for === 'answer' ? waitingFor.questions.map(({ id }) => id) : [];
  return asked.filter(({ id }) => open.includes(id));
}

/** undefined: this graph has no checkpointer. */
function ask(
  runId: string,
  questions: readonly AskedQuestion[],
  problem: string | null,
): { answer: unknown } | undefined {
  try {
    return { answer: interrupt({ runId, questions, ...(problem === null ? {} : { problem }) }) };
  } catch (error) {
    if (error instanceof Error && 'lc_error_code' in error && error.lc_error_code === 'MISSING_CHECKPOINTER')
      return undefined;
    throw error;
  }
}

/** Why an answer was refused; those before it count. */
async function record(squad: Squad, runId: string, answers: Answers): Promise<string | undefined> {
  for (const [question, answer] of answers) {
    try {
      await squad.answer(runId, answer, question);
    } catch (error) {
      if (isSquadError(error) && error.code === 'usage') return `${error.message}. ${error.next ?? ''}`.trim();
      throw error;
    }
  }
  return undefined;
}

/** The answers in what a graph was resumed with, or what is wrong with it. Whether one fits its question, the run says. */
export function readAnswers(
  given: unknown,
  open: readonly Pick<AskedQuestion, 'id'>[],
):
  | { readonly answers: Answers; readonly problem?: undefined }
  | { readonly problem: string; readonly answers?: undefined } {
  const ids = open.map(({ id }) => plainLine(id, 80)).join(', ');
  const parsed = givenSchema.safeParse(given);
  if (!parsed.success) return { problem: `An answer is a text, or an object with a text for each question: ${ids}.` };
  if (typeof parsed.data !== 'string') {
    const answers = Object.entries(parsed.data);
    const unknown = answers.find(([id]) => !open.some((question) => question.id === id));
    if (unknown !== undefined) return { problem: `${plainLine(unknown[0], 80)} is no open question. Open: ${ids}.` };
    return answers.length === 0 ? { problem: `No question was answered. Open: ${ids}.` } : { answers };
  }
  const [only, ...more] = open;
  if (only === undefined || more.length > 0)
    return { problem: `There are ${open.length} questions: answer with an object. Open: ${ids}.` };
  return { answers: [[only.id, parsed.data]] };
}
