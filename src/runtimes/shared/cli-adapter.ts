import type { Failure } from '../../model/failure.ts';
import type { TurnReport } from '../../model/turn-event.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import type { Probe } from '../port/agent-runtime.ts';
import type { CancelStep, TurnEnding } from '../../substrate/ports/processes.ts';
import type { Json } from '../../text/json.ts';

/**
 * What a command-line runtime must say about itself; `createCliRuntime` does the rest. `Facts` is what the adapter had to
 * look up (paths, versions, what the machine can confine); `State` is what its translator remembers between lines.
 */
export interface CliAdapter<Facts, State> {
  readonly name: string;
  /** I/O: looks up what `command` needs to know. Called before each start; never spends a model call. Must not throw. */
  lookUp(request: TurnRequest, directory: string): Promise<Facts>;
  /** Pure. A refusal is a failure that names the setting; nothing has been spawned then. */
  command(request: TurnRequest, facts: Facts): CliCommand | Refusal;
  /** Pure: the beginning state of one turn's translation. `home` is the state directory the turn runs with. */
  begin(request: TurnRequest): State;
  /** Pure: one parsed line of stdout (JSON), or text that is no JSON. Unknown lines must be ignored, never fatal. */
  translate(state: State, line: NativeLine): { state: State; reports: TurnReport[] };
  /** Pure: the runtime has said its last word; a process that then does not exit is ended after a grace. */
  isTerminal(state: State): boolean;
  /** Pure: the verdict, from all that was read. Success needs positive proof. `stderr` is its last 16 KiB. */
  conclude(state: State, ending: TurnFacts): Verdict;
  /** How to stop this CLI politely, then less so. The shared part adds the group kill and the sweep. */
  readonly ladder: readonly CancelStep[];
  probe(): Promise<Probe>;
}

export interface CliCommand {
  readonly type: 'command';
  /** Absolute path. */
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /**
   * Written 0600 into the turn's directory before the spawn; refer to them by `<directory>/<name>`. A secret one is removed
   * when the turn is over.
   */
  readonly files: readonly { readonly name: string; readonly text: string; readonly secret?: boolean }[];
  /** State directory of the agent this turn uses; becomes `SessionRef.home`. */
  readonly home: string;
  /** The program may have to become another user, as `sudo` does. */
  readonly keepsUser?: boolean;
  /** Folders that must exist (made 0700) before the spawn. */
  readonly folders: readonly string[];
}

export interface Refusal {
  readonly type: 'refusal';
  readonly failure: Failure;
}

export type NativeLine =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'text'; readonly text: string };

/** Everything known when the process has ended, besides what the translator remembers. */
export interface TurnFacts {
  readonly ending: TurnEnding;
  readonly stderr: string;
  /** The engine itself ended the turn (cancel, watchdog): then the cause is its, whatever the CLI says. */
  readonly endedByHost: boolean;
  /** Epoch ms of the end, however late it is harvested: for reset times without a date. */
  readonly now: number;
}

/** What the adapter makes of a turn; the shared part adds session, schema check, times and exit. */
export interface Verdict {
  /** Absent: the turn completed, by positive proof. */
  readonly failure?: Failure | undefined;
  readonly text: string;
  /** The raw structured answer, where the runtime delivers it apart from the text. Checked by the host. */
  readonly structured?: Json | undefined;
  readonly sessionId?: string | undefined;
  readonly denials: readonly { tool: string; message?: string | undefined }[];
  /** This turn alone, where the runtime says it. */
  readonly usage?: Usage | undefined;
  /** A reading of counters that run over the whole session; the shared part subtracts the session's last one. */
  readonly counters?: Usage | undefined;
  readonly steps?: number | undefined;
}

/** What the composition root hands to an adapter's factory. Factories have no side effects. */
export interface RuntimeSettings {
  /** Absolute path of the native binary, or undefined: looked up on `environment.PATH` when first needed. */
  readonly binary?: string;
  /** The host's environment. Nothing of it reaches a child but the allow-listed names. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** More names to let through (`runtimes.<name>.env` of squad.yaml). */
  readonly allowEnvironment: readonly string[];
  /** Where private homes may be made, outside every worktree. */
  readonly stateDirectory: string;
  /** The user's home directory. */
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** Effective uid 0. */
  readonly isRoot: boolean;
  /** The runtime's own config keys (`runtimes.codex.config`), passed through as they are. */
  readonly config?: Readonly<Record<string, unknown>>;
}
