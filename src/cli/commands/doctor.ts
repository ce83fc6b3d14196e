import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandContext, Options } from '../command-context.ts';
import {
  decideCageCheck,
  decideDiskCheck,
  decideFolderCheck,
  decideIsolationCheck,
  decideSystemCheck,
  decideTracingCheck,
  renderDoctor,
  type DoctorCheck,
} from '../doctor-checks.ts';
import { printResult } from '../output.ts';
import { compose, type Composition, type Host } from '../../engine/compose.ts';
import { requireProgram } from '../../engine/machine.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { acpAgentIn } from '../../model/runtime-name.ts';
import { SETTINGS_FILE } from '../../squad/preflight/read-input.ts';
import { openArmory } from '../../squad/preflight/bind-armory.ts';
import { fileOf, readOwnSettings, readSettings, type SettingsRead } from '../../squad/preflight/read-settings.ts';
import { limitsSchema } from '../../model/limits.ts';
import { letThroughBy } from '../../model/let-through.ts';
import { measureDisk } from '../../squad/disk-use.ts';
import { openWorkspace } from '../../squad/open-workspace.ts';
import { freeBytes } from '../../substrate/git/spare/spare-pool.ts';
import { describeRuntimes } from '../../engine/runtime-choice.ts';
import { createProbes, resolveRuntimes } from '../../squad/preflight/runtimes.ts';
import { rosterProblems } from '../../squad/preflight/staffing.ts';
import type { Probe } from '../../runtimes/port/agent-runtime.ts';
import type { GitPorts } from '../../substrate/git/git-call.ts';
import { decideVersionWarning, isTooOld, parseGitVersion } from '../../substrate/git/git-version.ts';
import { inspectForWork } from '../../substrate/git/inspect-repository.ts';
import { isOutsideRepositories, openCheckout, type Checkout } from '../../substrate/git/repository.ts';
import { isContainerLayer, readNetworkFilesystem } from '../../substrate/ledger/filesystem-kind.ts';
import { sqliteLibrary } from '../../substrate/ledger/index.ts';
import { createGitCage } from '../../substrate/system/process/git-cage.ts';

/** Exit 0 when at least one agent runtime can be used here, else 78. */
export async function doctor(context: CommandContext, options: Options<'doctor'>): Promise<void> {
  if (options.trust === true) return (await import('./doctor-trust.ts')).doctorTrust(context, options);
  const { host, output, exit } = context;
  const composition = compose(host);
  const probes = await probeAgents(composition, host, await namedRuntimes(host, composition));
  const machine = [
    { name: 'node', ok: true, found: `${process.version} at ${host.node}`, problems: [] },
    checkSqlite(),
    ...(await checkTurns(host, composition)),
    await checkGit(host, composition),
    ...(await checkCage(host, composition)),
    ...(await checkRepository(host, composition)),
    ...(await checkDisk(host, composition)),
    ...(await checkSettings(host, composition)),
    ...decideTracingCheck(host.environment),
  ];
  const checks = [...machine, ...probes.map(checkOf)];
  const runtimes = Object.fromEntries(probes.map(({ name, probe }) => [name, probe]));
  printResult(output, options, { type: 'doctor', checks, runtimes }, [renderDoctor(checks, output)]);
  exit(probes.some(({ probe }) => probe.ok) && machine.every(({ ok }) => ok) ? 0 : 78);
}

interface Probed {
  readonly name: string;
  readonly probe: Probe;
  /** No roster is made of it. */
  readonly onlyByName: boolean;
  readonly experimental: boolean;
}

/**
 * Probes the runtimes of agents, with the settings of the user's own file. Of those that work only where they are named: the ones
 * whose program is here, and those in `named`.
 */
export async function probeAgents(
  composition: Composition,
  host: Host,
  named: readonly string[] = [],
): Promise<Probed[]> {
  // A file that cannot be used is a problem of its own.
  const own = await readOwnSettings(composition, host).catch(() => undefined);
  const said = own?.settings.runtimes ?? {};
  const described = describeRuntimes(composition, said);
  const runtimes = await resolveRuntimes(said, described, host.workingDirectory, host);
  const probeOf = createProbes(composition, runtimes);
  const isOnlyByName = (name: string): boolean => described[name]?.onlyByName === true;
  const isExperimental = (name: string): boolean => described[name]?.experimental === true;
  const agents = Object.keys(described).filter(
    (name) => !isOnlyByName(name) || acpAgentIn(name) !== undefined || isExperimental(name),
  );
  const probed = await Promise.all(
    agents.map(async (name) => ({
      name,
      probe: await probeOf(name),
      onlyByName: isOnlyByName(name),
      experimental: isExperimental(name),
    })),
  );
  return probed.filter(
    ({ name, probe, onlyByName }) => !onlyByName || probe.binary !== undefined || named.includes(name),
  );
}

function checkOf({ name, probe, experimental }: Probed): DoctorCheck {
  const tested = probe.tested === undefined ? '' : `, tested with ${probe.tested}`;
  const floor = probe.floor === undefined ? '' : ` (needs ${probe.floor}${tested})`;
  const found =
    probe.binary === undefined
      ? 'not found'
      : `${probe.version ?? 'unknown version'}${floor} at ${probe.binary}, login ${probe.login}, sandbox ${probe.sandbox}`;
  return { name, ok: probe.ok, found: experimental ? `experimental; ${found}` : found, problems: probe.problems };
}

async function checkTurns({ platform }: Host, { processes }: Composition): Promise<DoctorCheck[]> {
  return platform === 'linux' ? [decideIsolationCheck(await processes.isolation())] : decideSystemCheck(platform);
}

function checkSqlite(): DoctorCheck {
  const { version, safe } = sqliteLibrary();
  const problems = safe
    ? []
    : [{ text: 'this SQLite can corrupt a database that several processes write', next: 'Install squad anew.' }];
  return { name: 'sqlite', ok: safe, found: version, problems };
}

async function checkGit(host: Host, composition: Composition): Promise<DoctorCheck> {
  try {
    const binary = await requireProgram(host, 'git');
    const env = { PATH: host.environment['PATH'] ?? '' };
    const run = await composition.processes.run(binary, ['--version'], { kind: 'git-version', env, timeoutMs: 10_000 });
    const version = run.stdout.trim().replace('git version ', '');
    const warning = decideVersionWarning(version);
    const problems = warning === undefined ? [] : [{ text: warning.text, next: warning.next ?? '' }];
    return {
      name: 'git',
      ok: run.code === 0 && !isTooOld(parseGitVersion(version)),
      found: `${version} at ${binary}`,
      problems,
    };
  } catch (error) {
    return { name: 'git', ok: false, found: 'not found', problems: [asProblem(error)] };
  }
}

/** Tries the sandbox of squad's git for commits and folders of agents. Empty without git, and outside Linux. */
async function checkCage(host: Host, { processes }: Composition): Promise<DoctorCheck[]> {
  const git = await requireProgram(host, 'git').catch(() => undefined);
  if (git === undefined || host.platform !== 'linux') return [];
  const { PATH = '', HOME = '' } = host.environment;
  return [decideCageCheck(await createGitCage(processes)(git, { PATH, HOME }))];
}

/** Checks the checkout that doctor runs in: its folders, the warnings of a run. No checks where there is no repository at all. */
async function checkRepository(host: Host, composition: Composition): Promise<DoctorCheck[]> {
  const { git } = composition;
  try {
    return [await checkCheckout(host, composition, await openCheckout(git, host.workingDirectory))];
  } catch (error) {
    if (isOutsideRepositories(error)) return [];
    return [{ name: 'repository', ok: false, found: 'cannot be used', problems: [asProblem(error)] }];
  }
}

async function checkCheckout(host: Host, { git }: Composition, found: Checkout): Promise<DoctorCheck> {
  const { root, commonDirectory } = found;
  const look = (path: string) => ({ path, network: readNetworkFilesystem(existingFolder(path)) });
  const folders = decideFolderCheck({
    checkout: look(root),
    common: look(commonDirectory),
    state: { ...look(host.stateDirectory), ofContainer: isContainerLayer(existingFolder(host.stateDirectory)) },
  });
  const run = await inspect(git, host.workingDirectory);
  const problems = [...folders.problems, ...run.problems];
  return { ...folders, ok: folders.ok && run.ok, problems };
}

/** Empty where nothing ran yet. */
async function checkDisk(host: Host, composition: Composition): Promise<DoctorCheck[]> {
  const workspace = await openWorkspace({ host, composition }).catch(() => undefined);
  if (workspace === undefined || !existsSync(workspace.directory)) return [];
  const { limits } = await readSettings(workspace.repository.root, composition, host).then(
    ({ settings }) => settings,
    () => ({ limits: limitsSchema.parse({}) }),
  );
  return [decideDiskCheck(await measureDisk(workspace), freeBytes(workspace.directory), limits.freeDisk)];
}

/** The first run creates the state folder. */
function existingFolder(path: string): string {
  return existsSync(path) ? path : existingFolder(dirname(path));
}

/** The warnings and refusals that a run would give. */
async function inspect(git: GitPorts, path: string): Promise<Pick<DoctorCheck, 'ok' | 'problems'>> {
  try {
    const { warnings } = await inspectForWork(git, path);
    const about = warnings.filter((warning) => warning.about !== 'git-version');
    return { ok: true, problems: about.map(({ text, next = 'You do not have to do anything.' }) => ({ text, next })) };
  } catch (error) {
    return { ok: false, problems: [asProblem(error)] };
  }
}

/** Those that settings here name, as far as they can be read. */
async function namedRuntimes(host: Host, composition: Composition): Promise<string[]> {
  try {
    const { root } = await openCheckout(composition.git, host.workingDirectory);
    const { agents = [], runtimes } = (await readSettings(root, composition, host)).settings;
    return [...agents.map(({ runtime }) => runtime), ...Object.keys(runtimes)];
  } catch {
    // The checks of the repository and its settings say why.
    return [];
  }
}

/** Each settings file that a run here would read. A problem in the user's own file comes first, because it is in every repository. */
async function checkSettings(host: Host, composition: Composition): Promise<DoctorCheck[]> {
  const own = await checkOwnFile(host, composition);
  const checkout = await openCheckout(composition.git, host.workingDirectory).catch(() => undefined);
  const isThere = checkout !== undefined && existsSync(join(checkout.root, SETTINGS_FILE));
  if (!isThere || own?.ok === false) return own === undefined ? [] : [own];
  return [await checkRepositoryFile(checkout.root, host, composition), ...(own === undefined ? [] : [own])];
}

async function checkOwnFile(host: Host, composition: Composition): Promise<DoctorCheck | undefined> {
  const name = 'config.yaml';
  try {
    const own = await readOwnSettings(composition, host);
    return own && { name, ok: true, found: `can be read, for all repositories: ${own.file}`, problems: [] };
  } catch (error) {
    return { name, ok: false, found: 'cannot be used', problems: [asProblem(error)] };
  }
}

/** Doctor does not start programs that the settings name, because the user has not agreed to them. */
async function checkRepositoryFile(root: string, host: Host, composition: Composition): Promise<DoctorCheck> {
  const name = SETTINGS_FILE;
  try {
    const read = await readSettings(root, composition, host);
    const { settings } = read;
    const rosterFile = fileOf(read, 'agents');
    const roster = rosterProblems(composition.playbooks, settings, rosterFile).map(({ file, line, message }) => ({
      text: `${file}:${line}: ${message}`,
      next: `Change \`agents\` in ${file}: \`squad run\` refuses them as they are.`,
    }));
    const programs = Object.entries(read.repository.settings.runtimes).flatMap(([runtime, { command }]) =>
      command === undefined || command === runtime
        ? []
        : [
            {
              text: `runs ${command} as ${runtime}, which doctor does not check`,
              next: `\`squad run\` checks it once you agree to it; a line ${runtime} below is not about it.`,
            },
          ],
    );
    const equipment = await equipmentProblems(read, root, host, composition);
    const ok = roster.length === 0 && equipment.length === 0;
    return { name, ok, found: ok ? 'can be read' : 'cannot be used', problems: [...roster, ...equipment, ...programs] };
  } catch (error) {
    return { name, ok: false, found: 'cannot be used', problems: [asProblem(error)] };
  }
}

/** The first problem with what each agent is equipped with. */
async function equipmentProblems(
  read: SettingsRead,
  root: string,
  host: Host,
  composition: Composition,
): Promise<DoctorCheck['problems']> {
  const { agents = [] } = read.settings;
  const about = {
    root,
    host,
    redactor: composition.redactor(letThroughBy(read.settings)),
    source: fileOf(read, 'agents'),
    agents,
  };
  const armory = openArmory(about);
  const found = agents.map(async (agent) =>
    armory.bind(agent).then(
      () => [],
      (error: unknown) => [asProblem(error)],
    ),
  );
  return (await Promise.all(found)).flat();
}

function asProblem(error: unknown): DoctorCheck['problems'][number] {
  return { text: errorText(error), next: isSquadError(error) ? (error.next ?? '') : '' };
}
