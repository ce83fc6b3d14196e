import { z } from 'zod';
import { ACP_AGENTS, type AcpAgent } from '../../model/runtime-name.ts';
import type { Json } from '../../text/json.ts';
import type { RuntimeSettings } from '../shared/cli-adapter.ts';
import type { HostPlan } from './host/plan.ts';

const KINDS = ['read', 'search', 'think', 'edit', 'delete', 'move', 'execute', 'fetch', 'other'] as const;
const starts = z.array(z.string().min(1).max(200)).max(20).optional();

const quirksSchema = z.strictObject({
  mcp: z.literal('http').optional(),
  toolName: z.enum(['first-title', 'call-id']).optional(),
  toolKinds: z.record(z.string(), z.enum(KINDS)).optional(),
  notices: starts,
  failures: starts,
  usage: z.enum(['unknown', 'process']).optional(),
  retry: starts,
  opensWithinMs: z.int().positive().optional(),
}) satisfies z.ZodType<HostPlan['quirks']>;

/** `runtimes.acp/<agent>.config`. */
const configSchema = z.strictObject({
  args: z.array(z.string()).optional(),
  auth: z.string().optional(),
  quirks: quirksSchema.optional(),
  /** Folders and files that a confined agent may read besides its workspace and its program. */
  read: z
    .array(z.string().regex(/^(?:~\/|\/)[^\u0000]*$/, 'needs an absolute path, or one that starts with ~/'))
    .optional(),
  /** It may edit where nothing confines it. */
  'allow-unconfined': z.boolean().optional(),
});
/** `problem`: what is wrong with it. */
export type AcpConfig = z.infer<typeof configSchema> & { readonly problem?: string };

export function readConfig(config: RuntimeSettings['config'] = {}): AcpConfig {
  const read = configSchema.safeParse(config);
  const issue = read.error?.issues[0];
  return read.data ?? { problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
}

/** How squad starts an agent that speaks the Agent Client Protocol, and how it differs from other agents. */
export interface Profile {
  /** A name on PATH or a path. */
  readonly command: string;
  readonly args: readonly string[];
  /** The package of npm that installs the program. */
  readonly install?: string;
  /** Variables with a key or token. Any of them is a login. */
  readonly keys: readonly string[];
  /** Other variables that it may have of the host's. */
  readonly passes?: readonly string[];
  /** Its own settings, by variables. The host's values count more. */
  readonly variables?: Readonly<Record<string, string>>;
  /** It is a file that unpacks itself at its first start into the folder of this variable. Absent: not, or nothing says where. */
  readonly unpacksTo?: string;
  /** Its own settings, by files in its home. */
  readonly files?: Readonly<Record<string, Json>>;
  /** The method of `authenticate` that takes the key. Absent: none is called. */
  readonly auth?: string;
  /** The option that sets the model. Absent: the session does. */
  readonly modelOption?: string;
  /** It reads AGENTS.md itself. */
  readonly readsNotes?: boolean;
  /** It resumes a session only in the folder in which the session began. */
  readonly keepsFolder?: boolean;
  /** Files of the workspace that it would take for its own settings. */
  readonly masks?: readonly string[];
  /** It says what its sessions cost. */
  readonly reportsCost?: boolean;
  readonly quirks?: HostPlan['quirks'];
}

const OPENCODE = ['AUTOUPDATE', 'MODELS_FETCH', 'LSP_DOWNLOAD', 'DEFAULT_PLUGINS', 'PROJECT_CONFIG', 'CLAUDE_CODE'];

/** The agents that squad can start without settings. */
const PROFILES: Readonly<Record<AcpAgent, Profile>> = {
  gemini: {
    command: 'gemini',
    // Trusted as a session, so that the settings of the repository do not count and the MCP servers of the session do.
    args: ['--acp', '--skip-trust'],
    install: '@google/gemini-cli',
    keys: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    passes: ['GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL'].concat(
      ...['GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_CLOUD_LOCATION'],
    ),
    variables: {
      // Otherwise it starts itself again, and signals reach the first process alone.
      GEMINI_CLI_NO_RELAUNCH: 'true',
      // A file `.env` of the repository cannot override a variable that is set.
      GOOGLE_GEMINI_BASE_URL: 'https://generativelanguage.googleapis.com',
      ...{ HTTP_PROXY: '', HTTPS_PROXY: '', http_proxy: '', https_proxy: '', ALL_PROXY: '', all_proxy: '' },
    },
    files: {
      '.gemini/settings.json': {
        // The retention of sessions deletes those that are resumed.
        general: {
          sessionRetention: { enabled: false },
          enableAutoUpdate: false,
          enableAutoUpdateNotification: false,
          maxAttempts: 3,
        },
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        advanced: { ignoreLocalEnv: true },
        context: { fileName: ['AGENTS.md', 'GEMINI.md'] },
        skills: { enabled: false },
      },
    },
    modelOption: '-m',
    masks: ['.gemini/.env'],
    readsNotes: true,
    keepsFolder: true,
    quirks: {
      toolName: 'call-id',
      sessions: '.gemini/tmp',
      opensWithinMs: 9000,
      retry: ['Attempt ', ' failed'],
    },
  },
  copilot: {
    command: 'copilot',
    args: [
      '--acp',
      '--no-auto-update',
      '--no-remote',
      '--disable-builtin-mcps',
      '--no-ask-user',
      '--secret-env-vars=COPILOT_PROVIDER_API_KEY',
    ],
    install: '@github/copilot',
    keys: ['COPILOT_GITHUB_TOKEN', 'COPILOT_PROVIDER_API_KEY'],
    passes: ['BASE_URL', 'TYPE', 'WIRE_API']
      .map((name) => `COPILOT_PROVIDER_${name}`)
      .concat('COPILOT_MODEL', 'COPILOT_OFFLINE'),
    variables: { COPILOT_AUTO_UPDATE: 'false' },
    unpacksTo: 'COPILOT_PKG_CACHE_HOME',
    modelOption: '--model',
    readsNotes: true,
    quirks: {
      mcp: 'http',
      toolName: 'first-title',
      notices: ['Info: ', 'Warning: '],
      failures: ['Error: '],
      usage: 'process',
    },
  },
  opencode: {
    command: 'opencode',
    args: ['acp', '--print-logs', '--log-level', 'ERROR'],
    install: 'opencode-ai',
    keys: ['OPENCODE_API_KEY'],
    passes: ['OPENCODE_CONFIG_CONTENT'],
    variables: {
      ...Object.fromEntries(OPENCODE.map((name) => [`OPENCODE_DISABLE_${name}`, '1'])),
      // Otherwise it calls the plugins of the repository, which it loads in any case.
      OPENCODE_PURE: '1',
      // Asks for everything. What a subagent asks for is never answered; for a path outside, it asks for the tool as well.
      OPENCODE_PERMISSION: JSON.stringify({ '*': 'ask', task: 'deny', external_directory: 'allow' }),
    },
    files: {
      '.config/opencode/opencode.json': {
        autoupdate: false,
        share: 'disabled',
        // Otherwise one rejected request ends the turn.
        experimental: { continue_loop_on_deny: true },
      },
      // Otherwise it downloads what plugins need into each home.
      '.config/opencode/package-lock.json': { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } },
      '.config/opencode/node_modules/.package-lock.json': {},
    },
    keepsFolder: true,
    reportsCost: true,
    quirks: {
      toolName: 'first-title',
      toolKinds: { todowrite: 'think', skill: 'read' },
      // Its numbers are those of the last request.
      usage: 'unknown',
      retry: ['message="stream error"', 'agent=build', 'error.error="'],
    },
  },
  qwen: {
    command: 'qwen',
    args: ['--acp'],
    install: '@qwen-code/qwen-code',
    keys: ['OPENAI_API_KEY', 'DASHSCOPE_API_KEY'],
    passes: ['OPENAI_BASE_URL', 'OPENAI_MODEL'],
    auth: 'openai',
  },
  kimi: {
    command: 'kimi',
    args: ['acp'],
    install: '@moonshot-ai/kimi-code',
    keys: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
    passes: ['KIMI_BASE_URL', 'KIMI_MODEL_NAME'],
  },
  antigravity: {
    command: 'agy_acp_server',
    args: [],
    keys: ['GEMINI_API_KEY'],
    auth: 'gemini-api-key',
  },
};

/** For an agent that only the settings define. */
const UNKNOWN: Profile = { command: '', args: [], keys: [] };

export function profileOf(agent: string): Profile {
  return ACP_AGENTS.includes(agent as AcpAgent) ? PROFILES[agent as AcpAgent] : UNKNOWN;
}
