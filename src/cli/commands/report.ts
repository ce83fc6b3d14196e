import { readFileSync } from 'node:fs';
import { mailOf } from '../../read-model/mail-reading.ts';
import { renderReport } from '../../report/report.ts';
import type { CommandContext } from '../command-context.ts';
import { openRun, readLedger, reportPath, type OpenedRun } from '../open-run.ts';
import { plainText } from '../../text/plain-text.ts';

/** Prints the report that the last engine wrote, or else one from the ledger alone, without git. */
export async function report(
  context: CommandContext,
  run: string | undefined,
  options: { json?: boolean },
): Promise<void> {
  const opened = await openRun(context, run);
  const { row } = opened.reading;
  const left = readReport(opened);
  const text = left?.text ?? renderReport(opened.reading, opened.now, undefined, mailIn(opened));
  if (options.json === true) {
    context.output.json({ type: 'report', runId: row.id, name: row.name, path: left?.path ?? null, text });
    return;
  }
  context.output.line(plainText(text).trimEnd());
}

/** undefined: no mailbox. */
function mailIn({ directory, composition, reading }: OpenedRun): ReturnType<typeof mailOf> {
  return readLedger(directory, composition, (ledger) => mailOf(ledger, reading.row.id));
}

function readReport({ reading, directory }: OpenedRun): { path: string; text: string } | undefined {
  const last = reading.segments.at(-1);
  if (reading.driven || last === undefined || last.releasedAt === null) return undefined;
  const path = reportPath(directory, reading.row.id);
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch {
    // Missing or unreadable: the ledger has the same facts.
    return undefined;
  }
}
