import { z } from 'zod';
import { accessSchema } from './access.ts';
import { gitSettingsSchema } from './git-settings.ts';
import { jsonSchema } from '../text/json-schema.ts';
import { sessionRefSchema } from './session-ref.ts';

/** Without `__` and without `_` at the end, because agents name a tool `mcp__<server>__<tool>`. */
export const SERVER_NAME = /^[a-z](?:[a-z0-9-]|_(?=[a-z0-9])){0,31}$/;

/** An MCP server that a turn may use. */
const mcpServerSchema = z.object({
  name: z.string().regex(SERVER_NAME),
  /** The tools that the agent may call; absent: all. No characters that separate entries of a rule list. */
  tools: z.array(z.string().regex(/^[\w./-]{1,128}$/)).optional(),
  /** If this server does not start, the turn fails. */
  required: z.boolean().optional(),
  transport: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('stdio'),
      command: z.string(),
      args: z.array(z.string()),
      env: z.record(z.string(), z.string()),
    }),
    z.object({ type: z.literal('http'), url: z.string(), headers: z.record(z.string(), z.string()) }),
  ]),
});
export type McpServer = z.infer<typeof mcpServerSchema>;

export const SKILL_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/** A folder with instructions for one kind of work, which a runtime offers to its model. */
const skillSchema = z.object({
  /** The name of the folder. */
  name: z.string().regex(SKILL_NAME),
  /** Absolute: the copy that was bound to the run. It holds a SKILL.md. */
  folder: z.string(),
});

export const HOOK_EVENTS = ['turn-started', 'tool-started', 'tool-ended', 'turn-ended'] as const;

/** A command that the runtime runs at a point of the turn. */
export const hookSchema = z.object({
  on: z.enum(HOOK_EVENTS),
  /** Only for this tool, by its name in the runtime. */
  tool: z.string().min(1).max(200).optional(),
  run: z.string(),
});

/** The name of an environment variable. */
export const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'] as const;

/** A folder a turn works in. */
export const workspaceSchema = z.object({
  path: z.string(),
  /** The folder has a `.git` directory of its own, which the turn may change. */
  repository: z.boolean().optional(),
  /** Settings for every git in the turn. The runtime's program and the agent's shell get them in their environment. */
  gitSettings: gitSettingsSchema.optional(),
  /** No other folder has it at the same time. */
  port: z.int().optional(),
});
export type Workspace = z.infer<typeof workspaceSchema>;

/** Limits of one turn. Times in ms. */
const turnLimitsSchema = z.object({
  /** Wall time in ms. The wrapper enforces it even when no engine runs. */
  wallMs: z.number().int().positive(),
  /** The turn ends after this long without output. The clock pauses while a tool runs. */
  idleMs: z.number().int().positive(),
  /** Longest time that the runtime may retry by itself before the engine ends the turn. */
  retryMs: z.number().int().positive(),
  /** Output in bytes after which the wrapper ends the turn. */
  maxOutputBytes: z.number().int().positive(),
  maxSteps: z.number().int().positive().optional(),
  maxCostUsd: z.number().positive().optional(),
});
export type TurnLimits = z.infer<typeof turnLimitsSchema>;

export const DEFAULT_TURN_LIMITS: TurnLimits = {
  wallMs: 60 * 60_000,
  idleMs: 10 * 60_000,
  retryMs: 4 * 60_000,
  maxOutputBytes: 1024 ** 3,
};

/** One prompt to a runtime. It is stored with the attempt as plain data, so that another engine can take over the turn. */
export const turnRequestSchema = z.object({
  /** The attempt's id: idempotency key and process marker; never shown to the model. */
  turnId: z.string(),
  workspace: workspaceSchema,
  /** Always sent on stdin, never in argv (E2BIG above 128 KiB; `codex exec review` is a subcommand). */
  prompt: z.string(),
  /** Fixed for the life of a session. What changes from turn to turn belongs in `prompt`. */
  instructions: z.string(),
  /** Texts that the runtime adds, by name: those in place of squad's own. Absent: none is changed. */
  prompts: z.record(z.string(), z.string()).optional(),
  session: sessionRefSchema.optional(),
  model: z.string().optional(),
  effort: z.enum(EFFORTS).optional(),
  access: accessSchema,
  /** More tool rules, in the runtime's own syntax. */
  toolRules: z.object({ allow: z.array(z.string()).optional(), deny: z.array(z.string()).optional() }).optional(),
  mcp: z.array(mcpServerSchema),
  skills: z.array(skillSchema).optional(),
  hooks: z.array(hookSchema).optional(),
  /** Names of the host's variables that the agent gets besides the runtime's own. */
  environment: z.array(z.string().regex(VARIABLE)).optional(),
  /** `mine`: with the user's own settings, memory and plugins. Absent: without them. */
  home: z.literal('mine').optional(),
  /** `human`: a person answers what the agent asks permission for. Absent: the rules above decide. */
  ask: z.literal('human').optional(),
  /** JSON Schema of the final answer. */
  outputSchema: z.record(z.string(), jsonSchema).optional(),
  /** An answer without the form, or with a broken one, completes the turn too. Absent: the turn fails without it. */
  outputIsOptional: z.literal(true).optional(),
  limits: turnLimitsSchema,
});
export type TurnRequest = z.infer<typeof turnRequestSchema>;
