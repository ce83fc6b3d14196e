import type { Host } from '../compose.ts';
import type { RuntimeName } from '../model/runtime-name.ts';
import type { LogLevel } from './render/event-level.ts';
import type { Output } from './output.ts';
import type { LimitOptions } from '../model/limits.ts';

/** What a command may use, and how it sets its exit code. */
export interface CommandContext {
  readonly host: Host;
  readonly output: Output;
  readonly exit: (code: number) => void;
  /** How many events are printed. Results and errors always are. */
  readonly logLevel: () => LogLevel;
}

export interface LogOptions {
  readonly after?: number;
  readonly limit?: number;
  readonly json?: boolean;
}

export interface AnswerOptions {
  readonly run?: string;
  readonly json?: boolean;
}

export interface CleanOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly turns?: boolean;
  readonly refs?: boolean;
  readonly json?: boolean;
}

export interface DriveOptions extends LimitOptions {
  readonly json?: boolean;
  readonly plain?: boolean;
  /** false: the engine ends instead of waiting for a usage limit. */
  readonly wait?: boolean;
}

export interface ScopeOptions {
  readonly agent?: string;
  readonly task?: string;
  readonly json?: boolean;
}

export interface ResumeOptions extends DriveOptions, ScopeOptions {
  readonly reload?: boolean;
  readonly yes?: boolean;
  readonly all?: boolean;
  /** ms */
  readonly every?: number;
}

export interface InterveneOptions {
  readonly json?: boolean;
}

export interface CancelOptions extends InterveneOptions {
  readonly task?: string;
  readonly reason?: string;
  readonly plain?: boolean;
}

export interface TaskOptions extends ScopeOptions {
  readonly run?: string;
  readonly fresh?: boolean;
  readonly note?: string;
  readonly reason?: string;
  readonly model?: string;
}

export interface RunOptions extends DriveOptions {
  readonly playbook?: string;
  readonly files?: string;
  readonly runtime?: RuntimeName;
  readonly name?: string;
  readonly yes?: boolean;
  readonly allowFullAccess?: boolean;
  readonly resume?: boolean;
  readonly strict?: boolean;
}

export interface TeamOptions {
  readonly run?: string;
  readonly playbook?: string;
  readonly runtime?: RuntimeName;
  readonly name?: string;
  readonly yes?: boolean;
  readonly allowFullAccess?: boolean;
  readonly terminal?: 'tmux' | 'terminal' | 'iterm2';
  readonly detach?: boolean;
  readonly close?: boolean;
}

export interface TeamPaneOptions {
  readonly ticket: string;
}

export interface StopOptions {
  readonly json?: boolean;
}

export interface DemoOptions {
  readonly keep?: string;
  readonly remove?: boolean;
  readonly json?: boolean;
}

export interface DevTurnOptions {
  readonly runtime: RuntimeName;
  readonly repo: string;
  readonly promptFile?: string;
  readonly instructions: string;
  readonly access: 'read-only' | 'edit' | 'full';
  readonly model?: string;
  readonly schema?: string;
  readonly binary?: string;
  readonly env?: string[];
  readonly config?: string[];
  readonly minutes: number;
  readonly idleMinutes: number;
  readonly retries: number;
  readonly resume?: string | boolean;
  readonly json?: boolean;
}
