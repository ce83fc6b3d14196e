import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decideFolderCheck } from './doctor-checks.ts';
import type { DoctorCheck } from './render/doctor-report.ts';
import type { Host } from '../compose.ts';
import { errorText, isSquadError } from '../model/errors.ts';
import { readSettings, SETTINGS_FILE } from '../preflight/read-input.ts';
import { rosterProblems } from '../preflight/staffing.ts';
import type { GitPorts } from '../substrate/git/git-call.ts';
import { inspectRepository } from '../substrate/git/inspect-repository.ts';
import { openCheckout, openRepository } from '../substrate/git/repository.ts';
import { readNetworkFilesystem } from '../substrate/ledger/filesystem-kind.ts';

/** Checks the checkout that doctor runs in: its folders, the warnings of a run, its settings. No checks outside of one. */
export async function checkRepository(host: Host, git: GitPorts): Promise<DoctorCheck[]> {
  const found = await openCheckout(git, host.workingDirectory).catch(() => undefined);
  if (found === undefined) return [];
  const { root, commonDirectory } = found;
  const look = (path: string) => ({ path, network: readNetworkFilesystem(existingFolder(path)) });
  const folders = decideFolderCheck({
    checkout: look(root),
    common: look(commonDirectory),
    state: look(host.stateHome),
  });
  const run = await inspect(git, host.workingDirectory);
  const problems = [...folders.problems, ...run.problems];
  const repository = { ...folders, ok: folders.ok && run.ok, problems };
  return [repository, ...(existsSync(join(root, SETTINGS_FILE)) ? [await checkSettings(root)] : [])];
}

/** The first run creates the state folder. */
function existingFolder(path: string): string {
  return existsSync(path) ? path : existingFolder(dirname(path));
}

/** The warnings and refusals that a run would give. Doctor ignores a repository without a commit. */
async function inspect(git: GitPorts, path: string): Promise<Pick<DoctorCheck, 'ok' | 'problems'>> {
  const ready = await openRepository(git, path).then(
    () => true,
    () => false,
  );
  if (!ready) return { ok: true, problems: [] };
  try {
    const { warnings } = await inspectRepository(git, path);
    const about = warnings.filter((warning) => warning.about !== 'git-version');
    return { ok: true, problems: about.map(({ text, next = 'You do not have to do anything.' }) => ({ text, next })) };
  } catch (error) {
    return { ok: false, problems: [problemOf(error)] };
  }
}

/** Doctor does not start programs that the settings name, because the user has not agreed to them. */
async function checkSettings(root: string): Promise<DoctorCheck> {
  const name = SETTINGS_FILE;
  try {
    const { settings, text } = await readSettings(root);
    const roster = rosterProblems(settings, text).map(({ file, line, message }) => ({
      text: `${file}:${line}: ${message}`,
      next: `Change \`agents\` in ${SETTINGS_FILE}: \`squad run\` refuses them as they are.`,
    }));
    const programs = Object.entries(settings.runtimes).flatMap(([runtime, { command }]) =>
      command === undefined || command === runtime
        ? []
        : [
            {
              text: `runs ${command} as ${runtime}, which doctor does not check`,
              next: `\`squad run\` checks it once you agree to it; the line ${runtime} below is about the ${runtime} on PATH.`,
            },
          ],
    );
    const ok = roster.length === 0;
    return { name, ok, found: ok ? 'can be read' : 'cannot be used', problems: [...roster, ...programs] };
  } catch (error) {
    return { name, ok: false, found: 'cannot be used', problems: [problemOf(error)] };
  }
}

function problemOf(error: unknown): DoctorCheck['problems'][number] {
  return { text: errorText(error), next: isSquadError(error) ? (error.next ?? '') : '' };
}
