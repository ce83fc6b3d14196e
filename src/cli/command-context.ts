import type { Host } from '../engine/compose.ts';
import type { LimitOptions } from '../model/limit-table.ts';
import type { Objective } from '../model/objective.ts';
import type { SinkName } from '../model/tracing.ts';
import type { SquadError } from '../model/errors.ts';
import type { RunningRun } from '../view/running-run.ts';
import type { Output } from './output.ts';
import type { LogLevel } from './render/event-level.ts';

/** Everything that a command may use, including the way to set its exit code. */
export interface CommandContext {
  readonly host: Host;
  readonly output: Output;
  readonly exit: (code: number) => void;
  /** How many events are printed. Results and errors always are. */
  readonly logLevel: () => LogLevel;
  /** The runs that this process drives, each with what is to be done first if squad breaks. Absent: squad may break unnoticed. */
  readonly engines?: Map<RunningRun, (error: SquadError) => void>;
}

export interface JsonOptions {
  readonly json?: boolean;
}

export interface DoctorOptions extends JsonOptions {
  readonly trust?: boolean;
}

export interface InitOptions extends JsonOptions {
  readonly playbook?: string;
  readonly yes?: boolean;
}

export interface ReportOptions extends JsonOptions {
  readonly all?: boolean;
  readonly html?: boolean;
}

/** For a command that takes its run as an option. */
export interface RunNameOptions extends JsonOptions {
  readonly run?: string;
}

export interface LogOptions extends ScopeOptions {
  readonly raw?: boolean;
  readonly follow?: boolean;
  readonly after?: number;
  readonly limit?: number;
}

/** For a command whose output goes through a pager at a terminal. */
export interface PagedOptions extends JsonOptions {
  /** false: never. */
  readonly pager?: boolean;
}

export interface DiffOptions extends PagedOptions {
  readonly stat?: boolean;
  readonly nameOnly?: boolean;
}

export interface ShowOptions extends PagedOptions {
  readonly run?: string;
}

export interface MergeOptions extends JsonOptions {
  readonly unverified?: boolean;
}

export interface DropOptions extends JsonOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
}

export interface CleanOptions extends JsonOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly turns?: boolean;
  readonly refs?: boolean;
}

export interface StateOptions extends JsonOptions {
  readonly adopt?: string;
  readonly forget?: string;
  readonly yes?: boolean;
}

export interface UninstallOptions extends JsonOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export interface StudioOptions extends JsonOptions {
  readonly port: number;
  readonly origin?: readonly string[];
  readonly tunnel?: boolean;
}

export interface WatchOptions extends JsonOptions {
  readonly plain?: boolean;
}

export interface StatusOptions extends JsonOptions {
  readonly watch?: boolean;
}

export interface DriveOptions extends LimitOptions, JsonOptions {
  /** The engine works in the background. */
  readonly detach?: boolean;
  readonly plain?: boolean;
  /** false: the engine ends instead of waiting for a usage limit. */
  readonly wait?: boolean;
  /** true: to the sink that the settings or the environment name. */
  readonly trace?: SinkName | true;
}

export interface ForkOptions extends JsonOptions {
  readonly at?: number;
  readonly name?: string;
}

export interface ScopeOptions extends JsonOptions {
  readonly agent?: string;
  readonly task?: string;
}

export interface ResumeOptions extends DriveOptions, ScopeOptions {
  readonly reload?: boolean;
  readonly pastDeadline?: boolean;
  readonly yes?: boolean;
  readonly all?: boolean;
  /** ms */
  readonly every?: number;
}

export interface CancelOptions extends JsonOptions {
  readonly task?: string;
  readonly reason?: string;
  readonly plain?: boolean;
}

export interface TaskOptions extends ScopeOptions, RunNameOptions {
  readonly reason?: string;
  readonly model?: string;
}

export interface SwitchOptions extends JsonOptions, RunNameOptions {
  readonly agent?: readonly string[];
  readonly task?: readonly string[];
  readonly model?: string;
}

export interface AnswerOptions extends RunNameOptions {
  readonly file?: string;
  readonly paths?: string;
}

export interface RetryOptions extends RunNameOptions {
  readonly fresh?: boolean;
  readonly note?: string;
  readonly agent?: string;
  readonly runtime?: string;
  readonly model?: string;
}

export interface NewRunOptions {
  readonly playbook?: string | undefined;
  readonly runtime?: string;
  /** By agent or role. */
  readonly model?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly yes?: boolean;
  readonly allowFullAccess?: boolean;
}

export interface PlanOptions extends LimitOptions, JsonOptions, NewRunOptions {
  readonly prompts?: boolean;
}

export interface TraceOptions extends JsonOptions {
  readonly to?: SinkName;
}

export interface RunOptions extends DriveOptions, NewRunOptions {
  readonly resume?: boolean;
  readonly dryRun?: boolean;
  readonly strict?: boolean;
  /** Folder of a session; true: the option was given without one. */
  readonly session?: string | true;
  /** Path of a ticket with the objective, which is no file. */
  readonly ticket?: string;
  /** See the library's `RunOptions`. */
  readonly runId?: string;
  /** The objective that the session was just made for. No option of the command line gives it. */
  readonly madeFor?: Objective | undefined;
}

export interface CoordinateOptions extends DriveOptions, Omit<NewRunOptions, 'playbook'> {
  readonly into?: string;
  readonly resume?: boolean;
  /** The session runs once it is made. */
  readonly run?: boolean;
}

export interface TeamOptions extends NewRunOptions {
  readonly run?: string;
  readonly detach?: boolean;
  readonly close?: boolean;
}

export interface DemoOptions extends JsonOptions {
  readonly keep?: string;
  readonly remove?: boolean;
}
