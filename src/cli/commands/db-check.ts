import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesOf } from '../../substrate/ledger/backup-files.ts';
import { ledgerPath, type DatabaseCheck } from '../../substrate/ledger/index.ts';
import { checkLedger } from '../check-ledger.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openWorkspace, requireRuns } from '../../squad/open-workspace.ts';
import { printResult } from '../output.ts';
import { fileSteps, LAST_STEP, restoreSteps } from '../restore-steps.ts';
import { plainLine } from '../../text/plain-text.ts';

/** Exit 0 when file, history and bodies of messages are sound, else 65. A ledger that cannot be read is no damaged one: 75. */
export async function dbCheck(context: CommandContext, options: JsonOptions): Promise<void> {
  const workspace = await openWorkspace(context);
  requireRuns(workspace);
  const { directory } = workspace;
  const check = checkLedger(ledgerPath(directory));
  const { ok, path, events, bytes, schemaVersion, problems, files, violations, backups } = check;
  const steps = stepsFor(check);
  printResult(context.output, options, { type: 'db-check', ...check, restore: steps }, [
    `${ok ? 'ok' : 'DAMAGED'}  ${path}`,
    `  ${events} events, ${bytes} bytes, schema ${schemaVersion ?? 'unknown'}`,
    ...problems.map((problem) => `  file     ${plainLine(problem, 400)}`),
    ...violations.map((violation) => `  history  ${plainLine(JSON.stringify(violation), 400)}`),
    ...(backups.length > 0 ? [`  backups  ${backups.join(', ')}`] : []),
    ...(ok ? [] : nextOf(path, steps, files.length > 0)),
  ]);
  context.exit(ok ? 0 : 65);
}

function nextOf(path: string, steps: readonly string[], isOfFiles: boolean): string[] {
  const what = isOfFiles ? 'a whole copy of these files' : 'a backup that is not damaged';
  if (steps.length === 0) return [`Next: keep ${dirname(path)}. There is not ${what}.`];
  return [
    `Next: end any running squad with \`squad stop\`, copy ${dirname(path)}, and restore ${what}:`,
    ...steps.map((step) => `  ${step}`),
  ];
}

/**
 * Shell lines that restore the ledger, or the files that it misses, from the newest sound backup. Empty: no backup can.
 */
function stepsFor({ path, ok, files, backups }: DatabaseCheck): string[] {
  if (ok) return [];
  const all = backups.map((name) => join(dirname(path), name)).toReversed();
  if (files.length === 0) {
    const sound = all.find((backup) => lookAt(backup)?.ok);
    return sound === undefined ? [] : restoreSteps(path, sound);
  }
  const found = files.map((file) => [file, all.find((backup) => hasWhole(backup, file))] as const);
  if (found.some(([, backup]) => backup === undefined)) return [];
  return [...found.flatMap(([file, backup]) => fileSteps(path, backup ?? '', file)), LAST_STEP];
}

/** Whether a backup has the file as its ledger has it. */
function hasWhole(backup: string, file: string): boolean {
  return existsSync(join(filesOf(backup), file)) && lookAt(backup)?.files.includes(file) === false;
}

/** undefined: it cannot be read. */
function lookAt(backup: string): DatabaseCheck | undefined {
  try {
    return checkLedger(backup);
  } catch {
    return undefined;
  }
}
