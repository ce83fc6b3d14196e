import type { FailureKind } from './failure.ts';

export type ToolKind = 'read' | 'edit' | 'execute' | 'fetch' | 'mcp' | 'agent' | 'other';

/**
 * One thing a runtime reported. `at` is epoch ms of when the engine read it: after an adoption it is the time of the
 * second reading. Text that came from a model is untrusted wherever it goes.
 */
export type TurnEvent = { at: number } & TurnReport;

export type TurnReport =
  | {
      type: 'session-announced';
      id: string;
      model?: string;
      resumed: boolean;
      mcp: { name: string; status: 'connected' | 'failed' | 'unknown' }[];
    }
  /** `agent` is set when a sub-agent of the runtime speaks. */
  | { type: 'text'; text: string; delta: boolean; agent?: string }
  | { type: 'thinking'; text: string }
  | { type: 'tool-started'; id: string; tool: string; kind: ToolKind; input: unknown; server?: string; agent?: string }
  /** `output` is cut to 4 KiB: codex sends lines of 1 MB. */
  | { type: 'tool-ended'; id: string; ok: boolean; denied: boolean; output?: string; exitCode?: number }
  /** codex only; elsewhere the worktree is compared. */
  | { type: 'files-changed'; changes: { path: string; kind: 'add' | 'update' | 'delete' }[] }
  /** The runtime retries by itself. Not an end: codex calls this `error`. */
  | { type: 'retry-scheduled'; failure: FailureKind; message: string; attempt?: number; of?: number; delayMs?: number }
  | { type: 'notice'; text: string };
