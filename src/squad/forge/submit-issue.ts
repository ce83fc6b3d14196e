import { isSquadError } from '../../model/errors.ts';
import type { IssueRecord } from '../../model/forge/issue-record.ts';
import type { NotDone } from '../../substrate/ports/forge-answer.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { defined } from '../../text/defined.ts';
import { issueObjective } from '../preflight/issue.ts';
import { submit } from '../submit.ts';
import { keepIssue, problemText, type IssuePorts } from './issue-ports.ts';
import { issueId } from './read-issues.ts';

const BUSY = 75;

/** Submits the run of an issue whose text is on record. Its key says for which setting of the label: that is one run. */
export async function submitIssue(ports: IssuePorts, record: IssueRecord): Promise<NotDone | undefined> {
  const { workspace, forge, say } = ports;
  const { number, text, playbook, priority, set } = record;
  if (text === undefined) return undefined;
  const key = `forge/${issueId(forge.place, number)}/${set.id}`;
  try {
    const run = await submit(workspace, issueObjective({ number, ...text }), {
      key,
      ...defined({ playbook, priority }),
    });
    failpoint('forge.submitted');
    await keepIssue(ports, { ...without(record), run: { id: run.runId, name: run.name } });
    say(`issue ${number} is queued as ${run.name}`);
  } catch (error) {
    if (!isSquadError(error) || error.exitCode === BUSY) throw error;
    say(`issue ${number} could not be started: ${problemText(error)}`);
    await keepIssue(ports, { ...without(record), left: 'not-started' });
  }
  return undefined;
}

/** Its run has the text. */
function without(record: IssueRecord): IssueRecord {
  const { text: _, ...rest } = record;
  return rest;
}
