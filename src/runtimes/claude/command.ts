import { dirname, join } from 'node:path';
import { buildsThere, hasNetwork, writableFolders } from '../../model/access.ts';
import type { McpServer, TurnLimits, TurnRequest } from '../../model/turn-request.ts';
import { defined } from '../../text/defined.ts';
import { gitEnvironment, namesOfSecrets } from '../shared/child-environment.ts';
import type { CliCommand, Refusal } from '../shared/cli-adapter.ts';
import type { CliFacts } from '../shared/cli-program.ts';
import { hookFiles, hookProblem, hookSettings } from '../shared/hooks.ts';
import type { RepositoryNote } from '../shared/repository-notes.ts';
import { chosenSessionId, turnRefusal } from '../shared/session.ts';
import { promptFor } from '../shared/turn-prompt.ts';
import { refuseRights, type Skill } from '../shared/skills.ts';

export interface ClaudeFacts extends CliFacts {
  /** Holds one folder for temporary files per session. */
  readonly scratchRoot: string;
  /** Holds the files of sessions that the CLI tells its model the paths of: other paths would repeat 7 kB in each resumed turn. */
  readonly sessionsRoot: string;
  readonly confinement: 'os' | 'rules';
  readonly isRoot: boolean;
  readonly notes: readonly RepositoryNote[];
  readonly skills: readonly Skill[];
  /** Folders of files that its file tools may read beside its own. */
  readonly attached: readonly string[];
}

export const NAME = 'claude';
const READ_TOOLS = ['Read', 'Glob', 'Grep'];
const LOOK_TOOLS = [...READ_TOOLS, 'Bash'];
const EDIT_TOOLS = [...LOOK_TOOLS, 'Edit', 'Write', 'NotebookEdit', 'Task'];
const WEB_TOOLS = ['WebFetch', 'WebSearch'];
/**
 * Lets an agent deliver work without a sandbox. The CLI itself allows commands that only read (`git diff`, `git log`), option
 * by option; a rule for them would let `git diff --output=…` write any file.
 */
const GIT_RULES = ['add', 'commit', 'rm', 'mv'].map((verb) => `Bash(git ${verb} *)`);
/** Characters. The kernel's limit for one argument is 128 KiB. */
const MAX_SCHEMA = 100_000;

/** The only source of settings, the servers, and git's ignore rules for the sandbox's masks. */
const SETTINGS_FILE = 'claude-settings.json';
const SERVERS_FILE = 'mcp.json';
const EXCLUDES_FILE = 'git-excludes';
/** A folder with links to the skills of the turn, in the form of a plugin: the CLI calls them `squad:<name>`. */
const PLUGIN = 'squad';
/** A variable that lets a process write into the session. */
const OWN_TOKEN = 'CLAUDE_CODE_MESSAGING_TOKEN';

/** Pure: one turn as a `claude -p` command line, or a refusal of the setting that it cannot honour. */
export function command(request: TurnRequest, facts: ClaudeFacts): CliCommand | Refusal {
  const refused = refusal(request, facts);
  if (refused !== undefined) return refused;
  const session = sessionOf(request);
  const scratch = join(facts.scratchRoot, session.slice(0, 13));
  const excludes = [['core.excludesFile', join(facts.directory, EXCLUDES_FILE)]] as const;
  return {
    type: 'command',
    binary: facts.binary ?? '',
    args: argsFor(request, facts),
    env: {
      ...facts.environment,
      ...gitEnvironment(request.workspace, isSandboxed(request, facts) ? excludes : []),
      // On some systems setting it moves the login.
      ...(facts.homeIsDefault ? {} : { CLAUDE_CONFIG_DIR: facts.home }),
      ...(request.access.level === 'full' && facts.isRoot ? { IS_SANDBOX: '1' } : {}),
      ...limitsEnvironment(request.limits),
      CLAUDE_CODE_TMPDIR: scratch,
      ...SWITCHED_OFF,
      ...(request.home === 'mine' ? {} : { CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1' }),
    },
    stdin: stdinFor(request, facts),
    files: filesFor(request, facts),
    links: facts.skills.map(({ name, folder }) => ({ name: `${PLUGIN}/skills/${name}`, to: folder })),
    home: facts.home,
    folders: [
      ...(facts.homeIsDefault ? [scratch] : [facts.home, scratch]),
      ...(facts.skills.length > 0 ? [join(facts.directory, PLUGIN, 'skills')] : []),
    ],
  };
}

function sessionOf({ session, turnId }: TurnRequest): string {
  return session?.id ?? chosenSessionId(NAME, turnId);
}

/** A file of the conversation. */
function placeOf(request: TurnRequest, { sessionsRoot }: ClaudeFacts, name: string): string {
  return join(sessionsRoot, `${sessionOf(request)}-${name}`);
}

/**
 * Additions to a prompt: a file mention in another agent's text would send that file to the model, and for git instructions the CLI runs
 * `git status` outside the sandbox, which would run the user's filters.
 */
const SWITCHED_OFF = {
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1',
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
};

/** Partial messages are signs of life. A cloned `.mcp.json` would run its commands. */
const FIXED = [
  ...['-p', '--output-format=stream-json', '--verbose', '--include-partial-messages'],
  ...['--strict-mcp-config', '--permission-prompts=none'],
];

/**
 * No file of the repository configures the agent, and those of the user do only on purpose. A slash command of a repository
 * would be its author's prompt. The CLI says on stderr why a server did not start.
 */
function switches({ home, hooks, mcp, skills }: TurnRequest): string[] {
  const hasSkills = home === 'mine' || skills !== undefined;
  return [
    `--setting-sources=${home === 'mine' ? 'user' : ''}`,
    ...(hasSkills ? [] : ['--disable-slash-commands']),
    ...(hooks === undefined ? [] : ['--include-hook-events']),
    ...(mcp.some(({ required }) => required) ? ['--debug=mcp', '--debug-to-stderr'] : []),
  ];
}

/** Values are joined to their flag with `=`, so that the CLI cannot read one as another flag. */
function argsFor(request: TurnRequest, facts: ClaudeFacts): string[] {
  const { limits, outputSchema, mcp, instructions } = request;
  const flags = defined({
    settings: placeOf(request, facts, SETTINGS_FILE),
    'plugin-dir': facts.skills.length > 0 ? join(facts.directory, PLUGIN) : undefined,
    'mcp-config': mcp.length > 0 ? placeOf(request, facts, SERVERS_FILE) : undefined,
    [request.session === undefined ? 'session-id' : 'resume']: sessionOf(request),
    // Also on a resume: the CLI ignores it until it compacts the conversation, and needs it then.
    'append-system-prompt-file': instructions === '' ? undefined : join(facts.directory, 'instructions.md'),
    model: request.model,
    effort: request.effort,
    'max-turns': limits.maxSteps,
    'max-budget-usd': limits.maxCostUsd,
    'json-schema': outputSchema && JSON.stringify(outputSchema),
  });
  const given = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  return [...FIXED, ...switches(request), ...given, ...accessArgs(request, facts)];
}

const MODES = { 'read-only': 'dontAsk', edit: 'acceptEdits', full: 'bypassPermissions' } as const;

/**
 * In the sandbox the whole shell is allowed: the sandbox confines it, and the CLI would ask about commands that it cannot
 * analyse (`setsid`, some expansions). Read-only agents have a shell too: a review needs `git diff`.
 */
function accessArgs(request: TurnRequest, facts: ClaudeFacts): string[] {
  const { access, toolRules } = request;
  const web = hasNetwork(access) ? WEB_TOOLS : [];
  const shell = isSandboxed(request, facts) ? ['Bash'] : access.level === 'edit' ? GIT_RULES : [];
  const allow = [...web, ...shell, ...request.mcp.flatMap(mcpRules), ...(toolRules?.allow ?? [])];
  return [
    `--permission-mode=${MODES[access.level]}`,
    `--tools=${toolsOf(request).join(',')}`,
    ...allow.map((rule) => `--allowedTools=${rule}`),
    ...(toolRules?.deny ?? []).map((rule) => `--disallowedTools=${rule}`),
    ...writableFolders(access).map((path) => `--add-dir=${path}`),
  ];
}

function toolsOf({ access, home, skills }: TurnRequest): string[] {
  const tools = access.level === 'read-only' ? LOOK_TOOLS : EDIT_TOOLS;
  const skill = home === 'mine' || skills !== undefined ? ['Skill'] : [];
  return [...tools, ...(hasNetwork(access) ? WEB_TOOLS : []), ...skill];
}

function mcpRules({ name, tools }: McpServer): string[] {
  return tools === undefined ? [`mcp__${name}`] : tools.map((tool) => `mcp__${name}__${tool}`);
}

/**
 * Keeps the CLI's own waits shorter than the host's: it must report a silent server before the idle watchdog ends the turn,
 * and long waits belong to the engine's durable timers.
 */
function limitsEnvironment({ idleMs, retryMs }: TurnLimits): Record<string, string> {
  const retries = retryMs < 1000 ? 0 : retryMs < 10_000 ? 1 : 3;
  return {
    CLAUDE_CODE_MAX_RETRIES: String(retries),
    API_TIMEOUT_MS: String(Math.min(600_000, Math.max(1000, Math.floor(idleMs / 2)))),
    MCP_TIMEOUT: String(Math.min(30_000, Math.max(1000, Math.floor(idleMs / 2)))),
  };
}

function stdinFor(request: TurnRequest, { notes }: ClaudeFacts): string {
  const prompt = promptFor(request, notes);
  // The CLI would read a prompt that starts with a slash as a command.
  return prompt.startsWith('/') ? `\n${prompt}` : prompt;
}

function filesFor(request: TurnRequest, facts: ClaudeFacts): CliCommand['files'] {
  const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
  const at = (name: string) => ({ name, at: placeOf(request, facts, name) });
  const servers = { ...at(SERVERS_FILE), text: json(mcpConfig(request.mcp, facts)), secret: true };
  return [
    { ...at(SETTINGS_FILE), text: json(settingsFor(request, facts)) },
    ...(request.mcp.length > 0 ? [servers] : []),
    ...(request.instructions === '' ? [] : [{ name: 'instructions.md', text: request.instructions }]),
    ...hookFiles(request, [...namesOfSecrets(facts.environment), OWN_TOKEN]),
    ...(isSandboxed(request, facts) ? [{ name: EXCLUDES_FILE, text: MASKED.replaceAll(/(\S+) ?/g, '/$1\n') }] : []),
  ];
}

/** Without `alwaysLoad` the model must search for the tools. A server gets the CLI's environment without the secrets. */
function mcpConfig(servers: readonly McpServer[], facts: ClaudeFacts): unknown {
  const noSecrets = Object.fromEntries(namesOfSecrets(facts.environment).map((name) => [name, '']));
  const entries = servers.map(({ name, transport }) => {
    const env = transport.type === 'stdio' ? { env: { ...noSecrets, ...transport.env } } : {};
    return [name, { ...transport, ...env, alwaysLoad: true }];
  });
  return { mcpServers: Object.fromEntries(entries) };
}

function refusal(request: TurnRequest, facts: ClaudeFacts): Refusal | undefined {
  const { access, mcp, outputSchema, toolRules } = request;
  const [key] = Object.keys(facts.config ?? {});
  const schema = outputSchema === undefined ? '' : JSON.stringify(outputSchema);
  const allowed = access.level === 'read-only' ? (toolRules?.allow ?? []) : [];
  const acting = allowed.find((rule) => !rule.startsWith('mcp__') && !READ_TOOLS.includes(rule.split('(')[0] ?? ''));
  const expanding = mcp.find(({ transport }) => JSON.stringify(transport).includes('${'))?.name;
  const why = `claude would replace \${…} in the settings of ${expanding} with its environment`;
  const hook = hookProblem(request, [...toolsOf(request), 'Agent']);
  const own = [
    [key !== undefined, `runtimes.claude.config.${key}`, 'claude takes no config keys; squad makes its settings'],
    [schema.length > MAX_SCHEMA, 'outputSchema', `claude takes a schema of at most ${MAX_SCHEMA} characters`],
    [acting !== undefined, 'toolRules.allow', `${acting} cannot be allowed with read-only access`],
    [expanding !== undefined, 'mcp', why],
    [hook !== undefined, 'hooks', hook ?? ''],
  ] as const;
  return turnRefusal(NAME, request, facts, own, EQUIPMENT) ?? refuseRights(NAME, facts.skills);
}

const EQUIPMENT = ['skills', 'hooks', 'environment', 'home'] as const;

const EVENTS = {
  'turn-started': ['UserPromptSubmit'],
  'tool-started': ['PreToolUse'],
  'tool-ended': ['PostToolUse', 'PostToolUseFailure'],
  'turn-ended': ['Stop'],
};

/**
 * Names that the sandbox masks in the working folder with unreadable devices, on which `git add -A` fails unless they are
 * ignored. Seen with 2.1.328, plus the shell files that it protects elsewhere.
 */
const MASKED =
  '.bash_login .bash_logout .bash_profile .bashrc .profile .zlogin .zlogout .zprofile .zshenv .zshrc ' +
  '.claude .gitconfig .gitmodules .idea .mcp.json .ripgreprc .vscode';

/** A `Read` rule keeps a file from the file tools and the shell. The permission mode confines the file tools to the folders. */
function settingsFor(request: TurnRequest, facts: ClaudeFacts): Record<string, unknown> {
  const servers = request.mcp.length > 0 ? [placeOf(request, facts, SERVERS_FILE)] : [];
  const secret = [...facts.credentials, ...servers];
  // A session remembers where a skill was in an earlier turn.
  const links = join(dirname(facts.directory), '*', PLUGIN, 'skills');
  const skills = facts.skills.length > 0 ? [links, ...facts.skills.map(({ folder }) => folder)] : [];
  const read = [...skills, ...facts.attached];
  return {
    permissions: {
      ...(read.length > 0 ? { allow: read.map((path) => `Read(/${path}/**)`) } : {}),
      deny: secret.map((path) => `Read(/${path})`),
    },
    ...(facts.skills.length > 0 && request.home !== 'mine' ? ONLY_BOUND_SKILLS : {}),
    ...(request.hooks === undefined ? {} : { hooks: hookSettings(request, facts.directory, EVENTS) }),
    ...(isSandboxed(request, facts) ? { sandbox: sandboxFor(request, facts) } : {}),
  };
}

/** Without the skills that come with the CLI. */
const ONLY_BOUND_SKILLS = {
  disableBundledSkills: true,
  enabledPlugins: { 'cc-plugin-plugin-authoring@builtin': false },
};

function isSandboxed(request: TurnRequest, facts: ClaudeFacts): boolean {
  return request.access.level !== 'full' && facts.confinement === 'os';
}

/** The working folder is writable unless it is denied. In its `.git` the CLI itself keeps hooks and configuration read-only. */
function sandboxFor(request: TurnRequest, facts: ClaudeFacts): Record<string, unknown> {
  const { access, workspace, environment = [] } = request;
  const hidden = namesOfSecrets(facts.environment).filter((name) => !environment.includes(name));
  return {
    enabled: true,
    autoAllowBashIfSandboxed: true,
    // Otherwise the model could ask to leave the sandbox, or a missing tool would switch it off silently.
    allowUnsandboxedCommands: false,
    failIfUnavailable: true,
    network: hasNetwork(access) ? { allowedDomains: ['*'] } : { allowedDomains: [], strictAllowlist: true },
    credentials: { envVars: hidden.map((name) => ({ name, mode: 'deny' })) },
    filesystem: {
      allowWrite: writableFolders(access),
      denyWrite: access.level === 'edit' || buildsThere(access) ? [] : [workspace.path],
    },
  };
}
