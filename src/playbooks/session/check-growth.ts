import { STATE_FILE, type Finding } from './finding.ts';
import { MOST_READ, MOST_READ_OF_ALL } from './knowledge-room.ts';
import { largestStateText } from './session-files.ts';
import type { Session } from './session.ts';

/** Characters with which squad says in the files that all tasks share what it has left out. */
const MOST_NOTES = 4096;

/** A run that does all tasks must not make the folder larger than squad reads. Judges a session without another problem. */
export function outgrown(session: Session): Finding | undefined {
  const { state, size = 0 } = session.start;
  const largest = largestStateText(session);
  const say = (file: string, message: string): Finding => {
    return { file, at: 1, message: `${message} when all tasks are done`, advice: 'correct' };
  };
  if (Buffer.byteLength(largest) > MOST_READ) return say(STATE_FILE, `${STATE_FILE} would exceed 1 MiB`);
  if (size + largest.length - state.length + MOST_NOTES <= MOST_READ_OF_ALL) return undefined;
  return say('', 'Invalid session: the folder would exceed the 32 MiB that squad reads of a session');
}
