import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { filesOf, personsBackup } from '../../substrate/ledger/backup-files.ts';
import { backUpLedger, ledgerPath } from '../../substrate/ledger/index.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openWorkspace } from '../../squad/open-run.ts';
import { printResult } from '../output.ts';

export async function dbBackup(context: CommandContext, path: string | undefined, options: JsonOptions): Promise<void> {
  const { host, output } = context;
  const { directory, composition } = await openWorkspace(context);
  const ledger = ledgerPath(directory);
  const target =
    path === undefined ? personsBackup(ledger, composition.clock.now()) : resolve(host.workingDirectory, path);
  const bytes = await backUpLedger(ledger, target);
  const restore = restoreSteps(ledger, target);
  printResult(output, options, { type: 'db-backup', path: target, bytes, restore }, [
    `${bytes} bytes in ${target}`,
    'To restore it, end any running squad with `squad stop`, then:',
    ...restore.map((step) => `  ${step}`),
  ]);
}

/** Moves the old file away first: a process that has it open must not write into the restored one. */
function restoreSteps(ledger: string, backup: string): string[] {
  const [from, to] = [shellWord(backup), shellWord(ledger)];
  const files = filesOf(backup);
  return [
    `cp ${from} ${to}.restored`,
    ...(existsSync(files) ? [`cp -R -n ${shellWord(files)}/. ${shellWord(dirname(ledger))}/`] : []),
    `mv ${to} ${to}.damaged; rm -f ${to}-wal ${to}-shm`,
    `mv ${to}.restored ${to}`,
    'squad db check && squad resume',
  ];
}
