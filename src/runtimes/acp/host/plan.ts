import type { Json } from '../../../text/json.ts';
import type { McpServer } from '../../../model/turn-request.ts';

/** How an agent differs from the others, as data. */
interface Quirks {
  /** It takes MCP servers by HTTP alone, or runs where the servers cannot: the host serves those of stdio on loopback. */
  readonly mcp?: 'http' | undefined;
  /**
   * Where a permission request names the tool if its `name` does not; else its title. `call-id`: `<tool>__<tool>_<digits>` or
   * `<tool>-<digits>`. `first-title`: the first update of this call.
   */
  readonly toolName?: 'first-title' | 'call-id' | undefined;
  /** A message that begins like this is the program's own notice and no words of the agent. */
  readonly notices?: readonly string[] | undefined;
  /** An answer that begins like this is a failed request. */
  readonly failures?: readonly string[] | undefined;
  /** `unknown`: its token counts are not the turn's. `process`: they count all prompts of its process. Absent: they count one prompt. */
  readonly usage?: 'unknown' | 'process' | undefined;
  /** The kind of these tools, whatever the agent says. */
  readonly toolKinds?: Readonly<Record<string, ToolKind>> | undefined;
  /** Marks of a line of stderr about a failed request that the agent repeats. What follows the last one is the message. */
  readonly retry?: readonly string[] | undefined;
  /** Opened later after its start than this, a new session would count the repository's own settings. */
  readonly opensWithinMs?: number | undefined;
  /** Below HOME: where files of sessions are, which `session/load` would overwrite in the minute in which they began. */
  readonly sessions?: string | undefined;
}

export type ToolKind = 'read' | 'search' | 'think' | 'edit' | 'delete' | 'move' | 'execute' | 'fetch' | 'other';

/** Decides the answers to permission requests; fixed before the turn. */
interface Policy {
  readonly access: 'read-only' | 'edit' | 'full';
  readonly network: boolean;
  /** Folders that the agent may change besides its own. */
  readonly writable: readonly string[];
  /** A tool, a kind, an MCP server or `<server>/<tool>`; `*` at the end: any that begins so. */
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/**
 * One turn of an ACP agent: a JSON file, whose path is the host's argument. It may hold secrets of MCP servers. The prompt is
 * on stdin, and the agent's environment is the host's.
 */
export interface HostPlan {
  /** For messages: `acp/<agent>`. */
  readonly agent: string;
  /** The agent, in its cage if it has one. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly session?: { readonly id: string };
  /** A method of `authenticate`. Absent: none is called. */
  readonly auth?: string;
  readonly model?: string;
  /** The agent may call their tools, or those that a server names. */
  readonly mcp: readonly McpServer[];
  readonly policy: Policy;
  readonly outputSchema?: Readonly<Record<string, Json>>;
  /** An answer without that form is not repaired. */
  readonly outputIsOptional?: true;
  /** As a turn's request has them. */
  readonly prompts?: Readonly<Record<string, string>>;
  /** A person answers what the policy does not know, by files in this folder. */
  readonly ask?: { readonly folder: string; readonly deadlineMs: number };
  readonly quirks: Quirks;
  /** `openMs`: for everything before the prompt. */
  readonly limits: { readonly openMs: number };
}
