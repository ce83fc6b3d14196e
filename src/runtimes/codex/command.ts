import { isAbsolute, join } from 'node:path';
import type { FailureKind } from '../../model/failure.ts';
import type { McpServer, TurnRequest } from '../../model/turn-request.ts';
import { encodeToml } from './schema.ts';
import { gitEnvironment } from '../shared/child-environment.ts';
import type { CliCommand, Refusal, RuntimeSettings } from '../shared/cli-adapter.ts';
import { sessionRefusal, promptFor } from '../shared/session.ts';

export interface CodexFacts {
  /** `runtimes.codex.config`. */
  readonly config: RuntimeSettings['config'];
  /** What of the host's environment may reach the child. */
  readonly environment: Readonly<Record<string, string>>;
  /** State directory of this turn. */
  readonly home: string;
  /** The native binary: killing npm's launcher can leave it running. */
  readonly binary: string | undefined;
  /** `turns/<attempt>`. */
  readonly directory: string;
  /** Files with a login, as far as they exist: the agent's own shell may not read them. */
  readonly credentials: readonly string[];
  /** The worktree has a `config.worktree` of its own. */
  readonly worktreeConfig: boolean;
  /** Why this machine cannot confine an agent; undefined: it can. */
  readonly sandboxProblem: string | undefined;
}

export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const CONFIG_KEY = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;
const SCHEMA_FILE = 'output-schema.json';
/** The kernel's limit for one argument is 128 KiB. */
const MAX_ARGUMENT_BYTES = 120 * 1024;

/** Keys of Codex that decide what a turn may do or start. They follow from the request, never from the user's config. */
const RESERVED_KEYS = new Set([
  'approval_policy',
  'approvals_reviewer',
  'default_permissions',
  'developer_instructions',
  'hooks',
  'mcp_servers',
  'notify',
  'permissions',
  'projects',
  'sandbox_mode',
  'sandbox_workspace_write',
  'shell_environment_policy',
]);

/**
 * Stderr that grows while a model generates, over either transport: events of an HTTP stream, frame headers of a
 * WebSocket (what the built-in provider uses), and the core's own deltas. Never parsed.
 */
const LIFE_SIGNS =
  'error,codex_api::sse=trace,codex_app_server::outgoing_message=trace,tungstenite::protocol::frame::frame=trace';

/**
 * Switched off: what reaches out (plugins ask GitHub at start), what outlives the turn (the daemon), what runs commands
 * that nobody asked for (hooks, skill dependencies), what waits for ever (connection retries), what goes on by itself.
 */
const FEATURES_OFF = [
  'apps',
  'daemon_auto_start',
  'goals',
  'hooks',
  'memories',
  'plugins',
  'shell_snapshot',
  'skill_mcp_dependency_install',
  'unbounded_connection_retries',
];

/**
 * Without it the tools of a server that is not required and takes more than a second to start are left out of the whole turn,
 * without a word. 0: it is waited for as long as one that is required.
 */
const PATIENCE: [string, unknown] = ['mcp_optional_startup_grace_ms', 0];

/** The user's config may start programs and loosen the sandbox; a misspelt key must be an error, not a default. */
const EXEC = ['exec', '--json', '--skip-git-repo-check', '--ignore-user-config', '--ignore-rules', '--strict-config'];

/** Pure: one turn as a `codex exec` command line, or the setting that it cannot honour. */
export function codexCommand(request: TurnRequest, facts: CodexFacts): CliCommand | Refusal {
  const refused = refusal(request, facts);
  if (refused !== undefined) return refused;
  const { home, environment } = facts;
  const mcp = request.mcp.map((server, index) => mcpConfig(server, index, request.turnId, environment));
  const config: [string, unknown][] = [
    ...Object.entries(facts.config ?? {}),
    ...fixedConfig(request),
    ...confinement(request, facts),
    ...(mcp.length === 0 ? [] : [PATIENCE]),
    ...mcp.map((server, index): [string, unknown] => [`mcp_servers.${request.mcp[index]?.name}`, server.config]),
  ];
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
      ...Object.assign({}, ...mcp.map((server) => server.env)),
      ...gitEnvironment(request.workspace),
      CODEX_HOME: home,
      TMPDIR: ownTemporary(request, facts),
      RUST_LOG: LIFE_SIGNS,
    },
    stdin: promptFor(request),
    files:
      request.outputSchema === undefined ? [] : [{ name: SCHEMA_FILE, text: JSON.stringify(request.outputSchema) }],
    home,
    folders: [home, ownTemporary(request, facts), shellTemporary(facts)],
  };
}

function refusal(request: TurnRequest, facts: CodexFacts): Refusal | undefined {
  const { session, limits, toolRules, access } = request;
  if (facts.binary === undefined) return refuse('cli-missing', 'runtimes.codex.command', 'codex was not found');
  const foreign = sessionRefusal('codex', request);
  if (foreign !== undefined) return { type: 'refusal', failure: foreign };
  if (session !== undefined && !UUID.test(session.id)) {
    // Codex takes anything else for a thread's name and starts a new thread, with exit 0.
    return refuse('session-not-found', 'session', `codex sessions have a UUID, not ${JSON.stringify(session.id)}`);
  }
  if (limits.maxSteps !== undefined) return unsupported('limits.maxSteps', 'codex has no limit of steps');
  if (limits.maxCostUsd !== undefined) return unsupported('limits.maxCostUsd', 'codex states no cost to limit');
  if ((toolRules?.allow?.length ?? 0) + (toolRules?.deny?.length ?? 0) > 0) {
    return unsupported('toolRules', 'codex confines by sandbox, not by tool rules');
  }
  if (access.level !== 'full' && facts.sandboxProblem !== undefined) {
    return refuse('sandbox-unavailable', 'access', `codex cannot confine an agent here: ${facts.sandboxProblem}`);
  }
  if (access.level === 'edit' && access.writable?.some((path) => !isAbsolute(path)) === true) {
    // Its own words for more than a folder look like this: `:root` is the whole disk.
    return unsupported('access.writable', 'writable folders must be absolute paths');
  }
  const mcp = mcpProblem(request.mcp, facts.environment);
  if (mcp !== undefined) return unsupported('mcp', mcp);
  for (const key of Object.keys(facts.config ?? {})) {
    const setting = `runtimes.codex.config.${key}`;
    if (!CONFIG_KEY.test(key)) return unsupported(setting, 'not a key of codex: dotted bare names only');
    if (RESERVED_KEYS.has(key.split('.')[0] ?? '')) return unsupported(setting, `squad sets ${key} itself`);
  }
  return undefined;
}

function unsupported(setting: string, message: string): Refusal {
  return refuse('setting-unsupported', setting, message);
}

function refuse(kind: FailureKind, setting: string, message: string): Refusal {
  return { type: 'refusal', failure: { kind, setting, message, mayHaveActed: false } };
}

function fixedConfig(request: TurnRequest): [string, unknown][] {
  const { model, effort, instructions } = request;
  return [
    ...(model === undefined ? [] : [['model', model] satisfies [string, unknown]]),
    ...(effort === undefined ? [] : [['model_reasoning_effort', effort] satisfies [string, unknown]]),
    ...(instructions === ''
      ? []
      : [['developer_instructions', `${instructions}${sandboxNote(request)}`] satisfies [string, unknown]]),
    ['approval_policy', 'never'],
    ['web_search', 'disabled'],
    ['notify', []],
    ['analytics.enabled', false],
    ['check_for_update_on_startup', false],
    // AGENTS.md is read as data by itself; a repository that has only CLAUDE.md means the same by it.
    ['project_doc_fallback_filenames', ['CLAUDE.md']],
    // A login shell reads /etc/profile, which resets PATH: the agent would build with other tools than the user's.
    ['allow_login_shell', false],
    ...FEATURES_OFF.map((name): [string, unknown] => [`features.${name}`, false]),
  ];
}

/**
 * Codex's sandbox without network refuses socket calls on local pairs too (openai/codex#41175, #18473): a Node test that
 * starts a program fails although it is right. Untold, a builder mends what is not broken and a reviewer rejects it.
 */
function sandboxNote({ access }: TurnRequest): string {
  if (access.level === 'full' || (access.level === 'edit' && access.network === true)) return '';
  return `

Your shell runs in a sandbox without network. In it a program that captures the output of another one (Node's spawnSync and
execFile, test runners with worker processes, asyncio) can fail with EPERM or see no output, though it is right. Do not work
around that in the code. Try such a thing in another way, say what you could not try, and leave it to the checks that run
outside of the sandbox.`;
}

/**
 * What the agent's commands may touch, as a permission profile: unlike `--sandbox workspace-write` with `--add-dir` it
 * can hold single files read-only inside a writable folder. It wins over a sandbox_mode of any config layer.
 */
function confinement(request: TurnRequest, facts: CodexFacts): [string, unknown][] {
  const { access, turnId, workspace } = request;
  // "core" keeps the model provider's key out of shells. The marker must reach them, or a sweep would miss the shell. So must
  // git's settings: `set` passes them, because Codex takes `GIT_CONFIG_KEY_0` for a secret.
  const set = { TMPDIR: shellTemporary(facts), SQUAD_TURN_ID: turnId, ...gitEnvironment(workspace) };
  const environment = { inherit: 'core', set };
  const shell: [string, unknown] = ['shell_environment_policy', environment];
  if (access.level === 'full') return [shell];
  return [
    shell,
    ['default_permissions', 'squad'],
    ['permissions.squad.filesystem', { ':root': 'read', ...writable(request, facts), ...hidden(facts) }],
    ['permissions.squad.network', { enabled: access.level === 'edit' && access.network === true }],
  ];
}

function writable({ access, workspace }: TurnRequest, facts: CodexFacts): Record<string, string> {
  if (access.level !== 'edit') return {};
  const folders = [workspace.path, shellTemporary(facts), ...(access.writable ?? [])];
  const rules = Object.fromEntries(folders.map((folder) => [folder, 'write']));
  return workspace.git === undefined ? rules : { ...rules, ...gitRules(workspace.path, workspace.git, facts) };
}

/**
 * A commit in a detached worktree needs its own git directory and the object store, and nothing else of the repository.
 * Within them stays read-only what would lead git elsewhere: where the repository is (`commondir`, `gitdir`, `.git`),
 * what it runs (`config.worktree`), where else objects come from (`objects/info`), and what is already packed.
 */
function gitRules(
  path: string,
  git: NonNullable<TurnRequest['workspace']['git']>,
  facts: CodexFacts,
): Record<string, string> {
  const objects = join(git.commonDirectory, 'objects');
  const own = git.worktreeDirectory;
  const readOnly = [
    join(path, '.git'),
    join(objects, 'info'),
    join(objects, 'pack'),
    join(own, 'commondir'),
    join(own, 'gitdir'),
    // A rule for a missing file makes Codex create it for a moment, and two sandboxes then fail over its removal.
    ...(facts.worktreeConfig ? [join(own, 'config.worktree')] : []),
  ];
  return { [objects]: 'write', [own]: 'write', ...Object.fromEntries(readOnly.map((file) => [file, 'read'])) };
}

function hidden(facts: CodexFacts): Record<string, string> {
  return Object.fromEntries(facts.credentials.map((file) => [file, 'deny']));
}

/**
 * For Codex itself. Never a parent of its home: it refuses to make its sandbox helper in a home below its temporary folder
 * and cannot start then. In the turn's directory, because a sandbox helper that Codex sometimes leaves behind at its exit
 * (seen with 0.169.0, in about one turn of a hundred) keeps only PATH and TMPDIR to be known by: the sweep finds the turn's
 * marker in its path.
 */
function ownTemporary({ turnId }: TurnRequest, facts: CodexFacts): string {
  return join(facts.directory, `squad-${turnId}`);
}

/** Builds need a temporary folder; the machine's own is shared with everything else. */
function shellTemporary(facts: CodexFacts): string {
  return join(facts.directory, 'tmp');
}

/** Variables that Codex itself obeys. It ignores `OPENAI_API_KEY`, which many servers want. */
const OBEYED = /^(?:CODEX|RUST|SQUAD_TURN)_|^OPENAI_(?!API_KEY$)/;
const SECRET = /KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH/i;

/** Whether a server's variable can reach it through the environment of Codex, without changing that. */
function isCarried(name: string, value: string, base: CodexFacts['environment']): boolean {
  return (base[name] ?? value) === value && !OBEYED.test(name);
}

/** All servers share the one environment of Codex; what cannot travel in it stands in the arguments, for all to read. */
function mcpProblem(servers: readonly McpServer[], base: CodexFacts['environment']): string | undefined {
  const shared: Record<string, string> = { ...base };
  for (const { name: server, transport } of servers) {
    for (const [name, value] of Object.entries(transport.type === 'stdio' ? transport.env : {})) {
      if (isCarried(name, value, base)) {
        if ((shared[name] ?? value) !== value) return `two MCP servers want ${name} with different values`;
        shared[name] = value;
      } else if (SECRET.test(name)) {
        return `${name} of the MCP server ${server} has another value in the environment of codex`;
      }
    }
  }
  return undefined;
}

interface McpConfig {
  readonly config: Record<string, unknown>;
  /** Travels in the environment of Codex: arguments can be read by every user of the machine. */
  readonly env: Readonly<Record<string, string>>;
}

function mcpConfig(server: McpServer, index: number, turnId: string, base: CodexFacts['environment']): McpConfig {
  const common = {
    required: server.required === true,
    // Without it a call "requires approval", which nobody is there to give.
    default_tools_approval_mode: 'approve',
    ...(server.tools === undefined ? {} : { enabled_tools: server.tools }),
  };
  const { transport } = server;
  if (transport.type === 'http') {
    const headers = Object.entries(transport.headers).map(([name, value], header) => {
      return { name, variable: `SQUAD_MCP_${index}_${header}`, value };
    });
    const names = Object.fromEntries(headers.map(({ name, variable }) => [name, variable]));
    return {
      config: { url: transport.url, env_http_headers: names, ...common },
      env: Object.fromEntries(headers.map(({ variable, value }) => [variable, value])),
    };
  }
  const entries = Object.entries(transport.env);
  const carried = entries.filter(([name, value]) => isCarried(name, value, base));
  const stated = entries.filter((entry) => !carried.includes(entry));
  const { command, args } = transport;
  const env = { ...Object.fromEntries(stated), SQUAD_TURN_ID: turnId };
  return {
    config: { command, args, env, env_vars: carried.map(([name]) => name), ...common },
    env: Object.fromEntries(carried),
  };
}
