import { fenceFor } from '../text/fence.ts';
import { plainText } from '../text/plain-text.ts';

/**
 * Markdown around text from agents, repositories and programs. Their text cannot make a heading, a fence, a cell, a tag or a
 * link with a false name, and reaches a terminal as plain characters only.
 */

const MOST_INLINE = 300;
const MOST_BLOCK = 4_000;

/** On one line, within a paragraph, a list item or a table's cell. */
export function inline(text: string, most = MOST_INLINE): string {
  const line = plainText(text.slice(0, most * 20).toWellFormed())
    .replaceAll(/\s+/g, ' ')
    .trim();
  const cut = line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
  return (
    cut
      .replaceAll(/[\\`*[\]<>&|~!$]/g, String.raw`\$&`)
      // Within a word an underscore is harmless, and an escape makes names hard to read.
      .replaceAll(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, String.raw`\_`)
      // At the start of a text these begin a block.
      .replace(/^[#+=-]/, String.raw`\$&`)
      .replace(/^(\d+)([.)])/, String.raw`$1\$2`)
  );
}

/** The text unchanged, in a fence longer than any within it. Only for the top level of a document. */
export function block(text: string, most = MOST_BLOCK): string {
  const all = plainText(text.toWellFormed()).trimEnd();
  const body = all.slice(0, most).toWellFormed();
  const fence = fenceFor(body);
  const more = all.length > most ? `\n\n(${all.length - most} more characters)` : '';
  return `${fence}text\n${body}\n${fence}${more}`;
}

/** The cells are Markdown. An empty one shows as a dash. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell || '–').join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** undefined: no rows. */
export function tableSection(title: string, ...of: Parameters<typeof table>): string | undefined {
  return of[1].length === 0 ? undefined : `## ${title}\n\n${table(...of)}`;
}

/** undefined: no lines. */
export function listSection(title: string, lines: readonly string[]): string | undefined {
  return lines.length === 0 ? undefined : `## ${title}\n\n${list(lines)}`;
}

export function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** Only for the engine's own plain words: slugs, commit ids, branches. */
export function code(text: string): string {
  return `\`${text.replaceAll(/[^\w./:@#-]/g, '')}\``;
}
