import { SquadError, usageError, wrongEnvironment } from '../../model/errors.ts';
import { renderIssue } from '../objective/issue-objective.ts';
import type { Forge, IssueName } from '../../substrate/ports/forge.ts';

/** The objective that an issue is. Throws if it cannot be read. */
export async function readIssueText(
  forge: Pick<Forge, 'readIssue'>,
  of: IssueName,
): Promise<{ readonly text: string; readonly from: string }> {
  const answer = await forge.readIssue(of);
  if (answer.type === 'found') return { text: renderIssue(answer.issue), from: answer.issue.url };
  if (answer.type === 'refused') throw refusal(of, answer);
  throw usageError(`${answer.repository} has no issue ${of.number}`, `See which there are: \`${answer.list}\`.`);
}

function refusal({ number }: IssueName, { why, next }: { readonly why: string; readonly next?: string }): SquadError {
  return wrongEnvironment(`issue ${number} cannot be read: ${why}`, next);
}
