import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { TurnRequest, Workspace } from '../../model/turn-request.ts';
import { exists } from '../../substrate/files/exists.ts';
import { readConfinedStart } from '../../substrate/files/open-confined.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { childEnvironment } from '../shared/child-environment.ts';
import type { CliAdapter, RuntimeSettings } from '../shared/cli-adapter.ts';
import { existing, findProgram, firstExecutable, isExecutable } from '../shared/find-program.ts';
import { probeCli } from '../shared/probe-cli.ts';
import { command, NAME, type ClaudeFacts } from './command.ts';
import { begin, conclude, isTerminal, translate, type ClaudeState } from './translate.ts';

/** This adapter relies on flags, events and the sandbox of this version. */
const FLOOR = '2.1.328';

const KEYS = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'];
const NETWORK = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const PASSED = [...KEYS, 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', ...NETWORK, 'NODE_EXTRA_CA_CERTS'];
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;
/** Variables of a Claude Code that squad runs in. They would change how the turn's own one works. */
const OF_A_PARENT =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|CLAUDE_TMPDIR|AI_AGENT|CLAUDE_CODE_(?:ENTRYPOINT|EXECPATH|SSE_PORT|(?:CHILD|SESSION|MESSAGING|HOST)_\w+))$/;

/** Drives Claude Code, one process per turn. */
export function createClaudeAdapter(
  settings: RuntimeSettings,
  { processes }: { readonly processes: Processes },
): CliAdapter<ClaudeFacts, ClaudeState> {
  return {
    name: NAME,
    lookUp: (request, directory) => lookUp(settings, processes, request, directory),
    command,
    begin,
    translate,
    isTerminal,
    conclude,
    // On SIGINT claude ends the running tool and prints a result (0.1 to 1.6 s).
    ladder: [
      { signal: 'SIGINT', waitMs: 3000 },
      { signal: 'SIGTERM', waitMs: 3000 },
      { signal: 'SIGKILL', waitMs: 3000 },
    ],
    probe: () => probe(settings, processes),
  };
}

async function lookUp(
  settings: RuntimeSettings,
  processes: Processes,
  request: TurnRequest,
  directory: string,
): Promise<ClaudeFacts> {
  const { workspace } = request;
  const environment = environmentFor(settings);
  const home = request.session?.home ?? homeFor(settings);
  const confinement = await findConfinement(settings, processes);
  const { git } = workspace;
  const needsGit = request.access.level !== 'full' && confinement === 'os' && git !== undefined;
  const protection: GitProtection = needsGit
    ? await protectGit(join(settings.stateDirectory, NAME, 'git'), workspace.path, git)
    : { paths: [] };
  return {
    directory,
    binary: await findBinary(settings),
    home,
    homeIsDefault: isDefaultHome(settings, home),
    scratchRoot: join(settings.stateDirectory, NAME, 'tmp'),
    environment,
    secretNames: Object.keys(environment).filter((name) => SECRET.test(name)),
    secretFiles: await existing(loginFiles(settings, home)),
    confinement,
    protectedGit: protection.paths,
    gitProblem: protection.problem,
    isRoot: settings.isRoot,
    configKeys: Object.keys(settings.config ?? {}),
    documents: request.session === undefined ? await readDocuments(workspace.path) : [],
  };
}

function environmentFor(settings: RuntimeSettings): Record<string, string> {
  const more = settings.allowEnvironment.filter((name) => !OF_A_PARENT.test(name));
  return childEnvironment(settings.environment, [...PASSED, ...more]);
}

/** The user's own home, which holds the login of a subscription; a private home if the environment has a key or token. */
function homeFor(settings: RuntimeSettings): string {
  if (hasKey(settings)) return join(settings.stateDirectory, NAME, 'home');
  return settings.environment['CLAUDE_CONFIG_DIR'] || join(settings.userHome, '.claude');
}

/** Logins of this home and of the user's own homes. With a key the turn does not use the latter, but could read them. */
function loginFiles(settings: RuntimeSettings, home: string): string[] {
  const standard = join(settings.userHome, '.claude');
  const homes = new Set([home, settings.environment['CLAUDE_CONFIG_DIR'] || standard, standard]);
  const inside = [...homes].flatMap((folder) => [join(folder, '.credentials.json'), join(folder, '.claude.json')]);
  return [...inside, join(settings.userHome, '.claude.json')];
}

function hasKey({ environment }: RuntimeSettings): boolean {
  return KEYS.some((name) => environment[name]);
}

/** For the default home the variable stays unset: on some systems setting it moves the login. */
function isDefaultHome(settings: RuntimeSettings, home: string): boolean {
  return home === join(settings.userHome, '.claude') && !settings.environment['CLAUDE_CONFIG_DIR'];
}

/** On Linux the CLI's sandbox needs bubblewrap, socat and user namespaces. A trial of bubblewrap shows all but socat. */
async function findConfinement(settings: RuntimeSettings, processes: Processes): Promise<'os' | 'rules'> {
  if (settings.platform === 'darwin') return 'os';
  if (settings.platform !== 'linux') return 'rules';
  const path = settings.environment['PATH'];
  const bwrap = await findProgram(path, 'bwrap');
  if (bwrap === undefined || (await findProgram(path, 'socat')) === undefined) return 'rules';
  const trial = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];
  const { code } = await processes.run(bwrap, trial, { env: environmentFor(settings), timeoutMs: 10_000 });
  return code === 0 ? 'os' : 'rules';
}

/** The native binary behind the link or script that npm installs, so that signals reach it. */
async function findBinary(settings: RuntimeSettings): Promise<string | undefined> {
  if (settings.binary !== undefined) return (await isExecutable(settings.binary)) ? settings.binary : undefined;
  const found = await findProgram(settings.environment['PATH'], 'claude');
  if (found === undefined) return undefined;
  const real = await realpath(found).catch(() => found);
  const scope = real.split(`${sep}@anthropic-ai${sep}`)[0];
  if (scope === undefined || scope === real) return real;
  const hoisted = join(scope, '@anthropic-ai');
  const places = [hoisted, join(hoisted, 'claude-code', 'node_modules', '@anthropic-ai')];
  const platform = `claude-code-${settings.platform}-${settings.architecture}`;
  const candidates = places.flatMap((place) => [
    join(place, platform, 'claude'),
    join(place, `${platform}-musl`, 'claude'),
  ]);
  return (await firstExecutable(candidates)) ?? real;
}

interface GitProtection {
  readonly paths: string[];
  readonly problem?: string;
}

/**
 * Makes the sandbox an exact allow-list for git. If the CLI recognises a linked worktree (by a `.git` file that names
 * `…/worktrees/<name>`), it makes the common git directory writable except for a list of its own, and puts marker files there:
 * an agent could then move refs, and a `config.lock` would block the user. Git also finds the directory through a link outside
 * `worktrees`, but the CLI does not, so only the paths that `command` names are writable. `paths`: everything else, denied by
 * name in case a release follows the link.
 */
async function protectGit(
  links: string,
  workspace: string,
  git: NonNullable<Workspace['git']>,
): Promise<GitProtection> {
  const { commonDirectory: common, worktreeDirectory: worktree } = git;
  try {
    await linkWorktree(links, workspace, worktree);
    // An agent must not create it, and the sandbox could only mask a missing file, which is an error for git.
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

/** Renames new files into place, because two turns may begin at once and an agent may have left a link there. */
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
  const cli = {
    name: NAME,
    package: '@anthropic-ai/claude-code',
    floor: FLOOR,
    binary: await findBinary(settings),
    environment: environmentFor(settings),
    login: () => readLogin(settings),
    loginProblem: {
      text: 'claude is not logged in',
      next: 'run `claude` once and log in, or set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN',
    },
    sandbox: async () => {
      const level = await findConfinement(settings, processes);
      const text = 'no OS sandbox for claude: access `edit` is confined by its permission rules only';
      const next = 'install bubblewrap and socat, and allow user namespaces';
      return level === 'os' ? { level } : { level, problem: { text, next } };
    },
  };
  return probeCli(cli, processes);
}

/** Looks for credentials without reading them. macOS has them in its keychain, and cloud providers elsewhere. */
async function readLogin(settings: RuntimeSettings): Promise<Probe['login']> {
  if (hasKey(settings) || (await exists(join(homeFor(settings), '.credentials.json')))) return 'ok';
  const elsewhere = settings.allowEnvironment.some((name) => settings.environment[name] && OTHER_LOGIN.test(name));
  return elsewhere || settings.platform === 'darwin' ? 'unknown' : 'missing';
}

const OTHER_LOGIN = /^(?:ANTHROPIC_AUTH_TOKEN|CLAUDE_CODE_USE_(?:BEDROCK|VERTEX|FOUNDRY))$/;

/** Bytes. */
const MAX_DOCUMENT = 64 * 1024;

/**
 * The repository's notes for agents, AGENTS.md and CLAUDE.md: data, never configuration. Reads regular files at the top of the
 * workspace, and links that stay inside. Each is cut at 64 KiB; equal texts count once.
 */
export async function readDocuments(workspace: string): Promise<{ name: string; text: string }[]> {
  const documents: { name: string; text: string }[] = [];
  for (const name of ['AGENTS.md', 'CLAUDE.md']) {
    const read = await readConfinedStart(workspace, name, MAX_DOCUMENT);
    const text = read?.cut === true ? `${read.text}\n[cut at 64 KiB]` : (read?.text ?? '');
    if (text.trim() !== '' && !documents.some((other) => other.text === text)) documents.push({ name, text });
  }
  return documents;
}
