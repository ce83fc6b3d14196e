import { usageError, type SquadError } from './errors.ts';

/** In the words of the session's specification. */
export const SESSION_REQUIRED = 'Session required. Usage: --session=<path-to-session-folder>';

export function sessionRequired(): SquadError {
  return usageError(
    SESSION_REQUIRED,
    'Name the folder of a session: `squad run --session=FOLDER`, `squad session check FOLDER`; or have one made: `squad coordinate objective.md`.',
  );
}
