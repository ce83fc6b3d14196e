import type { RunHistory } from '../../src/read-model/read-run.ts';
import { viewOf } from '../../src/read-model/view-of.ts';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { reportOf, type GitFacts } from '../../src/report/report.ts';
import type { MailStatus } from '../../src/substrate/ports/mailbox.ts';

/** The text of `report.md`. */
export function renderReport(reading: RunHistory, now: number, git?: GitFacts, mail?: MailStatus): string {
  return renderMarkdown(reportOf(reading, viewOf(reading, { now, kept: git?.kept }), now, git, mail));
}
