// Writes the table of programs in docs/threat-model.md from src/model/programs.ts: `npm run programs`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROGRAMS } from '../src/model/programs.ts';

export const PAGE = 'docs/threat-model.md';
const [BEGIN, END] = ['<!-- programs -->', '<!-- /programs -->'];

/** The page with the table as it has to be. */
export function withPrograms(page: string): string {
  const rows = Object.entries(PROGRAMS).map(([kind, row]) => {
    const free = 'isFree' in row ? '**Free.** ' : '';
    return `| \`${kind}\` | ${row.starts} | ${row.when} | ${row.reads} | ${free}${row.confinedBy} |`;
  });
  const head = ['| | program | when | what it reads of others | what confines it |', '| --- | --- | --- | --- | --- |'];
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return `${before}${BEGIN}\n\n${[...head, ...rows].join('\n')}\n\n${END}${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = join(fileURLToPath(new URL('..', import.meta.url)), PAGE);
  writeFileSync(path, withPrograms(readFileSync(path, 'utf8')));
}
