import { SquadError, usageError, wrongEnvironment } from '../../model/errors.ts';
import { renderIssue } from '../objective/issue-objective.ts';
import type { Forge, IssueName } from '../../substrate/ports/forge.ts';

/** The objective that an issue is. Throws if it cannot be read. */
export async function readIssueText(
  forge: Pick<Forge, 'readIssue'>,
  of: IssueName,
): Promise<{ readonly text: string; readonly from: string }> {
  const answer = await forge.readIssue(of);
  if (answer.type === 'found') return issueObjective(answer.issue);
  if (answer.type === 'refused') throw refusal(of, answer);
  throw usageError(`${answer.repository} has no issue ${of.number}`, `See which there are: \`${answer.list}\`.`);
}

/** As an objective, in which nothing of the issue is more than text. */
export function issueObjective(issue: Parameters<typeof renderIssue>[0]): {
  readonly text: string;
  readonly from: string;
} {
  return { text: renderIssue(issue), from: issue.url };
}

function refusal({ number }: IssueName, { why, next }: { readonly why: string; readonly next?: string }): SquadError {
  return wrongEnvironment(`issue ${number} cannot be read: ${why}`, next);
}
