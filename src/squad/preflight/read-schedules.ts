import type { Schedule } from '../../model/schedule.ts';
import { parseSchedules } from '../settings/parse-schedules.ts';
import { readSettingsText } from './read-settings-text.ts';
import type { SettingsFile } from './read-settings.ts';

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
  const source = await readSettingsText(root);
  const parsed = parseSchedules(source.text, source.file);
  if (!parsed.ok) throw (await import('./read-input.ts')).problemError(parsed.problems);
  const { schedules = [], notify } = parsed.value;
  return { schedules, notify, source };
}
