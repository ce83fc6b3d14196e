import { plainLine } from './plain-text.ts';

/** Joins a reason of several lines into one line. A line that ends with a colon leads to the next one. */
export function reasons(why: string): string {
  return why.trim().replaceAll(/(:?)\s*\n\s*/g, (_, colon: string) => (colon === '' ? '; ' : ': '));
}

/** Shorter words stand in other sentences by chance. */
const LEAST = 12;

/** A reason on one line, as far as `said` does not have it already: '' if all of it was said, the rest if it was cut there. */
export function unsaid(text: string, said: string): string {
  const line = plainLine(reasons(text), Infinity);
  if (isSaid(line, said)) return '';
  const before = plainLine(reasons(said), Infinity);
  const begin = line.slice(0, LEAST);
  for (const { index: end } of before.matchAll(/…/g)) {
    let start = before.indexOf(begin);
    while (start >= 0 && !line.startsWith(before.slice(start, end))) start = before.indexOf(begin, start + 1);
    if (start < 0 || start + LEAST > end) continue;
    // The word that was cut stands whole in the rest.
    const cutAt = end - start;
    return `…${line.slice(line.lastIndexOf(' ', cutAt - 1) + 1 || cutAt)}`;
  }
  return line;
}

/** Whether `said` has the whole of it, however their lines were joined. */
export function isSaid(text: string, said: string): boolean {
  const part = joined(text);
  return part === '' || joined(said).includes(part);
}

function joined(text: string): string {
  return plainLine(text, Infinity).replaceAll(/[\s;]+/g, ' ');
}
