import { basename, dirname } from 'node:path';
import type { Finished } from '../engine.ts';
import type { Weight } from './places.ts';

/** What was said of a harmed room; `rows`: how the ledger's rows are to those before, as SQLite itself reads them. */
export interface Said {
  readonly weight: Weight;
  readonly harm: string;
  readonly path: string;
  readonly rows: 'same' | 'fewer' | 'others';
  readonly check: Finished;
  readonly status: Finished;
  readonly resume: Finished;
  readonly outcome: unknown;
  readonly isWhole: boolean;
}

type Codes = readonly [check: number, status: number, resume: number];

const FINE: Codes = [0, 0, 0];
/** The run ends with a task that failed, or asks a person. */
const TASK: Codes = [0, 0, 1];
const ASKS: Codes = [0, 0, 3];
const DAMAGED: Codes = [65, 65, 65];
const REFUSED: Codes = [75, 75, 75];
const NO_RUN: Codes = [2, 2, 2];

/** Which codes of check, status and resume are right together. */
function rightCodes({ weight, harm, rows, path }: Said): readonly Codes[] {
  const isLink = harm.startsWith('is a link');
  switch (weight) {
    case 'ledger':
      if (isLink || harm === 'cannot be read') return [REFUSED];
      if (path.endsWith('-shm')) return /folder|pipe|socket/.test(harm) ? [REFUSED] : [FINE];
      return { same: [FINE], fewer: [FINE, ASKS, DAMAGED], others: [DAMAGED] }[rows];
    case 'needed':
      if (harm === 'cannot be read') return [REFUSED];
      return harm === 'is a link' ? [FINE] : [DAMAGED];
    case 'spare':
      return [FINE];
    case 'a folder of squad’s':
      return isLink || harm === 'cannot be read' ? [FINE, [0, 0, 75]] : [FINE];
    case 'of a turn':
      // A person may have put a folder on another disk.
      return isLink || harm === 'cannot be read' ? [FINE, TASK, [0, 0, 75]] : [FINE, TASK];
    case 'binding':
      return [FINE, NO_RUN, REFUSED];
    case 'consent':
      return [FINE, [0, 0, 65], [0, 0, 77], [0, 0, 78], [0, 0, 75]];
    case 'of git':
      return [FINE, TASK, ASKS, [0, 0, 78], [0, 0, 75]];
    default:
      return weight satisfies never;
  }
}

/** undefined of a command that was killed: it hung. */
const NAMES_NOTHING = new Set([0, 1, 3, 77]);

/** One line for each thing that is wrong. */
export function judge(said: Said): string[] {
  const { check, status, resume, path, weight, outcome, isWhole } = said;
  const all = { check, status, resume };
  const codes = [check.code, status.code, resume.code];
  const right = rightCodes(said).some((one) => one.every((code, index) => code === codes[index]));
  const wrong = right ? [] : ['these codes are not right'];
  for (const [name, { code, signal, stdout, stderr }] of Object.entries(all)) {
    if (signal !== null) wrong.push(`${name} hung`);
    if (/a bug|TypeError|SyntaxError|\bat file:|squad failed at it/.test(stdout + stderr))
      wrong.push(`${name} found a bug`);
    if (NAMES_NOTHING.has(code ?? 0)) continue;
    const words = stdout + stderr;
    if (!words.includes('Next: ')) wrong.push(`${name} names no next command`);
    const names = [path, ...(weight === 'ledger' ? [path.replace(/-(?:wal|shm)$/, '')] : [])];
    const isNamed =
      names.some((one) => words.includes(one)) || words.includes(`${dirname(path)}/`) || words.includes(basename(path));
    // Where consent is missing, no file is at fault.
    const isAsked = weight === 'consent' && words.includes('--yes');
    if (code !== 2 && !isNamed && !isAsked) wrong.push(`${name} does not name the file`);
    if (code === 2 && !words.includes('squad state --adopt')) wrong.push(`${name} does not say where the runs are`);
  }
  if (outcome === 'done' && !isWhole) wrong.push('done, and the work is not there');
  if (resume.code === 0 && outcome !== 'done') wrong.push(`resume ends with 0, and the run is ${String(outcome)}`);
  return wrong;
}
