import { writeSync } from 'node:fs';

/** Most bytes of one line of the host. */
const MOST_BYTES = 256 * 1024;
const STDOUT = 1;

let isOver = false;

/** Writes one line, and waits until it is written, so that a flood grows nothing. After a result or an error nothing follows. */
export function writeLine(line: Readonly<Record<string, unknown>>): void {
  if (isOver) return;
  isOver = line['type'] === 'result' || line['type'] === 'error';
  const bytes = Buffer.from(`${lineOf(line)}\n`);
  for (let at = 0; at < bytes.length;) at += writeSync(STDOUT, bytes, at);
}

/** The line as JSON; `cut: true`: its texts and lists were too long. */
export function lineOf(line: Readonly<Record<string, unknown>>): string {
  try {
    // Never written whole first: what is thrown away at once is still memory.
    for (const most of [64 * 1024, 4096, 64]) {
      let isCut = false;
      const text = JSON.stringify(line, (_key, value: unknown) => {
        const short = shortened(value, most);
        isCut ||= short !== value;
        return short;
      });
      if (fits(text)) return isCut ? `${text.slice(0, -1)},"cut":true}` : text;
    }
  } catch {
    // Nested too deeply, which is cut like the rest.
  }
  return JSON.stringify({ type: line['type'], cut: true, ...scalars(line), update: scalars(line['update']) });
}

function fits(text: string): boolean {
  return text.length < MOST_BYTES && (text.length * 3 < MOST_BYTES || Buffer.byteLength(text) < MOST_BYTES);
}

function shortened(value: unknown, most: number): unknown {
  if (typeof value === 'string') return value.length > most ? value.slice(0, most).toWellFormed() : value;
  return Array.isArray(value) && value.length > most ? value.slice(0, most) : value;
}

function scalars(value: unknown): Record<string, unknown> {
  const short = Object.entries(Object(value)).filter(([key, item]) => key.length <= 64 && typeof item !== 'object');
  return Object.fromEntries(short.slice(0, 64).map(([key, item]) => [key, shortened(item, 256)]));
}
