import type { RunnableConfig } from '@langchain/core/runnables';
import type { StateSnapshot } from '@langchain/langgraph';
import type { CheckpointListOptions } from '@langchain/langgraph-checkpoint';
import { CheckpointReader } from '../engine/read-checkpoints.ts';
import type { RunGraph } from '../graph/graph.ts';
import { SquadState } from '../graph/state.ts';
import { openWorkspace, type Place } from '../squad/open-run.ts';
import { readHistory, readState, type StatePorts } from './read-state.ts';
import { refusing } from './refusal.ts';
import { shownGraph } from '../graph/shown-graph.ts';
import { START_SCHEMA } from './start-input.ts';

/**
 * What the Agent Server serves in place of a compiled graph. It shows the runs of one repository, each as the thread with its
 * id, and no node ever runs in it.
 */
export class StudioView {
  readonly name = 'squad';
  /** Where the server looks for schemas. Without them it would read our sources. */
  readonly builder = {
    _schemaRuntimeDefinition: SquadState,
    _inputRuntimeDefinition: START_SCHEMA,
    _outputRuntimeDefinition: SquadState,
  };
  /** The server puts a store of its own here. */
  store: unknown;
  readonly #ports: StatePorts;

  constructor(ports: StatePorts) {
    this.#ports = ports;
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

  async *getStateHistory(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<StateSnapshot> {
    yield* await refusing(async () => readHistory(this.#ports, config, options));
  }
}

/** The view of the repository at or above the place's working directory. Throws `not-a-repository` where there is none. */
export async function createStudioView(place: Place): Promise<StudioView> {
  const workspace = await openWorkspace(place);
  const checkpoints = new CheckpointReader(workspace.directory);
  return new StudioView({ workspace, graph: shownGraph(checkpoints), checkpoints });
}
