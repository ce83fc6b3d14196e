import { visibleText } from '../../text/plain-text.ts';
import type { Style } from './style.ts';

/** Lines of `git diff`, coloured and safe for a terminal: every character that it would obey shows as its code. */
export async function* renderPatch(
  lines: AsyncIterable<string> | Iterable<string>,
  style: Style,
): AsyncGenerator<string> {
  let inHunk = false;
  for await (const line of lines) {
    if (line.startsWith('diff --git ')) inHunk = false;
    if (line.startsWith('@@ ')) inHunk = true;
    const format = inHunk ? HUNK[line[0] ?? ''] : 'bold';
    const shown = visibleText(line);
    yield format === undefined || shown === '' ? shown : style(format, shown);
  }
}

const HUNK: Readonly<Record<string, Parameters<Style>[0] | undefined>> = { '+': 'green', '-': 'red', '@': 'cyan' };
