import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { codexCommand, type CodexFacts } from './command.ts';
import { beginCodex, concludeCodex, translateCodex, type CodexState } from './translate.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { childEnvironment } from '../shared/child-environment.ts';
import type { CliAdapter, RuntimeSettings } from '../shared/cli-adapter.ts';
import { existing, exists, findProgram, isExecutable, isOlder } from '../shared/find-program.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { isJsonObject } from '../../text/json.ts';

/** The permission profiles and feature names that `command` relies on were proved with this version. */
const FLOOR = '0.169.0';
const PROBE_MS = 10_000;

interface Ports {
  readonly processes: Processes;
}

/** Codex through `codex exec`: one process per turn. No side effects here; `lookUp`, `probe` and `dispose` do the I/O. */
export function createCodexAdapter(settings: RuntimeSettings, ports: Ports): CliAdapter<CodexFacts, CodexState> {
  let proved = false;
  /** Once proved it is not asked again; a failure may have been a moment's, of a machine that was busy or full. */
  const sandboxProblem = async (binary: string): Promise<string | undefined> => {
    if (proved) return undefined;
    const problem = await findSandboxProblem(binary, settings, ports).catch(errorText);
    proved = problem === undefined;
    return problem;
  };
  return {
    name: 'codex',
    lookUp: (request, directory) => lookUp(request, directory, settings, sandboxProblem),
    command: codexCommand,
    begin: beginCodex,
    translate: translateCodex,
    isTerminal: (state) => state.end !== undefined,
    conclude: concludeCodex,
    // SIGINT gives no event either, so the ladder begins with SIGTERM.
    ladder: [
      { signal: 'SIGTERM', waitMs: 2000 },
      { signal: 'SIGKILL', waitMs: 2000 },
    ],
    probe: () => probe(settings, ports, sandboxProblem),
  };
}

async function lookUp(
  request: TurnRequest,
  directory: string,
  settings: RuntimeSettings,
  sandboxProblem: (binary: string) => Promise<string | undefined>,
): Promise<CodexFacts> {
  const binary = await findBinary(settings);
  const home = codexHome(request, settings);
  const logins = [...new Set([home, userHome(settings)])].map((folder) => join(folder, 'auth.json'));
  const { git } = request.workspace;
  const confined = request.access.level !== 'full' && binary !== undefined;
  return {
    config: settings.config,
    environment: childEnvironment(settings.environment, allowedNames(settings)),
    home,
    binary,
    directory,
    credentials: await existing(logins),
    worktreeConfig: git !== undefined && (await exists(join(git.worktreeDirectory, 'config.worktree'))),
    sandboxProblem: confined ? await sandboxProblem(binary) : undefined,
  };
}

/**
 * The user's own home holds the login (a copy would log one of the two out), so it is used unless a key makes it
 * needless. A session is always resumed in the home that has it.
 */
export function codexHome(request: Pick<TurnRequest, 'session'>, settings: RuntimeSettings): string {
  if (request.session !== undefined) return request.session.home;
  return hasKey(settings) ? privateHome(settings) : userHome(settings);
}

function userHome(settings: RuntimeSettings): string {
  const given = settings.environment['CODEX_HOME'] ?? '';
  return given === '' ? join(settings.userHome, '.codex') : given;
}

function privateHome(settings: RuntimeSettings): string {
  return join(settings.stateDirectory, 'codex-home');
}

/** `OPENAI_API_KEY` does not count: the built-in provider sends no key then (seen with 0.169.0). */
function hasKey(settings: RuntimeSettings): boolean {
  return keyNames(settings).some((name) => (settings.environment[name] ?? '') !== '');
}

function keyNames(settings: RuntimeSettings): string[] {
  const { config = {} } = settings;
  const name = config['model_provider'];
  if (typeof name !== 'string') return ['CODEX_API_KEY'];
  const providers = config['model_providers'];
  const provider = config[`model_providers.${name}`] ?? (isJsonObject(providers) ? providers[name] : undefined);
  const key = isJsonObject(provider) ? provider['env_key'] : config[`model_providers.${name}.env_key`];
  return typeof key === 'string' ? ['CODEX_API_KEY', key] : ['CODEX_API_KEY'];
}

function allowedNames(settings: RuntimeSettings): string[] {
  return [...keyNames(settings), ...settings.allowEnvironment];
}

async function findBinary(settings: RuntimeSettings): Promise<string | undefined> {
  const name = settings.platform === 'win32' ? 'codex.exe' : 'codex';
  const path = settings.binary ?? (await findProgram(settings.environment['PATH'], name));
  return path === undefined ? undefined : nativeOf(path, settings);
}

async function nativeOf(path: string, settings: RuntimeSettings): Promise<string | undefined> {
  let real: string;
  try {
    real = await realpath(path);
  } catch {
    // Not here; the caller looks on.
    return undefined;
  }
  const candidates = real.endsWith('.js') ? nativeCandidates(real, settings.platform, settings.architecture) : [real];
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

/**
 * Where npm's launcher `@openai/codex/bin/codex.js` finds its native program: in the package of the platform, hoisted or
 * nested, or (older) in its own. Linux has one static musl build for glibc and musl alike.
 */
export function nativeCandidates(launcher: string, platform: string, architecture: string): string[] {
  const cpu = { x64: 'x86_64', arm64: 'aarch64' }[architecture];
  const system = { linux: 'unknown-linux-musl', darwin: 'apple-darwin', win32: 'pc-windows-msvc' }[platform];
  if (cpu === undefined || system === undefined) return [];
  const own = dirname(dirname(launcher));
  const part = `codex-${platform}-${architecture}`;
  const packages = [join(own, 'node_modules', '@openai', part), join(dirname(own), part), own];
  const program = platform === 'win32' ? 'codex.exe' : 'codex';
  return packages.map((folder) => join(folder, 'vendor', `${cpu}-${system}`, 'bin', program));
}

async function probe(
  settings: RuntimeSettings,
  ports: Ports,
  sandboxProblem: (binary: string) => Promise<string | undefined>,
): Promise<Probe> {
  const binary = await findBinary(settings);
  if (binary === undefined) {
    const problem = {
      text: 'codex was not found',
      next: 'install it with `npm install -g @openai/codex`, or put it on PATH',
    };
    return { ok: false, floor: FLOOR, login: 'unknown', sandbox: 'none', problems: [problem] };
  }
  const problems: { text: string; next: string }[] = [];
  const version = await readVersion(binary, settings, ports);
  if (version === undefined || isOlder(version, FLOOR)) {
    problems.push({
      text: `codex ${version ?? 'did not say its version'}; at least ${FLOOR} is needed`,
      next: 'update it with `npm install -g @openai/codex@latest`',
    });
  }
  const login = await readLogin(binary, settings, ports);
  if (login === 'missing') {
    const ignored = (settings.environment['OPENAI_API_KEY'] ?? '') !== '' ? ' (codex ignores OPENAI_API_KEY)' : '';
    problems.push({ text: `codex is not logged in${ignored}`, next: 'run `codex login`, or set CODEX_API_KEY' });
  }
  const unconfined = await sandboxProblem(binary);
  if (unconfined !== undefined) {
    problems.push({
      text: `codex cannot confine an agent here: ${unconfined}`,
      next: 'allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run in a container with access: full',
    });
  }
  return {
    ok: problems.length === 0,
    ...(version === undefined ? {} : { version }),
    binary,
    floor: FLOOR,
    login,
    sandbox: unconfined === undefined ? 'os' : 'none',
    problems,
  };
}

async function readVersion(
  binary: string,
  settings: RuntimeSettings,
  { processes }: Ports,
): Promise<string | undefined> {
  const env = childEnvironment(settings.environment, []);
  const { stdout } = await processes.run(binary, ['--version'], { env, timeoutMs: PROBE_MS });
  return /\b(\d+\.\d+\.\d+)\b/.exec(stdout)?.[1];
}

/** Without a model call. The login may also be in the system's keyring, so Codex itself is asked where there is no file. */
async function readLogin(binary: string, settings: RuntimeSettings, { processes }: Ports): Promise<Probe['login']> {
  if (hasKey(settings)) return 'ok';
  const home = userHome(settings);
  if (!(await exists(home))) return 'missing';
  if (await exists(join(home, 'auth.json'))) return 'ok';
  const env = { ...childEnvironment(settings.environment, allowedNames(settings)), CODEX_HOME: home };
  const { code } = await processes.run(binary, ['login', 'status'], { env, timeoutMs: PROBE_MS });
  return code === 0 ? 'ok' : 'missing';
}

/** Runs `true` in the sandbox that turns get: bundled bubblewrap on Linux, Seatbelt on macOS. */
async function findSandboxProblem(
  binary: string,
  settings: RuntimeSettings,
  { processes }: Ports,
): Promise<string | undefined> {
  // A home of its own: Codex makes folders in it, and the user's config must not decide the answer.
  const root = await mkdtemp(join(tmpdir(), 'squad-codex-'));
  const [home, temporary] = [join(root, 'home'), join(root, 'tmp')];
  try {
    await Promise.all([mkdir(home), mkdir(temporary)]);
    const env = { ...childEnvironment(settings.environment, []), CODEX_HOME: home, TMPDIR: temporary };
    const args = ['sandbox', '-P', ':read-only', '-C', home, '--', '/usr/bin/env', 'true'];
    const { code, stderr, problem } = await processes.run(binary, args, { env, cwd: home, timeoutMs: PROBE_MS });
    if (code === 0) return undefined;
    return problem ?? (stderr.trim().slice(-300) || `exit ${code}`);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
