import type { Access } from '../../model/access.ts';
import type { FailureKind } from '../../model/failure.ts';
import type { ToolKind } from '../../model/turn-event.ts';
import type { Usage } from '../../model/usage.ts';
import type { Json } from '../../text/json.ts';

/** An agent of the application: it takes one turn, and ends it by its answer or by an error. */
export type InProcessAgent = (turn: InProcessTurn) => Promise<InProcessAnswer>;

/** One turn, as squad gives it to an agent of the application. */
export interface InProcessTurn {
  /** The text of this turn's request. */
  readonly prompt: string;
  /** Fixed for the life of a session. */
  readonly instructions: string;
  /** The session: the same for every turn of it. */
  readonly threadId: string;
  /** The session has had turns before this one. */
  readonly resumed: boolean;
  /** The folder of the task. The agent has to work in it and nowhere else: nothing confines it there. */
  readonly workspace: string;
  readonly access: Access;
  readonly model: string | undefined;
  /** JSON Schema of the answer. The prompt asks for it already. */
  readonly outputSchema: Readonly<Record<string, Json>> | undefined;
  /** For programs that the agent starts: git's settings of this folder, and the mark by which squad ends what is left of a turn. */
  readonly environment: Readonly<Record<string, string>>;
  /** The tools of the mailbox and of the turn's MCP servers. squad reports their calls. */
  readonly tools: readonly InProcessTool[];
  /** Aborts when the turn is to end. What works on after it can spoil the next turn. */
  readonly signal: AbortSignal;
  /** Says what the agent does. Each report is a sign of life. */
  report(report: AgentReport): void;
}

/** A tool that squad gives to an agent for one turn. */
export interface InProcessTool {
  /** `mcp__<server>__<tool>`. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Rejects with the tool's own words if it fails. */
  call(input: unknown): Promise<string>;
}

/** Progress that an agent reports of its turn. `usage` counts from the start of the turn. */
export type AgentReport =
  | { readonly type: 'text'; readonly text: string; readonly delta?: boolean }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'notice'; readonly text: string }
  | {
      readonly type: 'tool-started';
      readonly id: string;
      readonly tool: string;
      readonly kind?: ToolKind;
      readonly input?: unknown;
    }
  | {
      readonly type: 'tool-ended';
      readonly id: string;
      readonly ok: boolean;
      readonly denied?: boolean;
      readonly output?: string;
      readonly exitCode?: number;
    }
  | { readonly type: 'usage'; readonly usage: Usage; readonly steps?: number };

/** The end of a turn. */
export interface InProcessAnswer {
  readonly text: string;
  /** For a turn with an `outputSchema`. Absent: squad reads it from the text. */
  readonly structured?: unknown;
  /** The use of the whole turn. Absent: the use that was reported last. */
  readonly usage?: Usage | undefined;
}

/** An agent throws this to say why its turn failed. squad judges any other error by its status and words. */
export class AgentFailure extends Error {
  readonly kind: FailureKind;
  /** Epoch ms at which it will work again. */
  readonly retryAt: number | undefined;

  constructor(kind: FailureKind, message: string, retryAt?: number) {
    super(message);
    this.name = 'AgentFailure';
    this.kind = kind;
    this.retryAt = retryAt;
  }
}
