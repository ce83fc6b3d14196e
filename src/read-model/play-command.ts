import { plainText } from '../text/plain-text.ts';
import { shellWord } from '../text/shell-word.ts';

/** What plays the session in a folder. `folder`: absolute, because the reader of the command may be in any other folder. */
export function playCommand(folder: string): string {
  return `squad run --session=${shellWord(plainText(folder).replaceAll(/[\t\n]/g, ' '))}`;
}
