import type { Failure } from '../../model/failure.ts';
import type { ProcessIdentity } from '../../model/process-identity.ts';
import type { RuntimeDescription } from '../../model/runtime-description.ts';
import type { TurnEvent } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { TurnResult } from '../../model/turn-result.ts';

/** Changes when adapters must follow a change of the port. */
export const PORT_VERSION = 1;

/**
 * A program that can run a turn as an agent: Claude Code, Codex, a script. A request that it cannot honour ends with the outcome
 * `refused` and a failure that names the setting, before anything is spawned. There is no capability table.
 */
export interface AgentRuntime {
  readonly portVersion: typeof PORT_VERSION;
  /** The name in `agents[].runtime` of squad.yaml. */
  readonly name: string;
  readonly description?: RuntimeDescription;
  /** Checks program, login and sandbox. Changes nothing, makes no model call, never rejects. */
  probe(): Promise<Probe>;
  /**
   * Why it would refuse this request, so that a run with it never begins; undefined: it would not. Changes nothing and makes no
   * model call. Absent: only a turn shows it.
   */
  refusal?(request: TurnRequest): Promise<Failure | undefined>;
  /**
   * Starts one turn. The spawned process waits until `context.onSpawned` has resolved, so no agent runs before its identity is
   * committed. The caller starts at most one live turn per session.
   */
  start(request: TurnRequest, context: TurnContext): Turn;
  /**
   * Takes over a turn of another engine by its directory: adopts it if the process runs, reads the result if it ended, and
   * otherwise fails with `lost`. Reports all events again from the first byte.
   */
  attach(request: TurnRequest, context: AttachContext): Turn;
}

interface WatchContext {
  /** `turns/<attempt>`: an existing folder of this turn only, kept after it. */
  readonly directory: string;
  /** Called for each event, in order. Must not throw. */
  onEvent?(event: TurnEvent): void;
}

/** Given to a runtime to start a turn. */
export interface TurnContext extends WatchContext {
  /** Must commit the identity, then resolve. After a rejection the agent never runs. `at`: epoch ms. */
  onSpawned(identity: ProcessIdentity, at: number): Promise<void>;
}

/** Given to a runtime to take over the turn of an earlier engine. */
export interface AttachContext extends WatchContext {
  readonly identity: ProcessIdentity;
  /** Epoch ms of the spawn, as `onSpawned` got it. */
  readonly spawnedAt: number;
}

/** A live turn. */
export interface Turn {
  /**
   * Resolves when no process of the turn is alive. Every failure is a result. Rejects only with a SquadError `storage-full` or
   * `storage-refused`: the disk failed and the turn is not over.
   */
  readonly result: Promise<TurnResult>;
  /** Interrupts, terminates, then kills; each step has a time limit. Resolves with the result. Idempotent. */
  cancel(reason: string): Promise<TurnResult>;
  /** Stops watching and leaves the process running for a later `attach`. `result` then never settles. */
  detach(): Promise<void>;
  /** The current signs of life. */
  activity(): TurnActivity;
}

/** Signs of life of a turn. */
export interface TurnActivity {
  /** Epoch ms at which stdout or stderr last grew. */
  readonly lastSignOfLifeAt: number;
  readonly firstToolAt?: number;
  readonly openTools: number;
}

/** Whether a runtime can be used on this machine, and why not. */
export interface Probe {
  readonly ok: boolean;
  readonly version?: string;
  readonly binary?: string;
  /** Lowest supported version. */
  readonly floor?: string;
  /** The version that the live tests install. */
  readonly tested?: string;
  readonly login: 'ok' | 'missing' | 'unknown';
  /** The confinement of `access: edit` here: by the OS, only by the CLI's own rules, or none. */
  readonly sandbox: 'os' | 'rules' | 'none';
  /** Each with the next step for the user. */
  readonly problems: readonly { text: string; next: string }[];
}
