import { lstatSync } from 'node:fs';
import { SquadError } from '../../model/errors.ts';

/**
 * Throws unless the git directory is there. Where it is not, a ref, an object or a setting that git does not find says nothing: so
 * everything that was looked up is looked at again with this, before anybody concludes from it.
 */
export function requirePresent(gitDirectory: string): void {
  // A git that was moving a ref while the repository was moved leaves empty folders at the old place.
  requirePlace(`${gitDirectory}/HEAD`, gitDirectory, 'repository');
}

/** As `requirePresent`, for squad's own folder of the repository. */
export function requireState(directory: string): void {
  requirePlace(directory, directory, 'state folder');
}

function requirePlace(path: string, shown: string, what: string): void {
  try {
    lstatSync(path);
  } catch (error) {
    throw new SquadError({
      code: 'storage-refused',
      message: `${shown} is not there: the ${what} was moved, renamed or removed, or its disk does not answer`,
      next: 'Run the same command again where it is now.',
      cause: error,
    });
  }
}
