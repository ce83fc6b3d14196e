import { lstat, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { compose } from '../../engine/compose.ts';
import { usageError } from '../../model/errors.ts';
import { SPRINT } from '../../model/playbook-name.ts';
import { folderPathSchema } from '../../model/settings-text.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { SETTINGS_FILE } from '../../squad/preflight/read-input.ts';
import { rawSettings } from '../../squad/settings/parse-settings.ts';
import { proposeSteps, renderSettings } from '../../squad/preflight/starter-files.ts';
import { starterSection, starterTeam, TEAM_FOLDER } from '../../squad/preflight/team-starter/files.ts';
import { withSection } from '../../squad/preflight/team-starter/with-section.ts';
import { writeWhole } from '../../substrate/system/files/run-files.ts';
import { plainLine } from '../../text/plain-text.ts';
import { firstFiles } from '../../view/report/team/team-files.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { printResult } from '../output.ts';
import { probeAgents } from './doctor.ts';
import { findRoot, lookAround, refuseLinkedFolder, writeNew } from './init-files.ts';

/** As the settings begin with it. */
const TIMEZONE = 'Asia/Seoul';

/** Writes the folder of a team and its section of `squad.yaml`. Files that are there stay as they are. */
export async function initTeam({ host, output }: CommandContext, options: Options<'init'>): Promise<void> {
  const composition = compose(host);
  const folder = folderOf(options.into);
  const { root, hasCommit } = await findRoot(composition, host.workingDirectory);
  const files = filesBelow(folder);
  for (const name of new Set([...files.keys()].map((path) => dirname(path)))) await refuseLinkedFolder(root, name);
  const usable = (await probeAgents(composition, host)).filter(({ probe, onlyByName }) => probe.ok && !onlyByName);
  const runtimes = usable.map(({ name }) => name);
  const section = starterSection(folder, runtimes);
  const before = await settingsIn(root);
  const steps = before === undefined ? proposeSteps(await lookAround(composition, root)) : {};
  const settings =
    before === undefined ? `${renderSettings(runtimes, steps)}\n${section}` : withSection(before, section, SPRINT);
  const written: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of files) ((await writeNew(join(root, name), text)) ? written : kept).push(name);
  const added = await writeSettings(root, before, settings);
  (added ? written : kept).push(SETTINGS_FILE);
  const next = nextSteps({ folder, isSet: added || SPRINT in rawSettings(before ?? ''), hasCommit, runtimes });
  printResult(output, options, { type: 'init', root, folder, written, kept, runtimes, next }, [
    ...written.map(
      (name) =>
        `${name === SETTINGS_FILE && before !== undefined ? 'added ' : 'wrote '} ${plainLine(join(root, name))}`,
    ),
    ...kept.map((name) => `kept   ${plainLine(join(root, name))}  (it was there; nothing in it was changed)`),
    '',
    ...next.map((step) => `Next: ${plainLine(step, 400)}`),
  ]);
}

function folderOf(into: string | undefined): string {
  const folder = (into ?? TEAM_FOLDER).replace(/^\.\//, '').replace(/\/+$/, '');
  const checked = folderPathSchema.safeParse(folder);
  if (checked.success && folder !== '.git' && !folder.startsWith('.git/')) return folder;
  throw usageError(
    `--into ${JSON.stringify(plainLine(folder, 80))} is no folder of the repository`,
    'Name it by its path from the root of the repository, such as `--into team`, without “..”.',
  );
}

/** The documents of people, and the files of a team that has done nothing yet. */
function filesBelow(folder: string): Map<string, string> {
  const first = firstFiles(TIMEZONE).flatMap(({ path, text }) =>
    typeof text === 'string' ? [[path, text] as const] : [],
  );
  const shown = first.filter(([path]) => path.endsWith('.md'));
  return new Map([...Object.entries(starterTeam()), ...shown].map(([path, text]) => [join(folder, path), text]));
}

async function settingsIn(root: string): Promise<string | undefined> {
  const path = join(root, SETTINGS_FILE);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw storageError(path, error);
  }
}

/** Adds to a file that is there, in one step. False: it stays as it is. A link stays one, so it is left alone. */
async function writeSettings(root: string, before: string | undefined, settings: string | undefined): Promise<boolean> {
  const path = join(root, SETTINGS_FILE);
  if (settings === undefined) return false;
  if (before === undefined) return writeNew(path, settings);
  const found = await lstat(path);
  if (!found.isFile()) return false;
  await writeWhole(path, settings, { mode: found.mode & 0o777 });
  return true;
}

function nextSteps(found: {
  readonly folder: string;
  readonly isSet: boolean;
  readonly hasCommit: boolean;
  readonly runtimes: readonly string[];
}): string[] {
  const { folder, isSet, hasCommit, runtimes } = found;
  return [
    ...(isSet ? [] : [`add to ${SETTINGS_FILE}: \`sprint: { folder: ${folder} }\``]),
    `fill in ${folder}/workspace_context.md, then commit the folder: agents see committed files`,
    ...(hasCommit ? [] : ['make a first commit, which sprints start from: `git add -A && git commit -m "first"`']),
    ...(runtimes.length > 0 ? [] : ['install an agent runtime: `squad doctor` says how']),
    'ask for something: `squad request "…"`; or start a sprint: `squad sprint start "milestone"`',
  ];
}
