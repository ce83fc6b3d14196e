import type { Failure, FailureKind } from '../../model/failure.ts';
import type { RuntimeDescription } from '../../model/runtime-description.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Usage } from '../../model/usage.ts';
import type { Json } from '../../text/json.ts';
import type { CancelStep, TurnEnding } from '../../substrate/ports/processes.ts';
import type { Probe } from '../port/agent-runtime.ts';
import type { NetworkSettings } from './network-failure.ts';
import type { Step } from './translation.ts';

/**
 * The part of a command-line runtime that differs from program to program; `createCliRuntime` does the rest. `Facts` is
 * what the adapter looks up (paths, versions, sandboxes). `State` is what its translator remembers between lines.
 */
export interface CliAdapter<Facts, State> {
  readonly name: string;
  readonly description?: RuntimeDescription;
  /** Looks up what `command` needs, before each start. Makes no model call. Must not throw. */
  lookUp(request: TurnRequest, directory: string): Promise<Facts>;
  /** Pure. A refusal names the setting that cannot be honoured; nothing has been spawned then. */
  command(request: TurnRequest, facts: Facts): CliCommand | Refusal;
  /** Pure: the state before the first line. */
  begin(request: TurnRequest): State;
  /** Pure: translates one line of stdout. Must ignore unknown lines. */
  translate(state: State, line: NativeLine): Step<State>;
  /** Pure: the runtime has printed its result. The host ends a process that does not exit soon after. */
  isTerminal(state: State): boolean;
  /** Pure: the verdict on all that was read. Success needs positive proof. */
  conclude(state: State, facts: TurnFacts): Verdict;
  /** Signals that stop this program, the politest first. The shared part adds the group kill and the sweep. */
  readonly ladder: readonly CancelStep[];
  /** How the program reaches its model. Absent: it uses no network, or nothing is known. */
  readonly network?: NetworkSettings;
  probe(): Promise<Probe>;
}

/** These signals, one after the other. */
export function signals(waitMs: number, ...names: readonly CancelStep['signal'][]): CancelStep[] {
  return names.map((signal) => ({ signal, waitMs }));
}

/** How to start the program of a turn. */
export interface CliCommand {
  readonly type: 'command';
  /** Absolute path. */
  readonly binary: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  /**
   * Written with mode 0600 into the turn's directory before the spawn; refer to them by `<directory>/<name>`. Secret
   * files are removed when the turn is over.
   */
  readonly files: readonly LaunchFile[];
  /** Links in the turn's directory, made before the spawn. Their folders are among `folders`. */
  readonly links?: readonly { readonly name: string; readonly to: string }[];
  /** State directory that this turn uses. It becomes `SessionRef.home`. */
  readonly home: string;
  /** The program may have to become another user, as `sudo` does. */
  readonly keepsUser?: boolean;
  /** Folders that must exist before the spawn; created with mode 0700. */
  readonly folders: readonly string[];
}

export interface LaunchFile {
  readonly name: string;
  readonly text: string;
  readonly secret?: boolean;
  /** It is in `home` and not in the turn's directory. What the agent left in its place, links too, is removed. */
  readonly inHome?: boolean;
  /**
   * The absolute path at which the program finds it instead, because programs tell their model paths: the same in all turns of a
   * conversation. It is removed when the turn is over; the turn's directory keeps a copy of what is not secret.
   */
  readonly at?: string;
}

/** A request declined by name. Nothing has been spawned. */
export interface Refusal {
  readonly type: 'refusal';
  readonly failure: Failure;
}

/** A refusal of one setting of the request. */
export function refuse(kind: FailureKind, setting: string, message: string): Refusal {
  return { type: 'refusal', failure: { kind, setting, message, mayHaveActed: false } };
}

/** The first of these settings that is there and cannot be honoured, with the reason. */
export function refuseAny(checks: readonly (readonly [boolean, string, string])[]): Refusal | undefined {
  const found = checks.find(([isThere]) => isThere);
  return found && refuse('setting-unsupported', found[1], found[2]);
}

/** One line of the program's standard output. */
export type NativeLine =
  | { readonly type: 'json'; readonly value: unknown }
  | { readonly type: 'text'; readonly text: string };

/** The facts about an ended process, besides the translator's state. */
export interface TurnFacts {
  readonly ending: TurnEnding;
  /** The last 16 KiB. */
  readonly stderr: string;
  /** The engine ended the turn (cancel or watchdog), so its reason counts and not what the program prints. */
  readonly endedByHost: boolean;
  /** Epoch ms of the end, even if an engine reads it hours later. Reset times without a date are relative to it. */
  readonly now: number;
}

/** An adapter's judgement of a turn. The shared part adds session, answer and schema checks, times and exit. */
export interface Verdict {
  /** Absent: the turn completed, by positive proof. */
  readonly failure?: Failure | undefined;
  readonly text: string;
  /** The structured answer as the runtime gave it. The shared part checks it against the schema. */
  readonly structured?: Json | undefined;
  readonly sessionId?: string | undefined;
  readonly denials: readonly { tool: string; message?: string | undefined }[];
  /** Whether tools may have changed something. Absent: the shared part decides by the reports. */
  readonly mayHaveActed?: boolean | undefined;
  /** Use of this turn alone, if the runtime reports it. */
  readonly usage?: Usage | undefined;
  /** Counters that run over the whole session. The shared part subtracts the session's last reading. */
  readonly counters?: Usage | undefined;
  readonly steps?: number | undefined;
}

/** The composition root's input to an adapter's factory. Factories have no side effects. */
export interface RuntimeSettings {
  /** Absolute path of the native binary. Absent: looked up on `environment.PATH` when first needed. */
  readonly binary?: string;
  /** The host's environment. A child gets only the allow-listed names of it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** More names to let through (`runtimes.<name>.env` of squad.yaml). */
  readonly allowEnvironment: readonly string[];
  /** Holds private homes, outside every folder. */
  readonly stateDirectory: string;
  readonly userHome: string;
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  /** Effective uid 0. */
  readonly isRoot: boolean;
  /** The runtime's own config keys (`runtimes.codex.config`), passed through as they are. */
  readonly config?: Readonly<Record<string, unknown>>;
}
