import { z } from 'zod';
import {
  argumentSchema,
  commandSchema,
  filePathSchema,
  headersSchema,
  urlSchema,
  variableSchema,
} from './settings-text.ts';
import { EFFORTS, HOOK_EVENTS, hookSchema, SERVER_NAME } from './turn-request.ts';

/** squad's own MCP server, whose tools are `mcp__squad__…`. */
export const MAIL_SERVER_NAME = 'squad';

const folderSchema = z
  .string()
  .regex(
    /^(?!.*(?:^|\/)\.\.(?:\/|$))\/[^\u0000-\u001f]{1,1000}$|^(?!.*(?:^|\/)\.{0,2}(?:\/|$))[^\u0000-\u001f\\:]{1,300}$/,
    'needs a folder with a SKILL.md: an absolute path, or one from the root of the repository without “..”',
  );

/** Where a program starts: in an empty folder, or in the agent's own, in a cage. */
const cwdSchema = z.literal('task', { error: 'can only be `task`, which starts it in the agent’s folder' }).optional();

/** One of two forms: a program, or an address. */
const serverSchema = z
  .strictObject({
    name: z
      .string()
      .regex(SERVER_NAME, 'needs lower-case letters, digits, dashes and single underscores, starting with a letter'),
    command: commandSchema.optional(),
    args: z.array(argumentSchema).max(100).optional(),
    /** Names of the host's variables that the server gets. */
    env: z.array(variableSchema).max(100).optional(),
    cwd: cwdSchema,
    url: urlSchema.optional(),
    /** By header: the name of the variable that holds its value. */
    headers: headersSchema.optional(),
  })
  .superRefine((server, context) => {
    const { command, args, env, cwd, url, headers } = server;
    const say = (message: string): void => context.addIssue({ code: 'custom', message });
    if ((command === undefined) === (url === undefined)) say('needs either `command` or `url`');
    else if (url !== undefined && (args ?? env ?? cwd) !== undefined)
      say('has a `url`, so it takes `headers` and neither `args` nor `env` nor `cwd`');
    else if (command !== undefined && headers !== undefined) say('has a `command`, so it takes `env` and no `headers`');
  });

const hookSettings = z.strictObject({
  on: z.enum(HOOK_EVENTS),
  /** Only for this tool, by its name in the runtime. */
  tool: z
    .string()
    .regex(/^[\u0021-\u007e]{1,200}$/, 'needs the name of a tool')
    .optional(),
  run: commandSchema,
  cwd: cwdSchema,
});

/** Settings of an agent that equip it, by their keys in `squad.yaml`. */
export const equipmentSettings = {
  effort: z.enum(EFFORTS).optional(),
  /** true: its shell reaches the network. */
  network: z.boolean().optional(),
  /** Tools that the agent may not use, in the runtime's own syntax. */
  deny: z.array(z.string().min(1).max(500)).min(1).max(100).optional(),
  skills: z.array(folderSchema).min(1).max(32).optional(),
  mcp: z.array(serverSchema).min(1).max(16).optional(),
  hooks: z.array(hookSettings).min(1).max(32).optional(),
  /** Names of the host's variables that the agent gets besides the runtime's own. */
  env: z.array(variableSchema).min(1).max(100).optional(),
  /** `mine`: with the user's own settings, memory and plugins. */
  home: z.literal('mine').optional(),
  /** `human`: a person answers what the agent asks permission for. */
  ask: z.literal('human').optional(),
};

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** An agent's equipment as a run stores it. Contents are stored with the run by their hashes. */
export const equipmentSchema = {
  effort: equipmentSettings.effort,
  deny: z.array(z.string()).optional(),
  /** `from`: where the settings say that it is. */
  skills: z.array(z.object({ name: z.string(), hash, from: z.string() })).optional(),
  mcp: z
    .array(
      z.object({
        name: z.string(),
        command: z.string().optional(),
        args: z.array(z.string()).optional(),
        env: z.array(z.string()).optional(),
        cwd: cwdSchema,
        url: z.string().optional(),
        headers: z.record(z.string(), z.string()).optional(),
      }),
    )
    .optional(),
  hooks: z.array(hookSchema.extend({ cwd: cwdSchema })).optional(),
  env: z.array(z.string()).optional(),
  home: equipmentSettings.home,
  ask: equipmentSettings.ask,
  /** Files of the repository that its servers and hooks name. In their commands these mean the bound copies. */
  files: z.array(z.object({ path: filePathSchema, hash })).optional(),
};
