import type { Readable, Writable } from 'node:stream';

/** The two ends of the server's connection. */
export interface Wire {
  readonly input: Readable;
  readonly output: Writable;
  /** A longer line ends the server. */
  readonly mostLineBytes: number;
  readonly end: () => void;
  /** For the person who reads the log of the client. */
  readonly report: (problem: unknown) => void;
}

/** The answer to a call of a tool. */
export interface ToolResult {
  readonly isError?: true;
  readonly content: { type: 'text'; text: string }[];
  readonly structuredContent?: Record<string, unknown>;
}

/** A client shows these, and decides by them. */
export interface Hints {
  readonly readOnlyHint?: true;
  readonly destructiveHint: boolean;
  readonly idempotentHint?: true;
  readonly openWorldHint: boolean;
}

interface ObjectSchema extends Readonly<Record<string, unknown>> {
  readonly type: 'object';
}

export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema?: ObjectSchema;
  readonly annotations: Hints;
}

/** The client during one call. */
export interface Caller {
  /** Aborted once the client does not want the answer any more, or is gone. */
  readonly signal: AbortSignal;
  /** Says how far a call is; absent: the client did not ask. */
  readonly progress?: (done: number, total: number, message: string) => void;
}

/** The tools of a server. */
export interface ServedTools {
  /** Sent in the answer to `initialize`; agents read it. Codex cuts it where its tools are named without their schemas. */
  readonly instructions: string;
  list(): ListedTool[];
  /** undefined: there is no such tool. `id`: of the request. */
  call(id: string | number, name: string, given: unknown, caller: Caller): ToolResult | Promise<ToolResult> | undefined;
}

export const NO_TOOL = 'there is no such tool; `tools/list` lists them';
