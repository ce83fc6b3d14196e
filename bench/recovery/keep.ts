import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';

const RESULTS = fileURLToPath(new URL('../recovery.json', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../docs/recovery.md', import.meta.url));

export interface Machine {
  readonly node: string;
  readonly platform: string;
  readonly cpus: number;
  readonly load: number;
}

export function machineNow(): Machine {
  const [load = 0] = loadavg();
  return { node: process.version, platform: process.platform, cpus: cpus().length, load };
}

/** One part of the results; the other part stays. */
export function writeResults(part: 'kills' | 'peers', report: object, markdown: string): void {
  const { peers, ...kills } = JSON.parse(readFileSync(RESULTS, 'utf8')) as Record<string, unknown>;
  const all = part === 'kills' ? { ...report, peers } : { ...kills, peers: report };
  writeFileSync(RESULTS, `${JSON.stringify(all, null, 2)}\n`);
  const marker = part === 'kills' ? 'results' : 'peers';
  writeFileSync(DOCUMENT, between(readFileSync(DOCUMENT, 'utf8'), marker, markdown));
}

/** The text with this between its marker comments. */
export function between(text: string, marker: string, inside: string): string {
  const [begin, end] = [`<!-- ${marker}: begin -->`, `<!-- ${marker}: end -->`];
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`the document has lost its comments ${begin}`);
  return `${before}${begin}\n\n${inside}\n\n${end}${after}`;
}
