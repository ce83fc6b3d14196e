import type { FailureKind } from './failure.ts';

/** One set of kinds for the tools of all runtimes. `other`: none of them fits. */
export type ToolKind = 'read' | 'edit' | 'execute' | 'fetch' | 'mcp' | 'agent' | 'other';

/** `at`: epoch ms at which the engine read it last. Text from a model is untrusted. */
export type TurnEvent = { at: number } & TurnReport;

/** One thing that a program reported during a turn. */
export type TurnReport =
  | {
      type: 'session-announced';
      id: string;
      model?: string;
      resumed: boolean;
      mcp: { name: string; status: 'connected' | 'failed' | 'unknown' }[];
    }
  /** `agent`: the runtime's sub-agent that wrote the text. */
  | { type: 'text'; text: string; delta: boolean; agent?: string }
  | { type: 'thinking'; text: string }
  /** `answers`: by this tool the agent only gives its answer. */
  | {
      type: 'tool-started';
      id: string;
      tool: string;
      kind: ToolKind;
      input: unknown;
      server?: string;
      agent?: string;
      answers?: true;
    }
  /** `input`: the whole of it, where the start had less. `output`: cut to 4 KiB, because codex sends lines of 1 MB. */
  | {
      type: 'tool-ended';
      id: string;
      ok: boolean;
      denied: boolean;
      input?: unknown;
      output?: string;
      exitCode?: number;
    }
  /** Only codex reports this. For other runtimes squad compares the folder. */
  | { type: 'files-changed'; changes: { path: string; kind: 'add' | 'update' | 'delete' }[] }
  /** The runtime retries by itself. This does not end the turn, although codex calls it `error`. */
  | { type: 'retry-scheduled'; failure: FailureKind; message: string; attempt?: number; of?: number; delayMs?: number }
  /** `asks`: the agent waits for a person, who allows or rejects a tool. */
  | { type: 'notice'; text: string; asks?: true };
