import { ledgerPath } from '../../substrate/ledger/index.ts';
import { checkLedger } from '../check-ledger.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openWorkspace } from '../../squad/open-run.ts';
import { printResult } from '../output.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Exit 0 when file and history are sound, else 65. */
export async function dbCheck(context: CommandContext, options: JsonOptions): Promise<void> {
  const { directory } = await openWorkspace(context);
  const check = checkLedger(ledgerPath(directory));
  const { ok, path, events, bytes, schemaVersion, problems, violations, outdated, backups } = check;
  printResult(context.output, options, { type: 'db-check', ...check }, [
    `${ok ? 'ok' : 'DAMAGED'}  ${path}`,
    `  ${events} events, ${bytes} bytes, schema ${schemaVersion ?? 'unknown'}`,
    ...problems.map((problem) => `  file     ${plainLine(problem, 400)}`),
    ...violations.map((violation) => `  history  ${plainLine(JSON.stringify(violation), 400)}`),
    ...(outdated ? ['  schema   older: the next `squad run` or `squad resume` makes a backup and migrates it'] : []),
    ...(backups.length > 0 ? [`  backups  ${backups.join(', ')}`] : []),
    ...(ok ? [] : ['Next: copy this file, then restore a backup named above while no squad is running.']),
  ]);
  context.exit(ok ? 0 : 65);
}
