import { usageError, type SquadError } from '../../model/errors.ts';

/** In the words of the session's specification. */
export function sessionRequired(): SquadError {
  return usageError(
    'Session required. Usage: --session=<path-to-session-folder>',
    'Name the folder of a session: `squad run --session=FOLDER`, `squad session check FOLDER`; or have one made: `squad coordinate objective.md`.',
  );
}
