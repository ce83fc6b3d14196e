import { relative, resolve } from 'node:path';
import { personsBackup } from '../../substrate/ledger/backup-files.ts';
import { backUpLedger, ledgerPath } from '../../substrate/ledger/index.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { CommandContext } from '../command-context.ts';
import { openWorkspace } from '../open-run.ts';

export async function dbBackup(
  context: CommandContext,
  path: string | undefined,
  options: { json?: boolean },
): Promise<void> {
  const { host, output } = context;
  const { directory, composition } = await openWorkspace(context);
  const ledger = ledgerPath(directory);
  const target =
    path === undefined ? personsBackup(ledger, composition.clock.now()) : resolve(host.workingDirectory, path);
  const bytes = await backUpLedger(ledger, target);
  const restore = restoreSteps(relative(host.workingDirectory, ledger), relative(host.workingDirectory, target));
  if (options.json === true) {
    output.json({ type: 'db-backup', path: target, bytes, restore });
    return;
  }
  output.line(`${bytes} bytes in ${target}`);
  output.line('To restore it, end any running squad with `squad stop`, then:');
  for (const step of restore) output.line(`  ${step}`);
}

/** Moves the old file away first: a process that has it open must not write into the restored one. */
function restoreSteps(ledger: string, backup: string): string[] {
  const [from, to] = [shellWord(backup), shellWord(ledger)];
  return [
    `cp ${from} ${to}.restored`,
    `mv ${to} ${to}.damaged; rm -f ${to}-wal ${to}-shm`,
    `mv ${to}.restored ${to}`,
    'squad db check && squad resume',
  ];
}
