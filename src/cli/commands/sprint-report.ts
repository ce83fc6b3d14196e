import { openWorkspace } from '../../squad/open-workspace.ts';
import { readSprintReport } from '../../squad/team/read-report.ts';
import { readTeamSettings } from '../../squad/team/team-settings.ts';
import { plainText } from '../../text/plain-text.ts';
import { renderMarkdown } from '../../view/report/markdown.ts';
import { sprintReportDocument } from '../../view/report/team/sprint-report-document.ts';
import type { CommandContext, JsonOptions } from '../command-context.ts';
import { printResult } from '../output.ts';
import { renderReportLines } from '../report/report-lines.ts';

/** Shows the report of a sprint at a terminal, and prints it as Markdown elsewhere. */
export async function sprintReport(
  context: CommandContext,
  sprint: string | undefined,
  options: JsonOptions,
): Promise<void> {
  const { output } = context;
  const workspace = await openWorkspace(context);
  const { timezone } = await readTeamSettings(workspace);
  const report = await readSprintReport(workspace, timezone, sprint);
  const shown = sprintReportDocument(report);
  const columns = output.columns();
  const lines =
    columns === undefined
      ? [plainText(renderMarkdown(shown)).trimEnd()]
      : renderReportLines(shown, columns, output.style);
  printResult(output, options, { type: 'sprint-report', ...report }, lines);
}
