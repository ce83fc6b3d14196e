import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { filesOf, personsBackup } from '../../substrate/ledger/backup-files.ts';
import { backUpLedger, ledgerPath } from '../../substrate/ledger/index.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openWorkspace, requireRuns } from '../../squad/open-workspace.ts';
import { printResult } from '../output.ts';
import { restoreSteps, stepsElsewhere } from '../restore-steps.ts';

export async function dbBackup(context: CommandContext, path: string | undefined, options: JsonOptions): Promise<void> {
  const { host, output } = context;
  const workspace = await openWorkspace(context);
  requireRuns(workspace);
  const { directory, composition } = workspace;
  const ledger = ledgerPath(directory);
  const target =
    path === undefined ? personsBackup(ledger, composition.clock.now()) : resolve(host.workingDirectory, path);
  const bytes = await backUpLedger(ledger, target);
  const [restore, elsewhere] = [restoreSteps(ledger, target), stepsElsewhere(target)];
  const parts = existsSync(filesOf(target)) ? `${target} and ${filesOf(target)}` : target;
  printResult(output, options, { type: 'db-backup', path: target, bytes, restore, elsewhere }, [
    `${bytes} bytes in ${target}`,
    'To restore it, end any running squad with `squad stop`, then:',
    ...restore.map((step) => `  ${step}`),
    `On another machine, put ${parts}`,
    'beside a clone of this repository, or of a mirror of it. Then, in that clone:',
    ...elsewhere.map((step) => `  ${step}`),
  ]);
}
