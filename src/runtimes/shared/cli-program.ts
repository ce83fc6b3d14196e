import { realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { RuntimeDescription } from '../../model/runtime-description.ts';
import type { TurnRequest } from '../../model/turn-request.ts';
import type { Processes } from '../../substrate/ports/processes.ts';
import { defined, pickVariables } from '../../text/defined.ts';
import type { Probe } from '../port/agent-runtime.ts';
import { childEnvironment } from './child-environment.ts';
import type { RuntimeSettings } from './cli-adapter.ts';
import { existing, findProgram, firstExecutable, isExecutable, isOlder } from './find-program.ts';
import { isEndpoint, NETWORK_VARIABLES, unpassedEndpoints } from '../../model/network-variables.ts';
import type { NetworkSettings } from './network-failure.ts';

/** A program that a person installs. */
export interface CliProgram {
  readonly name: string;
  /** How: npm's package, or a command. Absent: only settings know the program. */
  readonly from?: { readonly package: string } | { readonly command: string } | undefined;
  readonly description: RuntimeDescription;
  /** Lowest version whose flags and events the adapter knows. Absent: any, and the program need not tell it. */
  readonly floor?: string;
  /** The version that the live lane installs. */
  readonly tested?: string;
  /** The variable and folder of the user's own home, and a private one below squad's state directory. */
  readonly home: { readonly variable: string; readonly folder: string; readonly private: string };
  /** Files of a home that can hold a login. The first one is the login itself; none: it is not in a file. */
  readonly logins: readonly string[];
  /** Variables that make a login unnecessary. */
  keys(settings: RuntimeSettings): readonly string[];
  /** Variables of the host that the program may get. */
  passes(settings: RuntimeSettings): readonly string[];
  /** Programs to run instead of what PATH or the settings name, the best first: npm's launchers do not pass signals on. */
  natives(path: string, settings: RuntimeSettings): readonly string[];
}

/** Facts about every program that a turn needs. */
export interface CliFacts {
  /** The turn's own folder. */
  readonly directory: string;
  /** The native binary. */
  readonly binary: string | undefined;
  /** State directory of the agent. */
  readonly home: string;
  /** The program uses this home by itself. */
  readonly homeIsDefault: boolean;
  /** The part of the host's environment that may reach the child. */
  readonly environment: Readonly<Record<string, string>>;
  /** Existing files with a login, which the agent's shell may not read. */
  readonly credentials: readonly string[];
  /** The runtime's own config keys, `runtimes.<name>.config`. */
  readonly config: RuntimeSettings['config'];
}

/** Where npm puts the package of one platform, which the package of a program depends on: nested or hoisted. */
export function platformPackages(path: string, npmPackage: string, part: string): string[] {
  const [root = '', inside] = path.split(`${sep}${join(npmPackage)}${sep}`);
  if (inside === undefined) return [];
  const own = join(root, npmPackage);
  return [join(own, 'node_modules'), root].map((modules) => join(modules, dirname(npmPackage), part));
}

/** A program as this machine has it. */
export function programHere(program: CliProgram, settings: RuntimeSettings, processes: Processes) {
  const environment = environmentOf(program, settings);
  return {
    description: { ...program.description, reads: readsOf(program, settings) },
    environment,
    ownHome: ownHome(program, settings),
    /** `name`: the runtime's. */
    network: (name: string) => networkOf(name, program, settings, environment),
    lookUp: (request: Asked, directory: string) => lookUpProgram(program, settings, request, directory),
    /** Why this version cannot be driven; undefined: it can. */
    versionProblem: async (binary: string) => {
      const { version } = await readVersion(binary, environment, processes);
      if (version === undefined) return `${program.name} does not tell its version`;
      return isOlder(version, program.floor ?? '')
        ? `${program.name} ${version} is older than ${program.floor}`
        : undefined;
    },
    probe: (parts: ProbeParts) => probeProgram(program, settings, processes, parts),
    trial: createTrial(processes, environment),
  };
}

function readsOf(program: CliProgram, settings: RuntimeSettings): string[] {
  const { variable } = program.home;
  // Each process has a HOME of its own.
  return [...program.passes(settings), ...(variable === 'HOME' ? [] : [variable])];
}

const TRIAL_MS = 10_000;

/** Says why a program did not exit with 0; undefined: it did. */
export function createTrial(processes: Pick<Processes, 'run'>, env: Readonly<Record<string, string>>) {
  return async (binary: string, args: readonly string[], options: Partial<RunOptions> = {}) => {
    const ran = await processes.run(binary, args, { kind: 'agent-probe', env, timeoutMs: TRIAL_MS, ...options });
    return ran.code === 0 ? undefined : whyFailed(ran);
  };
}

export type Trial = ReturnType<typeof createTrial>;
type RunOptions = Parameters<Processes['run']>[2];

type Asked = Pick<TurnRequest, 'session' | 'home' | 'environment'>;

/** A session is always resumed in the home that has it. */
async function lookUpProgram(
  program: CliProgram,
  settings: RuntimeSettings,
  { session, home: whose, environment = [] }: Asked,
  directory: string,
): Promise<CliFacts> {
  const home = session?.home ?? (whose === 'mine' ? ownHome(program, settings) : homeOf(program, settings));
  // A turn with a key does not use the user's own homes, but could read them.
  const homes = [home, ownHome(program, settings), join(settings.userHome, program.home.folder)];
  const logins = new Set(homes.flatMap((folder) => program.logins.map((file) => join(folder, file))));
  return {
    directory,
    binary: await findBinary(program, settings),
    home,
    homeIsDefault:
      home === join(settings.userHome, program.home.folder) && !settings.environment[program.home.variable],
    environment: { ...environmentOf(program, settings), ...pickVariables(settings.environment, environment) },
    credentials: await existing([...logins]),
    config: settings.config,
  };
}

/** The user's own home, which holds the login (a copy would log one of the two out); a private one if a key replaces it. */
function homeOf(program: CliProgram, settings: RuntimeSettings): string {
  return hasKey(program, settings) ? join(settings.stateDirectory, program.home.private) : ownHome(program, settings);
}

function ownHome({ home }: CliProgram, settings: RuntimeSettings): string {
  return settings.environment[home.variable] || join(settings.userHome, home.folder);
}

function hasKey(program: CliProgram, settings: RuntimeSettings): boolean {
  return program.keys(settings).some((name) => settings.environment[name]);
}

function environmentOf(program: CliProgram, settings: RuntimeSettings): Record<string, string> {
  return childEnvironment(settings.environment, program.passes(settings));
}

async function findBinary(program: CliProgram, settings: RuntimeSettings): Promise<string | undefined> {
  const file = settings.platform === 'win32' ? `${program.name}.exe` : program.name;
  const path = settings.binary ?? (await findProgram(settings.environment['PATH'], file));
  if (path === undefined || !(await isExecutable(path))) return undefined;
  const real = await realpath(path).catch(() => path);
  return firstExecutable(program.natives(real, settings));
}

function whyFailed({ problem, stderr, code }: Awaited<ReturnType<Processes['run']>>): string {
  return problem ?? (stderr.trim().slice(-300) || `exit ${code}`);
}

async function readVersion(binary: string, env: Readonly<Record<string, string>>, processes: Processes) {
  const said = await processes.run(binary, ['--version'], { kind: 'agent-probe', env, timeoutMs: 15_000 });
  return { said, version: /\b\d+\.\d+\.\d+\b/.exec(said.stdout)?.[0] };
}

type Problem = Probe['problems'][number];

/** The parts of a probe that differ from program to program. */
interface ProbeParts {
  /** Whether there is a login outside the files of a home. */
  readonly otherLogin: (binary: string) => Promise<Probe['login']>;
  /** Shown with `is not logged in`: why something that looks like a login does not count. */
  readonly notALogin?: string | undefined;
  /** The problem is that of a sandbox other than the OS's. It makes the probe fail only if there is none. */
  readonly sandbox: (binary: string) => Promise<{ readonly level: Probe['sandbox']; readonly problem?: Problem }>;
}

/**
 * Probes the version, the login and the sandbox. Looks for a login without reading it. Never rejects and makes no model
 * call.
 */
async function probeProgram(
  program: CliProgram,
  settings: RuntimeSettings,
  processes: Processes,
  parts: ProbeParts,
): Promise<Probe> {
  const { name, floor, tested, from, logins } = program;
  const binary = await findBinary(program, settings);
  const isPackage = from !== undefined && 'package' in from;
  const install = isPackage ? `npm install -g ${from.package}` : from?.command;
  const update = isPackage ? `${install}@latest` : install;
  if (binary === undefined) {
    const problem = {
      text: `${name} was not found`,
      next:
        install === undefined
          ? 'put it on PATH, or name its path'
          : `install it with \`${install}\`, or put it on PATH`,
    };
    return defined({ ok: false, floor, tested, login: 'unknown', sandbox: 'none', problems: [problem] });
  }
  const problems: Problem[] = [];
  const env = environmentOf(program, settings);
  const { said, version } = await readVersion(binary, env, processes);
  const works = floor === undefined || (said.code === 0 && version !== undefined);
  if (!works) {
    problems.push({ text: `${name} --version failed: ${whyFailed(said)}`, next: `reinstall it with \`${install}\`` });
  }
  const isCurrent = floor === undefined || (version !== undefined && !isOlder(version, floor));
  if (version !== undefined && !isCurrent) {
    problems.push({ text: `${name} ${version} is older than ${floor}`, next: `update it with \`${update}\`` });
  }
  const files = logins.slice(0, 1).map((file) => join(ownHome(program, settings), file));
  const hasLogin = hasKey(program, settings) || (await existing(files)).length > 0;
  const login = hasLogin ? 'ok' : await parts.otherLogin(binary);
  if (login === 'missing') {
    const text = `${name} is not logged in${parts.notALogin === undefined ? '' : ` (${parts.notALogin})`}`;
    const { login: command } = program.description;
    const set = `set ${program.keys(settings).join(' or ')}`;
    problems.push({ text, next: command === undefined ? set : `run \`${command}\`, or ${set}` });
  }
  const { unpassed } = networkOf(name, program, settings, env);
  // A person without a login has something else to do first.
  if (login !== 'missing' && unpassed.length > 0) {
    const text = `you have set ${unpassed.join(', ')}, which ${name} does not get from squad`;
    problems.push({
      text,
      next: 'if it needs this to reach its model, name it in `runtimes.<name>.env` of your settings',
    });
  }
  const { level: sandbox, problem } = await parts.sandbox(binary);
  if (problem !== undefined && sandbox !== 'os') problems.push(problem);
  const ok = works && isCurrent && login !== 'missing' && sandbox !== 'none';
  return defined({ ok, version, binary, floor, tested, login, sandbox, problems });
}

/** Splits network variables into those that the program gets and those of the person that it lacks. `name`: the runtime's. */
function networkOf(
  name: string,
  program: { readonly description: RuntimeDescription; passes(from: RuntimeSettings): readonly string[] },
  settings: RuntimeSettings,
  environment: Readonly<Record<string, string>>,
): NetworkSettings {
  const given = Object.entries(environment).filter(([one, value]) => {
    return value !== '' && (NETWORK_VARIABLES.includes(one) || isEndpoint(one));
  });
  return {
    given: Object.fromEntries(given),
    unpassed: unpassedEndpoints(settings.environment, program.description.variables ?? [], program.passes(settings)),
    setting: `runtimes.${name}.env`,
  };
}
