import type { RunnableConfig } from '@langchain/core/runnables';
import type { StateSnapshot } from '@langchain/langgraph';
import type { CheckpointListOptions } from '@langchain/langgraph-checkpoint';
import { CheckpointReader } from '../engine/read-checkpoints.ts';
import type { RunGraph } from '../graph/graph.ts';
import { SquadState } from '../graph/state.ts';
import { followWorkspace, openWorkspace, type Place } from '../squad/open-workspace.ts';
import { readHistory, readState, type StatePorts, placeIn } from './read-state.ts';
import { MESSAGES_SCHEMA } from './conversation.ts';
import { driveThread, planCall, type ThreadCall } from './drive.ts';
import { Refusal, refusalOf, refusing } from './refusal.ts';
import { shownGraph } from '../graph/shown-graph.ts';
import { START_INPUT, START_SCHEMA } from './start-input.ts';
import { RunThreads, type RunThread } from './threads.ts';
import { steerThread, type RecentForks } from './steer.ts';
import { isJsonObject } from '../text/json.ts';

/** Passed by the server with each of its runs. */
interface StreamOptions extends Omit<Asked, 'input'>, RunnableConfig {
  readonly version?: string;
  readonly streamMode?: string | readonly string[];
  readonly subgraphs?: boolean;
}

/** An event of LangChain around a chunk of LangGraph. */
interface StreamEvent {
  readonly event: 'on_chain_stream';
  readonly run_id: string | undefined;
  readonly name: string;
  readonly data: { readonly chunk: readonly unknown[] };
}

const SHOWN_STATE = {
  getJsonSchema: shownSchema,
  getInputJsonSchema: shownSchema,
};

function shownSchema(): object {
  const { properties, ...schema } = SquadState.getJsonSchema() as { readonly properties?: object };
  return { ...schema, properties: { ...properties, messages: MESSAGES_SCHEMA } };
}

/**
 * The Agent Server serves this in place of a compiled graph. It shows the runs of one repository, each as the thread with its
 * id, and no node ever runs in it.
 */
export class StudioView {
  readonly name = 'squad';
  /** Where the server looks for schemas. Without them it would read our sources. */
  readonly builder = {
    _schemaRuntimeDefinition: SHOWN_STATE,
    _inputRuntimeDefinition: START_SCHEMA,
    _outputRuntimeDefinition: SHOWN_STATE,
  };
  /** The server puts a store of its own here. */
  store: unknown;
  readonly #ports: StatePorts;
  readonly #threads: RunThreads;
  readonly #forks: RecentForks = new Map();
  #lastEdit: Promise<unknown> = Promise.resolve();

  constructor(ports: StatePorts) {
    this.#ports = ports;
    this.#threads = new RunThreads(ports);
  }

  /** The server puts a saver of its own here before every call. Runs keep their own. */
  set checkpointer(_: unknown) {}

  get checkpointer(): undefined {
    return undefined;
  }

  getGraphAsync(config?: RunnableConfig): ReturnType<RunGraph['getGraphAsync']> {
    return this.#ports.graph.getGraphAsync(config);
  }

  /** There are none. */
  async *getSubgraphsAsync(): AsyncGenerator<never> {}

  async getState(config: RunnableConfig): Promise<StateSnapshot> {
    return refusing(async () => readState(this.#ports, config));
  }

  /** Gives the run the command that the edit means. Edits are taken one by one, so that a repeat finds the first. */
  async updateState(config: RunnableConfig, edit: unknown): Promise<RunnableConfig> {
    const work = async () => refusing(async () => steerThread(this.#ports, this.#forks, config, edit));
    const done = this.#lastEdit.then(work, work);
    this.#lastEdit = done;
    return done;
  }

  /** States follow from what a run did, so that none can be written. */
  async bulkUpdateState(): Promise<never> {
    throw new Refusal(422, 'the states of a run cannot be written', `Start a run with the input ${START_INPUT}.`);
  }

  /**
   * Throws the refusal of a run that the server is asked for, if there is one. The server itself tells clients of it only in the
   * stream. `body`: that of the request.
   */
  async admit(threadId: string, body: unknown): Promise<void> {
    await refusing(async () => planCall(this.#ports, bodyOf(threadId, body)));
  }

  /** Every run as it stands now, for the server's list. */
  async threads(): Promise<readonly RunThread[]> {
    return refusing(async () => this.#threads.list());
  }

  /** LangGraph's events of a run. Version 3 is refused in words that make the server fall back to `stream`. */
  streamEvents(input: unknown, options: StreamOptions): AsyncGenerator<StreamEvent> {
    if (options.version === 'v3') throw new Error('Only versions "v1" and "v2" of the schema are currently supported');
    return this.#events(input, options);
  }

  /** The chunks of `streamEvents` without the events around them. */
  async stream(input: unknown, options: StreamOptions): Promise<AsyncGenerator<readonly unknown[]>> {
    return this.#chunks(input, options);
  }

  async *#events(input: unknown, options: StreamOptions): AsyncGenerator<StreamEvent> {
    for await (const chunk of this.#chunks(input, options)) {
      yield { event: 'on_chain_stream', run_id: options.runId, name: this.name, data: { chunk } };
    }
  }

  async *#chunks(input: unknown, options: StreamOptions): AsyncGenerator<readonly unknown[]> {
    const { streamMode = 'values', subgraphs = false, signal = new AbortController().signal } = options;
    const modes = new Set<string>(typeof streamMode === 'string' ? [streamMode] : streamMode);
    const call = callOf({ ...options, input }, options);
    const chunks = driveThread(this.#ports, call, signal);
    try {
      for await (const [mode, payload] of chunks) {
        if (modes.has(mode)) yield subgraphs ? [[], mode, payload] : [mode, payload];
      }
    } catch (error) {
      throw refusalOf(error);
    }
    if (signal.aborted) throw new DOMException('The stream was left.', 'AbortError');
  }

  async *getStateHistory(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<StateSnapshot> {
    yield* await refusing(async () => readHistory(this.#ports, config, options));
  }
}

/** The view of the repository at or above the place's working directory. Throws `not-a-repository` where there is none. */
export async function createStudioView(place: Place): Promise<StudioView> {
  const workspace = followWorkspace(await openWorkspace(place));
  const checkpoints = new CheckpointReader(() => workspace.directory);
  return new StudioView({ workspace, graph: shownGraph(checkpoints), checkpoints });
}

/** A run as a client of the server asks for it. */
interface Asked {
  /** Or a command of LangGraph, of whichever copy of the package. */
  readonly input?: unknown;
  readonly interruptBefore?: unknown;
  readonly interruptAfter?: unknown;
}

function callOf({ input, interruptBefore, interruptAfter }: Asked, config: RunnableConfig): ThreadCall {
  const command = isCommand(input) ? input : undefined;
  const others = { interruptBefore, interruptAfter, goto: command?.['goto'], update: command?.['update'] };
  return {
    ...placeIn(config),
    input: command === undefined ? input : undefined,
    resume: command?.['resume'],
    beyond: Object.entries(others).flatMap(([name, given]) => (isGiven(given) ? [name] : [])),
  };
}

/** The body of a request of the server that starts a run. */
function bodyOf(threadId: string, body: unknown): ThreadCall {
  const { input, command, checkpoint, checkpoint_id, interrupt_before, interrupt_after } = objectIn(body);
  const named = objectIn(checkpoint)['checkpoint_id'] ?? checkpoint_id;
  const commanded = isJsonObject(command) ? { ...command, lg_name: 'Command' } : input;
  const asked = { input: commanded, interruptBefore: interrupt_before, interruptAfter: interrupt_after };
  return callOf(asked, { configurable: { thread_id: threadId, checkpoint_id: named } });
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function isCommand(input: unknown): input is Readonly<Record<string, unknown>> {
  return isJsonObject(input) && input['lg_name'] === 'Command';
}

function isGiven(given: unknown): boolean {
  return Array.isArray(given) ? given.length > 0 : given !== undefined && given !== null;
}
