import type { Schedule } from '../../model/schedule.ts';
import { readConfinedStart } from '../../substrate/system/files/open-confined.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import { parseSchedules } from '../settings/parse-schedules.ts';
import type { SettingsFile } from './read-settings.ts';

const FILE = 'squad.yaml';
/** More than a settings file may have, so that its parser reports its own limit. */
const MOST_BYTES = 300 * 1024;

export interface RepositorySchedules {
  readonly schedules: readonly Schedule[];
  /** `notify` of the same file. */
  readonly notify: string | undefined;
  readonly source: SettingsFile;
}

/**
 * The schedules of a repository, and the file that has them. Throws `bad-input` for all that is wrong with them. Loads nothing that only
 * runs need, because the service stays in memory.
 */
export async function readSchedules(root: string): Promise<RepositorySchedules> {
  const text = (await readConfinedStart(root, FILE, MOST_BYTES))?.text ?? (await textOrRefusal(root));
  const source = { file: FILE, text };
  const parsed = parseSchedules(text, FILE);
  if (!parsed.ok) throw (await import('./read-input.ts')).problemError(parsed.problems);
  const { schedules = [], notify } = parsed.value;
  return { schedules, notify, source };
}

/** Empty if there is no such file. */
async function textOrRefusal(root: string): Promise<string> {
  if (!(await exists(`${root}/${FILE}`))) return '';
  const { orThrow, readConfined } = await import('./read-input.ts');
  const read = await readConfined(root, FILE);
  return read.type === 'absent' ? '' : orThrow(read, FILE);
}
