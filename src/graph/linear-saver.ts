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

/** The store behind the saver. Without `headOf`, the saver reads the thread's newest checkpoint. */
export type LinearStore = BaseCheckpointSaver & { headOf?(threadId: string, namespace: string): string | undefined };

/**
 * Stores a checkpoint only on top of its thread's newest one, and writes only for that, so that LangGraph's own API (Studio, `updateState`,
 * a replay) cannot take a run over from an old checkpoint. A fork is a new run on a new thread.
 */
export class LinearSaver extends BaseCheckpointSaver {
  readonly #inner: LinearStore;
  #last: Promise<unknown> = Promise.resolve();
  /** Checkpoints that have waiting writes and are not stored yet. */
  readonly #early = new Map<string, PromiseWithResolvers<void>>();
  readonly #refused = new Set<string>();

  constructor(inner: LinearStore) {
    super(inner.serde);
    this.#inner = inner;
  }

  override getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    return this.#inner.getTuple(config);
  }

  override list(config: RunnableConfig, options?: CheckpointListOptions): AsyncGenerator<CheckpointTuple> {
    return this.#inner.list(config, options);
  }

  /** Throws `cursor-refused` if the parent is not the head. Storing the same checkpoint again is a crash retry. */
  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    versions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#inTurn(async () => {
      const early = this.#early.get(checkpoint.id);
      this.#early.delete(checkpoint.id);
      try {
        const head = await this.#headOf(config);
        if (head !== undefined && head !== checkpoint.id && head !== checkpointOf(config)) throw refusal(config, head);
        const stored = await this.#inner.put(config, checkpoint, metadata, versions);
        early?.resolve();
        return stored;
      } catch (error) {
        this.#refused.add(checkpoint.id);
        early?.reject(error);
        throw error;
      }
    });
  }

  /** Throws `cursor-refused` unless the checkpoint is the head or about to be. */
  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const early = await this.#atHead(config, () => this.#inner.putWrites(config, writes, taskId));
    if (early === undefined) return;
    await early.stored;
    return this.putWrites(config, writes, taskId);
  }

  /** Throws `cursor-refused` unless the checkpoint is the head or about to be. */
  async requireHead(threadId: string, checkpointId: string): Promise<void> {
    const config = { configurable: { thread_id: threadId, checkpoint_id: checkpointId } };
    const early = await this.#atHead(config);
    await early?.stored;
  }

  /** Does the work if the checkpoint is the head. Otherwise says when the checkpoint is stored, or throws. */
  #atHead(config: RunnableConfig, work?: () => Promise<void>): Promise<{ stored: Promise<void> } | undefined> {
    return this.#inTurn(async () => {
      const head = await this.#headOf(config);
      const id = checkpointOf(config);
      if (head === undefined || head === id) {
        await work?.();
        return undefined;
      }
      if (id !== undefined && (await this.#isToCome(config, id))) return { stored: this.#storedLater(id) };
      throw refusal(config, head);
    });
  }

  /**
   * Runs calls in their order. LangGraph hands over a node's writes before the checkpoint of its input is stored (with every
   * durability at the first step, with `async` always).
   */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done;
    return done;
  }

  /** A checkpoint that is not there and was not refused is still to be stored. Its id does not tell: clocks are set back. */
  async #isToCome(config: RunnableConfig, id: string): Promise<boolean> {
    return !this.#refused.has(id) && (await this.#inner.getTuple(config)) === undefined;
  }

  #storedLater(id: string): Promise<void> {
    const early = this.#early.get(id) ?? Promise.withResolvers<void>();
    this.#early.set(id, early);
    return early.promise;
  }

  override deleteThread(threadId: string): Promise<void> {
    return this.#inner.deleteThread(threadId);
  }

  override getNextVersion(current: number | undefined): number {
    return this.#inner.getNextVersion(current);
  }

  async #headOf(config: RunnableConfig): Promise<string | undefined> {
    const { thread_id, checkpoint_ns = '' } = config.configurable ?? {};
    if (this.#inner.headOf !== undefined) return this.#inner.headOf(String(thread_id), String(checkpoint_ns));
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
    message: `Run ${String(config.configurable?.['thread_id'])} continues from checkpoint ${head}, not from ${checkpointOf(config) ?? 'its start'}. Nothing was written.`,
    next: 'Continue from the newest checkpoint, or start a new run as a fork.',
  });
}
