import { join } from 'node:path';
import { errorText } from '../../model/errors.ts';
import type { Schedule } from '../../model/schedule.ts';
import { readSchedules } from '../preflight/read-schedules.ts';
import { stampOf } from './watched-files.ts';

/** The schedules of squad.yaml, read again when it changes. While it has problems, those that were read last stay. */
export function schedulesNow(root: string, say: (text: string) => void) {
  const file = [join(root, 'squad.yaml')];
  let known: readonly Schedule[] = [];
  let stamp: string | undefined;
  return async (): Promise<readonly Schedule[]> => {
    const now = stampOf(file);
    if (now === stamp) return known;
    stamp = now;
    try {
      known = (await readSchedules(root)).schedules;
    } catch (error) {
      say(`the schedules stay as they were: ${errorText(error)}`);
    }
    return known;
  };
}
