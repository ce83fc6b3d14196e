import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { filesOf } from '../substrate/ledger/backup-files.ts';
import { PLACE_FILE } from '../substrate/system/files/state-place.ts';
import { shellWord } from '../text/shell-word.ts';

const RESTORED = 'squad-restored';
export const LAST_STEP = 'squad db check && squad resume';

/**
 * Lines for a shell that put a backup of the ledger in its place, also where nothing is any more. They move the old file away first:
 * a process that has it open must not write into the restored one.
 */
export function restoreSteps(ledger: string, backup: string): string[] {
  const [from, to, folder] = [backup, ledger, dirname(ledger)].map(shellWord) as [string, string, string];
  const files = filesOf(backup);
  const place = shellWord(join(dirname(ledger), PLACE_FILE));
  return [
    `mkdir -p ${folder}`,
    `cp ${from} ${to}.restored`,
    // Some versions of cp fail for what is there already.
    ...(existsSync(files) ? [`cp -R -n ${shellWord(files)}/. ${folder}/ || true`] : []),
    `[ ! -e ${to} ] || mv ${to} ${to}.damaged; rm -rf ${to}-wal ${to}-shm`,
    `mv ${to}.restored ${to}`,
    `[ -f ${place} ] || squad state --adopt ${folder}`,
    LAST_STEP,
  ];
}

/** Lines for another machine, run in a clone of the repository whose parent folder has the backup. */
export function stepsElsewhere(backup: string): string[] {
  const from = shellWord(`../${basename(backup)}`);
  const to = `../${RESTORED}`;
  return [
    "git fetch origin 'refs/heads/squad/*:refs/heads/squad/*' 'refs/squad/*:refs/squad/*'",
    `mkdir -p ${to}`,
    `cp ${from} ${to}/squad.db`,
    ...(existsSync(filesOf(backup)) ? [`cp -R ${shellWord(`../${basename(filesOf(backup))}`)}/. ${to}/`] : []),
    `squad state --adopt ${to}`,
    LAST_STEP,
  ];
}

/** Lines that put a file back that the ledger names and that a backup has beside it. `file`: its path below the ledger's folder. */
export function fileSteps(ledger: string, backup: string, file: string): string[] {
  const places = [join(filesOf(backup), file), join(dirname(ledger), file), dirname(join(dirname(ledger), file))];
  const [source, target, folder] = places.map(shellWord) as [string, string, string];
  return [`[ -d ${folder} ] || { rm -f ${folder}; mkdir -p ${folder}; }`, `rm -rf ${target}`, `cp ${source} ${target}`];
}
