import { lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NETWORK_VARIABLES } from '../../model/network-variables.ts';
import { errorText } from '../../model/errors.ts';
import { sha256Of } from '../../model/sha256.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { isJsonObject } from '../../text/json.ts';
import { childEnvironment } from '../shared/child-environment.ts';
import { signals, type CliAdapter, type RuntimeSettings } from '../shared/cli-adapter.ts';
import { withScratch } from '../../substrate/system/files/scratch.ts';
import { platformPackages, programHere, type CliProgram, type Trial } from '../shared/cli-program.ts';
import { readNotes } from '../shared/repository-notes.ts';
import { readSkills } from '../shared/skills.ts';
import { codexCommand, NAME, type CodexFacts } from './command.ts';
import { beginCodex, concludeCodex, translateCodex, type CodexState } from './translate.ts';

const PACKAGE = '@openai/codex';
/** Where its model is, and whom it trusts there. */
const PASSED = ['OPENAI_BASE_URL', 'CODEX_CA_CERTIFICATE', ...NETWORK_VARIABLES];

const CODEX: CliProgram = {
  name: NAME,
  from: { package: PACKAGE },
  description: { login: 'codex login', reportsCost: false, provider: 'openai', variables: ['OPENAI_', 'CODEX_'] },
  // `command` relies on permission profiles and feature names of this version.
  floor: '0.160.1',
  tested: '0.169.0',
  home: { variable: 'CODEX_HOME', folder: '.codex', private: 'codex-home' },
  logins: ['auth.json'],
  keys: keyNames,
  passes: (settings) => [...keyNames(settings), ...PASSED, ...settings.allowEnvironment],
  natives: (path, host) => (path.endsWith('.js') ? nativeCandidates(path, host.platform, host.architecture) : [path]),
};

/** Drives Codex through `codex exec`, one process per turn. */
export function createCodexAdapter(
  settings: RuntimeSettings,
  { processes }: { readonly processes: Processes },
): CliAdapter<CodexFacts, CodexState> {
  const program = programHere(CODEX, settings, processes);
  let proved = false;
  /** Success is remembered. A failure may pass (the machine was busy or full), so it is tried again. */
  const sandboxProblem = async (binary: string): Promise<string | undefined> => {
    if (proved) return undefined;
    const problem = await trySandbox(binary, settings, program.trial).catch(errorText);
    proved = problem === undefined;
    return problem;
  };
  return {
    name: NAME,
    description: program.description,
    lookUp: async (request, directory) => {
      const { path, repository } = request.workspace;
      const facts = await program.lookUp(request, directory);
      const confined = request.access.level !== 'full' && facts.binary !== undefined;
      return {
        ...facts,
        skills: await readSkills(request.skills),
        // With the user's own settings Codex reads no file of a repository that it does not trust.
        notes: request.home === 'mine' && request.session === undefined ? await readNotes(path) : [],
        repository: repository === true && (await canOpen(join(path, '.git'))),
        temporary: join(settings.stateDirectory, NAME, 'tmp', sha256Of(path).slice(0, 16)),
        sandboxProblem: confined ? await sandboxProblem(facts.binary) : undefined,
      };
    },
    command: codexCommand,
    begin: beginCodex,
    translate: translateCodex,
    isTerminal: (state) => state.end !== undefined,
    conclude: concludeCodex,
    // Codex prints no event on SIGINT either, so the ladder begins with SIGTERM.
    network: program.network(NAME),
    ladder: signals(2000, 'SIGTERM', 'SIGKILL'),
    probe: () =>
      program.probe({
        notALogin: settings.environment['OPENAI_API_KEY'] && 'codex ignores OPENAI_API_KEY',
        // The login may be in the system's keyring.
        otherLogin: async (binary) => {
          if (!(await exists(program.ownHome))) return 'missing';
          const env = { ...program.environment, CODEX_HOME: program.ownHome };
          return (await program.trial(binary, ['login', 'status'], { env })) === undefined ? 'ok' : 'missing';
        },
        sandbox: async (binary) => {
          const problem = await sandboxProblem(binary);
          if (problem === undefined) return { level: 'os' };
          const text = `codex cannot confine an agent here: ${problem}`;
          const next =
            'allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run in a container with access: full';
          return { level: 'none', problem: { text, next } };
        },
      }),
  };
}

/** Codex keeps these read-only in every writable folder. If one is a link, it runs no command at all. */
const KEPT = ['.git', '.codex', '.agents', '.aws'];

/** Whether a rule may make this `.git` writable. A rule for a link would cover what it points to. */
async function canOpen(path: string): Promise<boolean> {
  const [own, ...kept] = await Promise.all(
    [path, ...KEPT.map((name) => join(path, name))].map((one) => lstat(one).catch(() => undefined)),
  );
  return own?.isDirectory() === true && !kept.some((one) => one?.isSymbolicLink() === true);
}

/** `OPENAI_API_KEY` does not count: the built-in provider does not send it (seen with 0.169.0). */
function keyNames({ config = {} }: RuntimeSettings): string[] {
  const name = config['model_provider'];
  if (typeof name !== 'string') return ['CODEX_API_KEY'];
  const providers = config['model_providers'];
  const provider = config[`model_providers.${name}`] ?? (isJsonObject(providers) ? providers[name] : undefined);
  const key = isJsonObject(provider) ? provider['env_key'] : config[`model_providers.${name}.env_key`];
  return typeof key === 'string' ? ['CODEX_API_KEY', key] : ['CODEX_API_KEY'];
}

/**
 * Where npm's launcher `@openai/codex/bin/codex.js` finds its native program: in the platform's package, hoisted or
 * nested, or (older) in its own. On Linux one static musl build serves glibc and musl.
 */
export function nativeCandidates(launcher: string, platform: string, architecture: string): string[] {
  const cpu = { x64: 'x86_64', arm64: 'aarch64' }[architecture];
  const system = { linux: 'unknown-linux-musl', darwin: 'apple-darwin', win32: 'pc-windows-msvc' }[platform];
  if (cpu === undefined || system === undefined) return [];
  const packages = [
    ...platformPackages(launcher, PACKAGE, `codex-${platform}-${architecture}`),
    dirname(dirname(launcher)),
  ];
  const program = platform === 'win32' ? 'codex.exe' : 'codex';
  return packages.map((folder) => join(folder, 'vendor', `${cpu}-${system}`, 'bin', program));
}

/** Runs `true` in the sandbox that turns get: bundled bubblewrap on Linux, Seatbelt on macOS. undefined: it works. */
async function trySandbox(
  binary: string,
  { environment, stateDirectory }: RuntimeSettings,
  trial: Trial,
): Promise<string | undefined> {
  // A temporary home: Codex creates folders in it, and the user's config must not affect the answer.
  return withScratch(stateDirectory, async (root) => {
    const [home, temporary] = [join(root, 'home'), join(root, 'tmp')];
    await Promise.all([mkdir(home), mkdir(temporary)]);
    const env = { ...childEnvironment(environment, []), CODEX_HOME: home, TMPDIR: temporary };
    const args = ['sandbox', '-P', ':read-only', '-C', home, '--', '/usr/bin/env', 'true'];
    return await trial(binary, args, { kind: 'cage-trial', env, cwd: home });
  });
}
