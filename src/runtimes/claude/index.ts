import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { TurnRequest, Workspace } from '../../model/turn-request.ts';
import { command, NAME, type ClaudeFacts } from './command.ts';
import { begin, conclude, isTerminal, translate, type ClaudeState } from './translate.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { childEnvironment } from '../shared/child-environment.ts';
import type { CliAdapter, RuntimeSettings } from '../shared/cli-adapter.ts';
import { existing, findProgram, isExecutable, isOlder } from '../shared/find-program.ts';
import { readConfinedStart } from '../../substrate/files/open-confined.ts';
import type { Processes } from '../../substrate/ports/processes.ts';

/** Lowest version whose flags, events and sandbox this adapter was proved with. */
const FLOOR = '2.1.328';
const INSTALL = 'npm install -g @anthropic-ai/claude-code';

interface LookUpPorts {
  readonly processes: Processes;
}

const KEYS = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'];
const NETWORK = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const PASSED = [...KEYS, 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', ...NETWORK, 'NODE_EXTRA_CA_CERTS'];
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;
/** Set by a Claude Code around us; it would change how the one inside behaves. */
const OF_A_PARENT =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|CLAUDE_TMPDIR|AI_AGENT|CLAUDE_CODE_(?:ENTRYPOINT|EXECPATH|SSE_PORT|(?:CHILD|SESSION|MESSAGING|HOST)_\w+))$/;

/** Drives Claude Code, one process per turn. */
export function createClaudeAdapter(
  settings: RuntimeSettings,
  ports: LookUpPorts,
): CliAdapter<ClaudeFacts, ClaudeState> {
  return {
    name: NAME,
    lookUp: (request, directory) => lookUp(settings, ports, request, directory),
    command,
    begin,
    translate,
    isTerminal,
    conclude,
    // SIGINT leaves a result and takes the running tool along (0.1 to 1.6 s).
    ladder: [
      { signal: 'SIGINT', waitMs: 3000 },
      { signal: 'SIGTERM', waitMs: 3000 },
      { signal: 'SIGKILL', waitMs: 3000 },
    ],
    probe: () => probe(settings, ports.processes),
  };
}

async function lookUp(
  settings: RuntimeSettings,
  ports: LookUpPorts,
  request: TurnRequest,
  directory: string,
): Promise<ClaudeFacts> {
  const { workspace } = request;
  const environment = environmentFor(settings);
  const home = request.session?.home ?? homeFor(settings);
  const confinement = await confinementHere(settings, ports);
  const { git } = workspace;
  const needsGit = request.access.level !== 'full' && confinement === 'os' && git !== undefined;
  const protection = needsGit
    ? await protectGit(join(settings.stateDirectory, NAME_OF_STATE, 'git'), workspace.path, git)
    : { paths: [] };
  return {
    directory,
    binary: await findBinary(settings),
    home,
    homeIsDefault: isDefaultHome(settings, home),
    scratchRoot: join(settings.stateDirectory, NAME_OF_STATE, 'tmp'),
    environment,
    secretNames: Object.keys(environment).filter((name) => SECRET.test(name)),
    secretFiles: await existing(loginFiles(settings, home)),
    confinement,
    protectedGit: protection.paths,
    gitProblem: 'problem' in protection ? protection.problem : undefined,
    isRoot: settings.isRoot,
    configKeys: Object.keys(settings.config ?? {}),
    documents: request.session === undefined ? await readDocuments(workspace.path) : [],
  };
}

const NAME_OF_STATE = 'claude';

function environmentFor(settings: RuntimeSettings): Record<string, string> {
  const more = settings.allowEnvironment.filter((name) => !OF_A_PARENT.test(name));
  return childEnvironment(settings.environment, [...PASSED, ...more]);
}

/** A subscription's login lives in the user's own home, so that is used unless a key or token in the environment does. */
function homeFor(settings: RuntimeSettings): string {
  if (hasKey(settings)) return join(settings.stateDirectory, NAME_OF_STATE, 'home');
  return settings.environment['CLAUDE_CONFIG_DIR'] || join(settings.userHome, '.claude');
}

/** Logins of this home and of the user's own: with a key the turn does not use the latter, and could read it all the same. */
function loginFiles(settings: RuntimeSettings, home: string): string[] {
  const standard = join(settings.userHome, '.claude');
  const homes = new Set([home, settings.environment['CLAUDE_CONFIG_DIR'] || standard, standard]);
  const inside = [...homes].flatMap((folder) => [join(folder, '.credentials.json'), join(folder, '.claude.json')]);
  return [...inside, join(settings.userHome, '.claude.json')];
}

function hasKey({ environment }: RuntimeSettings): boolean {
  return KEYS.some((name) => environment[name]);
}

/** Naming even the default home moves where the CLI keeps its login on some systems: then the variable stays unset. */
function isDefaultHome(settings: RuntimeSettings, home: string): boolean {
  return home === join(settings.userHome, '.claude') && !settings.environment['CLAUDE_CONFIG_DIR'];
}

/** On Linux the CLI's sandbox needs bubblewrap, socat and user namespaces; asking bubblewrap itself tells all but one. */
async function confinementHere(settings: RuntimeSettings, ports: LookUpPorts): Promise<'os' | 'rules'> {
  if (settings.platform === 'darwin') return 'os';
  if (settings.platform !== 'linux') return 'rules';
  const path = settings.environment['PATH'];
  const bwrap = await findProgram(path, 'bwrap');
  if (bwrap === undefined || (await findProgram(path, 'socat')) === undefined) return 'rules';
  const trial = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];
  const { code } = await ports.processes.run(bwrap, trial, { env: environmentFor(settings), timeoutMs: 10_000 });
  return code === 0 ? 'os' : 'rules';
}

/** npm installs a link or a script named `claude`; the native binary behind it is what is spawned, so that signals reach it. */
async function findBinary(settings: RuntimeSettings): Promise<string | undefined> {
  if (settings.binary !== undefined) return (await isExecutable(settings.binary)) ? settings.binary : undefined;
  const found = await findProgram(settings.environment['PATH'], 'claude');
  if (found === undefined) return undefined;
  const real = await realpath(found).catch(() => found);
  const scope = real.split(`${sep}@anthropic-ai${sep}`)[0];
  if (scope === undefined || scope === real) return real;
  const platform = `claude-code-${settings.platform}-${settings.architecture}`;
  const places = [
    join(scope, '@anthropic-ai'),
    join(scope, '@anthropic-ai', 'claude-code', 'node_modules', '@anthropic-ai'),
  ];
  for (const place of places) {
    for (const name of [platform, `${platform}-musl`]) {
      const native = join(place, name, 'claude');
      if (await isExecutable(native)) return native;
    }
  }
  return real;
}

/**
 * Makes the sandbox an exact allow-list for git. When the CLI recognises a linked worktree (by a `.git` file that names
 * `…/worktrees/<name>`) it makes the whole common directory writable by itself, but for a list of its own, and leaves
 * masks and marker files there while a command runs: an agent could then move refs, and a `config.lock` would stand in
 * the user's way. Through a link outside `worktrees` git finds the same directory and the CLI does not, so that only what
 * `command` names is writable. The rest is denied by name all the same, in case a release follows the link.
 */
async function protectGit(
  links: string,
  workspace: string,
  git: NonNullable<Workspace['git']>,
): Promise<{ paths: string[]; problem?: string }> {
  const { commonDirectory: common, worktreeDirectory: worktree } = git;
  try {
    await linkWorktree(links, workspace, worktree);
    // Must not be made by an agent either; and what does not exist can only be masked, which git takes for an error.
    await writeFile(join(worktree, 'config.worktree'), '', { flag: 'a' });
    const names = (await readdir(common)).filter((name) => !OPEN.has(name) && !name.endsWith('.lock'));
    const paths = [
      ...['commondir', 'gitdir', 'config.worktree'].map((name) => join(worktree, name)),
      ...(await existing([join(common, 'objects', 'pack'), join(common, 'objects', 'info')])),
      ...names.map((name) => join(common, name)),
    ];
    return { paths };
  } catch (error) {
    return { paths: [], problem: errorText(error) };
  }
}

const OPEN: ReadonlySet<string> = new Set(['objects', 'worktrees']);

/** Renames into place under names of its own: two turns may begin at once, and an agent could have left a link there. */
async function linkWorktree(folder: string, workspace: string, worktree: string): Promise<void> {
  const link = join(folder, createHash('sha256').update(worktree).digest('hex').slice(0, 16));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await realpath(link).catch(() => undefined)) !== (await realpath(worktree))) {
    const fresh = `${link}.${randomUUID()}`;
    await symlink(worktree, fresh);
    await rename(fresh, link);
  }
  const pointer = join(workspace, '.git');
  const wanted = `gitdir: ${link}\n`;
  if (!(await lstat(pointer)).isFile()) throw new Error(`${pointer} is no regular file`);
  if ((await readFile(pointer, 'utf8')) === wanted) return;
  const fresh = `${pointer}.${randomUUID()}`;
  await writeFile(fresh, wanted, { flag: 'wx' });
  await rename(fresh, pointer);
}

async function probe(settings: RuntimeSettings, processes: Processes): Promise<Probe> {
  const binary = await findBinary(settings);
  if (binary === undefined) {
    const text = 'claude was not found';
    const next = `install it with \`${INSTALL}\`, or put it on PATH`;
    return { ok: false, floor: FLOOR, login: 'unknown', sandbox: 'none', problems: [{ text, next }] };
  }
  const problems: { text: string; next: string }[] = [];
  const env = environmentFor(settings);
  const said = await processes.run(binary, ['--version'], { env, timeoutMs: 15_000 });
  const version = /^\d+\.\d+\.\d+/.exec(said.stdout.trim())?.[0];
  const works = said.code === 0 && version !== undefined;
  if (!works) {
    const why = said.problem ?? (said.stderr.trim().slice(0, 200) || `exit ${said.code}`);
    problems.push({ text: `claude --version failed: ${why}`, next: `reinstall it with \`${INSTALL}\`` });
  }
  const current = version !== undefined && !isOlder(version, FLOOR);
  if (version !== undefined && !current) {
    problems.push({ text: `claude ${version} is older than ${FLOOR}`, next: `update it with \`${INSTALL}@latest\`` });
  }
  const login = await loginState(settings);
  if (login === 'missing') {
    const next = 'run `claude` once and log in, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN';
    problems.push({ text: 'claude is not logged in', next });
  }
  const sandbox = await confinementHere(settings, { processes });
  if (sandbox === 'rules') {
    const text = 'no OS sandbox for claude: access `edit` is confined by its permission rules only';
    const next = 'install bubblewrap and socat, and allow user namespaces';
    problems.push({ text, next });
  }
  const found = version === undefined ? {} : { version };
  return { ok: works && current && login !== 'missing', ...found, binary, floor: FLOOR, login, sandbox, problems };
}

/** Looks for credentials without reading them. macOS keeps them in its keychain, cloud providers elsewhere. */
async function loginState(settings: RuntimeSettings): Promise<Probe['login']> {
  if (hasKey(settings)) return 'ok';
  const file = await lstat(join(homeFor(settings), '.credentials.json')).catch(() => undefined);
  if (file !== undefined) return 'ok';
  const elsewhere = settings.allowEnvironment.some((name) => settings.environment[name] && OTHER_LOGIN.test(name));
  return elsewhere || settings.platform === 'darwin' ? 'unknown' : 'missing';
}

const OTHER_LOGIN = /^(?:ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_USE_(?:BEDROCK|VERTEX|FOUNDRY))$/;

/** Bytes. */
const MAX_DOCUMENT = 64 * 1024;

/**
 * The repository's own notes for agents: data for the agent, never configuration.
 * Regular files at the top of the workspace; a link counts only if it stays inside. Capped; equal texts count once.
 */
export async function readDocuments(workspace: string): Promise<{ name: string; text: string }[]> {
  const documents: { name: string; text: string }[] = [];
  for (const name of ['AGENTS.md', 'CLAUDE.md']) {
    const text = await readDocument(workspace, name);
    if (text !== undefined && text.trim() !== '' && !documents.some((other) => other.text === text)) {
      documents.push({ name, text });
    }
  }
  return documents;
}

async function readDocument(workspace: string, name: string): Promise<string | undefined> {
  // Without such a file the turn goes on as it would in a repository without notes.
  const read = await readConfinedStart(workspace, name, MAX_DOCUMENT);
  return read?.cut === true ? `${read.text}\n[cut at 64 KiB]` : read?.text;
}
