/**
 * The index of the `---` that closes the front matter, which begins with one on the first line. undefined: there is none; -1: nothing
 * closes it.
 */
export function endOfFrontMatter(lines: readonly string[]): number | undefined {
  const isFence = (line: string | undefined): boolean => line?.trimEnd() === '---';
  return isFence(lines[0]) ? lines.findIndex((line, index) => index > 0 && isFence(line)) : undefined;
}

/** The text for people and agents; the front matter is for squad. */
export function withoutFrontMatter(text: string): string {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n?|\n/);
  return lines.slice((endOfFrontMatter(lines) ?? -1) + 1).join('\n');
}
