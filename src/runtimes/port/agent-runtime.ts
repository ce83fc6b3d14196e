import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';

/** Bumped when the port changes in a way that an adapter must follow. */
export const PORT_VERSION = 1;

/**
 * A program that can take a turn as an agent: Claude Code, Codex, a script. A request it cannot honour ends in the
 * outcome `refused`, with a failure that names the setting, before anything is spawned; there is no capability table.
 */
export interface AgentRuntime {
  readonly portVersion: typeof PORT_VERSION;
  /** As in `agents[].runtime` of squad.yaml. */
  readonly name: string;
  /** Looks, changes nothing, spends no model call. Never rejects. */
  probe(): Promise<Probe>;
  /**
   * Starts one turn. The process is spawned but holds still until `context.onSpawned` has resolved, so that no agent ever
   * runs whose identity is not committed. At most one live turn per session: the ledger's unique index keeps it.
   */
  start(request: TurnRequest, context: TurnContext): Turn;
  /**
   * Takes over a turn that another engine started, from its directory alone: adopts it if its process lives, harvests it
   * if it ended, and calls it `lost` if neither. Events are read again from the first byte.
   */
  attach(request: TurnRequest, context: AttachContext): Turn;
}

interface WatchContext {
  /** `turns/<attempt>`: exists, private to this turn, kept after it. */
  readonly directory: string;
  /** Called in order, as events are read. Must not throw. */
  onEvent?(event: TurnEvent): void;
}

export interface TurnContext extends WatchContext {
  /** Commit the identity, then resolve. A rejection abandons the turn: the agent never runs. */
  onSpawned(identity: ProcessIdentity, at: number): Promise<void>;
}

export interface AttachContext extends WatchContext {
  readonly identity: ProcessIdentity;
  /** Epoch ms of the spawn, as committed. */
  readonly spawnedAt: number;
}

/** A live turn. */
export interface Turn {
  /**
   * Every way to fail is a result, and it settles only when nothing of the turn's process tree is alive. Rejects with a
   * SquadError `storage-full` or `storage-refused` alone: the disk is at fault and not the turn, which is then not over.
   */
  readonly result: Promise<TurnResult>;
  /** Idempotent. Interrupt, terminate, kill, sweep; each step bounded. Resolves with the result. */
  cancel(reason: string): Promise<TurnResult>;
  /** Stops watching and leaves the process running, to be attached to later. `result` then never settles. */
  detach(): Promise<void>;
  /** What a liveness decision rests on, as of now. */
  activity(): TurnActivity;
}

export interface TurnActivity {
  /** Epoch ms at which stdout or stderr last grew. */
  readonly lastSignOfLifeAt: number;
  readonly firstToolAt?: number;
  readonly openTools: number;
}

export interface Probe {
  readonly ok: boolean;
  readonly version?: string;
  readonly binary?: string;
  /** Lowest version that this adapter was proved with. */
  readonly floor?: string;
  readonly login: 'ok' | 'missing' | 'unknown';
  /** How `access: edit` is confined here: by the OS, by the CLI's own rules only, or not at all. */
  readonly sandbox: 'os' | 'rules' | 'none';
  /** Each with what to do about it. */
  readonly problems: readonly { text: string; next: string }[];
}
