import { constants } from 'node:fs';
import { access, open, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { childEnvironment } from '../shared/child-environment.ts';
import type { RuntimeSettings } from '../shared/runtime-settings.ts';
import { existing, protectGit } from './worktree.ts';

/** What `command` must know and cannot find out itself. */
export interface ClaudeFacts {
  /** The turn's own folder. */
  readonly directory: string;
  readonly binary: string | undefined;
  /** State directory of the agent, and whether it is the one that the CLI takes unasked. */
  readonly home: string;
  readonly homeIsDefault: boolean;
  /** Holds one folder for temporary files per session. */
  readonly scratchRoot: string;
  /** The child's environment as far as it comes from the host. */
  readonly environment: Readonly<Record<string, string>>;
  /** Variables of it that hold secrets: kept from the agent's shell and from MCP servers. */
  readonly secretNames: readonly string[];
  readonly secretFiles: readonly string[];
  readonly confinement: 'os' | 'rules';
  /** Parts of the git directories that no shell of an agent may write. */
  readonly protectedGit: readonly string[];
  /** Why the worktree could not be prepared for the sandbox. */
  readonly gitProblem: string | undefined;
  readonly isRoot: boolean;
  /** The repository's own notes for agents. */
  readonly documents: readonly { readonly name: string; readonly text: string }[];
}

export interface LookUpPorts {
  readonly processes: Processes;
}

const KEYS = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN'];
const NETWORK = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];
const PASSED = [...KEYS, 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', ...NETWORK, 'NODE_EXTRA_CA_CERTS'];
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;
/** Set by a Claude Code around us; it would change how the one inside behaves. */
const OF_A_PARENT =
  /^(?:CLAUDECODE|CLAUDE_PID|CLAUDE_EFFORT|CLAUDE_TMPDIR|AI_AGENT|CLAUDE_CODE_(?:ENTRYPOINT|EXECPATH|SSE_PORT|(?:CHILD|SESSION|MESSAGING|HOST)_\w+))$/;
const MAX_DOCUMENT = 64 * 1024;

export async function lookUp(
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
  const needsGit = request.access.level === 'edit' && confinement === 'os' && git !== undefined;
  const protection = needsGit
    ? await protectGit(join(settings.stateDirectory, NAME_OF_STATE, 'git'), workspace.path, git)
    : { paths: [] };
  const secretFiles = [join(home, '.credentials.json'), join(settings.userHome, '.claude.json')];
  return {
    directory,
    binary: await findBinary(settings),
    home,
    homeIsDefault: isDefaultHome(settings, home),
    scratchRoot: join(settings.stateDirectory, NAME_OF_STATE, 'tmp'),
    environment,
    secretNames: Object.keys(environment).filter((name) => SECRET.test(name)),
    secretFiles: await existing(secretFiles),
    confinement,
    protectedGit: protection.paths,
    gitProblem: 'problem' in protection ? protection.problem : undefined,
    isRoot: settings.isRoot,
    documents: request.session === undefined ? await readDocuments(workspace.path) : [],
  };
}

export const NAME_OF_STATE = 'claude';

export function environmentFor(settings: RuntimeSettings): Record<string, string> {
  const more = settings.allowEnvironment.filter((name) => !OF_A_PARENT.test(name));
  return childEnvironment(settings.environment, [...PASSED, ...more]);
}

/** A subscription's login lives in the user's own home, so that is used unless a key or token in the environment does. */
export function homeFor(settings: RuntimeSettings): string {
  if (hasKey(settings)) return join(settings.stateDirectory, NAME_OF_STATE, 'home');
  return settings.environment['CLAUDE_CONFIG_DIR'] || join(settings.userHome, '.claude');
}

export function hasKey({ environment }: RuntimeSettings): boolean {
  return KEYS.some((name) => environment[name]);
}

/** Naming even the default home moves where the CLI keeps its login on some systems: then the variable stays unset. */
export function isDefaultHome(settings: RuntimeSettings, home: string): boolean {
  return home === join(settings.userHome, '.claude') && !settings.environment['CLAUDE_CONFIG_DIR'];
}

/** On Linux the CLI's sandbox needs bubblewrap, socat and user namespaces; asking bubblewrap itself tells all but one. */
export async function confinementHere(settings: RuntimeSettings, ports: LookUpPorts): Promise<'os' | 'rules'> {
  if (settings.platform === 'darwin') return 'os';
  if (settings.platform !== 'linux') return 'rules';
  const bwrap = await findOnPath(settings, 'bwrap');
  if (bwrap === undefined || (await findOnPath(settings, 'socat')) === undefined) return 'rules';
  const trial = ['--unshare-user', '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc', 'true'];
  const { code } = await ports.processes.run(bwrap, trial, { env: environmentFor(settings), timeoutMs: 10_000 });
  return code === 0 ? 'os' : 'rules';
}

/** npm installs a link or a script named `claude`; the native binary behind it is what is spawned, so that signals reach it. */
export async function findBinary(settings: RuntimeSettings): Promise<string | undefined> {
  if (settings.binary !== undefined) return (await isExecutable(settings.binary)) ? settings.binary : undefined;
  const found = await findOnPath(settings, 'claude');
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

async function findOnPath(settings: RuntimeSettings, name: string): Promise<string | undefined> {
  for (const folder of (settings.environment['PATH'] ?? '').split(':')) {
    if (folder.startsWith('/') && (await isExecutable(join(folder, name)))) return join(folder, name);
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // Not there, or not ours to run.
    return false;
  }
}

/** Regular files at the top of the workspace; a link counts only if it stays inside. Capped; equal texts count once. */
async function readDocuments(workspace: string): Promise<{ name: string; text: string }[]> {
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
  try {
    const path = await realpath(join(workspace, name));
    if (!path.startsWith(`${await realpath(workspace)}${sep}`)) return undefined;
    // Not blocking, so that a pipe planted there cannot hold the turn up.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await file.stat()).isFile()) return undefined;
      const buffer = Buffer.alloc(MAX_DOCUMENT + 1);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
      const text = buffer.toString('utf8', 0, Math.min(bytesRead, MAX_DOCUMENT));
      return bytesRead > MAX_DOCUMENT ? `${text}\n[cut at 64 KiB]` : text;
    } finally {
      await file.close();
    }
  } catch {
    // No such file, or one that cannot be read: the turn goes on without it, as it would in a repository without notes.
    return undefined;
  }
}
