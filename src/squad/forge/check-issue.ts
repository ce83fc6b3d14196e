import { isSquadError } from '../../model/errors.ts';
import type { IssueRecord } from '../../model/forge/issue-record.ts';
import type { InterventionRequest } from '../../model/plan/verbs.ts';
import { mayDecide } from '../../rules/forge/judge-issue.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import { intervene } from '../intervene.ts';
import { keepIssue, roleOf, type IssuePorts } from './issue-ports.ts';

/**
 * Pauses the run of an issue that was closed, deleted, or lost its label, because only a person knows what that means for work that has begun; and
 * lets it go on once the issue is as before.
 */
export async function checkIssue(ports: IssuePorts, record: IssueRecord): Promise<NotDone | undefined> {
  const { forge, intake, say } = ports;
  const { number, withdrawn, set, run } = record;
  if (run === undefined) return undefined;
  const answer = await forge.read({ number, label: intake.label });
  if (isNotDone(answer) && answer.type !== 'gone') return answer;
  const issue = isNotDone(answer) ? undefined : answer.issue;
  const why = issue === undefined ? 'gone' : issue.isOpen ? (issue.set === undefined ? 'label' : undefined) : 'closed';
  if (why !== undefined) {
    if (withdrawn !== undefined) return undefined;
    await ask(ports, run.id, { verb: 'pause' });
    say(`${run.name} is paused: issue ${number} ${PAUSED[why]}`);
    await keepIssue(ports, { ...record, withdrawn: why, ...(why === 'gone' ? { gone: true } : {}) });
    return undefined;
  }
  if (withdrawn === undefined || issue?.set === undefined) return undefined;
  const isSetAgain = issue.set.id !== (record.again ?? set.id);
  const role = isSetAgain ? await roleOf(ports, issue.set.by) : 'owner';
  if (typeof role === 'object') return role;
  if (!mayDecide(role, intake.by)) return undefined;
  await ask(ports, run.id, { verb: 'resume' });
  say(`${run.name} continues: issue ${number} is as before`);
  const { withdrawn: _, ...rest } = record;
  // The comment has the marker of the setting for which it was made.
  await keepIssue(ports, { ...rest, ...(isSetAgain ? { again: issue.set.id } : {}) });
  return undefined;
}

const PAUSED = { label: 'lost its label', closed: 'is closed', gone: 'cannot be found any more' } as const;

/** A run that ended meanwhile needs nothing. */
async function ask({ workspace }: IssuePorts, run: string, request: InterventionRequest): Promise<void> {
  try {
    await intervene(workspace, run, request);
  } catch (error) {
    if (!isSquadError(error) || error.code !== 'usage') throw error;
  }
}
