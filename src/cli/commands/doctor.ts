import type { CommandContext } from '../command-context.ts';
import { decideIsolationCheck, decideTracingCheck } from '../doctor-checks.ts';
import { renderDoctor, type DoctorCheck } from '../render/doctor-report.ts';
import { checkRepository } from '../repository-check.ts';
import { compose, requireProgram, type Composition, type Host } from '../../compose.ts';
import { errorText, isSquadError } from '../../model/errors.ts';
import { RUNTIME_NAMES } from '../../model/runtime-name.ts';
import type { Probe } from '../../runtimes/port/agent-runtime.ts';
import { decideVersionWarning, isTooOld, parseGitVersion } from '../../substrate/git/inspect-repository.ts';
import { sqliteLibrary } from '../../substrate/ledger/index.ts';

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
    ...(await checkTurns(host, composition)),
    await checkGit(host, composition),
    ...(await checkRepository(host, composition.git)),
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

/** On other systems no turn can run, and the checks of the runtimes say so. */
async function checkTurns({ platform }: Host, { processes }: Composition): Promise<DoctorCheck[]> {
  return platform === 'linux' ? [decideIsolationCheck(await processes.isolation())] : [];
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
