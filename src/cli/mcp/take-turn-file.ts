import { readFileSync, unlinkSync } from 'node:fs';
import { SquadError } from '../../model/errors.ts';
import { errorCode, storageError } from '../../model/storage-error.ts';
import { turnFileSchema, type TurnFile } from '../../model/mail/turn-file.ts';

/**
 * Reads and removes the file of a turn, before the agent does anything. Throws `usage` if it was taken before, `storage-full` or
 * `storage-refused` if the disk fails.
 */
export function takeTurnFile(path: string): TurnFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw storageError(path, error);
    throw new SquadError({
      code: 'usage',
      message: `${path} is not there: the mail server of this turn has started before, or this is no turn of a run`,
      next: 'Nothing: squad starts one such server for each turn. For your own mail there is `squad mail`.',
      cause: error,
    });
  }
  return parse(path, text);
}

function parse(path: string, text: string): TurnFile {
  try {
    return turnFileSchema.parse(JSON.parse(text));
  } catch (error) {
    // The text has a secret, so the error does not repeat it.
    throw new SquadError({
      code: 'bad-input',
      message: `${path} is damaged: it names no workspace and token`,
      cause: error,
    });
  }
}
