import type { RunnableConfig } from '@langchain/core/runnables';
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from '@langchain/langgraph-checkpoint';
import { SquadError } from '../model/errors.ts';

/**
 * Keeps each thread one line: a checkpoint is stored only on top of the thread's newest one, and pending writes only
 * beside it. So an old checkpoint that is run or edited through LangGraph's own API (Studio, `updateState`, a replay)
 * cannot take a run over: it is refused before anything is written. A fork is a new run on a new thread.
 */
export class LinearSaver extends BaseCheckpointSaver {
  readonly #inner: BaseCheckpointSaver;

  constructor(inner: BaseCheckpointSaver) {
    super(inner.serde);
    this.#inner = inner;
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#inner.getTuple(config);
  }

  override list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#inner.list(config, options);
  }

  /** Throws `cursor-refused` when the parent is not the head. The very same checkpoint again is a crash retry. */
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    versions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const head = await this.#headOf(config);
    if (head !== undefined && head !== checkpoint.id && head !== checkpointOf(config)) throw refusal(config, head);
    return this.#inner.put(config, checkpoint, metadata, versions);
  }

  /** Throws `cursor-refused` for writes beside any checkpoint but the head. */
  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const head = await this.#headOf(config);
    if (head !== undefined && head !== checkpointOf(config)) throw refusal(config, head);
    return this.#inner.putWrites(config, writes, taskId);
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#inner.deleteThread(threadId);
  }

  override getNextVersion(current: number | undefined): number {
    return this.#inner.getNextVersion(current);
  }

  async #headOf(config: RunnableConfig): Promise<string | undefined> {
    const { thread_id, checkpoint_ns = '' } = config.configurable ?? {};
    const head = await this.#inner.getTuple({ configurable: { thread_id, checkpoint_ns } });
    return head?.checkpoint.id;
  }
}

function checkpointOf(config: RunnableConfig): string | undefined {
  const id: unknown = config.configurable?.['checkpoint_id'];
  return typeof id === 'string' ? id : undefined;
}

function refusal(config: RunnableConfig, head: string): SquadError {
  return new SquadError({
    code: 'cursor-refused',
    message: `Run ${String(config.configurable?.['thread_id'])} goes on from checkpoint ${head}, not from ${checkpointOf(config) ?? 'its start'}. Nothing was written.`,
    next: 'Go on from the newest checkpoint, or fork: a fork is a new run.',
  });
}
