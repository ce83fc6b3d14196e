import { dirname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SquadError } from '../../../model/errors.ts';
import { isWithin } from '../files/confine.ts';
import { exists } from '../files/exists.ts';
import { updateLine } from '../installed.ts';
import type { Clock } from '../../ports/clock.ts';

const PATIENCE_MS = 60_000;
const LOOK_MS = 250;

/** The folder of squad's own program, which an update replaces. */
const OWN_FOLDER = dirname(fileURLToPath(import.meta.url));

/** The arguments that name a file of squad's own. */
export function ownFilesIn(args: readonly string[]): readonly string[] {
  return args.filter((arg) => arg !== OWN_FOLDER && isAbsolute(arg) && isWithin(OWN_FOLDER, arg));
}

/**
 * Waits for files of squad's own that are away, such as during an update of the package. Throws `storage-refused` if one stays away for
 * a minute: that pauses the run, and no runtime is blamed.
 */
export async function requireOwnFiles(
  paths: readonly string[],
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
): Promise<void> {
  const until = clock.monotonic() + PATIENCE_MS;
  for (const path of paths) {
    while (!(await exists(path))) {
      if (clock.monotonic() >= until) throw missing(path);
      await clock.sleep(LOOK_MS);
    }
  }
}

function missing(path: string): SquadError {
  return new SquadError({
    code: 'storage-refused',
    message: `${path} is missing from this installation of squad, and did not come back within a minute; the run is paused.`,
    next: `Install squad again: ${updateLine('again')}. Then continue: \`squad resume\`.`,
  });
}
