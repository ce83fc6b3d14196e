import { ledgerPath } from '../../substrate/ledger/index.ts';
import { checkLedger } from '../check-ledger.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openWorkspace } from '../../squad/open-run.ts';
import { printResult } from '../output.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Exit 0 when file, history and bodies of messages are sound, else 65. A ledger that cannot be read is no damaged one: 75. */
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
    ...(ok ? [] : [nextOf(backups)]),
  ]);
  context.exit(ok ? 0 : 65);
}

function nextOf(backups: readonly string[]): string {
  const first = 'Next: copy the folder of this file while no squad is running.';
  if (backups.length === 0) return `${first} There is no backup.`;
  return `${first} Then restore a backup named above: docs/database.md says how.`;
}
