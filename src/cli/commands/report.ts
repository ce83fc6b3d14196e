import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mailOf } from '../../read-model/status.ts';
import { renderReport } from '../../report/report.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { openRun, readLedger, type OpenedRun } from '../../squad/open-run.ts';
import { printResult } from '../output.ts';
import { plainText } from '../../text/plain-text.ts';

/** Prints the report that the last engine wrote, or else one from the ledger alone, without git. */
export async function report(context: CommandContext, run: string | undefined, options: JsonOptions): Promise<void> {
  const opened = await openRun(context, run);
  const { id, name } = opened.reading.row;
  const left = readReport(opened);
  const text = left?.text ?? renderFrom(opened);
  const found = { type: 'report', runId: id, name, path: left?.path ?? null, text };
  printResult(context.output, options, found, [plainText(text).trimEnd()]);
}

function renderFrom(opened: OpenedRun): string {
  const mail = readLedger(opened, (ledger) => mailOf(ledger, opened.reading.row.id));
  return renderReport(opened.reading, opened.now, undefined, mail);
}

function readReport({ reading, directory }: OpenedRun): { path: string; text: string } | undefined {
  const last = reading.segments.at(-1);
  if (reading.driven || last === undefined || last.releasedAt === null) return undefined;
  const path = join(directory, 'runs', reading.row.id, 'report.md');
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch {
    // Missing or unreadable: the ledger has the same facts.
    return undefined;
  }
}
