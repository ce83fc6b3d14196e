import { isSquadError } from '../../model/errors.ts';
import { ISSUE_KIND, type IssueRecord } from '../../model/forge/issue-record.ts';
import type { IntakeSettings, Who } from '../../model/forge/settings.ts';
import type { Redactor } from '../../model/redaction/redactor.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import type { ForgeIssues } from '../../substrate/ports/forge-issues.ts';
import { plainJson } from '../../text/json.ts';
import { plainLine } from '../../text/plain-text.ts';
import { withLedger, type OpenedWorkspace } from '../open-workspace.ts';
import { issueId, type SeenIssues } from './read-issues.ts';

export interface IssuePorts {
  readonly workspace: OpenedWorkspace;
  readonly forge: ForgeIssues;
  readonly intake: IntakeSettings;
  readonly redactor: Redactor;
  readonly say: (text: string) => void;
  readonly seen: SeenIssues;
}

/** Changes what is on record of an issue. */
export async function keepIssue({ workspace, forge }: IssuePorts, record: IssueRecord): Promise<undefined> {
  return withLedger(workspace, 'write', (ledger) => {
    ledger.writeRecord({ kind: ISSUE_KIND, id: issueId(forge.place, record.number), value: plainJson(record) });
    return undefined;
  });
}

/** undefined: no one set it. */
export async function roleOf(
  { forge }: IssuePorts,
  login: string | undefined,
): Promise<Who | 'none' | NotDone | undefined> {
  if (login === undefined) return undefined;
  const answer = await forge.roleOf(login);
  return isNotDone(answer) ? answer : answer.role;
}

/** For the log of the service: never a text of the forge. */
export function problemText(error: unknown): string {
  return isSquadError(error) ? plainLine(`${error.message}. ${error.next}`, 300) : plainLine(String(error), 300);
}
