import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compose, requireProgram, type Composition, type Host } from '../../compose.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { RUNTIME_NAMES } from '../../model/runtime-name.ts';
import { readSettings, SETTINGS_FILE } from '../../preflight/read-input.ts';
import type { Probe } from '../../runtimes/port/agent-runtime.ts';
import { decideVersionWarning, isTooOld, parseGitVersion } from '../../substrate/git/git-version.ts';
import { openCheckout } from '../../substrate/git/repository.ts';
import { readNetworkFilesystem } from '../../substrate/ledger/filesystem-kind.ts';
import { sqliteLibrary } from '../../substrate/ledger/index.ts';
import type { CommandContext } from '../command-context.ts';
import { decideFolderCheck } from '../folder-check.ts';
import { renderDoctor, type DoctorCheck } from '../render/doctor-report.ts';
import { decideTracingCheck } from '../tracing-check.ts';

/** Exit 0 when at least one agent runtime can be used here, else 78. */
export async function doctor({ host, output, exit }: CommandContext, options: { json?: boolean }): Promise<void> {
  const composition = compose(host);
  const agents = RUNTIME_NAMES.filter((name) => name !== 'scripted');
  const probes = await Promise.all(
    agents.map(async (name) => ({ name, probe: await composition.runtime(name).probe() })),
  );
  const checks = [
    { name: 'node', ok: true, found: `${process.version} at ${host.node}`, problems: [] },
    checkSqlite(),
    await checkGit(host, composition),
    ...(await checkFolders(host, composition)),
    ...(await checkSettings(host, composition)),
    ...decideTracingCheck(host.environment),
    ...probes.map(({ name, probe }) => checkOf(name, probe)),
  ];
  if (options.json === true)
    output.json({
      type: 'doctor',
      checks,
      runtimes: Object.fromEntries(probes.map(({ name, probe }) => [name, probe])),
    });
  else output.line(renderDoctor(checks));
  exit(
    probes.some(({ probe }) => probe.ok) &&
      checks.every((check) => check.ok || agents.some((name) => name === check.name))
      ? 0
      : 78,
  );
}

function checkOf(name: string, probe: Probe): DoctorCheck {
  const floor = probe.floor === undefined ? '' : ` (needs ${probe.floor})`;
  const found =
    probe.binary === undefined
      ? 'not found'
      : `${probe.version ?? 'unknown version'}${floor} at ${probe.binary}, login ${probe.login}, sandbox ${probe.sandbox}`;
  return { name, ok: probe.ok, found, problems: probe.problems };
}

/** Of the repository one is in, and of the folder that its worktrees go to. */
async function checkFolders(host: Host, composition: Composition): Promise<DoctorCheck[]> {
  const found = await openCheckout(composition.git, host.workingDirectory).catch(() => undefined);
  if (found === undefined) return [];
  const { root, commonDirectory } = found;
  const look = (path: string) => ({ path, network: readNetworkFilesystem(existingFolder(path)) });
  return [decideFolderCheck({ checkout: look(root), common: look(commonDirectory), state: look(host.stateHome) })];
}

/** The state folder is made by the first run. */
function existingFolder(path: string): string {
  return existsSync(path) ? path : existingFolder(dirname(path));
}

/** Of the repository one is in, if it is one and has settings. Programs that these name are not started: nobody agreed to them. */
async function checkSettings(host: Host, composition: Composition): Promise<DoctorCheck[]> {
  const found = await openCheckout(composition.git, host.workingDirectory).catch(() => undefined);
  if (found === undefined || !existsSync(join(found.root, SETTINGS_FILE))) return [];
  try {
    const { settings } = await readSettings(found.root);
    const problems = Object.entries(settings.runtimes).flatMap(([name, { command }]) =>
      command === undefined || command === name
        ? []
        : [
            {
              text: `runs ${command} as ${name}, which is not looked at here`,
              next: `\`squad run\` looks at it, once you agreed to it; the line ${name} below is about the ${name} on PATH.`,
            },
          ],
    );
    return [{ name: SETTINGS_FILE, ok: true, found: 'can be read', problems }];
  } catch (error) {
    const next = isSquadError(error) ? (error.next ?? '') : '';
    return [{ name: SETTINGS_FILE, ok: false, found: 'cannot be used', problems: [{ text: errorText(error), next }] }];
  }
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
    const run = await composition.processes.run(binary, ['--version'], { env, timeoutMs: 10_000 });
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
    const next = isSquadError(error) ? (error.next ?? '') : '';
    return { name: 'git', ok: false, found: 'not found', problems: [{ text: errorText(error), next }] };
  }
}
