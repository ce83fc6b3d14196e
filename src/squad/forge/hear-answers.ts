import { isSquadError } from '../../model/errors.ts';
import type { IssueRecord } from '../../model/forge/issue-record.ts';
import { mayDecide } from '../../rules/forge/judge-issue.ts';
import { readAnswer } from '../../rules/forge/read-answer.ts';
import { asCode } from '../../rules/forge/issue-posts.ts';
import { isNotDone, type NotDone } from '../../substrate/ports/forge-answer.ts';
import { commentsSince, type ForgeComment } from '../../substrate/ports/forge-issues.ts';
import { failpoint } from '../../substrate/system/failpoint.ts';
import { answer as give } from '../answer.ts';
import { keepIssue, roleOf, type IssuePorts } from './issue-ports.ts';
import { issueId } from './read-issues.ts';

/** Reads new comments, and gives the run the answers in them that a person may give. Each counts once, by its id. */
export async function hearAnswers(
  ports: IssuePorts,
  record: IssueRecord,
  open: readonly string[],
): Promise<NotDone | undefined> {
  const { forge, intake } = ports;
  const { number, heard = commentsSince(record.set.at) } = record;
  const answer = await forge.comments({ number, after: heard });
  if (isNotDone(answer)) return answer;
  const waiting = new Set(open);
  const roles = new Map<string, Awaited<ReturnType<typeof roleOf>>>();
  let until = heard;
  for (const comment of answer.comments) {
    const said = comment.isOwn ? undefined : readAnswer(comment.body, record.asked, waiting);
    if (said !== undefined) {
      const role = roles.get(comment.by) ?? (await roleOf(ports, comment.by));
      if (typeof role === 'object') {
        await keepHeard(ports, record, until);
        return role;
      }
      roles.set(comment.by, role);
      // A stranger is not even answered.
      const problem = mayDecide(role, intake.by) ? await take(ports, record, comment, said, waiting) : undefined;
      if (problem !== undefined) {
        await keepHeard(ports, record, until);
        return problem;
      }
    }
    until = comment.cursor;
  }
  await keepHeard(ports, record, until);
  return undefined;
}

async function keepHeard(ports: IssuePorts, record: IssueRecord, heard: string): Promise<void> {
  if (heard !== record.heard) await keepIssue(ports, { ...record, heard });
}

async function take(
  { workspace, forge, say }: IssuePorts,
  { number, run, set }: IssueRecord,
  { id, by }: ForgeComment,
  said: NonNullable<ReturnType<typeof readAnswer>>,
  waiting: Set<string>,
): Promise<NotDone | undefined> {
  let problem = 'problem' in said ? said.problem : undefined;
  if ('question' in said) {
    try {
      const key = `forge/${issueId(forge.place, number)}/comment/${id}`;
      await give(workspace, run?.id, said.text, said.question, { key });
      failpoint('forge.answered');
      waiting.delete(said.question);
      say(`${run?.name} has an answer of ${by}, at issue ${number}`);
    } catch (error) {
      if (!isSquadError(error) || error.code !== 'usage') throw error;
      problem = 'the run does not take it: it is no option of the question, or the question has an answer.';
    }
  }
  if (problem === undefined) return undefined;
  const text = `squad: ${asCode('/squad')} was not understood: ${problem}`;
  const answer = await forge.post({ number, marker: `not-understood/${id}`, text, since: set.at });
  return isNotDone(answer) ? answer : undefined;
}
