import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { letThroughBy } from '../../model/let-through.ts';
import { placedAt } from '../../model/run.ts';
import { mailOf, viewOf } from '../../view/view-of.ts';
import type { ReportDocument } from '../../view/report/document.ts';
import { renderMarkdown } from '../../view/report/markdown.ts';
import { foldPatch, type Patch } from '../../view/report/patch.ts';
import { reportOf, type GitFacts } from '../../view/report/report.ts';
import { timeSpentOf } from '../../view/report/time-spent.ts';
import { timelineOf } from '../../view/report/timeline.ts';
import { openRun, type OpenedRun } from '../../squad/open-run.ts';
import { lookIn } from '../../squad/open-workspace.ts';
import { exists } from '../../substrate/system/files/exists.ts';
import { runFolder, writeRunFile } from '../../substrate/system/files/run-files.ts';
import { plainText } from '../../text/plain-text.ts';
import type { CommandContext, Options } from '../command-context.ts';
import { printResult } from '../output.ts';

/** Shows a report at a terminal, and prints it as Markdown elsewhere: the file that the last engine wrote, or else one from the ledger. */
export async function report(
  context: CommandContext,
  run: string | undefined,
  options: Options<'report'>,
): Promise<void> {
  if (options.all === true) return (await import('./statistics.ts')).statistics(context, run, options);
  const { output } = context;
  const opened = await openRun(context, run);
  const { id: runId, name } = opened.reading.row;
  if (options.html === true) {
    const page = await pageOf(context, opened);
    return printResult(output, options, { type: 'report-page', runId, name, path: page }, [page]);
  }
  const columns = output.columns();
  if (options.json !== true && columns !== undefined) {
    const { renderReportLines } = await import('../report/report-lines.ts');
    const lines = renderReportLines(documentOf(opened, await findChanges(context, opened)), columns, output.style);
    return printResult(output, options, {}, lines);
  }
  const left = readReport(opened);
  const text = left?.text ?? renderMarkdown(documentOf(opened));
  const time = timeSpentOf(opened.reading, opened.now);
  printResult(output, options, { type: 'report', runId, name, path: left?.path ?? null, text, time }, [
    plainText(text).trimEnd(),
  ]);
}

function documentOf(opened: OpenedRun, git?: GitFacts): ReportDocument {
  const { reading, now } = opened;
  const mail = lookIn(opened, (ledger) => mailOf(ledger, reading.row.id));
  return reportOf(reading, viewOf(reading, { now, kept: git?.kept }), now, git, mail);
}

/** The path of the page that the last engine wrote, or of one that is made now. */
async function pageOf(context: CommandContext, opened: OpenedRun): Promise<string> {
  const { reading, directory, now } = opened;
  const { id, name } = reading.row;
  const left = join(runFolder(directory, id), 'report.html');
  if (isLeftByEngine(opened) && (await exists(left))) return left;
  const changes = await findChanges(context, opened);
  const { renderPage } = await import('../../view/report/page.ts');
  const facts = { timeline: timelineOf(reading, now), patch: changes?.patch, run: name };
  return writeRunFile(directory, id, 'report.html', renderPage(documentOf(opened, changes), facts));
}

/** undefined: an engine is changing the run branch now. */
async function findChanges(
  { host }: CommandContext,
  opened: OpenedRun,
): Promise<(GitFacts & { readonly patch: Patch }) | undefined> {
  const { reading, composition, repository } = opened;
  if (reading.driven) return undefined;
  const definition = placedAt(reading.definition, repository.root);
  const { lookIntoWorkspaces } = await import('../clean-run.ts');
  const { readPatch, readRunChanges } = await import('../../substrate/git/run-changes.ts');
  const changes = await lookIntoWorkspaces(host, opened, (workspaces) =>
    readRunChanges(composition.git, workspaces, definition),
  );
  const patch = await foldPatch(readPatch(composition.git, definition, changes));
  return composition.redactor(letThroughBy(definition)).json({ ...changes, patch });
}

/** Whether the last engine has written the report of how it left the run. */
/** Not once a newer run has played the folder: what the file says to do next would be refused. */
function isLeftByEngine({ reading }: OpenedRun): boolean {
  const last = reading.segments.at(-1);
  return reading.playedBy === undefined && !reading.driven && last !== undefined && last.releasedAt !== null;
}

function readReport(opened: OpenedRun): { path: string; text: string } | undefined {
  if (!isLeftByEngine(opened)) return undefined;
  const path = join(runFolder(opened.directory, opened.reading.row.id), 'report.md');
  try {
    return { path, text: readFileSync(path, 'utf8') };
  } catch {
    // Missing or unreadable: the ledger has the same facts.
    return undefined;
  }
}
