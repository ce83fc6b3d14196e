import { join } from 'node:path';
import { buildsThere, hasNetwork, writableFolders } from '../../model/access.ts';
import type { McpServer, TurnRequest } from '../../model/turn-request.ts';
import { gitEnvironment } from '../shared/child-environment.ts';
import { refuse, refuseAny, type CliCommand, type Refusal } from '../shared/cli-adapter.ts';
import type { CliFacts } from '../shared/cli-program.ts';
import type { RepositoryNote } from '../shared/repository-notes.ts';
import { turnRefusal } from '../shared/session.ts';
import type { Skill } from '../shared/skills.ts';
import { promptFor, skillList } from '../shared/turn-prompt.ts';
import { renderPrompt } from '../../prompts/render.ts';
import { defined } from '../../text/defined.ts';
import { encodeToml } from '../../text/toml.ts';

export interface CodexFacts extends CliFacts {
  /** The workspace has a `.git` directory that the turn may change. */
  readonly repository: boolean;
  /** Why this machine cannot confine an agent; undefined: it can. */
  readonly sandboxProblem: string | undefined;
  /**
   * Temporary folder of the agent's shell, because builds need one and the machine's own is shared. Codex tells its model the path:
   * another one in each turn of a conversation would repeat 1.5 kB.
   */
  readonly temporary: string;
  readonly skills: readonly Skill[];
  /** Those that Codex does not read itself. */
  readonly notes: readonly RepositoryNote[];
}

export const NAME = 'codex';

type Config = readonly (readonly [string, unknown])[];

const CONFIG_KEY = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const SCHEMA_FILE = 'output-schema.json';
/** The kernel's limit for one argument is 128 KiB. */
const MAX_ARGUMENT_BYTES = 120 * 1024;

/** Keys that decide what a turn may do or start. They follow from the request, never from the user's config. */
const RESERVED_KEYS = new Set([
  ...['approval_policy', 'approvals_reviewer', 'default_permissions', 'developer_instructions', 'hooks', 'mcp_servers'],
  ...['notify', 'permissions', 'projects', 'sandbox_mode', 'sandbox_workspace_write', 'shell_environment_policy'],
]);

/**
 * Makes stderr grow while a model generates, over either transport: events of an HTTP stream, frame headers of a
 * WebSocket (the built-in provider's), and the core's own deltas. Never parsed.
 */
const LIFE_SIGNS =
  'error,codex_api::sse=trace,codex_app_server::outgoing_message=trace,tungstenite::protocol::frame::frame=trace';

/** Shows the last words of servers. */
const SERVER_WORDS = 'codex_rmcp_client::stdio_server_launcher=info';

/**
 * Features that are switched off: they outlive the turn (the daemon), run commands by themselves (skill dependencies), wait
 * without end (connection retries), or start more work (goals).
 */
const FEATURES_OFF = [
  ...['daemon_auto_start', 'goals', 'shell_snapshot'],
  ...['skill_mcp_dependency_install', 'unbounded_connection_retries'],
];
/** Features that belong to the user. Plugins ask GitHub at start, and hooks run commands. */
const USERS_FEATURES = ['apps', 'hooks', 'memories', 'plugins'];

const EXEC = ['exec', '--json', '--skip-git-repo-check'];
/** The user's config may start programs and loosen the sandbox; a misspelt key must be an error. */
const HERMETIC = ['--ignore-user-config', '--ignore-rules', '--strict-config'];

/** Pure: one turn as a `codex exec` command line, or a refusal of the setting that it cannot honour. */
export function codexCommand(request: TurnRequest, facts: CodexFacts): CliCommand | Refusal {
  const refused = refusal(request, facts);
  if (refused !== undefined) return refused;
  const { home, environment } = facts;
  const variables = request.mcp.map((server, index) => mcpVariables(server, index, environment));
  const config: Config = [
    ...Object.entries(facts.config ?? {}),
    ...fixedConfig(request, facts),
    ...(request.home === 'mine' ? usersOwn(request) : HERMETIC_CONFIG),
    ...confinement(request, facts),
    // Otherwise Codex silently leaves out the tools of an optional server that takes more than a second to start.
    ...(request.mcp.length === 0 ? [] : [['mcp_optional_startup_grace_ms', 0] as const]),
    ...variables.map((one) => [`mcp_servers.${one.server.name}`, mcpConfig(one, request)] as const),
  ];
  // Codex would read a value that is no TOML as a string, silently; this throws instead.
  const settings = config.flatMap(([key, value]) => ['-c', `${key}=${encodeToml(value)}`]);
  const long = settings.find((argument) => Buffer.byteLength(argument) > MAX_ARGUMENT_BYTES);
  if (long !== undefined) {
    const key = long.slice(0, long.indexOf('='));
    const setting = key === 'developer_instructions' ? 'instructions' : key;
    return refuse('setting-unsupported', setting, `codex takes at most ${MAX_ARGUMENT_BYTES} bytes of ${setting}`);
  }
  return {
    type: 'command',
    binary: facts.binary ?? '',
    args: [
      ...EXEC,
      ...(request.home === 'mine' ? [] : HERMETIC),
      '-C',
      request.workspace.path,
      ...(request.access.level === 'full' ? ['--sandbox', 'danger-full-access'] : []),
      ...settings,
      ...(request.outputSchema === undefined ? [] : ['--output-schema', join(facts.directory, SCHEMA_FILE)]),
      ...(request.session === undefined ? [] : ['resume', request.session.id]),
      '-',
    ],
    env: {
      ...environment,
      ...Object.fromEntries(variables.flatMap(({ carried }) => carried)),
      // Codex itself runs `git status` outside its sandbox, with the filters that an agent can name in its own `.git`.
      // This keeps Codex's git out of every repository. The shell does not inherit it.
      GIT_DIR: '/dev/null',
      CODEX_HOME: home,
      TMPDIR: ownTemporary(request, facts),
      RUST_LOG: request.mcp.some(({ required }) => required) ? `${LIFE_SIGNS},${SERVER_WORDS}` : LIFE_SIGNS,
    },
    stdin: promptFor(request, facts.notes),
    files:
      request.outputSchema === undefined ? [] : [{ name: SCHEMA_FILE, text: JSON.stringify(request.outputSchema) }],
    home,
    folders: [home, ownTemporary(request, facts), facts.temporary],
  };
}

function refusal(request: TurnRequest, facts: CodexFacts): Refusal | undefined {
  const { limits, toolRules, access } = request;
  const common = turnRefusal(NAME, request, facts, [], ['skills', 'hooks', 'environment', 'home']);
  if (common !== undefined) return common;
  if (access.level !== 'full' && facts.sandboxProblem !== undefined) {
    return refuse('sandbox-unavailable', 'access', `codex cannot confine an agent here: ${facts.sandboxProblem}`);
  }
  const rules = [...(toolRules?.allow ?? []), ...(toolRules?.deny ?? [])];
  const mcp = mcpProblem(request.mcp, facts.environment);
  const keys = Object.keys(facts.config ?? {});
  const strange = keys.find((key) => !CONFIG_KEY.test(key));
  const reserved = keys.find((key) => RESERVED_KEYS.has(key.split('.')[0] ?? ''));
  return refuseAny([
    [limits.maxSteps !== undefined, 'limits.maxSteps', 'codex cannot limit steps'],
    [limits.maxCostUsd !== undefined, 'limits.maxCostUsd', 'codex does not report cost, so it cannot be limited'],
    // A hook that objects at the end of a turn made it go on without end (0.169.0).
    [request.hooks !== undefined, 'hooks', '`codex exec` reports no hook and no failure of one'],
    [rules.length > 0, 'toolRules', 'codex confines by sandbox, not by tool rules'],
    [mcp !== undefined, 'mcp', mcp ?? ''],
    [strange !== undefined, `runtimes.codex.config.${strange}`, 'codex keys are bare names joined by dots'],
    [reserved !== undefined, `runtimes.codex.config.${reserved}`, `squad sets ${reserved} itself`],
  ]);
}

function fixedConfig(request: TurnRequest, facts: CodexFacts): Config {
  const { model, effort, instructions, prompts } = request;
  // Codex has no place for the skills of one turn.
  const parts = [
    ...(instructions === '' ? [] : [instructions, ...sandboxNote(request)]),
    ...skillList(facts.skills, prompts),
  ];
  const given = {
    model,
    model_reasoning_effort: effort,
    developer_instructions: parts.length === 0 ? undefined : parts.join('\n\n'),
  };
  return [
    ...Object.entries(defined(given)),
    ['approval_policy', 'never'],
    ['web_search', 'disabled'],
    ['analytics.enabled', false],
    ['check_for_update_on_startup', false],
    // Codex reads AGENTS.md by itself; a repository that has only CLAUDE.md means the same.
    ['project_doc_fallback_filenames', ['CLAUDE.md']],
    // A login shell reads /etc/profile, which resets PATH: the agent would build with other tools than the user's.
    ['allow_login_shell', false],
    ...FEATURES_OFF.map((name) => [`features.${name}`, false] as const),
  ];
}

/** Codex itself would list the skills of its home, the user and the repository. A repository's own config stays out in any home. */
const HERMETIC_CONFIG: Config = [
  ['notify', []],
  ['skills.include_instructions', false],
  ...USERS_FEATURES.map((name) => [`features.${name}`, false] as const),
];
const usersOwn = ({ workspace }: TurnRequest): Config => [
  ['projects', { [workspace.path]: { trust_level: 'untrusted' } }],
];

/**
 * Codex's sandbox without network also refuses sockets between local processes (openai/codex#41175, #18473), so a correct
 * Node test that starts a program fails. Without this note a builder changes correct code and a reviewer rejects it.
 */
function sandboxNote({ access, prompts }: TurnRequest): string[] {
  return hasNetwork(access) ? [] : [renderPrompt('runtime/no-network', {}, prompts)];
}

/** The permission profile of the agent's commands. It takes precedence over a sandbox_mode of any config layer. */
function confinement(request: TurnRequest, facts: CodexFacts): Config {
  const { access, turnId, workspace, environment } = request;
  // `core` keeps the model provider's key out of shells. `set` passes the marker, by which a sweep finds the shell, and
  // git's settings, because Codex takes `GIT_CONFIG_KEY_0` for a secret. A value in it would stand in the arguments.
  const set = { TMPDIR: facts.temporary, SQUAD_TURN_ID: turnId, ...gitEnvironment(workspace) };
  const named = {
    inherit: 'all',
    ignore_default_excludes: true,
    include_only: [...CORE, ...Object.keys(set), ...(environment ?? [])],
  };
  const shell = [
    'shell_environment_policy',
    { ...(environment === undefined ? { inherit: 'core' } : named), set },
  ] as const;
  if (access.level === 'full') return [shell];
  // Codex keeps `.git` read-only unless a rule names it.
  const own = facts.repository ? [workspace.path, join(workspace.path, '.git')] : [workspace.path];
  const builds = buildsThere(access) ? [workspace.path, facts.temporary] : [];
  const writable = access.level === 'edit' ? [...own, facts.temporary, ...writableFolders(access)] : builds;
  const rules = [...writable.map((path) => [path, 'write']), ...facts.credentials.map((path) => [path, 'deny'])];
  return [
    shell,
    ['default_permissions', 'squad'],
    ['permissions.squad.filesystem', { ':root': 'read', ...Object.fromEntries(rules) }],
    ['permissions.squad.network', { enabled: hasNetwork(access) }],
  ];
}

/** The variables that `inherit = "core"` passes. */
const CORE = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER'];

/**
 * TMPDIR of Codex itself. If it contained the home, Codex would not start. Its path carries the turn's marker, because a helper that Codex
 * leaves behind (0.169.0, about one turn in a hundred) keeps only PATH and TMPDIR.
 */
function ownTemporary({ turnId }: TurnRequest, facts: CodexFacts): string {
  return join(facts.directory, `squad-${turnId}`);
}

/** Variables that change how Codex itself works. It ignores `OPENAI_API_KEY`, which many servers need. */
const READ_BY_CODEX = /^(?:CODEX|RUST|SQUAD_TURN)_|^GIT_DIR$|^OPENAI_(?!API_KEY$)/;
const SECRET = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i;

type Variables = readonly (readonly [name: string, value: string])[];

interface McpVariables {
  readonly server: McpServer;
  /** Travel in the environment of Codex, which all servers share. */
  readonly carried: Variables;
  /** Have another value there, or change how Codex works. They stand in the arguments, which every user can read. */
  readonly stated: Variables;
}

function mcpVariables(server: McpServer, index: number, base: CodexFacts['environment']): McpVariables {
  const { transport } = server;
  if (transport.type === 'http') {
    const values = Object.values(transport.headers);
    return { server, carried: values.map((value, header) => [`SQUAD_MCP_${index}_${header}`, value]), stated: [] };
  }
  const entries = Object.entries(transport.env);
  const carried = entries.filter(([name, value]) => (base[name] ?? value) === value && !READ_BY_CODEX.test(name));
  return { server, carried, stated: entries.filter((entry) => !carried.includes(entry)) };
}

function mcpProblem(servers: readonly McpServer[], base: CodexFacts['environment']): string | undefined {
  const shared = new Map<string, string>();
  for (const [index, server] of servers.entries()) {
    const { carried, stated } = mcpVariables(server, index, base);
    const secret = stated.find(([name]) => SECRET.test(name))?.[0];
    if (secret) return `${secret} of the MCP server ${server.name} has another value in the environment of codex`;
    for (const [name, value] of carried) {
      if ((shared.get(name) ?? value) !== value) return `two MCP servers want ${name} with different values`;
      shared.set(name, value);
    }
  }
  return undefined;
}

function mcpConfig(
  { server, carried, stated }: McpVariables,
  { turnId, limits }: TurnRequest,
): Record<string, unknown> {
  const { transport, tools, required = false } = server;
  // Shorter than the idle watchdog's time: it must not end the turn first.
  const startup = { startup_timeout_sec: Math.max(1, Math.min(30, Math.floor(limits.idleMs / 2000))) };
  // The default approval mode would require approval of each call, and no person watches.
  const rules = { required, ...startup, default_tools_approval_mode: 'approve', ...defined({ enabled_tools: tools }) };
  const names = carried.map(([name]) => name);
  if (transport.type === 'http') {
    const headers = Object.keys(transport.headers).map((header, index) => [header, names[index]]);
    return { url: transport.url, env_http_headers: Object.fromEntries(headers), ...rules };
  }
  const { command, args } = transport;
  return { command, args, env: { ...Object.fromEntries(stated), SQUAD_TURN_ID: turnId }, env_vars: names, ...rules };
}
