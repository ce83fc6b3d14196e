import { fileName, ownNames } from '../../text/file-name.ts';
import { zonedDay } from '../../text/zoned-time.ts';

/**
 * `260324-Sprint-09:00`, by the clocks of the zone. A second sprint of one minute, or of one that comes twice when clocks are set back, is
 * `260324-Sprint-09:00-2`.
 */
export function sprintId(at: number, timezone: string, taken: Iterable<string>): string {
  const { day, time } = zonedDay(at, timezone);
  const ids = new Set(taken);
  const id = `${day}-Sprint-${time}`;
  let own = id;
  for (let number = 2; ids.has(own); number += 1) own = `${id}-${number}`;
  return own;
}

/** The id as the name of a folder on every system: `260324-Sprint-09-00`. */
export function sprintFolder(id: string): string {
  return fileName(id);
}

/** The folder of each of these sprints. Where two ids would have one folder, the later one gets a number: a folder never changes. */
export function sprintFolders(ids: Iterable<string>): ReadonlyMap<string, string> {
  const own = ownNames([]);
  return new Map([...ids].map((id) => [id, own(sprintFolder(id))]));
}
