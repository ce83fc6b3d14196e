import type { RunHistory } from '../../../src/view/read-run.ts';
import { viewOf } from '../../../src/view/view-of.ts';
import { renderMarkdown } from '../../../src/view/report/markdown.ts';
import { reportOf, type GitFacts } from '../../../src/view/report/report.ts';
import type { MailStatus } from '../../../src/substrate/ports/mailbox.ts';

/** The text of `report.md`. */
export function renderReport(reading: RunHistory, now: number, git?: GitFacts, mail?: MailStatus): string {
  return renderMarkdown(reportOf(reading, viewOf(reading, { now, kept: git?.kept }), now, git, mail));
}
