/** The first `most` lines, and one that says how many are left; all of them if there are no more. */
export function atMost(lines: readonly string[], most: number, more: (left: number) => string): string[] {
  return lines.length <= most ? [...lines] : [...lines.slice(0, most), more(lines.length - most)];
}
