import { join } from 'node:path';
import { compose } from '../../compose.ts';
import { openCheckout } from '../../substrate/git/repository.ts';
import { ledgerPath } from '../../substrate/ledger/index.ts';
import { checkLedger } from '../check-ledger.ts';
import type { CommandContext } from '../command-context.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Exit 0 when file and history are sound, else 65. */
export async function dbCheck({ host, output, exit }: CommandContext, options: { json?: boolean }): Promise<void> {
  const repository = await openCheckout(compose(host).git, host.workingDirectory);
  const check = checkLedger(ledgerPath(join(repository.root, '.squad')));
  if (options.json === true) output.json({ type: 'db-check', ...check });
  else {
    output.line(`${check.ok ? 'ok' : 'DAMAGED'}  ${check.path}`);
    output.line(`  ${check.events} events, ${check.bytes} bytes, schema ${check.schemaVersion ?? 'unknown'}`);
    for (const problem of check.problems) output.line(`  file     ${plainLine(problem, 400)}`);
    for (const violation of check.violations) output.line(`  history  ${plainLine(JSON.stringify(violation), 400)}`);
    if (check.outdated) {
      output.line('  schema   older: the next `squad run` or `squad resume` makes a backup and migrates it');
    }
    if (check.backups.length > 0) output.line(`  backups  ${check.backups.join(', ')}`);
    if (!check.ok) output.line('Next: copy this file, then restore a backup named above while no squad is running.');
  }
  exit(check.ok ? 0 : 65);
}
