import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import { exists } from '../../substrate/files/exists.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { isJsonObject } from '../../text/json.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { childEnvironment } from '../shared/child-environment.ts';
import type { CliAdapter, RuntimeSettings } from '../shared/cli-adapter.ts';
import { existing, findProgram, firstExecutable } from '../shared/find-program.ts';
import { probeCli } from '../shared/probe-cli.ts';
import { codexCommand, type CodexFacts } from './command.ts';
import { beginCodex, concludeCodex, translateCodex, type CodexState } from './translate.ts';

/** `command` relies on permission profiles and feature names of this version. */
const FLOOR = '0.169.0';
const PROBE_MS = 10_000;

type SandboxProblem = (binary: string) => Promise<string | undefined>;

/** Drives Codex through `codex exec`, one process per turn. */
export function createCodexAdapter(
  settings: RuntimeSettings,
  { processes }: { readonly processes: Processes },
): CliAdapter<CodexFacts, CodexState> {
  let proved = false;
  /** Success is remembered. A failure may pass (the machine was busy or full), so it is tried again. */
  const sandboxProblem: SandboxProblem = async (binary) => {
    if (proved) return undefined;
    const problem = await findSandboxProblem(binary, settings, processes).catch(errorText);
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
    // Codex prints no event on SIGINT either, so the ladder begins with SIGTERM.
    ladder: [
      { signal: 'SIGTERM', waitMs: 2000 },
      { signal: 'SIGKILL', waitMs: 2000 },
    ],
    probe: () => probe(settings, processes, sandboxProblem),
  };
}

async function lookUp(
  request: TurnRequest,
  directory: string,
  settings: RuntimeSettings,
  sandboxProblem: SandboxProblem,
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
 * The user's own home, which holds the login (a copy would log one of the two out); a private home if a key makes the
 * login unnecessary. A session is always resumed in the home that has it.
 */
export function codexHome(request: Pick<TurnRequest, 'session'>, settings: RuntimeSettings): string {
  if (request.session !== undefined) return request.session.home;
  return hasKey(settings) ? join(settings.stateDirectory, 'codex-home') : userHome(settings);
}

function userHome(settings: RuntimeSettings): string {
  return settings.environment['CODEX_HOME'] || join(settings.userHome, '.codex');
}

/** `OPENAI_API_KEY` does not count: the built-in provider does not send it (seen with 0.169.0). */
function hasKey(settings: RuntimeSettings): boolean {
  return keyNames(settings).some((name) => settings.environment[name]);
}

function keyNames({ config = {} }: RuntimeSettings): string[] {
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

async function findBinary({ binary, environment, platform, architecture }: RuntimeSettings) {
  const path = binary ?? (await findProgram(environment['PATH'], platform === 'win32' ? 'codex.exe' : 'codex'));
  const real = path && (await realpath(path).catch(() => undefined));
  if (!real) return undefined;
  return firstExecutable(real.endsWith('.js') ? nativeCandidates(real, platform, architecture) : [real]);
}

/**
 * Where npm's launcher `@openai/codex/bin/codex.js` finds its native program: in the platform's package, hoisted or
 * nested, or (older) in its own. On Linux one static musl build serves glibc and musl.
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

async function probe(settings: RuntimeSettings, processes: Processes, sandboxProblem: SandboxProblem): Promise<Probe> {
  const ignored = settings.environment['OPENAI_API_KEY'] ? ' (codex ignores OPENAI_API_KEY)' : '';
  const cli = {
    name: 'codex',
    package: '@openai/codex',
    floor: FLOOR,
    binary: await findBinary(settings),
    environment: childEnvironment(settings.environment, []),
    login: (binary: string) => readLogin(binary, settings, processes),
    loginProblem: {
      text: `codex is not logged in${ignored}`,
      next: 'run `codex login`, or set CODEX_API_KEY',
    },
    sandbox: async (binary: string) => {
      const problem = await sandboxProblem(binary);
      if (problem === undefined) return { level: 'os' as const };
      const text = `codex cannot confine an agent here: ${problem}`;
      const next =
        'allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run in a container with access: full';
      return { level: 'none' as const, problem: { text, next } };
    },
  };
  return probeCli(cli, processes);
}

/** Asks Codex if there is no login file, because the login may be in the system's keyring. Makes no model call. */
async function readLogin(binary: string, settings: RuntimeSettings, processes: Processes): Promise<Probe['login']> {
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
  processes: Processes,
): Promise<string | undefined> {
  // A temporary home: Codex creates folders in it, and the user's config must not affect the answer.
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
