import type { RunnableConfig } from '@langchain/core/runnables';
import { type BaseMessage, HumanMessage, isBaseMessage, ToolMessage } from '@langchain/core/messages';
import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import type { RuntimeFactory } from '../engine/compose.ts';
import { outsideOfHost } from '../graph/untraced.ts';
import { badInput } from '../model/errors.ts';
import type { ToolKind } from '../model/turn-event.ts';
import type { Usage } from '../model/usage.ts';
import { AgentFailure, type InProcessAnswer, type InProcessTurn } from '../runtimes/in-process/agent.ts';
import { createInProcessRuntime } from '../runtimes/in-process/index.ts';
import { textOf, TurnReporter, usageOf } from './turn-reporter.ts';

/** One turn of an agent of the application. */
export interface AgentTurn extends Omit<InProcessTurn, 'tools'> {
  /** The mailbox and the MCP servers of this turn, as tools for a model. */
  readonly tools: readonly StructuredToolInterface[];
  /** The prompt as messages, with the instructions in front of a session's first one. */
  readonly input: { readonly messages: BaseMessage[] };
  /**
   * For every call of a model or an agent: the thread of the session, the signal, and what reports tools, texts and use. Tools find the
   * turn in it (`turnIn`).
   */
  readonly config: RunnableConfig & { readonly configurable: { readonly thread_id: string } };
}

/**
 * The end of a turn: a text, a message, the state of an agent with its `messages`, or text, structured answer and use in one object. An
 * error fails the turn, by its HTTP status and its words.
 */
export type AgentAnswer =
  | string
  | BaseMessage
  | { readonly messages: readonly BaseMessage[]; readonly structuredResponse?: unknown }
  | { readonly text: string; readonly structured?: unknown; readonly usage?: Usage };

/** Result of `createAgent`, a compiled graph or any other runnable. */
export interface InvokableAgent {
  invoke(input: { messages: BaseMessage[] }, config: RunnableConfig): Promise<unknown>;
}

/** Facts about an agent of the application that squad cannot find out. */
export interface InProcessAgentOptions {
  /** Where the agent keeps its threads. Default: that of the agent itself. Without one, each turn begins a new conversation. */
  readonly checkpointer?: { getTuple(config: RunnableConfig): Promise<unknown> } | undefined;
  /** Kinds of its tools, by their names. Default: `other`. */
  readonly toolKinds?: Readonly<Record<string, ToolKind>> | undefined;
  /** The function takes its model from the turn: `model` of `squad.yaml` is then allowed. */
  readonly takesModel?: boolean | undefined;
  /** Its answers have `usage.costUsd`, so that a limit in USD counts its turns. */
  readonly reportsCost?: boolean | undefined;
}

/**
 * Makes a runtime of an agent of your application, for `createSquad({ runtimes })`: a LangChain agent, a compiled graph, or a function
 * that does one turn. It works in this process, with its rights: nothing confines it. If the process ends, its turn is lost and
 * tried again by whatever resumes the run, which has to be an application with the same runtime.
 */
export function inProcess(
  agent: InvokableAgent | ((turn: AgentTurn) => Promise<AgentAnswer>),
  options: InProcessAgentOptions = {},
): RuntimeFactory {
  const isFunction = typeof agent === 'function';
  if (!isFunction && typeof agent.invoke !== 'function') {
    throw badInput(
      'inProcess takes a runnable or a function',
      'Give it what `createAgent` makes, or an async function.',
    );
  }
  const { toolKinds = {}, takesModel, reportsCost } = options;
  const checkpointer = options.checkpointer ?? (isFunction ? undefined : checkpointerOf(agent));
  if (!isFunction && takesModel === true) {
    throw badInput(
      'an agent that is no function has its own model',
      'Give a function that makes the agent for its turn.',
    );
  }
  const configOf = (threadId: string): { configurable: { thread_id: string } } => ({
    configurable: { thread_id: threadId },
  });
  const work = async (turn: InProcessTurn): Promise<InProcessAnswer> => {
    const own = new Set(turn.tools.map(({ name }) => name));
    const reporter = new TurnReporter((report) => turn.report(report), toolKinds, own);
    const messages = [new HumanMessage(promptOf(turn))];
    const config = { ...configOf(turn.threadId), signal: turn.signal, callbacks: [reporter] };
    const shown: AgentTurn = { ...turn, input: { messages }, config, tools: turn.tools.map(toolOf) };
    Object.assign(config.configurable, { [TURN]: shown });
    return outsideOfHost(async () => {
      if (isFunction) return answerOf(await agent(shown), reporter);
      const open = turn.resumed ? await unansweredCalls(agent, configOf(turn.threadId)) : [];
      return answerOf(await agent.invoke({ messages: [...open, ...messages] }, config), reporter);
    });
  };
  const hasThread =
    checkpointer &&
    (async (threadId: string): Promise<boolean> => (await checkpointer.getTuple(configOf(threadId))) !== undefined);
  return (settings, { name, ...ports }) =>
    createInProcessRuntime(name, { agent: work, hasThread, takesModel, reportsCost }, settings, ports);
}

const TURN = 'squad_turn';

/** The turn in the configuration of a tool that an agent of the application calls. Throws outside of a turn. */
export function turnIn(config: RunnableConfig | undefined): AgentTurn {
  const turn: unknown = config?.configurable?.[TURN];
  if (turn !== undefined) return turn as AgentTurn;
  throw badInput('this call is no part of a turn of squad', 'Pass `config` of the turn to the agent.');
}

function checkpointerOf(agent: object): InProcessAgentOptions['checkpointer'] {
  const { checkpointer } = agent as { checkpointer?: unknown };
  const isOne = typeof checkpointer === 'object' && checkpointer !== null && 'getTuple' in checkpointer;
  return isOne ? (checkpointer as NonNullable<InProcessAgentOptions['checkpointer']>) : undefined;
}

/** Models that have a system prompt already refuse a second one, so that the instructions are a part of the first message. */
function promptOf({ instructions, prompt, resumed }: InProcessTurn): string {
  return resumed || instructions === '' ? prompt : `${instructions}\n\n${prompt}`;
}

function toolOf(given: InProcessTurn['tools'][number]): StructuredToolInterface {
  const { name, description, inputSchema: schema } = given;
  return tool(async (input: unknown) => given.call(input), { name, description, schema });
}

function answerOf(said: unknown, reporter: TurnReporter): InProcessAnswer {
  if (typeof said === 'string') return { text: said };
  if (isBaseMessage(said)) return { text: textOf(said), usage: reporter.heard ? undefined : usageOf([said]) };
  const state: Readonly<Record<string, unknown>> = typeof said === 'object' && said !== null ? { ...said } : {};
  const { messages, structuredResponse, text, structured, usage } = state;
  if (Array.isArray(state['__interrupt__']) && state['__interrupt__'].length > 0) {
    throw new AgentFailure(
      'bad-output',
      'the agent interrupted its graph; a turn of squad has no one who could answer',
    );
  }
  if (Array.isArray(messages) && messages.every((message) => isBaseMessage(message))) {
    const from = messages.findLastIndex((message) => message.getType() === 'human') + 1;
    const last = messages.slice(from).findLast((message) => message.getType() === 'ai');
    const ownUse = reporter.heard ? undefined : usageOf(messages.slice(from));
    return { text: last === undefined ? '' : textOf(last), structured: structuredResponse, usage: ownUse };
  }
  if (typeof text === 'string') return { text, structured, usage: usage as Usage | undefined };
  throw new AgentFailure('bad-output', 'the agent gave neither a text nor messages');
}

/** A compiled graph. An agent of `createAgent` keeps one in `graph`. */
interface Readable {
  getState(config: object): Promise<{ readonly values?: unknown }>;
}

/**
 * An answer for each tool call that the last turn of a thread was cut short in: models refuse a conversation with calls that have none.
 */
async function unansweredCalls(agent: object, config: object): Promise<ToolMessage[]> {
  const { graph = agent } = agent as { graph?: object };
  if (!isReadable(graph)) return [];
  const { values } = await graph.getState(config);
  const { messages } = (values ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages)) return [];
  const known = messages.filter((message) => isBaseMessage(message));
  const answered = new Set(known.map((message) => (message instanceof ToolMessage ? message.tool_call_id : '')));
  const asking = known.findLast((message) => message.getType() === 'ai');
  const { tool_calls: calls = [] } = (asking ?? {}) as { tool_calls?: { id?: string; name: string }[] };
  return calls.flatMap(({ id, name }) =>
    id === undefined || answered.has(id)
      ? []
      : [new ToolMessage({ tool_call_id: id, name, status: 'error', content: 'The turn ended before this call did.' })],
  );
}

function isReadable(graph: object): graph is Readable {
  return 'getState' in graph && typeof graph.getState === 'function';
}
